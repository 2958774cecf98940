//! SHA-256 of files and streams.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::{Error, Kind, Result};

/// Bytes read at a time; also how often a wish to stop is looked at.
const CHUNK: usize = 1 << 20;

/// Lower-case hexadecimal of a finished hash.
fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Size and SHA-256 of a file.
pub(super) fn of_file(path: &Path, stop: &dyn Fn() -> bool) -> Result<(u64, String)> {
    let mut file = File::open(path).map_err(|e| Error::io("cannot open the file", path, e))?;
    copy(&mut file, &mut io::sink(), u64::MAX, stop, &mut |_| {}).map_err(|e| e.at(path))
}

/// What tells the contents of `files` from any others, wherever they are.
pub(crate) fn of_files(files: &[PathBuf]) -> Result<String> {
    let mut all = Sha256::new();
    for path in files {
        let (size, hash) = of_file(path, &|| false)?;
        all.update(format!("{size} {hash}\n"));
    }
    Ok(hex(all))
}

/// Copies at most `limit` bytes and tells size and SHA-256 of what was copied. `advance` hears the bytes done so far.
pub(super) fn copy(
    from: &mut impl Read,
    to: &mut impl Write,
    limit: u64,
    stop: &dyn Fn() -> bool,
    advance: &mut dyn FnMut(u64),
) -> Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut done = 0u64;
    while done < limit {
        if stop() {
            return Err(stopped());
        }
        let want = usize::try_from(limit - done).unwrap_or(CHUNK).min(CHUNK);
        let n = match from.read(&mut buffer[..want]) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Error::new(Kind::Io, "cannot read").because(e)),
        };
        hasher.update(&buffer[..n]);
        to.write_all(&buffer[..n]).map_err(|e| {
            let full = e.kind() == io::ErrorKind::StorageFull;
            let error = Error::new(Kind::Io, "cannot write").because(e);
            if full {
                error.hint("free some disk space and run the command again; finished parts are kept")
            } else {
                error
            }
        })?;
        done += n as u64;
        advance(done);
    }
    Ok((done, hex(hasher)))
}

/// The error of work that was stopped on request.
pub(super) fn stopped() -> Error {
    Error::new(Kind::Interrupted, "stopped on request; finished parts are kept")
        .hint("run the same command again to continue")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn known_hash_of_a_known_text() {
        let (size, hash) = copy(&mut &b"abc"[..], &mut io::sink(), u64::MAX, &|| false, &mut |_| {}).unwrap();
        assert_eq!(size, 3);
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_wish_to_stop_is_heard() {
        let error = copy(&mut io::repeat(0), &mut io::sink(), u64::MAX, &|| true, &mut |_| {}).unwrap_err();
        assert!(error.is_interrupted());
    }
}
