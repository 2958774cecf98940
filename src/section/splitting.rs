//! One of the splitters, with what it needs, by name.

use std::fmt;
use std::sync::Arc;

use super::{
    BoundaryScorer, Breakpoint, CrossSegmentSplitter, FixedSplitter, HeadingSplitter, ModelSplitter,
    NextSentenceSplitter, RecursiveSplitter, Section, SemanticSplitter, SequenceSplitter, Splitter, TextEmbedder, pack,
    tiling,
};
use crate::document::{Document, Span};
use crate::error::{Error, Kind, Result};

/// Characters of the shortest and the longest part that a section is cut into where its splitter knows no limit.
const PART: (usize, usize) = (800, 1500);

/// A way to cut documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SplitKind {
    /// Along the headings; long sections at paragraphs and sentences.
    #[default]
    Headings,
    /// Windows of a fixed length.
    Fixed,
    /// At the coarsest separators that give pieces of the length.
    Recursive,
    /// Where the meaning of neighbouring sentences differs most.
    Semantic,
    /// Where a model says that the next sentence does not follow.
    NextSentence,
    /// Where a model that sees both sides finds a boundary.
    CrossSegment,
    /// Where a model that reads sequences of sentences finds a boundary.
    Sequence,
}

impl SplitKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Headings => "headings",
            Self::Fixed => "fixed",
            Self::Recursive => "recursive",
            Self::Semantic => "semantic",
            Self::NextSentence => "nsp",
            Self::CrossSegment => "cross-segment",
            Self::Sequence => "seqmodel",
        }
    }

    /// True for those that need a model of their own.
    pub fn needs_model(self) -> bool {
        matches!(self, Self::NextSentence | Self::CrossSegment | Self::Sequence)
    }
}

/// How a document is cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitOptions {
    /// Which splitter.
    pub kind: SplitKind,
    /// Longest section in code points, 0 for no limit. `None`: 500 for `fixed`, 1,000 for `recursive`, else 1,500.
    pub size: Option<usize>,
    /// Code points that pieces have in common with the one before; sections never overlap.
    pub overlap: usize,
    /// Sentences on either side that are embedded together (`semantic`).
    pub buffer: usize,
    /// From which distance on a boundary is drawn (`semantic`).
    pub breakpoint: Breakpoint,
    /// Probability at which a boundary is drawn; that below which a sentence does not follow for `nsp`.
    pub threshold: f32,
    /// Tokens on either side that the model sees (`cross-segment`).
    pub context: usize,
}

impl Default for SplitOptions {
    fn default() -> Self {
        Self {
            kind: SplitKind::Headings,
            size: None,
            overlap: 0,
            buffer: 1,
            breakpoint: Breakpoint::PERCENTILE,
            threshold: 0.5,
            context: 128,
        }
    }
}

/// A splitter that is ready to run.
#[derive(Clone, Default)]
pub struct Splitting {
    options: SplitOptions,
    embedder: Option<Arc<dyn TextEmbedder + Send + Sync>>,
    scorer: Option<Arc<dyn BoundaryScorer + Send + Sync>>,
    /// Tells models apart.
    model: String,
}

impl fmt::Debug for Splitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Splitting").field("options", &self.options).field("model", &self.model).finish_non_exhaustive()
    }
}

impl Splitting {
    /// A splitter that needs no model.
    ///
    /// # Errors
    /// The kind needs a model.
    pub fn new(options: SplitOptions) -> Result<Self> {
        match options.kind {
            SplitKind::Headings | SplitKind::Fixed | SplitKind::Recursive => Ok(Self { options, ..Self::default() }),
            kind => Err(Error::new(Kind::Usage, format!("the splitter `{}` needs a model", kind.name()))
                .hint("name its folder with `--split-model`")),
        }
    }

    /// The semantic splitter over an embedder, which `model` tells from others.
    pub fn semantic(options: SplitOptions, embedder: Arc<dyn TextEmbedder + Send + Sync>, model: String) -> Self {
        let options = SplitOptions { kind: SplitKind::Semantic, ..options };
        Self { options, embedder: Some(embedder), scorer: None, model }
    }

    /// A splitter over a model of boundaries, which `model` tells from others.
    pub fn by_model(options: SplitOptions, scorer: Arc<dyn BoundaryScorer + Send + Sync>, model: String) -> Self {
        Self { options, embedder: None, scorer: Some(scorer), model }
    }

    /// Everything that may change what [`Self::split`] gives, as text.
    pub fn digest(&self) -> String {
        if self.options == SplitOptions::default() {
            String::new()
        } else {
            format!("{:?} {}", self.options, self.model)
        }
    }

    /// The sections of `document`, under its headings. They tile it.
    ///
    /// # Errors
    /// A model fails.
    pub fn split(&self, document: &Document) -> Result<Vec<Section>> {
        let options = &self.options;
        let size = |usual: usize| match options.size.unwrap_or(usual) {
            0 => usize::MAX,
            size => size,
        };
        let sections = match options.kind {
            SplitKind::Headings => {
                let max = size(PART.1);
                return Ok(HeadingSplitter { min: shortest(max), max }.split(document));
            }
            SplitKind::Fixed => FixedSplitter { size: size(500), overlap: 0 }.split(document),
            SplitKind::Recursive => RecursiveSplitter::cjk(size(1000), 0).split(document),
            _ => parts(document, self.by_meaning(document)?, size(PART.1)),
        };
        Ok(under_headings(document, sections))
    }

    /// The pieces of `document` with their overlap, under its headings; without overlap they are its sections.
    ///
    /// # Errors
    /// As for [`Self::split`].
    pub fn pieces(&self, document: &Document) -> Result<Vec<Section>> {
        let SplitOptions { kind, overlap, size, .. } = self.options;
        let spans = match kind {
            SplitKind::Fixed if overlap > 0 => {
                FixedSplitter { size: size.unwrap_or(500), overlap }.pieces(&document.text)
            }
            SplitKind::Recursive if overlap > 0 => {
                RecursiveSplitter::cjk(size.unwrap_or(1000), overlap).pieces(&document.text)
            }
            _ => return self.split(document),
        };
        let sections = spans.into_iter().map(|span| Section { span, heading_path: Vec::new() }).collect();
        Ok(under_headings(document, sections))
    }

    fn by_meaning(&self, document: &Document) -> Result<Vec<Section>> {
        let SplitOptions { kind, buffer, breakpoint, threshold, context, .. } = self.options;
        let missing = || Error::new(Kind::Internal, format!("the splitter `{}` has no model", kind.name()));
        if kind == SplitKind::Semantic {
            let embedder = self.embedder.as_deref().ok_or_else(missing)?;
            let splitter = SemanticSplitter { buffer, breakpoint, ..SemanticSplitter::default() };
            return splitter.split_with(document, embedder);
        }
        let scorer = self.scorer.as_deref().ok_or_else(missing)?;
        match kind {
            SplitKind::NextSentence => NextSentenceSplitter { threshold }.split_with(document, scorer),
            SplitKind::CrossSegment => CrossSegmentSplitter { context, threshold }.split_with(document, scorer),
            _ => SequenceSplitter { threshold, ..SequenceSplitter::default() }.split_with(document, scorer),
        }
    }
}

/// The shortest part of a section of which none is longer than `max`.
fn shortest(max: usize) -> usize {
    PART.0.min(max / 15 * 8)
}

/// Sections longer than `max` cut at paragraphs and sentences.
fn parts(document: &Document, sections: Vec<Section>, max: usize) -> Vec<Section> {
    let mut starts = Vec::with_capacity(sections.len());
    for section in sections {
        starts.push(section.span.start);
        if section.span.len() > max {
            let text = document.text.slice(section.span);
            let cuts = pack::cuts(text, document.format, shortest(max), max);
            starts.extend(cuts.into_iter().map(|cut| section.span.start + text[..cut].chars().count()));
        }
    }
    tiling::at_starts(document, starts)
}

/// `sections` with the headings under which their first words stand.
fn under_headings(document: &Document, mut sections: Vec<Section>) -> Vec<Section> {
    let skeleton = HeadingSplitter { min: 0, max: usize::MAX }.split(document);
    for section in &mut sections {
        let text = document.text.slice(section.span);
        let lead = text.chars().take_while(|c| c.is_whitespace()).count();
        let Span { start, end } = section.span;
        let first = (start + lead).min(end.saturating_sub(1));
        let after = skeleton.partition_point(|whole| whole.span.start <= first);
        if let Some(whole) = after.checked_sub(1).and_then(|at| skeleton.get(at)) {
            section.heading_path.clone_from(&whole.heading_path);
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::Format;

    /// Two kinds of sentences.
    struct Topics;

    impl TextEmbedder for Topics {
        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
            let share = |text: &String| text.matches('泵').count() as f32 / text.chars().count() as f32;
            Ok(texts.iter().map(|text| vec![share(text) * 10.0, 1.0]).collect())
        }
    }

    fn document() -> Document {
        let pump = "泵应当接地。泵的泵壳泵轴要检查。泵停。";
        let text = format!("# 泵\n\n{}\n\n# 库房\n\n{}\n", pump.repeat(30), "库房保持干燥，每日通风两次。".repeat(60));
        Document::from_text("a.md", text, Format::Markdown)
    }

    #[test]
    fn the_default_is_that_of_the_heading_splitter() {
        let document = document();
        assert_eq!(Splitting::default().split(&document).unwrap(), HeadingSplitter::default().split(&document));
        assert_eq!(shortest(PART.1), HeadingSplitter::default().min);
    }

    #[test]
    fn every_kind_gives_sections_under_their_headings_that_tile_the_text() {
        let document = document();
        let plain = |kind, size| Splitting::new(SplitOptions { kind, size, ..SplitOptions::default() }).unwrap();
        let semantic = |size| {
            Splitting::semantic(SplitOptions { size, ..SplitOptions::default() }, Arc::new(Topics), "toy".into())
        };
        let all = [
            plain(SplitKind::Headings, None),
            plain(SplitKind::Fixed, Some(300)),
            plain(SplitKind::Recursive, Some(300)),
            semantic(Some(0)),
            semantic(Some(400)),
        ];
        let second = document.text.char_of(document.text.as_str().find("# 库房").unwrap());
        let mut digests: Vec<String> = all.iter().map(Splitting::digest).collect();
        for splitting in &all {
            let sections = splitting.split(&document).unwrap();
            let text: String = sections.iter().map(|section| document.text.slice(section.span)).collect();
            assert_eq!(text, document.text.as_str());
            for section in &sections {
                let own = document.text.slice(section.span);
                let lead = own.chars().take_while(|c| c.is_whitespace()).count();
                let heading = if section.span.start + lead >= second { "库房" } else { "泵" };
                assert_eq!(section.heading_path, [heading], "{:?} {own}", splitting.options);
            }
        }
        let longest = all[4].split(&document).unwrap().iter().map(|section| section.span.len()).max().unwrap();
        assert!(longest <= 400);
        assert!(digests[0].is_empty());
        digests.dedup();
        assert_eq!(digests.len(), 5);
        let overlapping =
            SplitOptions { kind: SplitKind::Fixed, size: Some(100), overlap: 20, ..SplitOptions::default() };
        let pieces = Splitting::new(overlapping).unwrap().pieces(&document).unwrap();
        assert_eq!((pieces[0].span, pieces[1].span), (Span::new(0, 100), Span::new(80, 180)));
        assert!(Splitting::new(SplitOptions { kind: SplitKind::Sequence, ..SplitOptions::default() }).is_err());
    }
}
