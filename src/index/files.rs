//! Durable files: everything is synced before it gets its name.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// Syncs a folder, so that names made or changed in it survive a power cut. A no-op where folders cannot be opened.
pub(super) fn sync_folder(dir: &Path) -> Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    File::open(dir)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| Error::io("cannot sync the folder", dir, error))
}

/// Syncs a file that somebody else wrote.
pub(super) fn sync_file(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|error| Error::io("cannot sync the file", path, error))
}

/// Length and CRC-32 of a file.
pub(super) fn checksum(path: &Path) -> Result<(u64, u32)> {
    let fail = |error| Error::io("cannot read", path, error);
    let mut file = BufReader::with_capacity(1 << 20, File::open(path).map_err(fail)?);
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    let mut len = 0;
    loop {
        let read = file.read(&mut buffer).map_err(fail)?;
        if read == 0 {
            return Ok((len, hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
        len += read as u64;
    }
}
