//! Putting a complete, staged folder in a model's place, and keeping two writers from doing so at once.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::store::{ModelStore, Record};
use crate::error::{Error, Kind, Result};

/// Held while a model is fetched or imported; released when dropped, also when the process is killed.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl ModelStore {
    /// Creates the folder of models and takes the lock of `id`.
    pub(super) fn lock(&self, id: &str) -> Result<Lock> {
        fs::create_dir_all(self.dir()).map_err(|e| Error::io("cannot create the model folder", self.dir(), e))?;
        let path = self.dir().join(format!(".lock-{id}"));
        let file = File::create(&path).map_err(|e| Error::io("cannot write into the model folder", &path, e))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::new(Kind::Busy, format!("another process is installing the model {id}"))
                    .hint("wait until it is done; the files will then be there"))
            }
            Err(TryLockError::Error(e)) => Err(Error::io("cannot lock the model folder", &path, e)),
        }
    }

    /// Where the files of `id` are put together before they are moved into place.
    pub(super) fn staging(&self, id: &str) -> PathBuf {
        self.dir().join(format!(".staging-{id}"))
    }

    /// Writes the record into `staged`, forces all of it to disk and moves it into the model's place.
    pub(super) fn install(&self, staged: &Path, record: &Record) -> Result<()> {
        record.write(staged)?;
        sync_tree(staged)?;
        let place = self.folder(&record.id);
        let old = self.dir().join(format!(".old-{}", record.id));
        remove_folder(&old)?;
        if place.exists() {
            fs::rename(&place, &old).map_err(|e| Error::io("cannot move the old model aside", &place, e))?;
        }
        fs::rename(staged, &place).map_err(|e| Error::io("cannot move the model into place", &place, e))?;
        sync_folder(self.dir())?;
        remove_folder(&old)
    }
}

/// Removes a folder that may not exist.
pub(super) fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io("cannot remove the folder", folder, e)),
        _ => Ok(()),
    }
}

fn sync_tree(folder: &Path) -> Result<()> {
    for entry in walkdir::WalkDir::new(folder).contents_first(true) {
        let entry = entry.map_err(|e| Error::new(Kind::Io, "cannot read the folder").at(folder).because(e))?;
        if entry.file_type().is_dir() {
            sync_folder(entry.path())?;
        } else {
            File::open(entry.path())
                .and_then(|file| file.sync_all())
                .map_err(|e| Error::io("cannot write the file to disk", entry.path(), e))?;
        }
    }
    Ok(())
}

/// Forces a folder's entries to disk, where the platform lets folders be opened.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|file| file.sync_all())
            .map_err(|e| Error::io("cannot write the folder to disk", folder, e))?;
    }
    Ok(())
}
