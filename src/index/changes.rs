//! What changed since a vector file was built: vectors that came, vectors that are gone, and vectors whose rows in the store are
//! others now. `FORMAT.md` specifies the file. It is small: past a limit the vector file is built anew.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use half::f16;

use super::format::{Pointer, u32_at, u64_at};
use super::reader::VectorFile;
use super::vectors::VectorIndex;
use crate::error::{Error, Kind, Result};

const MAGIC: [u8; 8] = *b"mingtiVC";
const VERSION: u32 = 1;
const HEADER_LEN: usize = 64;
/// Stands for "no row": the vector is gone.
const GONE: i64 = -1;

/// Where the vector of a unit comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum VectorFrom {
    /// The index has it under this number.
    Kept(u32),
    /// It is new.
    New(Vec<f32>),
}

/// What changes in the vectors of an index.
#[derive(Debug, Clone, Default)]
pub struct VectorEdit {
    /// Rows of the sections that are gone.
    pub removed: Vec<i64>,
    /// The units that came, those of a section one after the other in order, and their vectors. A vector of a removed section may
    /// be kept for one of them.
    pub added: Vec<(Pointer, VectorFrom)>,
}

/// Changes as they are searched.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Changes {
    /// Vectors of the file that stand for something else now; `None` for those that are gone.
    replaced: BTreeMap<u32, Option<Pointer>>,
    /// How many are gone: every question asks.
    dead: usize,
    /// What the vectors that came stand for.
    pub(super) added: Vec<Pointer>,
    /// Their values, as the bits of `f16`.
    values: Vec<u16>,
    /// The vectors of each section that came, in the order of its units.
    pub(super) sections: HashMap<i64, Vec<u32>>,
    /// The sum of all vectors of the index, value by value.
    pub(super) sum: Vec<f64>,
}

impl Changes {
    /// What vector `number` of the file stands for now; `None` when that did not change.
    pub(super) fn replaced(&self, number: u32) -> Option<Option<Pointer>> {
        self.replaced.get(&number).copied()
    }

    /// Vectors of the file that are gone.
    pub(super) fn dead(&self) -> usize {
        self.dead
    }

    /// These changes with the number of the dead.
    fn counted(mut self) -> Self {
        self.dead = self.replaced.values().filter(|pointer| pointer.is_none()).count();
        self
    }

    /// The values of a vector that came.
    pub(super) fn row(&self, at: usize, dimension: usize) -> &[u16] {
        &self.values[at * dimension..][..dimension]
    }

    /// The changes of `index` and those of `edit` in one.
    pub(super) fn edited(index: &VectorIndex, edit: &VectorEdit) -> Result<Self> {
        let (n, dimension) = (index.file.len(), index.dimension());
        let mut changes =
            index.changes.clone().unwrap_or_else(|| Self { sum: index.file.sum().to_vec(), ..Self::default() });
        let add = |sum: &mut [f64], row: &[u16], sign: f64| {
            for (sum, bits) in sum.iter_mut().zip(row) {
                *sum += sign * f64::from(f16::from_bits(*bits).to_f32());
            }
        };
        // Vectors that came earlier, those that are gone again as `None`; new ones follow.
        let mut came: Vec<Option<Pointer>> = changes.added.iter().copied().map(Some).collect();
        let mut values = std::mem::take(&mut changes.values);
        let mut row = Vec::new();
        for section in &edit.removed {
            for number in index.section_vectors(*section) {
                add(&mut changes.sum, index.row(number, &mut row)?, -1.0);
                match came.get_mut((number as usize).wrapping_sub(n)) {
                    Some(pointer) => *pointer = None,
                    None => _ = changes.replaced.insert(number, None),
                }
            }
            changes.sections.remove(section);
        }
        for (pointer, from) in &edit.added {
            let number = match from {
                VectorFrom::Kept(number) => {
                    let free = match came.get_mut((*number as usize).wrapping_sub(n)) {
                        Some(place) => place.replace(*pointer).is_none(),
                        None => matches!(changes.replaced.insert(*number, Some(*pointer)), Some(None)),
                    };
                    if !free {
                        return Err(Error::new(Kind::Internal, "a vector is kept for two units")
                            .found(format!("vector {number}")));
                    }
                    add(&mut changes.sum, index.row(*number, &mut row)?, 1.0);
                    *number
                }
                VectorFrom::New(vector) => {
                    if vector.len() != dimension || vector.iter().any(|value| !value.is_finite()) {
                        return Err(Error::new(Kind::Model, "the embedder gave a vector that does not fit the index")
                            .expected(format!("{dimension} finite values"))
                            .found(format!("{} values", vector.len())));
                    }
                    let start = values.len();
                    values.extend(vector.iter().map(|value| f16::from_f32(*value).to_bits()));
                    add(&mut changes.sum, &values[start..], 1.0);
                    came.push(Some(*pointer));
                    (n + came.len() - 1) as u32
                }
            };
            changes.sections.entry(pointer.section).or_default().push(number);
        }
        // What came and is gone again leaves no gap.
        let mut renumbered = vec![0u32; came.len()];
        changes.added.clear();
        for (at, pointer) in came.into_iter().enumerate() {
            renumbered[at] = (n + changes.added.len()) as u32;
            if let Some(pointer) = pointer {
                changes.added.push(pointer);
                changes.values.extend_from_slice(&values[at * dimension..][..dimension]);
            }
        }
        for number in changes.sections.values_mut().flatten() {
            if let Some(new) = renumbered.get((*number as usize).wrapping_sub(n)) {
                *number = *new;
            }
        }
        Ok(changes.counted())
    }

    /// The file's bytes.
    pub(super) fn encode(&self, file: &VectorFile) -> Vec<u8> {
        let mut sections: Vec<(&i64, &Vec<u32>)> = self.sections.iter().collect();
        sections.sort_unstable();
        let mut body: Vec<u8> = bytemuck::cast_slice(&self.sum).to_vec();
        for (number, pointer) in &self.replaced {
            body.extend(u64::from(*number).to_le_bytes());
            body.extend(bytemuck::bytes_of(&pointer.unwrap_or(Pointer { unit: GONE, section: GONE, document: GONE })));
        }
        body.extend_from_slice(bytemuck::cast_slice(&self.added));
        for (section, numbers) in &sections {
            body.extend(section.to_le_bytes());
            body.extend((numbers.len() as u64).to_le_bytes());
        }
        for (_, numbers) in &sections {
            body.extend_from_slice(bytemuck::cast_slice(numbers));
        }
        body.extend_from_slice(bytemuck::cast_slice(&self.values));
        let mut bytes = MAGIC.to_vec();
        for word in [VERSION, HEADER_LEN as u32, file.identity(), file.dimension() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        let counts = [self.replaced.len(), self.added.len(), sections.len(), HEADER_LEN + body.len()];
        for count in counts {
            bytes.extend((count as u64).to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// Reads and checks the file at `path`, which must be about `file`.
    pub(super) fn read(path: &Path, file: &VectorFile) -> Result<Self> {
        let bytes =
            std::fs::read(path).map_err(|error| Error::io("cannot read the changes of the index", path, error))?;
        Self::decode(&bytes, file).map_err(|error| error.at(path).hint("run `mingti index` again"))
    }

    fn decode(bytes: &[u8], file: &VectorFile) -> Result<Self> {
        let corrupt = |what: &str| Error::new(Kind::Corrupt, what);
        if bytes.len() < HEADER_LEN || bytes[..8] != MAGIC || u32_at(bytes, 60) != crc32fast::hash(&bytes[..60]) {
            return Err(corrupt("the header of the index's changes is damaged"));
        }
        let version = u32_at(bytes, 8);
        if version > VERSION {
            return Err(Error::new(Kind::TooNew, "the index's changes were written by a newer version of mingti")
                .expected(format!("format {VERSION} or older"))
                .found(format!("format {version}")));
        }
        let (n, dimension) = (file.len() as u64, file.dimension());
        if (u32_at(bytes, 16), u32_at(bytes, 20) as usize) != (file.identity(), dimension) {
            return Err(corrupt("the index's changes belong to another vector file"));
        }
        let [replaced, added, sections, len] = [24, 32, 40, 48].map(|at| u64_at(bytes, at) as usize);
        let body = &bytes[HEADER_LEN..];
        if len != bytes.len() || u32_at(bytes, 56) != crc32fast::hash(body) {
            return Err(corrupt("the index's changes are damaged"));
        }
        let mut rest = body;
        let mut take = |count: usize, size: usize| -> Result<&[u8]> {
            let len = count.checked_mul(size).filter(|len| *len <= rest.len());
            let (taken, left) = rest.split_at(len.ok_or_else(|| corrupt("the index's changes contradict themselves"))?);
            rest = left;
            Ok(taken)
        };
        let sum = take(dimension, 8)?.as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value)).collect();
        let pointer = |bytes: &[u8]| {
            let [unit, section, document] = [0, 8, 16].map(|at| u64_at(bytes, at) as i64);
            Pointer { unit, section, document }
        };
        let mut changes = Self { sum, ..Self::default() };
        for entry in take(replaced, 32)?.chunks_exact(32) {
            let (number, pointer) = (u64_at(entry, 0), pointer(&entry[8..]));
            changes.replaced.insert(number as u32, (pointer.unit != GONE).then_some(pointer));
            if number >= n {
                return Err(corrupt("the index's changes name a vector that is not there"));
            }
        }
        changes.added = take(added, 24)?.chunks_exact(24).map(pointer).collect();
        let counts: Vec<(i64, usize)> = take(sections, 16)?
            .chunks_exact(16)
            .map(|entry| (u64_at(entry, 0) as i64, u64_at(entry, 8) as usize))
            .collect();
        for (section, count) in counts {
            let numbers: Vec<u32> = take(count, 4)?.as_chunks::<4>().0.iter().map(|n| u32::from_le_bytes(*n)).collect();
            let belongs = |number: u32| {
                let pointer = match (u64::from(number)).checked_sub(n) {
                    Some(at) => changes.added.get(at as usize).copied(),
                    None => changes.replaced.get(&number).copied().flatten(),
                };
                pointer.is_some_and(|pointer| pointer.section == section)
            };
            if !numbers.iter().all(|number| belongs(*number)) {
                return Err(corrupt("the index's changes name a vector of another section"));
            }
            changes.sections.insert(section, numbers);
        }
        changes.values =
            take(added, dimension * 2)?.as_chunks::<2>().0.iter().map(|v| u16::from_le_bytes(*v)).collect();
        match rest.is_empty() {
            true => Ok(changes.counted()),
            false => Err(corrupt("the index's changes are longer than they say")),
        }
    }
}
