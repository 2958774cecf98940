//! Finding the files.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::options::IndexOptions;
use super::progress::Progress;
use crate::document::supported;
use crate::error::{Error, Kind, Result};

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    /// Where it is.
    pub(super) source: PathBuf,
    /// Its path in the index.
    pub(super) name: String,
    /// The folder or file that was named, resolved.
    pub(super) root: String,
}

/// What the named paths hold.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// In order of their paths in the index.
    pub(super) files: Vec<FoundFile>,
    /// The folders that were walked, resolved, each with the paths in the index below which something could not be read:
    /// what is missing there is not known to have vanished. An empty path stands for the whole folder.
    pub(super) folders: BTreeMap<String, Vec<String>>,
    /// Paths that could not be read.
    pub(super) failed: usize,
}

/// Walks the named paths. Hidden files and folders, the index itself and files of other types are left out; symbolic links
/// inside a folder are told and not followed, so that nothing outside the folder is read.
pub(super) fn walk(options: &IndexOptions, progress: &mut dyn FnMut(Progress)) -> Result<Found> {
    let mut found = Found::default();
    let mut taken: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut seen: HashSet<PathBuf> = HashSet::new();
    let index = options.index.canonicalize().ok();
    let mut first_fault = None;
    let mut reached = 0;
    for path in &options.paths {
        let root = match path.canonicalize() {
            Ok(root) => root,
            Err(source) => {
                let error = Error::io("cannot find the file or folder", path, source);
                fail(&mut found, path, &error, progress);
                first_fault.get_or_insert(error);
                continue;
            }
        };
        reached += 1;
        if root.is_dir() {
            walk_folder(path, &root, index.as_deref(), &mut seen, &mut taken, &mut found, progress);
        } else if seen.insert(root.clone()) {
            let name = root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            take(FoundFile { name, root: text(&root), source: root }, &mut taken, &mut found, progress);
        }
    }
    match first_fault {
        // Nothing to do at all: the caller gets the error itself, and no index is made.
        Some(error) if reached == 0 => Err(error),
        _ => {
            found.files.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(found)
        }
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn fail(found: &mut Found, path: &Path, error: &Error, progress: &mut dyn FnMut(Progress)) {
    found.failed += 1;
    progress(Progress::Failed { path: text(path), error: error.to_string() });
}

/// Two different files with one path in the index would overwrite each other: the second is refused.
fn take(file: FoundFile, taken: &mut BTreeMap<String, PathBuf>, found: &mut Found, progress: &mut dyn FnMut(Progress)) {
    if let Some(first) = taken.get(&file.name) {
        let error = Error::new(Kind::Usage, format!("`{}` would have the same path in the index", first.display()))
            .hint("index the folder that holds both, so that their paths differ");
        fail(found, &file.source, &error, progress);
        return;
    }
    taken.insert(file.name.clone(), file.source.clone());
    found.files.push(file);
}

fn walk_folder(
    named: &Path,
    root: &Path,
    index: Option<&Path>,
    seen: &mut HashSet<PathBuf>,
    taken: &mut BTreeMap<String, PathBuf>,
    found: &mut Found,
    progress: &mut dyn FnMut(Progress),
) {
    let key = text(root);
    let mut unknown = Vec::new();
    let entries = WalkDir::new(root).follow_links(false).sort_by_file_name().into_iter().filter_entry(|entry| {
        entry.depth() == 0
            || (!entry.file_name().to_string_lossy().starts_with('.')
                && index.is_none_or(|index| entry.path() != index))
    });
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(root).to_owned();
                unknown.push(relative(&path, root).unwrap_or_default());
                let source = error.into_io_error().unwrap_or_else(|| std::io::Error::other("a loop of links"));
                fail(found, &path, &Error::io("cannot read the folder", &path, source), progress);
                continue;
            }
        };
        let path = entry.path();
        let kind = entry.file_type();
        if kind.is_symlink() && (supported(path) || path.is_dir()) {
            let message = "a symbolic link is not followed; name its target to index it".to_owned();
            progress(Progress::Warning { path: text(path), message });
            continue;
        }
        if !kind.is_file() || !supported(path) {
            continue;
        }
        let Some(name) = relative(path, root) else {
            let error = Error::new(Kind::Format, "the name is not valid UTF-8").at(path).hint("rename the file");
            fail(found, path, &error, progress);
            continue;
        };
        if !seen.insert(path.to_owned()) {
            let message = format!("already indexed through another path; skipped in {}", named.display());
            progress(Progress::Warning { path: text(path), message });
            continue;
        }
        take(FoundFile { source: path.to_owned(), name, root: key.clone() }, taken, found, progress);
    }
    found.folders.entry(key).or_default().extend(unknown);
}

/// The path below `root`, with `/`; `None` when it is not valid UTF-8.
fn relative(path: &Path, root: &Path) -> Option<String> {
    let below = path.strip_prefix(root).ok()?;
    let parts: Option<Vec<&str>> = below.components().map(|c| c.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}
