//! Read-only memory maps of model files.
#![allow(unsafe_code)]

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Kind, Result};

/// A file that is mapped for reading as long as this lives.
#[derive(Debug)]
pub(crate) struct Mapped(Mmap);

impl Mapped {
    /// Maps the whole of a regular file that is never rewritten in place.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        map_file(path).map(Self)
    }
}

impl std::ops::Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps the whole of a regular file for reading.
pub(crate) fn map_file(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(|e| Error::io("cannot open the file", path, e))?;
    let metadata = file.metadata().map_err(|e| Error::io("cannot read the file's size", path, e))?;
    if !metadata.is_file() {
        return Err(Error::new(Kind::Usage, "not a regular file").at(path));
    }
    if metadata.len() == 0 {
        return Err(Error::new(Kind::Corrupt, "the file is empty").at(path));
    }
    // SAFETY: the map is read-only and lives as long as its `Mmap`. The bytes are plain data, every value of which is
    // valid for `u8`. Model files are replaced by rename, never rewritten in place, so the mapped inode keeps its length;
    // a foreign program that truncates a file under a running process is outside what a map can guard against.
    unsafe { Mmap::map(&file) }.map_err(|e| Error::io("cannot map the file", path, e))
}

/// Gives the memory of a part of a map back; the file's bytes are read again when it is next touched.
pub(crate) fn forget(map: &Mmap, offset: usize, len: usize) {
    #[cfg(unix)]
    {
        const PAGE: usize = 4096;
        // Only whole pages: neighbours keep theirs.
        let start = offset.next_multiple_of(PAGE);
        let end = (offset + len) / PAGE * PAGE;
        if start < end {
            // SAFETY: dropping clean pages of a read-only file map changes nothing that a reader can see. Advice may be
            // refused (another page size), which costs memory and nothing else.
            let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start) };
        }
    }
    #[cfg(not(unix))]
    let _ = (map, offset, len);
}
