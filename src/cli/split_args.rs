//! The flags that choose a splitter, for every command that cuts documents.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use mingti::section::{Breakpoint, SplitKind, SplitOptions};

/// How documents are cut into sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SplitArg {
    /// Along headings, long sections at paragraphs
    Headings,
    /// Windows of fixed size
    Fixed,
    /// At the coarsest separators that give the size
    Recursive,
    /// Where the meaning of neighbouring sentences differs most, by the embedder
    Semantic,
    /// Where BERT's next-sentence head says that a sentence does not follow
    Nsp,
    /// Where a classifier that sees both sides finds a boundary
    CrossSegment,
    /// Where a model that labels sequences of sentences finds a boundary
    Seqmodel,
}

/// Flags.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SplitArgs {
    /// How documents are cut [default: headings]
    #[arg(long, value_enum, value_name = "SPLITTER")]
    pub(crate) split: Option<SplitArg>,
    /// Longest section in characters, 0 for no limit [default: 500 for `fixed`, 1000 for `recursive`, else 1500]
    #[arg(long, value_name = "N")]
    pub(crate) split_size: Option<usize>,
    /// Folder of the model of `nsp`, `cross-segment` and `seqmodel`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) split_model: Option<PathBuf>,
    /// Probability at which these draw a boundary, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "X", value_parser = super::args::share)]
    pub(crate) split_threshold: Option<f32>,
    /// Percentile of the distances above which `semantic` draws a boundary [default: 95]
    #[arg(long, value_name = "P", value_parser = percent)]
    pub(crate) split_percentile: Option<f64>,
    /// Sentences on either side that `semantic` embeds together [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) split_buffer: Option<usize>,
}

impl SplitArgs {
    /// As the library takes them; `usual` is the kind of the settings file.
    pub(crate) fn options(&self, usual: Option<SplitArg>, overlap: usize) -> SplitOptions {
        let kind = match self.split.or(usual).unwrap_or(SplitArg::Headings) {
            SplitArg::Headings => SplitKind::Headings,
            SplitArg::Fixed => SplitKind::Fixed,
            SplitArg::Recursive => SplitKind::Recursive,
            SplitArg::Semantic => SplitKind::Semantic,
            SplitArg::Nsp => SplitKind::NextSentence,
            SplitArg::CrossSegment => SplitKind::CrossSegment,
            SplitArg::Seqmodel => SplitKind::Sequence,
        };
        let default = SplitOptions::default();
        SplitOptions {
            kind,
            size: self.split_size,
            overlap,
            buffer: self.split_buffer.unwrap_or(default.buffer),
            breakpoint: self.split_percentile.map_or(default.breakpoint, Breakpoint::Percentile),
            threshold: self.split_threshold.unwrap_or(default.threshold),
            ..default
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=100.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 100".into()),
    }
}
