//! Compound files ([MS-CFB]), in which old Office formats and encrypted new ones are kept: the directory and the streams.

use super::budget::Budget;
use crate::error::{Error, Kind, Result};

const MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// The end of a chain of sectors; all numbers from here up are no sectors.
const LAST: u32 = 0xffff_fffa;

/// True when the bytes start like a compound file.
pub(crate) fn is_ole(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// One entry of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_stream: bool,
    start: u32,
    size: u64,
}

/// An opened compound file.
#[derive(Debug)]
pub(crate) struct Ole<'a> {
    bytes: &'a [u8],
    sector: usize,
    table: Vec<u32>,
    small_table: Vec<u32>,
    small: Vec<u8>,
    cutoff: u64,
    entries: Vec<Entry>,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).filter_map(|four| Some(u32::from_le_bytes(four.try_into().ok()?)))
}

impl<'a> Ole<'a> {
    /// Reads the directory.
    ///
    /// # Errors
    /// The file is cut off or its tables lead in circles.
    pub(crate) fn open(bytes: &'a [u8], budget: &mut Budget) -> Result<Self> {
        Self::opened(bytes, budget)?.ok_or_else(damaged)
    }

    fn opened(bytes: &'a [u8], budget: &mut Budget) -> Result<Option<Self>> {
        let sector = match u16_at(bytes, 30) {
            Some(9) => 512,
            Some(12) => 4096,
            _ => return Ok(None),
        };
        let get = |at| u32_at(bytes, at);
        let (Some(directory), Some(cutoff), Some(small_table)) = (get(48), get(56), get(60)) else { return Ok(None) };
        let mut ole = Self {
            bytes,
            sector,
            table: Vec::new(),
            small_table: Vec::new(),
            small: Vec::new(),
            cutoff: u64::from(cutoff),
            entries: Vec::new(),
        };
        // The table never has more entries than the file has sectors: the tables of tables are walked that far.
        let sectors = bytes.len() / sector + 1;
        let mut of_table: Vec<u32> = numbers(bytes.get(76..512).unwrap_or_default()).filter(|&at| at < LAST).collect();
        let mut next = get(68).unwrap_or(LAST);
        for _ in 0..sectors {
            let Some(more) = ole.sector(next) else { break };
            let (last, list) = more.split_last_chunk::<4>().map_or((&[0xff; 4], more), |(list, last)| (last, list));
            of_table.extend(numbers(list).filter(|&at| at < LAST));
            next = u32::from_le_bytes(*last);
        }
        budget.spend((sectors * 4) as u64)?;
        for at in of_table.into_iter().take(sectors * 4 / sector + 1) {
            let Some(part) = ole.sector(at) else { return Ok(None) };
            ole.table.extend(numbers(part));
        }
        let directory = ole.chain(directory, u64::MAX, budget)?;
        for entry in directory.chunks_exact(128) {
            let length = usize::from(u16_at(entry, 64).unwrap_or(0)).saturating_sub(2).min(62);
            let units: Vec<u16> = entry
                .get(..length)
                .unwrap_or_default()
                .chunks_exact(2)
                .map(|two| u16::from_le_bytes([two[0], two[1]]))
                .collect();
            let kind = entry.get(66).copied().unwrap_or(0);
            if kind == 0 {
                continue;
            }
            let (Some(start), Some(low)) = (u32_at(entry, 116), u32_at(entry, 120)) else { continue };
            // Small sectors leave the upper half of the size undefined.
            let size = u64::from(low);
            ole.entries.push(Entry { name: String::from_utf16_lossy(&units), is_stream: kind == 2, start, size });
            if kind == 5 {
                ole.small = ole.chain(start, size, budget)?;
            }
        }
        let small_table = ole.chain(small_table, u64::MAX, budget)?;
        ole.small_table = numbers(&small_table).collect();
        Ok((!ole.entries.is_empty()).then_some(ole))
    }

    fn sector(&self, at: u32) -> Option<&'a [u8]> {
        if at >= LAST {
            return None;
        }
        let from = (at as usize).checked_add(1)?.checked_mul(self.sector)?;
        let end = from.checked_add(self.sector)?;
        // The last sector of a file may be cut short.
        self.bytes.get(from..end.min(self.bytes.len())).filter(|part| !part.is_empty())
    }

    /// The bytes of a chain of sectors, at most `size`. A chain that leads in a circle ends where the file would.
    fn chain(&self, start: u32, size: u64, budget: &mut Budget) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut at = start;
        for _ in 0..=self.bytes.len() / self.sector {
            let Some(part) = self.sector(at).filter(|_| (out.len() as u64) < size) else { break };
            budget.spend(part.len() as u64)?;
            out.extend_from_slice(part);
            at = self.table.get(at as usize).copied().unwrap_or(LAST);
        }
        out.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        Ok(out)
    }

    /// All entries.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// True when there is a stream or storage of this name anywhere.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    /// The bytes of the first stream of this name; `None` if there is none.
    ///
    /// # Errors
    /// The budget is spent.
    pub(crate) fn stream(&self, name: &str, budget: &mut Budget) -> Result<Option<Vec<u8>>> {
        const SMALL: usize = 64;
        let is_it = |entry: &&Entry| entry.is_stream && entry.name.eq_ignore_ascii_case(name);
        let Some(entry) = self.entries.iter().find(is_it) else { return Ok(None) };
        if entry.size >= self.cutoff {
            return self.chain(entry.start, entry.size, budget).map(Some);
        }
        let mut out = Vec::new();
        let mut at = entry.start;
        for _ in 0..=self.small.len() / SMALL {
            if out.len() as u64 >= entry.size {
                break;
            }
            let from = (at as usize).saturating_mul(SMALL);
            let Some(part) = self.small.get(from..from.saturating_add(SMALL).min(self.small.len())) else { break };
            if part.is_empty() {
                break;
            }
            out.extend_from_slice(part);
            at = self.small_table.get(at as usize).copied().unwrap_or(LAST);
        }
        out.truncate(entry.size as usize);
        Ok(Some(out))
    }
}

fn damaged() -> Error {
    Error::new(Kind::Format, "the file is damaged or cut off")
        .expected("a whole compound file, as old .doc and .xls files are")
        .hint("open it in its program and save it again, or fetch it again")
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A compound file with these streams at the top, each in sectors of its own.
    pub(crate) fn compound(streams: &[(&str, &[u8])]) -> Vec<u8> {
        let sectors = |len: usize| len.div_ceil(512).max(1) as u32;
        let directory_sectors = (streams.len() + 1).div_ceil(4) as u32;
        let mut table: Vec<u32> = vec![0xffff_fffd];
        let mut next = 1 + directory_sectors;
        let link = |table: &mut Vec<u32>, from: u32, count: u32| {
            table.extend((1..count).map(|n| from + n));
            table.push(0xffff_fffe);
        };
        link(&mut table, 1, directory_sectors);
        let mut directory = entry("Root Entry", 5, 0xffff_fffe, 0);
        let mut data = Vec::new();
        for (name, bytes) in streams {
            directory.extend(entry(name, 2, next, bytes.len() as u32));
            link(&mut table, next, sectors(bytes.len()));
            next += sectors(bytes.len());
            data.extend_from_slice(bytes);
            data.resize(data.len().next_multiple_of(512).max(512), 0);
        }
        directory.resize(directory_sectors as usize * 512, 0);
        table.resize(128, 0xffff_ffff);
        let mut out = MAGIC.to_vec();
        out.resize(512, 0);
        out[30] = 9;
        out[44] = 1;
        out[48] = 1;
        out[60..64].copy_from_slice(&0xffff_fffeu32.to_le_bytes());
        out[68..72].copy_from_slice(&0xffff_fffeu32.to_le_bytes());
        out[76..512].fill(0xff);
        out[76..80].fill(0);
        out.extend(table.iter().flat_map(|n| n.to_le_bytes()));
        out.extend(directory);
        out.extend(data);
        out
    }

    fn entry(name: &str, kind: u8, start: u32, size: u32) -> Vec<u8> {
        let mut out: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = out.len() as u16 + 2;
        out.resize(128, 0);
        out[64..66].copy_from_slice(&length.to_le_bytes());
        out[66] = kind;
        out[116..120].copy_from_slice(&start.to_le_bytes());
        out[120..124].copy_from_slice(&size.to_le_bytes());
        out
    }

    #[test]
    fn streams_are_found_and_circles_end() {
        let long = vec![7u8; 1300];
        let mut bytes = compound(&[("WordDocument", b"abc"), ("Data", &long)]);
        let budget = &mut Budget::default();
        let ole = Ole::open(&bytes, budget).unwrap();
        assert!(ole.has("worddocument") && !ole.has("Book"));
        assert_eq!(ole.stream("Data", budget).unwrap().unwrap(), long);
        assert_eq!(ole.stream("WordDocument", budget).unwrap().unwrap(), b"abc");
        // Every sector points to the first.
        bytes[512..1024].fill(0);
        let _ = Ole::open(&bytes, budget);
        assert!(Ole::open(&bytes[..100], budget).is_err());
    }
}
