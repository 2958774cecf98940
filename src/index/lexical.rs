//! The lexical index: BM25 over sections, by tantivy, with the terms of [`terms`](super::terms).
//!
//! tantivy only ever sees terms that are cut already, so its tokenizers play no part. One thread writes one segment, so
//! the same sections always get the same scores. A generation's index never changes after it is written, so it is read
//! without locks, which also works on media that cannot be written.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::{Bm25StatisticsProvider, BooleanQuery, BoostQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    Directory, DocSet, Index, IndexWriter, ReloadPolicy, Searcher, TERMINATED, TantivyDocument, TantivyError, Term,
};

use super::generation::LexicalSection;
use super::terms::{self, TermKind, terms};
use crate::error::{Error, Kind, Result};

/// Memory for building; what does not fit goes to a further segment, merged at the end.
const BUDGET: usize = 128 << 20;
/// The same for changes, about the least that tantivy takes.
const CHANGE_BUDGET: usize = 16 << 20;
/// Each change makes a segment; past so many, those of earlier changes become one.
const MOST_SEGMENTS: usize = 8;

/// How much a match counts, by where and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FieldWeights {
    /// A word or pair in the title or the headings.
    pub heading: f32,
    /// A number, or another word with a digit, in the title or the headings: the name of an alarm, a part, an article.
    pub heading_number: f32,
    /// A word or pair in the text.
    pub body: f32,
    /// A single ideograph in the text or the headings.
    pub single: f32,
    /// A whole code in the text or the headings.
    pub code: f32,
}

impl Default for FieldWeights {
    fn default() -> Self {
        Self { heading: 0.6, heading_number: 3.0, body: 1.0, single: 0.15, code: 1.0 }
    }
}

/// Rows of the store that a search is restricted to.
#[derive(Debug, Clone)]
pub enum LexicalFilter {
    /// Only sections of these documents.
    Documents(Arc<HashSet<i64>>),
    /// Only these sections.
    Sections(Arc<HashSet<i64>>),
}

/// A section that shares terms with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// Row of the section in the store.
    pub section: i64,
    /// Row of its document.
    pub document: i64,
    /// BM25, above 0, without an upper bound.
    pub score: f32,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    section: Field,
    document: Field,
    /// Headings and title, text, single ideographs of both, codes of both.
    texts: [Field; TEXTS],
    /// How many terms the section has in each of these.
    lengths: [Field; TEXTS],
}

/// Fields that terms are looked for in.
const TEXTS: usize = 4;
const HEADING: usize = 0;
const BODY: usize = 1;
const SINGLE: usize = 2;
const CODE: usize = 3;
const NAMES: [&str; TEXTS] = ["heading", "body", "single", "code"];
const LENGTHS: [&str; TEXTS] = ["heading_len", "body_len", "single_len", "code_len"];

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_fieldnorms(true)
        .set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        section: builder.add_u64_field("section", FAST | INDEXED),
        document: builder.add_u64_field("document", FAST),
        texts: NAMES.map(|name| builder.add_text_field(name, text.clone())),
        lengths: LENGTHS.map(|name| builder.add_u64_field(name, FAST)),
    };
    (builder.build(), fields)
}

fn failed(what: &'static str, path: &Path) -> impl Fn(TantivyError) -> Error {
    move |source| {
        let known = match &source {
            TantivyError::IoError(error) => error.kind() == io::ErrorKind::StorageFull,
            TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => {
                io_error.kind() == io::ErrorKind::StorageFull
            }
            _ => false,
        };
        // Some of its errors are words only; this is the number of "no space left" on Unix.
        let full = known || cfg!(unix) && source.to_string().contains("(os error 28)");
        let kind = match &source {
            TantivyError::DataCorruption(_) | TantivyError::SchemaError(_) => Kind::Corrupt,
            TantivyError::IncompatibleIndex(_) => Kind::TooNew,
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_)) => Kind::Missing,
            _ => Kind::Io,
        };
        let error = Error::new(kind, what).at(path).because(source);
        match kind {
            _ if full => error.hint("free some disk space and run the command again; finished work is kept"),
            // A thread that writes does not say why it gave up.
            Kind::Io => {
                error.hint("see whether the disk is full or faulty and run the command again; finished work is kept")
            }
            _ => error,
        }
    }
}

/// What the sections of a lexical index hold together: what BM25 weighs a term against. It is kept beside the index and not
/// counted there, where sections that are gone go on counting until their segment is merged; so the same sections get the same
/// scores, however they came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Totals {
    sections: u64,
    /// Terms in each field.
    terms: [u64; TEXTS],
}

impl Totals {
    fn add(&mut self, lengths: [u64; TEXTS]) {
        self.sections += 1;
        for (total, len) in self.terms.iter_mut().zip(lengths) {
            *total += len;
        }
    }
}

/// Writes a lexical index.
pub(super) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
    path: std::path::PathBuf,
    totals: Totals,
    /// An index that was there is changed.
    changes: bool,
}

impl LexicalWriter {
    /// Starts an index in the folder `path`, which must exist and be empty.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let fail = failed("cannot make the lexical index", path);
        let (schema, fields) = schema();
        let index = Index::create_in_dir(path, schema).map_err(&fail)?;
        let writer: IndexWriter = index.writer_with_num_threads(1, BUDGET).map_err(&fail)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { writer, fields, path: path.to_owned(), totals: Totals::default(), changes: false })
    }

    /// Goes on with the index in the folder `path`, whose files may have other names elsewhere: none is written to, some are
    /// replaced. `before` is that index, opened.
    pub(super) fn extend(path: &Path, before: &LexicalIndex) -> Result<Self> {
        let fail = failed("cannot change the lexical index", path);
        let index = Index::open_in_dir(path).map_err(&fail)?;
        let writer: IndexWriter = index.writer_with_num_threads(1, CHANGE_BUDGET).map_err(&fail)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { writer, fields: before.fields, path: path.to_owned(), totals: before.totals, changes: true })
    }

    /// Takes sections of `before`, the index that this one goes on with, out.
    pub(super) fn remove(&mut self, before: &LexicalIndex, sections: &HashSet<i64>) -> Result<()> {
        for lengths in before.lengths(sections)? {
            self.totals.sections -= 1;
            for (total, len) in self.totals.terms.iter_mut().zip(lengths) {
                *total = total.saturating_sub(len);
            }
        }
        for &section in sections {
            self.writer.delete_term(Term::from_field_u64(self.fields.section, section as u64));
        }
        Ok(())
    }

    pub(super) fn add(&mut self, section: &LexicalSection<'_>) -> Result<()> {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        document.add_u64(fields.section, section.section as u64);
        document.add_u64(fields.document, section.document as u64);
        let mut texts: [Tokens; TEXTS] = Default::default();
        let headings = std::iter::once(section.title).chain(section.heading_path.iter().map(String::as_str));
        let sources = headings.map(|text| (text, HEADING)).chain([(section.text, BODY)]);
        for (text, words) in sources {
            for term in terms(text) {
                let field = match term.kind {
                    TermKind::Word | TermKind::Pair => words,
                    TermKind::Single => SINGLE,
                    TermKind::Code => CODE,
                };
                texts[field].push(term.text);
            }
        }
        let lengths = std::array::from_fn(|field| texts[field].0.len() as u64);
        for (field, (tokens, len)) in texts.into_iter().zip(lengths).enumerate() {
            let text = PreTokenizedString { text: String::new(), tokens: tokens.0 };
            document.add_pre_tokenized_text(fields.texts[field], text);
            document.add_u64(fields.lengths[field], len);
        }
        self.writer.add_document(document).map_err(failed("cannot write the lexical index", &self.path))?;
        self.totals.add(lengths);
        Ok(())
    }

    /// Writes what is left and merges: everything into one segment, or, in an index that was there, the segments of earlier changes
    /// when they become many.
    pub(super) fn finish(mut self) -> Result<Totals> {
        let fail = failed("cannot write the lexical index", &self.path);
        self.writer.commit().map_err(&fail)?;
        let mut segments = self.writer.index().searchable_segment_metas().map_err(&fail)?;
        segments.sort_by_key(|segment| std::cmp::Reverse((segment.max_doc(), segment.id())));
        let first = usize::from(self.changes);
        if segments.len() > if self.changes { MOST_SEGMENTS } else { 1 } {
            let ids: Vec<_> = segments[first..].iter().map(|segment| segment.id()).collect();
            self.writer.merge(&ids).wait().map_err(&fail)?;
        }
        self.writer.garbage_collect_files().wait().map_err(&fail)?;
        self.writer.wait_merging_threads().map_err(&fail)?;
        for lock in [".tantivy-writer.lock", ".tantivy-meta.lock"] {
            let _ = std::fs::remove_file(self.path.join(lock));
        }
        Ok(self.totals)
    }
}

#[derive(Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    fn push(&mut self, text: String) {
        let position = self.0.len();
        self.0.push(Token { offset_from: 0, offset_to: 0, position, text, position_length: 1 });
    }
}

/// An opened lexical index.
pub struct LexicalIndex {
    searcher: Searcher,
    fields: Fields,
    path: std::path::PathBuf,
    totals: Totals,
}

impl std::fmt::Debug for LexicalIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LexicalIndex").field("path", &self.path).finish_non_exhaustive()
    }
}

impl LexicalIndex {
    /// Opens the index in the folder `path`, whose sections together hold `totals`.
    pub(super) fn open(path: &Path, totals: Totals) -> Result<Self> {
        let fail = failed("cannot open the lexical index", path);
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(path).map_err(|error| fail(error.into()))?;
        let index = Index::open(Sealed(directory)).map_err(&fail)?;
        if index.schema() != schema {
            return Err(Error::new(Kind::Corrupt, "the lexical index has other fields than this version writes")
                .at(path)
                .hint("run `mingti index` again"));
        }
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(&fail)?;
        let searcher = reader.searcher();
        if searcher.num_docs() != totals.sections {
            return Err(Error::new(Kind::Corrupt, "the lexical index has another number of sections than it should")
                .at(path)
                .expected(totals.sections.to_string())
                .found(searcher.num_docs().to_string())
                .hint("run `mingti index` again"));
        }
        Ok(Self { searcher, fields, path: path.to_owned(), totals })
    }

    /// Number of sections.
    pub fn len(&self) -> usize {
        self.searcher.num_docs() as usize
    }

    /// True when there are no sections.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn term(&self, term: &terms::Term) -> Term {
        let field = match term.kind {
            TermKind::Word | TermKind::Pair => BODY,
            TermKind::Single => SINGLE,
            TermKind::Code => CODE,
        };
        Term::from_field_text(self.fields.texts[field], &term.text)
    }

    /// How many texts hold a term.
    pub fn frequency(&self, term: &terms::Term) -> Result<u64> {
        self.doc_freq(&self.term(term)).map_err(failed("cannot search the lexical index", &self.path))
    }

    /// Inverse document frequency of a term in the texts, as BM25 has it: about 0 for a term of every section.
    pub fn idf(&self, term: &terms::Term) -> Result<f32> {
        let frequency = self.frequency(term)? as f32;
        let total = self.totals.sections as f32;
        Ok((1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln())
    }

    /// How many terms each of these sections has in each field; nothing for a section that is not there.
    fn lengths(&self, sections: &HashSet<i64>) -> Result<Vec<[u64; TEXTS]>> {
        let fail = failed("cannot read the lexical index", &self.path);
        let mut found = Vec::new();
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(self.fields.section).map_err(&fail)?;
            let fast = segment.fast_fields();
            let mut columns = Vec::with_capacity(TEXTS);
            for name in LENGTHS {
                columns.push(fast.u64(name).map_err(&fail)?);
            }
            for &section in sections {
                let term = Term::from_field_u64(self.fields.section, section as u64);
                let postings =
                    index.read_postings(&term, IndexRecordOption::Basic).map_err(|error| fail(error.into()))?;
                let Some(postings) = postings else { continue };
                let document = postings.doc();
                if document != TERMINATED && !segment.is_deleted(document) {
                    found.push(std::array::from_fn(|field| columns[field].first(document).unwrap_or(0)));
                }
            }
        }
        Ok(found)
    }

    /// The `k` sections with the highest BM25 for `query`, best first; equal ones in the order of their rows. Where more than `k`
    /// would be needed to have all that are equal to the last, none of these comes, unless all are equal: which of them comes is
    /// not for their place in the index to say.
    pub fn search(
        &self,
        query: &[terms::Term],
        weights: &FieldWeights,
        k: usize,
        filter: Option<LexicalFilter>,
    ) -> Result<Vec<LexicalHit>> {
        if k == 0 || self.is_empty() || query.is_empty() {
            return Ok(Vec::new());
        }
        let fail = failed("cannot search the lexical index", &self.path);
        let query = self.query(query, weights);
        // tantivy reserves room for the whole limit.
        let top = TopDocs::with_limit(k.min(self.len()) + 1).order_by_score();
        let found = match filter {
            None => self.searcher.search_with_statistics_provider(&query, &top, self),
            Some(filter) => {
                let (field, rows) = match filter {
                    LexicalFilter::Documents(rows) => ("document", rows),
                    LexicalFilter::Sections(rows) => ("section", rows),
                };
                let keep = move |row: u64| rows.contains(&(row as i64));
                let filtered = FilterCollector::new(field.to_owned(), keep, top);
                self.searcher.search_with_statistics_provider(&query, &filtered, self)
            }
        }
        .map_err(&fail)?;
        let mut found = found;
        if let Some(&(beyond, _)) = found.get(k) {
            let whole = found.partition_point(|(score, _)| *score > beyond);
            found.truncate(if whole == 0 { k } else { whole.min(k) });
        }
        let mut hits = Vec::with_capacity(found.len());
        for (score, address) in found {
            let fast = self.searcher.segment_reader(address.segment_ord).fast_fields();
            let value = |name: &str| -> tantivy::Result<u64> {
                fast.u64(name)?
                    .first(address.doc_id)
                    .ok_or_else(|| TantivyError::InternalError(format!("a section without `{name}`")))
            };
            hits.push(LexicalHit {
                section: value("section").map_err(&fail)? as i64,
                document: value("document").map_err(&fail)? as i64,
                score,
            });
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.section.cmp(&b.section)));
        Ok(hits)
    }

    fn query(&self, query: &[terms::Term], weights: &FieldWeights) -> BooleanQuery {
        let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        let mut add = |term: Term, weight: f32| {
            if weight > 0.0 {
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                clauses.push((Occur::Should, Box::new(BoostQuery::new(Box::new(query), weight))));
            }
        };
        for term in query {
            match term.kind {
                TermKind::Word | TermKind::Pair => {
                    add(self.term(term), weights.body);
                    let number = term.text.bytes().any(|byte| byte.is_ascii_digit());
                    let weight = if number { weights.heading_number } else { weights.heading };
                    add(Term::from_field_text(self.fields.texts[HEADING], &term.text), weight);
                }
                TermKind::Single => add(self.term(term), weights.single),
                TermKind::Code => add(self.term(term), weights.code),
            }
        }
        if clauses.is_empty() {
            clauses.push((Occur::Should, Box::new(EmptyQuery)));
        }
        BooleanQuery::new(clauses)
    }

    /// Lets tantivy check the checksum of every file.
    pub fn verify(&self) -> Result<()> {
        let damaged =
            self.searcher.index().validate_checksum().map_err(failed("cannot check the lexical index", &self.path))?;
        match damaged.into_iter().next() {
            None => Ok(()),
            Some(file) => {
                Err(Error::new(Kind::Corrupt, "a file of the lexical index is damaged").at(&self.path.join(file)))
            }
        }
    }
}

impl Bm25StatisticsProvider for LexicalIndex {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let at = self.fields.texts.iter().position(|text| *text == field);
        Ok(at.map_or(0, |at| self.totals.terms[at]))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.totals.sections)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let mut frequency = 0;
        for segment in self.searcher.segment_readers() {
            let index = segment.inverted_index(term.field())?;
            frequency += match segment.alive_bitset() {
                None => u64::from(index.doc_freq(term)?),
                Some(alive) => match index.read_postings(term, IndexRecordOption::Basic)? {
                    Some(postings) => u64::from(postings.doc_freq_given_deletes(alive)),
                    None => 0,
                },
            };
        }
        Ok(frequency)
    }
}

/// A folder that is only read. Its lock always succeeds: nobody writes to a generation.
#[derive(Debug, Clone)]
struct Sealed(MmapDirectory);

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a generation is never changed")
}

impl Directory for Sealed {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(refused()), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(refused(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _path: &Path, _data: &[u8]) -> io::Result<()> {
        Err(refused())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
