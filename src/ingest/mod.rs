//! The write path: what changed, extract, gate, embed, build, switch.
//!
//! [`index`] brings an index up to date with files and folders. Each section is committed as soon as its units are there, so
//! a run that is interrupted or killed goes on where it was; readers see the old generation until the new one is whole.

mod build;
mod cost;
mod on_demand;
mod options;
mod plan;
mod progress;
mod review;
mod tier;
mod units;
mod update;
mod walk;

pub use build::embedding_text;
pub use cost::ModelUse;
pub use on_demand::OnDemand;
pub use options::{Embedded, IndexOptions, IndexSummary, PassageEmbedder};
pub use plan::{Context, Plan, Planner, Prepared};
pub use progress::{Interrupt, Progress};
pub use review::{ReviewSummary, Ruling, review};
pub use tier::{Effort, Tier};
pub use units::passage_units;

use std::path::Path;

use crate::error::{Error, Kind, Result};
use crate::extractor::Extractor;
use crate::proposition::UnitKind;
use crate::store::{Reader, Writer};

/// Bytes of extractor's outputs that are kept although no section uses them any more: a text that is changed back, or a model that
/// is chosen again, need not be asked about twice.
const UNUSED_EXTRACTIONS: u64 = 64 << 20;

/// Brings the index in `options.index` up to date with the files at `options.paths` and publishes a new generation if
/// anything changed.
///
/// Files are compared by the hash of their bytes, sections by the hash of their text and of what they are told of the rest
/// of the document ([`Context`]); only sections that are new are extracted. Files that vanished from a named folder are soft-deleted; files outside the named paths are not touched.
/// A file that cannot be read is told as [`Progress::Failed`], counted in [`IndexSummary::failed`], and does not stop the
/// others. Without an extractor every sentence is kept verbatim.
///
/// A document is known by its path relative to the folder that was named, or by its file name when the file itself was
/// named. Two different files that would get the same path are refused, the second one as failed.
///
/// # Errors
/// A tier is faulty, none of the paths exists, another process writes to the index, the disk or a model fails, or `interrupt` was raised
/// ([`Error::is_interrupted`]). Finished sections are kept in every case.
pub fn index(
    options: &IndexOptions,
    mut extractor: Option<&mut dyn Extractor>,
    embedder: &dyn PassageEmbedder,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
) -> Result<IndexSummary> {
    if options.paths.is_empty() {
        return Err(Error::new(Kind::Usage, "no file or folder to index"));
    }
    let mut summary = IndexSummary::default();
    let settings = units::Settings::new(options, extractor.as_deref())?;
    let found = walk::walk(options, progress)?;
    summary.failed += found.failed;
    let mut writer = Writer::open_or_create(&options.index)?;
    update::update(&mut writer, &found, &settings, progress, interrupt, &mut summary)?;
    update::extract(&mut writer, &settings, &mut extractor, progress, interrupt, &mut summary)?;
    build::publish(&mut writer, options, embedder, build::Make::Update, progress, interrupt, &mut summary)?;
    if summary.model.asked_sentences > 0 {
        writer.trim_extractions(UNUSED_EXTRACTIONS)?;
    }
    Ok(summary)
}

/// Builds the files of the index in `index` in one piece, so that nothing of what changed since the last time lies beside them. Does
/// nothing when nothing does.
///
/// `embedder` must be the one that filled the index; another one embeds everything anew.
///
/// # Errors
/// There is no finished index, another process writes to it, or the disk fails.
pub fn compact(
    index: &Path,
    embedder: &dyn PassageEmbedder,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
) -> Result<IndexSummary> {
    rebuild(index, build::Make::Compact, embedder, progress, interrupt)
}

/// Builds the files of the index in `index` from its database, whatever state they are in. The database itself cannot be repaired.
///
/// # Errors
/// As [`compact`].
pub fn repair(
    index: &Path,
    embedder: &dyn PassageEmbedder,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
) -> Result<IndexSummary> {
    rebuild(index, build::Make::Anew, embedder, progress, interrupt)
}

fn rebuild(
    index: &Path,
    make: build::Make,
    embedder: &dyn PassageEmbedder,
    progress: &mut dyn FnMut(Progress),
    interrupt: &Interrupt,
) -> Result<IndexSummary> {
    let unit = Reader::open(index)?.require_generation()?.unit.clone();
    let mut writer = Writer::open_or_create(index)?;
    let waiting = writer.view().pending()?.len();
    if waiting > 0 {
        return Err(Error::new(Kind::Usage, "an indexing run was not finished")
            .at(index)
            .found(format!("{waiting} sections that wait for their statements"))
            .hint("run the same `mingti index` command again first"));
    }
    let unit = serde_json::from_value(unit.into()).unwrap_or(UnitKind::Proposition);
    let options = IndexOptions { unit, ..IndexOptions::new(index, Vec::new()) };
    let mut summary = IndexSummary::default();
    build::publish(&mut writer, &options, embedder, make, progress, interrupt, &mut summary)?;
    Ok(summary)
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod review_tests;
#[cfg(test)]
mod tests;
