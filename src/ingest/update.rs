//! Bringing documents, sections and units up to date.

use std::collections::HashSet;
use std::path::Path;

use rayon::prelude::*;

use super::cost::ModelUse;
use super::options::IndexSummary;
use super::plan::{Context, Prepared};
use super::progress::{Interrupt, Progress};
use super::tier::Effort;
use super::units::{SectionText, Settings, format_name, format_of, passage_units};
use super::walk::{Found, FoundFile};
use crate::document::{Document, Span, Text};
use crate::error::{Error, Kind, Result};
use crate::extractor::{Extractor, is_asked};
use crate::proposition::{Assembly, Decision, SentenceYield, UnitKind, apply_decisions, set_threshold};
use crate::store::{
    CacheKey, DocumentRow, NewDocument, NewSection, Recipe, SectionDone, SectionRow, View, Writer, section_key,
};

/// Sections that are read ahead: a model fills its batch from them, and without one they are committed together.
const TOGETHER: usize = 64;
/// Files that are read side by side and lie in memory together, and about how many bytes of them.
const READ_TOGETHER: (usize, u64) = (16, 64 << 20);

/// Compares files with the index and writes what changed; deletes what vanished.
pub(super) fn update(
    writer: &mut Writer,
    found: &Found,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
    summary: &mut IndexSummary,
) -> Result<()> {
    progress(Progress::Started { files: found.files.len() });
    let mut rest = found.files.as_slice();
    while !rest.is_empty() {
        interrupt.check()?;
        let (files, after) = rest.split_at(together(rest));
        rest = after;
        let mut known = Vec::with_capacity(files.len());
        for file in files {
            known.push(writer.view().document_by_path(&file.name)?);
        }
        let looked: Vec<Result<Looked>> =
            files.par_iter().zip(&known).map(|(file, known)| look(file, known.as_ref(), settings)).collect();
        for ((file, known), looked) in files.iter().zip(known).zip(looked) {
            summary.files += 1;
            match looked {
                Ok(looked) => take(writer, file, known, looked, settings, progress, summary)?,
                Err(error) => {
                    summary.failed += 1;
                    progress(Progress::Failed { path: file.name.clone(), error: error.to_string() });
                }
            }
        }
    }
    delete_vanished(writer, found, summary)
}

/// How many of `files` are read side by side: at least one.
fn together(files: &[FoundFile]) -> usize {
    let mut bytes = 0;
    let fits = |file: &&FoundFile| {
        bytes += std::fs::metadata(&file.source).map_or(0, |metadata| metadata.len());
        bytes <= READ_TOGETHER.1
    };
    files.iter().take(READ_TOGETHER.0).take_while(fits).count().clamp(1, files.len().max(1))
}

/// What became of a file since it was indexed.
enum Looked {
    /// Its bytes are those that are known.
    Unchanged,
    /// It is new or changed; with the hash of its bytes.
    Read(Box<Document>, CacheKey),
}

/// Reads a file, and parses it if it is not as the index has it.
fn look(file: &FoundFile, known: Option<&DocumentRow>, settings: &Settings) -> Result<Looked> {
    if let Some(known) = known {
        refuse_stranger(file, &known.root)?;
    }
    let bytes = std::fs::read(&file.source).map_err(|error| Error::io("cannot read the file", &file.source, error))?;
    let hash = settings.document_hash(&bytes);
    if known.is_some_and(|known| !known.deleted && known.content_hash == hash) {
        return Ok(Looked::Unchanged);
    }
    Ok(Looked::Read(Box::new(Document::from_bytes(&file.name, bytes, &settings.reading)?), hash))
}

/// Brings the index up to date with a file that was looked at.
fn take(
    writer: &mut Writer,
    file: &FoundFile,
    known: Option<DocumentRow>,
    looked: Looked,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
    summary: &mut IndexSummary,
) -> Result<()> {
    let (document, hash) = match (looked, known) {
        (Looked::Read(document, hash), _) => (document, hash),
        (Looked::Unchanged, known) => {
            let mut sections = 0;
            if let Some(known) = known {
                if known.root != file.root {
                    writer.set_root(known.row, &file.root)?;
                }
                sections = writer.view().sections(known.row)?.len();
            }
            summary.unchanged += 1;
            progress(Progress::File { path: file.name.clone(), new_sections: 0, kept_sections: sections });
            return Ok(());
        }
    };
    progress(Progress::Read {
        path: file.name.clone(),
        encoding: document.encoding.to_owned(),
        confidence: document.confidence,
        pages: document.pages.len(),
        chars: document.text.chars(),
    });
    let warnings = document.warning.iter().cloned();
    let skipped = document.skipped.iter().map(|part| format!("{}: {}", part.place, part.reason));
    for message in warnings.chain(summarised(skipped.collect())) {
        progress(Progress::Warning { path: file.name.clone(), message });
    }
    let origin = Origin { root: &file.root, encoding: document.encoding, content_hash: hash };
    let replaced = write_document(writer, &document, &origin, settings)?;
    summary.changed += 1;
    progress(Progress::File { path: file.name.clone(), new_sections: replaced.pending, kept_sections: replaced.kept });
    Ok(())
}

/// All of few messages, the first of many.
fn summarised(mut messages: Vec<String>) -> Vec<String> {
    /// A manual may have hundreds of pictures.
    const SHOWN: usize = 5;
    if messages.len() > SHOWN + 1 {
        let more = messages.len() - SHOWN;
        messages.truncate(SHOWN);
        messages.push(format!("and {more} more parts that were not read"));
    }
    messages
}

/// The index has a document with this path that came from another place. If its file is still there, both are wanted and
/// cannot both have the path; if it is gone, the folder was moved.
fn refuse_stranger(file: &FoundFile, root: &str) -> Result<()> {
    if root == file.root {
        return Ok(());
    }
    let root = Path::new(root);
    let other = if root.is_file() { root.to_owned() } else { root.join(&file.name) };
    match other.canonicalize() {
        Ok(other) if other != file.source && other.is_file() => {
            Err(Error::new(Kind::Usage, format!("the index has `{}` under the same path", other.display()))
                .hint("index the folder that holds both, so that their paths differ, or use another index"))
        }
        _ => Ok(()),
    }
}

/// Where a document comes from.
struct Origin<'a> {
    root: &'a str,
    encoding: &'a str,
    content_hash: CacheKey,
}

fn write_document(
    writer: &mut Writer,
    document: &Document,
    origin: &Origin<'_>,
    settings: &Settings,
) -> Result<crate::store::Replaced> {
    let format = format_name(document.format);
    let plan = settings.planner.plan(document)?;
    let contexts: Vec<String> = plan.sections.iter().map(|(_, context)| context.to_json()).collect();
    let rows: Vec<NewSection<'_>> = plan
        .sections
        .iter()
        .zip(&contexts)
        .map(|((section, context), json)| {
            let text = document.text.slice(section.span);
            let (title, heading_path) = (document.title.as_str(), section.heading_path.as_slice());
            NewSection {
                span: section.span,
                heading_path,
                text,
                context: json,
                input_hash: settings.section_hash(&SectionText { format, title, heading_path, text }, context),
            }
        })
        .collect();
    let pages = serde_json::to_string(&document.pages)
        .map_err(|error| Error::new(Kind::Internal, "cannot keep the list of pages").because(error))?;
    let new = NewDocument {
        path: &document.path,
        root: origin.root,
        title: &document.title,
        date: plan.date,
        content_hash: origin.content_hash,
        encoding: origin.encoding,
        format,
        chars: document.text.chars(),
        pages: &pages,
    };
    writer.replace_document(&new, &rows)
}

/// Soft-deletes the documents of walked folders whose files are gone.
fn delete_vanished(writer: &mut Writer, found: &Found, summary: &mut IndexSummary) -> Result<()> {
    let present: HashSet<(&str, &str)> = found.files.iter().map(|f| (f.root.as_str(), f.name.as_str())).collect();
    let gone: Vec<i64> = writer
        .view()
        .documents()?
        .into_iter()
        .filter(|document| !document.deleted && !present.contains(&(document.root.as_str(), document.path.as_str())))
        .filter(|document| match found.folders.get(&document.root) {
            Some(unknown) => {
                let below = |u: &String| u.is_empty() || document.path.starts_with(&format!("{u}/"));
                // Seen under another root, unreadable now, or still there (a link, say): not vanished.
                !unknown.iter().any(below) && !Path::new(&document.root).join(&document.path).is_file()
            }
            None => false,
        })
        .map(|document| document.row)
        .collect();
    summary.deleted = writer.delete_documents(&gone)?;
    Ok(())
}

/// A section on its way from pending to done.
struct Waiting {
    section: i64,
    path: String,
    prepared: Prepared,
    recipe: Recipe,
}

/// Makes the units of every section that waits for them.
pub(super) fn extract(
    writer: &mut Writer,
    settings: &Settings,
    extractor: &mut Option<&mut dyn Extractor>,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
    summary: &mut IndexSummary,
) -> Result<()> {
    replay(writer, progress, interrupt, summary)?;
    adopt(writer, settings)?;
    let pending = writer.view().pending()?;
    let mut work = Work { total: pending.len(), done: 0, progress, summary };
    let before = ModelUse::of_index(&writer.view())?;
    for rows in pending.chunks(TOGETHER) {
        interrupt.check()?;
        let mut batch = Vec::with_capacity(rows.len());
        for &row in rows {
            batch.push(waiting(writer.view(), settings, row)?);
        }
        let result = extract_batch(writer, settings, extractor, &batch, interrupt, &mut work);
        if work.summary.model != ModelUse::default() {
            let mut sum = before;
            sum += work.summary.model;
            sum.keep(writer)?;
        }
        result?;
    }
    Ok(())
}

fn extract_batch(
    writer: &mut Writer,
    settings: &Settings,
    extractor: &mut Option<&mut dyn Extractor>,
    batch: &[Waiting],
    interrupt: &Interrupt,
    work: &mut Work<'_>,
) -> Result<()> {
    let (asked, verbatim): (Vec<&Waiting>, Vec<&Waiting>) =
        batch.iter().partition(|w| settings.asks_a_model(&w.prepared.context));
    if !verbatim.is_empty() {
        work.commit(writer, &verbatim.into_iter().map(|w| (w, Vec::new())).collect::<Vec<_>>(), false)?;
    }
    let mut unknown = Vec::new();
    for w in asked {
        match kept(writer, w)? {
            Some(yields) => work.commit(writer, &[(w, yields)], true)?,
            None => unknown.push(w),
        }
    }
    let Some(extractor) = extractor.as_deref_mut().filter(|_| !unknown.is_empty()) else { return Ok(()) };
    let passages: Vec<_> = unknown.iter().map(|w| w.prepared.passage()).collect();
    // Each section is committed, and the model's answer kept, as soon as it is there: a run that is killed asks for
    // nothing twice but the sections it was at.
    let mut done = |index: usize, yields: Vec<Option<SentenceYield>>| {
        let w = unknown[index];
        let json = serde_json::to_string(&yields)
            .map_err(|error| Error::new(Kind::Internal, "cannot keep what the model wrote").because(error))?;
        if let Some(key) = &w.recipe.extraction {
            writer.put_extraction(key, &json)?;
        }
        work.commit(writer, &[(w, yields)], false)
    };
    let (tokens, reuse) = (extractor.tokens(), extractor.reuse());
    let result = extractor.extract_each(&passages, &mut done, &|| interrupt.is_raised());
    let now = extractor.reuse();
    work.summary.model += ModelUse {
        tokens: extractor.tokens().saturating_sub(tokens),
        prefixes_in_memory: now.in_memory.saturating_sub(reuse.in_memory),
        prefixes_on_disk: now.on_disk.saturating_sub(reuse.on_disk),
        prefix_tokens: now.tokens.saturating_sub(reuse.tokens),
        ..ModelUse::default()
    };
    result
}

/// Makes the units of the sections that wait only because a person decided about them: what the model wrote is known.
/// Sections that wait for the model are left.
pub(super) fn replay(
    writer: &mut Writer,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
    summary: &mut IndexSummary,
) -> Result<()> {
    let mut known = Vec::new();
    for row in writer.view().pending()? {
        let section = writer.view().section(row)?;
        let Some(recipe) = section.recipe else { continue };
        let (path, prepared) = prepared(writer.view(), recipe.unit, section)?;
        let w = Waiting { section: row, path, prepared, recipe };
        let yields = kept(writer, &w)?;
        if recipe.extraction.is_none() || yields.is_some() {
            known.push((w, yields.unwrap_or_default()));
        }
    }
    let mut work = Work { total: known.len(), done: 0, progress, summary };
    for (w, yields) in known {
        interrupt.check()?;
        work.commit(writer, &[(&w, yields)], true)?;
    }
    Ok(())
}

/// Committing finished sections and telling about it.
struct Work<'a> {
    total: usize,
    done: usize,
    progress: &'a mut dyn FnMut(Progress),
    summary: &'a mut IndexSummary,
}

impl Work<'_> {
    /// Gates and assembles what was written for a section and applies what people decided about it.
    fn make(&mut self, writer: &Writer, w: &Waiting, yields: &[Option<SentenceYield>]) -> Result<Made> {
        let passage = w.prepared.passage();
        let mut assembly = passage_units(w.recipe.unit, &passage, yields);
        set_threshold(&mut assembly.units, w.recipe.review_below);
        // Where statements are not asked for, nothing that people say about them matters.
        let decisions: Vec<Decision> = match w.recipe.unit {
            UnitKind::Proposition => {
                let about = section_key(passage.heading_path, passage.text);
                writer.view().decisions_about(&about)?.into_iter().map(|row| row.decision).collect()
            }
            _ => Vec::new(),
        };
        let applied = apply_decisions(&passage, &mut assembly, &decisions);
        for (number, reasons) in &applied.refused {
            let reasons: Vec<String> = reasons.iter().map(|r| format!("{}: {}", r.gate, r.detail)).collect();
            let message = format!(
                "a reviewed statement is not searchable, a gate refuses it ({}): {}",
                reasons.join("; "),
                decisions[*number].statement
            );
            (self.progress)(Progress::Warning { path: w.path.clone(), message });
        }
        check_ranges(&assembly, passage.text.chars().count(), &w.path)?;
        let ledger = serde_json::to_string(&assembly.ledger).unwrap_or_default();
        Ok(Made { assembly, keys: applied.keys, ledger })
    }

    /// Gates and assembles what was written for sections and commits them in one transaction.
    fn commit(
        &mut self,
        writer: &mut Writer,
        sections: &[(&Waiting, Vec<Option<SentenceYield>>)],
        cached: bool,
    ) -> Result<()> {
        let made: Vec<Made> = sections.iter().map(|(w, yields)| self.make(writer, w, yields)).collect::<Result<_>>()?;
        let finished: Vec<SectionDone<'_>> = sections
            .iter()
            .zip(&made)
            .map(|((w, _), made)| SectionDone {
                section: w.section,
                units: &made.assembly.units,
                uncovered: &made.assembly.uncovered,
                ledger: &made.ledger,
                keys: &made.keys,
                recipe: w.recipe,
            })
            .collect();
        writer.commit_sections(&finished)?;
        for (w, yields) in sections {
            self.summary.model += model_use(&w.prepared, yields, cached);
            self.done += 1;
            self.summary.sections += 1;
            self.summary.cached += usize::from(cached);
            (self.progress)(Progress::Section { done: self.done, total: self.total, path: w.path.clone() });
        }
        Ok(())
    }
}

/// Every range of a unit lies inside its section: what could not be shown to a person is not written.
fn check_ranges(assembly: &Assembly, chars: usize, path: &str) -> Result<()> {
    let outside = |span: &&Span| span.is_empty() || span.end > chars;
    match assembly.units.iter().flat_map(|u| u.evidence.iter().chain(&u.antecedents)).find(outside) {
        None => Ok(()),
        Some(span) => Err(Error::new(Kind::Internal, "a unit points outside its section")
            .place(path)
            .expected(format!("a range within 0..{chars}"))
            .found(format!("{}..{}", span.start, span.end))),
    }
}

/// The units of a section on their way into the store.
struct Made {
    assembly: Assembly,
    keys: Vec<String>,
    ledger: String,
}

/// What the model wrote for a section in an earlier run.
fn kept(writer: &Writer, w: &Waiting) -> Result<Option<Vec<Option<SentenceYield>>>> {
    let Some(key) = &w.recipe.extraction else { return Ok(None) };
    let yields = writer.extraction(key)?.and_then(|json| serde_json::from_str::<Vec<_>>(&json).ok());
    Ok(yields.filter(|yields: &Vec<Option<SentenceYield>>| yields.len() == w.prepared.passage().sentences.len()))
}

fn waiting(view: View<'_>, settings: &Settings, row: i64) -> Result<Waiting> {
    let section = view.section(row)?;
    let document = view.document(section.document)?;
    let context = Context::from_json(&section.context).ok_or_else(|| {
        Error::new(Kind::Corrupt, "a section of the index has no settings").place(document.path.clone())
    })?;
    let (format, title, heading_path, text) =
        (document.format.as_str(), document.title.as_str(), section.heading_path.as_slice(), section.text.as_str());
    let key = settings.extraction_key(&SectionText { format, title, heading_path, text }, &context);
    let extraction = settings.asks_a_model(&context).then_some(key);
    let recipe = Recipe { unit: context.unit, extraction, review_below: settings.review_below };
    let (path, prepared) = prepared(view, recipe.unit, section)?;
    Ok(Waiting { section: row, path, prepared, recipe })
}

/// The path of a section's document, and the section with everything that its units are made from. `unit` stands in for
/// the settings of a section that an older version wrote.
pub(super) fn prepared(view: View<'_>, unit: UnitKind, section: SectionRow) -> Result<(String, Prepared)> {
    let document = view.document(section.document)?;
    let context = Context::from_json(&section.context).unwrap_or_else(|| Context::new(unit, Effort::Full));
    let format = format_of(&document.format);
    Ok((document.path, Prepared::new(document.title, section.heading_path, section.text, format, context)))
}

/// How the sentences of a section were answered.
fn model_use(prepared: &Prepared, yields: &[Option<SentenceYield>], cached: bool) -> ModelUse {
    let mut out = ModelUse::default();
    if yields.is_empty() {
        return out;
    }
    let passage = prepared.passage();
    let text = Text::new(passage.text.to_owned());
    for (i, sentence) in passage.sentences.iter().enumerate() {
        let chars = sentence.span.len() as u64;
        let answered = yields.get(i).is_some_and(Option::is_some);
        let (count, sum) = match (answered, cached) {
            (true, false) => (&mut out.asked_sentences, &mut out.asked_chars),
            (true, true) => (&mut out.cached_sentences, &mut out.cached_chars),
            (false, _) if passage.keeps(i) && is_asked(text.slice(sentence.span), sentence.kind) => {
                (&mut out.kept_sentences, &mut out.kept_chars)
            }
            (false, _) => continue,
        };
        *count += 1;
        *sum += chars;
    }
    out
}

/// Sections that an interrupted run with other settings left waiting are made with the settings of this run, so that a
/// generation can be published; their documents are marked to be looked at again when they are named.
fn adopt(writer: &mut Writer, settings: &Settings) -> Result<()> {
    const LOOK_AGAIN: CacheKey = [0; 32];
    let mut foreign: Vec<i64> = Vec::new();
    for row in writer.view().pending()? {
        let section = writer.view().section(row)?;
        if foreign.last() == Some(&section.document) {
            continue;
        }
        let document = writer.view().document(section.document)?;
        let known = Context::from_json(&section.context).is_some_and(|context| {
            let (format, title) = (document.format.as_str(), document.title.as_str());
            let (heading_path, text) = (section.heading_path.as_slice(), section.text.as_str());
            let hash = settings.section_hash(&SectionText { format, title, heading_path, text }, &context);
            hash == section.input_hash
        });
        if !known {
            foreign.push(section.document);
        }
    }
    for row in foreign {
        let stored = writer.view().document(row)?;
        let text = writer.view().text(row)?;
        let document = Document::from_text(&stored.path, text, format_of(&stored.format));
        let origin = Origin { root: &stored.root, encoding: &stored.encoding, content_hash: LOOK_AGAIN };
        write_document(writer, &document, &origin, settings)?;
    }
    Ok(())
}
