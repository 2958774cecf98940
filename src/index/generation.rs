//! The folder of a generation: written beside its final name, synced, then renamed.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::builder::GraphOptions;
use super::files::{checksum, sync_file, sync_folder};
use super::format::Pointer;
use super::lexical::{LexicalIndex, LexicalWriter};
use super::reader::{CHECKED_AT_OPENING, VectorIndex};
use super::writer::{self, VectorSource};
use crate::error::{Error, Kind, Result};

/// Name of the vector file in the folder.
pub const VECTOR_FILE: &str = "vectors.mtv";

/// Name of the folder of the lexical index in the folder.
pub const LEXICAL_FOLDER: &str = "lexical";

/// Name of the list of the lexical index's files.
const LIST_FILE: &str = "lexical.json";

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

/// The lexical index's files, so that a damaged one is an error and never a wrong answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileList {
    version: u32,
    files: Vec<ListedFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFile {
    name: String,
    len: u64,
    crc32: u32,
}

/// Builds a generation's files.
pub struct GenerationBuilder {
    target: PathBuf,
    folder: PathBuf,
    lexical: LexicalWriter,
    /// Sections that were added.
    sections: usize,
}

impl std::fmt::Debug for GenerationBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GenerationBuilder").field("target", &self.target).finish_non_exhaustive()
    }
}

impl GenerationBuilder {
    /// Starts to build the folder `target`, under a name with `.tmp` until it is finished. Leftovers of a run that was
    /// killed are removed.
    pub fn create(target: &Path) -> Result<Self> {
        let mut name = target.file_name().map_or_else(OsString::new, OsString::from);
        name.push(".tmp");
        let folder = target.with_file_name(name);
        for old in [&folder, &target.to_owned()] {
            match fs::remove_dir_all(old) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("cannot remove an unfinished generation", old, error));
                }
                _ => {}
            }
        }
        let lexical = folder.join(LEXICAL_FOLDER);
        fs::create_dir_all(&lexical).map_err(|error| Error::io("cannot make the folder", &lexical, error))?;
        Ok(Self { target: target.to_owned(), lexical: LexicalWriter::create(&lexical)?, folder, sections: 0 })
    }

    /// Adds a section to the lexical index. Sections must come in the order of document path and place.
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
        let vector_file = self.folder.join(VECTOR_FILE);
        let written = writer::write(&vector_file, vectors, pointers, options)?;
        self.lexical.finish()?;
        seal_lexical(&self.folder)?;
        verify_generation(&self.folder)?;
        sync_folder(&self.folder.join(LEXICAL_FOLDER))?;
        sync_folder(&self.folder)?;
        fs::rename(&self.folder, &self.target)
            .map_err(|error| Error::io("cannot name the new generation", &self.target, error))?;
        if let Some(parent) = self.target.parent() {
            sync_folder(if parent.as_os_str().is_empty() { Path::new(".") } else { parent })?;
        }
        Ok(BuildReport {
            vectors: pointers.len(),
            sections: self.sections,
            graph: written.graph,
            not_found: written.repaired.not_found,
            unreachable: written.repaired.unreachable,
        })
    }
}

/// Lists and syncs the lexical files.
fn seal_lexical(folder: &Path) -> Result<()> {
    let lexical = folder.join(LEXICAL_FOLDER);
    let fail = |error| Error::io("cannot list the folder", &lexical, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(&lexical).map_err(fail)? {
        names.push(entry.map_err(fail)?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let mut files = Vec::new();
    for name in names {
        let path = lexical.join(&name);
        sync_file(&path)?;
        let (len, crc32) = checksum(&path)?;
        files.push(ListedFile { name, len, crc32 });
    }
    let list = folder.join(LIST_FILE);
    let json = serde_json::to_vec_pretty(&FileList { version: 1, files })
        .map_err(|error| Error::new(Kind::Internal, "cannot write the list of files").because(error))?;
    fs::write(&list, json).map_err(|error| Error::io("cannot write", &list, error))?;
    sync_file(&list)
}

/// Opens the lexical index of a generation after checking that its files are those that were written: by length, and
/// for small indexes (or when `thorough`) by checksum.
pub(super) fn open_lexical(folder: &Path, thorough: bool) -> Result<LexicalIndex> {
    let path = folder.join(LIST_FILE);
    let json = fs::read(&path).map_err(|error| Error::io("cannot read the list of files", &path, error))?;
    let corrupt = |what: &str, at: &Path| Error::new(Kind::Corrupt, what).at(at).hint("run `mingti index` again");
    let list: FileList = serde_json::from_slice(&json)
        .map_err(|error| corrupt("the list of the lexical index's files is damaged", &path).because(error))?;
    if list.version != 1 {
        return Err(Error::new(Kind::TooNew, "the lexical index was written by a newer version of mingti").at(&path));
    }
    let lexical = folder.join(LEXICAL_FOLDER);
    let total: u64 = list.files.iter().fold(0, |sum, file| sum.saturating_add(file.len));
    for file in &list.files {
        let path = lexical.join(&file.name);
        let len = fs::metadata(&path)
            .map_err(|error| Error::io("cannot open a file of the lexical index", &path, error))?
            .len();
        if len != file.len {
            return Err(corrupt("a file of the lexical index has the wrong length", &path)
                .expected(format!("{} bytes", file.len))
                .found(len.to_string()));
        }
        if (thorough || total <= CHECKED_AT_OPENING) && checksum(&path)?.1 != file.crc32 {
            return Err(corrupt("a file of the lexical index is damaged", &path));
        }
    }
    LexicalIndex::open(&lexical)
}

/// Opens both indexes of the generation in `folder`.
pub fn open_generation(folder: &Path) -> Result<(VectorIndex, LexicalIndex)> {
    Ok((VectorIndex::open(&folder.join(VECTOR_FILE))?, open_lexical(folder, false)?))
}

/// Checks every byte of the generation in `folder`, and every link of its graph.
pub fn verify_generation(folder: &Path) -> Result<()> {
    VectorIndex::open(&folder.join(VECTOR_FILE))?.verify()?;
    open_lexical(folder, true)?.verify()
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
        let (vectors, lexical) = open_generation(&target).unwrap();
        assert_eq!((vectors.len(), vectors.sections(), lexical.len()), (4, 4, 4));
        assert_eq!((vectors.section_vectors(12), vectors.section_vectors(9)), (2..3, 0..0));
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
        assert!(search(&open_generation(&target).unwrap().1, "报警").is_empty());
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
                let lexical = open_generation(&dir.path().join(name)).unwrap().1;
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
