//! The folder of a generation: written beside its final name, synced, then renamed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::builder::GraphOptions;
use super::changes::{Changes, VectorEdit};
use super::files::{checksum, sync_file, sync_folder};
use super::format::Pointer;
use super::lexical::{LexicalIndex, LexicalWriter, Totals};
use super::reader::CHECKED_AT_OPENING;
use super::vectors::VectorIndex;
use super::writer::{self, VectorSource};
use crate::error::{Error, Kind, Result};

/// Name of the vector file in the folder.
pub const VECTOR_FILE: &str = "vectors.mtv";

/// Name of the folder of the lexical index in the folder.
pub const LEXICAL_FOLDER: &str = "lexical";

/// Name of the file of what changed since the vector file was built; there is none where nothing did.
pub(super) const CHANGES_FILE: &str = "changes.mtc";

/// Name of the list of the generation's files.
const LIST_FILE: &str = "files.json";

/// Version of that list. Raised as well when the same text gives other terms.
const LIST_VERSION: u32 = 2;

/// A section as the lexical index needs it.
#[derive(Debug, Clone, Copy)]
pub struct LexicalSection<'a> {
    /// Row of the section in the store.
    pub section: i64,
    /// Row of its document.
    pub document: i64,
    /// Title of the document.
    pub title: &'a str,
    /// Headings above, outermost first.
    pub heading_path: &'a [String],
    /// The section's text.
    pub text: &'a str,
}

/// What a build made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct BuildReport {
    /// Vectors in the vector file.
    pub vectors: usize,
    /// Sections in the lexical index.
    pub sections: usize,
    /// True when there were enough vectors for a graph.
    pub graph: bool,
    /// Vectors that a search for themselves missed before the repair.
    pub not_found: usize,
    /// Nodes that no path led to before the repair.
    pub unreachable: usize,
}

/// The files of a generation beside the vector file, which checks itself, so that a damaged or missing one is an error and never
/// a wrong answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileList {
    version: u32,
    files: Vec<ListedFile>,
    lexical: Totals,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFile {
    /// Path in the folder, with `/`.
    name: String,
    len: u64,
    crc32: u32,
}

/// Builds a generation's files.
pub struct GenerationBuilder {
    folder: Unnamed,
    lexical: LexicalWriter,
    /// Sections that were added.
    sections: usize,
}

impl std::fmt::Debug for GenerationBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GenerationBuilder").field("target", &self.folder.target).finish_non_exhaustive()
    }
}

impl GenerationBuilder {
    /// Starts to build the folder `target`, under a name with `.tmp` until it is finished. Leftovers of a run that was
    /// killed are removed.
    pub fn create(target: &Path) -> Result<Self> {
        let folder = Unnamed::create(target)?;
        let lexical = LexicalWriter::create(&folder.path.join(LEXICAL_FOLDER))?;
        Ok(Self { folder, lexical, sections: 0 })
    }

    /// Adds a section to the lexical index.
    pub fn add_section(&mut self, section: &LexicalSection<'_>) -> Result<()> {
        self.sections += 1;
        self.lexical.add(section)
    }

    /// Writes the vectors (of unit length, in the order of path, section and unit) with what they stand for, finishes the
    /// lexical index, verifies both and gives the folder its name.
    pub fn finish(
        self,
        vectors: VectorSource<'_>,
        pointers: &[Pointer],
        options: &GraphOptions,
    ) -> Result<BuildReport> {
        let written = writer::write(&self.folder.path.join(VECTOR_FILE), vectors, pointers, options)?;
        let totals = self.lexical.finish()?;
        seal(&self.folder.path, totals)?;
        verify_generation(&self.folder.path)?;
        self.folder.publish()?;
        Ok(BuildReport {
            vectors: pointers.len(),
            sections: self.sections,
            graph: written.graph,
            not_found: written.repaired.not_found,
            unreachable: written.repaired.unreachable,
        })
    }
}

/// Makes a generation out of the one before it: files that stay are shared, what changed is written beside them.
pub struct GenerationEditor<'a> {
    folder: Unnamed,
    before: &'a Generation,
    lexical: LexicalWriter,
}

impl std::fmt::Debug for GenerationEditor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GenerationEditor").field("target", &self.folder.target).finish_non_exhaustive()
    }
}

impl<'a> GenerationEditor<'a> {
    /// Starts to make the folder `target` out of `before`, which lies in the folder `source`.
    pub fn create(target: &Path, source: &Path, before: &'a Generation) -> Result<Self> {
        let folder = Unnamed::create(target)?;
        share(&source.join(VECTOR_FILE), &folder.path.join(VECTOR_FILE))?;
        for name in names(&source.join(LEXICAL_FOLDER))? {
            share(&source.join(LEXICAL_FOLDER).join(&name), &folder.path.join(LEXICAL_FOLDER).join(&name))?;
        }
        let lexical = LexicalWriter::extend(&folder.path.join(LEXICAL_FOLDER), &before.lexical)?;
        Ok(Self { folder, before, lexical })
    }

    /// Adds a section to the lexical index.
    pub fn add_section(&mut self, section: &LexicalSection<'_>) -> Result<()> {
        self.lexical.add(section)
    }

    /// Takes out and adds, verifies what was written and gives the folder its name. Returns the number of vectors.
    pub fn finish(mut self, edit: &VectorEdit) -> Result<usize> {
        let vectors = &self.before.vectors;
        let changes = Changes::edited(vectors, edit)?;
        self.lexical.remove(&self.before.lexical, &edit.removed.iter().copied().collect())?;
        let path = self.folder.path.join(CHANGES_FILE);
        fs::write(&path, changes.encode(&vectors.file)).map_err(|error| Error::io("cannot write", &path, error))?;
        sync_file(&path)?;
        let totals = self.lexical.finish()?;
        seal(&self.folder.path, totals)?;
        // Shared files were verified when they were written.
        let written = open_generation(&self.folder.path)?;
        if written.vectors.changes.as_ref() != Some(&changes) {
            return Err(
                Error::new(Kind::Corrupt, "the changes of the index do not read as they were written").at(&path)
            );
        }
        let len = written.vectors.len();
        drop(written);
        self.folder.publish()?;
        Ok(len)
    }
}

/// A folder that has another name until it is complete.
struct Unnamed {
    target: PathBuf,
    path: PathBuf,
}

impl Unnamed {
    /// An empty folder that will be `target`, with a folder for the lexical index in it. What is there of either is removed.
    fn create(target: &Path) -> Result<Self> {
        let mut name = target.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".tmp");
        let path = target.with_file_name(name);
        for old in [&path, &target.to_owned()] {
            match fs::remove_dir_all(old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("cannot remove an unfinished generation", old, error));
                }
                _ => {}
            }
        }
        let lexical = path.join(LEXICAL_FOLDER);
        fs::create_dir_all(&lexical).map_err(|error| Error::io("cannot make the folder", &lexical, error))?;
        Ok(Self { target: target.to_owned(), path })
    }

    /// Syncs the names in the folder and gives it its own.
    fn publish(self) -> Result<()> {
        sync_folder(&self.path.join(LEXICAL_FOLDER))?;
        sync_folder(&self.path)?;
        fs::rename(&self.path, &self.target)
            .map_err(|error| Error::io("cannot name the new generation", &self.target, error))?;
        match self.target.parent() {
            Some(parent) => sync_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent }),
            None => Ok(()),
        }
    }
}

/// Gives a file that is never written to another name, or makes a copy where that cannot be.
fn share(from: &Path, to: &Path) -> Result<()> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map_err(|error| Error::io("cannot copy a file of the index", from, error))?;
    sync_file(to)
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let fail = |error| Error::io("cannot list the folder", folder, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        names.push(entry.map_err(fail)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Lists the files beside the vector file, and syncs them.
fn seal(folder: &Path, totals: Totals) -> Result<()> {
    let mut listed: Vec<String> =
        names(&folder.join(LEXICAL_FOLDER))?.into_iter().map(|name| format!("{LEXICAL_FOLDER}/{name}")).collect();
    listed.extend(folder.join(CHANGES_FILE).exists().then(|| CHANGES_FILE.to_owned()));
    let mut files = Vec::new();
    for name in listed {
        let path = folder.join(&name);
        sync_file(&path)?;
        let (len, crc32) = checksum(&path)?;
        files.push(ListedFile { name, len, crc32 });
    }
    let list = folder.join(LIST_FILE);
    let json = serde_json::to_vec_pretty(&FileList { version: LIST_VERSION, files, lexical: totals })
        .map_err(|error| Error::new(Kind::Internal, "cannot write the list of files").because(error))?;
    fs::write(&list, json).map_err(|error| Error::io("cannot write", &list, error))?;
    sync_file(&list)
}

/// An opened generation.
#[derive(Debug)]
pub struct Generation {
    /// Its vectors.
    pub vectors: VectorIndex,
    /// Its terms.
    pub lexical: LexicalIndex,
}

/// Opens the generation in `folder` after checking that its files are those that were written: by length, and for small ones (or
/// when `thorough`) by checksum.
fn open(folder: &Path, thorough: bool) -> Result<Generation> {
    let path = folder.join(LIST_FILE);
    let corrupt = |what: &str, at: &Path| Error::new(Kind::Corrupt, what).at(at).hint("run `mingti index` again");
    let older = || {
        Error::new(Kind::Usage, "the index was written by an older version of mingti")
            .at(folder)
            .hint("run `mingti index` again; nothing is extracted or embedded anew")
    };
    if !path.exists() && folder.join("lexical.json").exists() {
        return Err(older());
    }
    let json = fs::read(&path).map_err(|error| Error::io("cannot read the list of files", &path, error))?;
    let list: FileList = serde_json::from_slice(&json)
        .map_err(|error| corrupt("the list of the generation's files is damaged", &path).because(error))?;
    if list.version > LIST_VERSION {
        return Err(Error::new(Kind::TooNew, "the index was written by a newer version of mingti").at(&path));
    }
    if list.version < LIST_VERSION {
        return Err(older());
    }
    let total: u64 = list.files.iter().fold(0, |sum, file| sum.saturating_add(file.len));
    for file in &list.files {
        let path = folder.join(&file.name);
        let len =
            fs::metadata(&path).map_err(|error| Error::io("cannot open a file of the index", &path, error))?.len();
        if len != file.len {
            return Err(corrupt("a file of the index has the wrong length", &path)
                .expected(format!("{} bytes", file.len))
                .found(len.to_string()));
        }
        if (thorough || total <= CHECKED_AT_OPENING) && checksum(&path)?.1 != file.crc32 {
            return Err(corrupt("a file of the index is damaged", &path));
        }
    }
    let vectors = folder.join(VECTOR_FILE);
    let vectors = match list.files.iter().any(|file| file.name == CHANGES_FILE) {
        true => VectorIndex::open_changed(&vectors, &folder.join(CHANGES_FILE))?,
        false => VectorIndex::open(&vectors)?,
    };
    Ok(Generation { vectors, lexical: LexicalIndex::open(&folder.join(LEXICAL_FOLDER), list.lexical)? })
}

/// Opens both indexes of the generation in `folder`.
pub fn open_generation(folder: &Path) -> Result<Generation> {
    open(folder, false)
}

/// Checks every byte of the generation in `folder`, and every link of its graph.
pub fn verify_generation(folder: &Path) -> Result<()> {
    let generation = open(folder, true)?;
    generation.vectors.verify()?;
    generation.lexical.verify()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::HashSet;
    use std::sync::Arc;

    use crate::index::terms::query_terms;
    use crate::index::{FieldWeights, LexicalFilter};

    fn build(target: &Path, texts: &[&str]) -> BuildReport {
        let mut builder = GenerationBuilder::create(target).unwrap();
        for (i, text) in texts.iter().enumerate() {
            let headings = [format!("第{i}节")];
            let section = LexicalSection {
                section: i as i64 + 10,
                document: i as i64 % 2,
                title: "BX-9000 手册",
                heading_path: &headings,
                text,
            };
            builder.add_section(&section).unwrap();
        }
        let pointers: Vec<Pointer> =
            (10..10 + texts.len() as i64).map(|section| Pointer { unit: 1, section, document: 0 }).collect();
        let mut read = |_: usize, out: &mut [f32]| {
            out.copy_from_slice(&[1.0, 0.0]);
            Ok(())
        };
        let vectors = VectorSource::new(texts.len(), 2, &mut read);
        builder.finish(vectors, &pointers, &GraphOptions::default()).unwrap()
    }

    fn search(lexical: &LexicalIndex, query: &str) -> Vec<i64> {
        let hits = lexical.search(&query_terms(query), &FieldWeights::default(), 10, None).unwrap();
        hits.iter().map(|hit| hit.section).collect()
    }

    #[test]
    fn a_code_is_found_whole_and_by_part_however_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("gen-1");
        build(&target, &["主轴过热，报警 ERR-9801。", "油温过低，报警 ERR-9802。", "每月检查 9810 号滤芯。", "无关。"]);
        let Generation { vectors, lexical } = open_generation(&target).unwrap();
        assert_eq!((vectors.len(), lexical.len()), (4, 4));
        assert_eq!((vectors.section_vectors(12), vectors.section_vectors(9)), (vec![2], vec![]));
        for query in ["ERR-9801", "err 9801", "ＥＲＲ－９８０１", "9801", "err_9801 怎么办"] {
            assert_eq!(search(&lexical, query)[0], 10, "{query}");
        }
        assert_eq!(search(&lexical, "油温")[0], 11);
        assert_eq!(search(&lexical, "滤芯")[0], 12);
        assert!(search(&lexical, "！？ ").is_empty());
        assert_eq!(search(&lexical, "BX-9000").len(), 4);
        let odd = LexicalFilter::Documents(Arc::new(HashSet::from([1])));
        let filtered = lexical.search(&query_terms("报警"), &FieldWeights::default(), 10, Some(odd)).unwrap();
        assert_eq!(filtered.iter().map(|hit| hit.section).collect::<Vec<i64>>(), [11]);
        verify_generation(&target).unwrap();
    }

    #[test]
    fn an_index_of_nothing_answers_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("gen-1");
        build(&target, &[]);
        assert!(search(&open_generation(&target).unwrap().lexical, "报警").is_empty());
    }

    #[test]
    fn the_same_sections_get_the_same_scores() {
        let dir = tempfile::tempdir().unwrap();
        let texts: Vec<String> = (0..200).map(|i| format!("报警 {} 温度 {}", i % 17, i % 5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let runs: Vec<_> = ["gen-1", "gen-2"]
            .iter()
            .map(|name| {
                build(&dir.path().join(name), &texts);
                let lexical = open_generation(&dir.path().join(name)).unwrap().lexical;
                lexical.search(&query_terms("温度 3 报警 16"), &FieldWeights::default(), 50, None).unwrap()
            })
            .collect();
        assert_eq!(runs[0], runs[1]);
    }

    #[test]
    fn every_damaged_or_missing_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("gen-1");
        build(&target, &["主轴过热，报警 ERR-9801。", "油温过低。"]);
        let lexical = target.join(LEXICAL_FOLDER);
        let mut paths: Vec<PathBuf> = fs::read_dir(&lexical).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.extend([target.join(LIST_FILE), target.join(VECTOR_FILE)]);
        for path in paths {
            let whole = fs::read(&path).unwrap();
            let step = (whole.len() / 40).max(1);
            for at in (0..whole.len()).step_by(step) {
                let mut bytes = whole.clone();
                bytes[at] ^= 0x40;
                fs::write(&path, &bytes).unwrap();
                // A flipped bit in the name of a listed file, or in the list's white space, is the most that can pass.
                let opened = open_generation(&target);
                assert!(opened.is_err() || path.ends_with(LIST_FILE), "{path:?} at {at}");
                fs::write(&path, &whole[..at]).unwrap();
                assert!(open_generation(&target).is_err(), "{path:?} cut at {at}");
            }
            fs::remove_file(&path).unwrap();
            assert!(open_generation(&target).is_err(), "{path:?}");
            fs::write(&path, &whole).unwrap();
        }
        open_generation(&target).unwrap();
    }
}
