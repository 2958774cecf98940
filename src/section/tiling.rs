//! What the splitters share: sections from the places where they start, and the sentences that splitters with a model
//! work on.

use super::blocks::{self, Block};
use super::{ModelSplitter, Section};
use crate::document::{Document, Span};
use crate::error::{Error, Kind, Result};

/// Sections that start at `starts`, in ascending code points. A first one starts at 0 whether it is named or not.
pub(super) fn at_starts(document: &Document, starts: impl IntoIterator<Item = usize>) -> Vec<Section> {
    let total = document.text.chars();
    let mut sections = Vec::new();
    let mut from = 0;
    for start in starts.into_iter().chain([total]) {
        let start = start.min(total);
        if start > from {
            sections.push(Section { span: Span::new(from, start), heading_path: Vec::new() });
            from = start;
        }
    }
    sections
}

/// The sentences of `document` as ranges that tile it: white space belongs to the sentence before it. A heading is one
/// with the sentence that follows it, so that no boundary can part the two. Rows of tables, items of lists and lines of
/// code count as sentences.
pub fn sentence_spans(document: &Document) -> Vec<Span> {
    let text = document.text.as_str();
    let (mut byte, mut chars) = (0, 0);
    let mut starts = vec![0];
    let mut after_heading = false;
    for piece in blocks::pieces(text, document.format) {
        chars += text.get(byte..piece.line).map_or(0, |between| between.chars().count());
        byte = byte.max(piece.line);
        if !after_heading {
            starts.push(chars);
        }
        after_heading = piece.block == Block::Heading;
    }
    at_starts(document, starts).into_iter().map(|section| section.span).collect()
}

/// Splits `document` after the sentences that `splitter` names.
pub(super) fn by_sentences<M: ?Sized>(
    splitter: &(impl ModelSplitter<M> + ?Sized),
    document: &Document,
    model: &M,
) -> Result<Vec<Section>> {
    let spans = sentence_spans(document);
    let sentences: Vec<&str> = spans.iter().map(|span| document.text.slice(*span)).collect();
    let breaks = splitter.breaks(&sentences, model)?;
    let starts = breaks.into_iter().filter_map(|index| spans.get(index)).map(|span| span.end);
    Ok(at_starts(document, starts))
}

/// An error unless a model gave as many answers as there were questions.
pub(super) fn check_count(found: usize, expected: usize, what: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::new(Kind::Model, format!("the model answered with a wrong number of {what}"))
        .expected(expected.to_string())
        .found(found.to_string()))
}

/// An error unless a model gave `expected` scores, each a finite number.
pub(super) fn check_scores(scores: &[f32], expected: usize) -> Result<()> {
    check_count(scores.len(), expected, "scores")?;
    match scores.iter().find(|score| !score.is_finite()) {
        Some(score) => {
            Err(Error::new(Kind::Model, "the model gave a score that is no number").found(score.to_string()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;

    fn sentences(text: &str, format: Format) -> Vec<String> {
        let document = Document::from_text("a.md", text.to_owned(), format);
        sentence_spans(&document).into_iter().map(|span| document.text.slice(span).to_owned()).collect()
    }

    #[test]
    fn sentences_tile_the_text_and_headings_stay_with_what_follows() {
        let text = "\n# 手册\n\n停机。断电。\n\n## 检修\n### 泵\n\n- 加油\n- 换皮带\n\n完成。\n";
        assert_eq!(
            sentences(text, Format::Markdown),
            ["\n", "# 手册\n\n停机。", "断电。\n\n", "## 检修\n### 泵\n\n- 加油\n", "- 换皮带\n\n", "完成。\n"]
        );
        assert_eq!(sentences("", Format::Markdown), Vec::<String>::new());
        assert_eq!(sentences(" \n", Format::PlainText), [" \n"]);
    }

    #[test]
    fn starts_out_of_range_or_repeated_make_no_empty_sections() {
        let document = Document::from_text("a.md", "设备停机。".to_owned(), Format::Markdown);
        let spans = |starts: &[usize]| -> Vec<[usize; 2]> {
            at_starts(&document, starts.iter().copied()).iter().map(|section| section.span.into()).collect()
        };
        assert_eq!(spans(&[]), [[0, 5]]);
        assert_eq!(spans(&[0, 2, 2, 5, 9]), [[0, 2], [2, 5]]);
    }
}
