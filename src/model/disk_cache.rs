//! A folder of what is computed from a model and kept for the next start: packed weights and vocabularies, the prefix that all
//! prompts share.
//!
//! Every file can be removed at any time and is made again. Files appear whole, by rename; their time of change is the time of
//! their last use, and the least recently used ones go first when the folder would grow past its limit.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::block_file;
use crate::error::{Error, Kind, Result};

/// Endings of the files that are ours; nothing else in the folder is touched.
const ENDINGS: [&str; 2] = ["weights", "prefix"];
/// Beginning of the names of files that are not whole yet.
const UNFINISHED: &str = ".unfinished-";

/// Where caches lie, and how large they may grow together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskCache {
    /// The folder. It is made when something is kept.
    pub folder: PathBuf,
    /// Bytes of all files together. What is larger by itself is not kept.
    pub limit: u64,
}

/// What a [`DiskCache`] holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// When it was used last.
    pub used: SystemTime,
}

impl DiskCache {
    /// Room for the packed weights of a 7B model and a few small ones.
    pub const DEFAULT_LIMIT: u64 = 16 << 30;

    /// The files, least recently used first. A folder that is not there is empty.
    pub fn files(&self) -> Vec<CachedFile> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<CachedFile> = entries
            .filter(|entry| Path::new(&entry.file_name()).extension().is_some_and(|e| ENDINGS.iter().any(|o| e == *o)))
            .filter_map(|entry| {
                let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
                let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                Some(CachedFile { path: entry.path(), size: metadata.len(), used })
            })
            .collect();
        files.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        files
    }

    /// Checks a file of the folder against its checksums; the error names file and place.
    pub fn verify(&self, file: &CachedFile) -> Result<()> {
        match file.path.extension().and_then(|e| e.to_str()) {
            Some("weights") => block_file::verify(&file.path),
            _ => verify_sealed(&file.path),
        }
    }

    pub(crate) fn path(&self, key: &[u8; 32], ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", &blake3::Hash::from_bytes(*key).to_hex()[..32]))
    }

    /// Marks a file as used now.
    pub(crate) fn touch(&self, path: &Path) {
        // A folder that cannot be written is served as well as any other.
        if let Ok(file) = File::options().append(true).open(path) {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Writes a file of `size` bytes with `fill` and puts it in place whole, after making room for it.
    pub(crate) fn keep(&self, path: &Path, size: u64, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        let io = |what: &'static str| move |e: io::Error| Error::io(what, path, e);
        if size > self.limit {
            return Err(Error::new(Kind::Usage, "the folder of caches may not grow that large")
                .at(path)
                .expected(format!("at most {} bytes", self.limit))
                .found(format!("{size} bytes")));
        }
        fs::create_dir_all(&self.folder).map_err(io("cannot create the folder of caches"))?;
        self.make_room(size, path);
        let mut builder = tempfile::Builder::new();
        // Other users of the machine map it too.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        let file = builder.prefix(UNFINISHED).tempfile_in(&self.folder);
        let mut file = file.map_err(io("cannot create a file in the folder of caches"))?;
        // Asked for at once, so that a full disk is known before the work is done.
        file.as_file().set_len(size).map_err(io("cannot write to the folder of caches"))?;
        fill(file.as_file_mut())?;
        file.as_file().sync_all().map_err(io("cannot write to the folder of caches"))?;
        file.persist(path).map_err(|e| Error::io("cannot put a cached file in place", path, e.error))?;
        #[cfg(unix)]
        File::open(&self.folder).and_then(|f| f.sync_all()).map_err(io("cannot sync the folder of caches"))?;
        Ok(())
    }

    /// Removes least recently used files until `size` bytes more fit, and what writers that were killed left behind. `path` is
    /// about to be replaced. A process that has a removed file mapped keeps it.
    fn make_room(&self, size: u64, path: &Path) {
        /// A writer that is still at work after this is none.
        const ABANDONED_SECONDS: u64 = 24 * 3600;
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            let unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
            if unfinished && age.is_some_and(|age| age.as_secs() > ABANDONED_SECONDS) {
                let _ = fs::remove_file(entry.path());
            }
        }
        let files = self.files();
        let mut total: u64 = files.iter().filter(|file| file.path != path).map(|file| file.size).sum();
        for file in files.iter().filter(|file| file.path != path) {
            if total.saturating_add(size) <= self.limit {
                break;
            }
            if fs::remove_file(&file.path).is_ok() {
                total -= file.size;
            }
        }
    }
}

/// Checks a file that ends with the BLAKE3 of all before.
fn verify_sealed(path: &Path) -> Result<()> {
    let file = fs::read(path).map_err(|e| Error::io("cannot read the cached file", path, e))?;
    let whole = file
        .len()
        .checked_sub(blake3::OUT_LEN)
        .map(|at| file.split_at(at))
        .is_some_and(|(rest, checksum)| blake3::hash(rest).as_bytes() == checksum);
    if whole {
        return Ok(());
    }
    Err(Error::new(Kind::Corrupt, "the cached file is damaged").at(path).hint("delete the file; it is made again"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;

    use super::*;

    fn keep(cache: &DiskCache, name: &str, size: u64) -> Result<()> {
        let path = cache.folder.join(name);
        cache.keep(&path, size, |file| {
            file.write_all(&vec![7; size as usize]).map_err(|e| Error::io("cannot write", Path::new(name), e))
        })
    }

    fn names(cache: &DiskCache) -> Vec<String> {
        cache.files().iter().map(|f| f.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_least_recently_used_files_make_room_and_foreign_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let cache = DiskCache { folder: dir.path().join("caches"), limit: 100 };
        assert!(cache.files().is_empty());
        for (i, name) in ["a.weights", "b.prefix", "c.weights"].into_iter().enumerate() {
            keep(&cache, name, 30).unwrap();
            let file = File::options().append(true).open(cache.folder.join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(i as u64)).unwrap();
        }
        fs::write(cache.folder.join("notes.txt"), [0; 500]).unwrap();
        cache.touch(&cache.folder.join("a.weights"));
        keep(&cache, "d.weights", 40).unwrap();
        assert_eq!(names(&cache), ["c.weights", "a.weights", "d.weights"]);
        // A file that is replaced needs no room beside itself.
        keep(&cache, "d.weights", 40).unwrap();
        assert_eq!(names(&cache), ["c.weights", "a.weights", "d.weights"]);
        assert!(keep(&cache, "e.weights", 101).unwrap_err().to_string().contains("at most 100 bytes"));
        assert!(cache.folder.join("notes.txt").exists());
    }

    #[test]
    fn a_file_whose_writing_fails_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let cache = DiskCache { folder: dir.path().to_owned(), limit: 100 };
        let path = cache.folder.join("a.weights");
        assert!(cache.keep(&path, 10, |_| Err(Error::new(Kind::Io, "no"))).is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
