//! Boundaries that a trained model sees: what such models are asked, and the splitters that ask about single places.
//!
//! [`NextSentenceSplitter`] asks whether a sentence follows the one before it (the next-sentence prediction of BERT,
//! Devlin et al. 2019); [`CrossSegmentSplitter`] shows the model the tokens on either side of a candidate place (Lukasik
//! et al. 2020, *Text Segmentation by Cross Segment Attention*). Splitters that read whole sequences of sentences are in
//! [`window`](super::window). The models themselves stand behind [`BoundaryScorer`], which deals in numbers of tokens.

use super::ModelSplitter;
use super::tiling::check_scores;
use crate::error::{Error, Kind, Result};

/// Questions that are put to a model at a time.
const BATCH: usize = 32;

/// Tokens left and right of a place, without special tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair<'a> {
    /// What comes before.
    pub left: &'a [u32],
    /// What comes after.
    pub right: &'a [u32],
}

/// A sequence of sentences as a sequence model reads it: `[CLS]`, then each of `sentences` with an end mark, then `rest`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window<'a> {
    /// Tokens of the sentences, without special tokens.
    pub sentences: Vec<&'a [u32]>,
    /// The first tokens of a sentence that does not fit any more; context alone, no end mark behind it.
    pub rest: &'a [u32],
}

/// A model that tells boundaries. It knows its tokens and either of the two kinds of question.
pub trait BoundaryScorer {
    /// The tokens of `text` without special tokens.
    ///
    /// # Errors
    /// The tokenizer fails.
    fn tokens(&self, text: &str) -> Result<Vec<u32>>;

    /// Most tokens of one input, special tokens included.
    fn max_tokens(&self) -> usize;

    /// Special tokens that an input with two texts has: `[CLS]`, `[SEP]`, `[SEP]`; one more for models after RoBERTa.
    fn pair_marks(&self) -> usize {
        3
    }

    /// One probability for each pair: that the right text follows the left one ([`NextSentenceSplitter`]), or that there
    /// is a boundary between them ([`CrossSegmentSplitter`]), as the model was trained.
    ///
    /// # Errors
    /// The model fails or knows no pairs.
    fn pairs(&self, pairs: &[Pair<'_>]) -> Result<Vec<f32>> {
        Err(unable("pairs of texts", pairs.len()))
    }

    /// The probability of a boundary after each sentence of `window`.
    ///
    /// # Errors
    /// The model fails or knows no sequences.
    fn window(&self, window: &Window<'_>) -> Result<Vec<f32>> {
        Err(unable("sequences of sentences", window.sentences.len()))
    }
}

fn unable(what: &str, count: usize) -> Error {
    Error::new(Kind::Model, format!("the segmentation model cannot score {what}"))
        .found(format!("{count} of them to be scored"))
        .hint("choose the method that the model was trained for")
}

/// Ends a section where the next sentence is unlikely to follow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextSentenceSplitter {
    /// A section ends where the probability that the next sentence follows is below this.
    pub threshold: f32,
}

impl Default for NextSentenceSplitter {
    fn default() -> Self {
        Self { threshold: 0.5 }
    }
}

impl<S: BoundaryScorer + ?Sized> ModelSplitter<S> for NextSentenceSplitter {
    fn breaks(&self, sentences: &[&str], scorer: &S) -> Result<Vec<usize>> {
        let tokens = tokenize(sentences, scorer)?;
        let room = scorer.max_tokens().saturating_sub(scorer.pair_marks());
        let pairs: Vec<Pair<'_>> = tokens.windows(2).map(|pair| fitted(&pair[0], &pair[1], room)).collect();
        let follows = ask(&pairs, scorer)?;
        Ok(follows.iter().enumerate().filter(|(_, p)| **p < self.threshold).map(|(index, _)| index).collect())
    }
}

/// Ends a section where a model that sees the tokens around a place finds a boundary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrossSegmentSplitter {
    /// Tokens that the model sees on either side, at most; fewer where the model's input has no room for them.
    pub context: usize,
    /// A section ends where the probability of a boundary exceeds this.
    pub threshold: f32,
}

impl Default for CrossSegmentSplitter {
    /// The 128 tokens on either side of the paper.
    fn default() -> Self {
        Self { context: 128, threshold: 0.5 }
    }
}

impl<S: BoundaryScorer + ?Sized> ModelSplitter<S> for CrossSegmentSplitter {
    fn breaks(&self, sentences: &[&str], scorer: &S) -> Result<Vec<usize>> {
        let mut tokens = Vec::new();
        let mut ends = Vec::with_capacity(sentences.len());
        for sentence in tokenize(sentences, scorer)? {
            tokens.extend(sentence);
            ends.push(tokens.len());
        }
        ends.pop();
        let room = scorer.max_tokens().saturating_sub(scorer.pair_marks());
        let context = self.context.min(room / 2);
        let pairs: Vec<Pair<'_>> = ends
            .iter()
            .map(|&at| {
                let from = at.saturating_sub(context);
                let to = at.saturating_add(context).min(tokens.len());
                Pair { left: &tokens[from..at], right: &tokens[at..to] }
            })
            .collect();
        let boundary = ask(&pairs, scorer)?;
        Ok(boundary.iter().enumerate().filter(|(_, p)| **p > self.threshold).map(|(index, _)| index).collect())
    }
}

fn tokenize<S: BoundaryScorer + ?Sized>(sentences: &[&str], scorer: &S) -> Result<Vec<Vec<u32>>> {
    sentences.iter().map(|sentence| scorer.tokens(sentence)).collect()
}

/// The end of the left text and the start of the right one, `room` tokens together. What one leaves free the other takes.
fn fitted<'a>(left: &'a [u32], right: &'a [u32], room: usize) -> Pair<'a> {
    let half = room / 2;
    let for_left = left.len().min(half.max(room.saturating_sub(right.len())));
    let for_right = right.len().min(room - for_left);
    Pair { left: &left[left.len() - for_left..], right: &right[..for_right] }
}

fn ask<S: BoundaryScorer + ?Sized>(pairs: &[Pair<'_>], scorer: &S) -> Result<Vec<f32>> {
    let mut scores = Vec::with_capacity(pairs.len());
    for batch in pairs.chunks(BATCH) {
        let answer = scorer.pairs(batch)?;
        check_scores(&answer, batch.len())?;
        scores.extend(answer);
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::cell::RefCell;

    use super::*;
    use crate::document::{Document, Format};

    /// A token for each character; asks are written down; the answer is a function of the tokens next to the place.
    struct Fake {
        max: usize,
        seen: RefCell<Vec<(Vec<u32>, Vec<u32>)>>,
        answer: fn(u32, u32) -> f32,
    }

    impl Fake {
        fn new(max: usize, answer: fn(u32, u32) -> f32) -> Self {
            Self { max, seen: RefCell::new(Vec::new()), answer }
        }
    }

    impl BoundaryScorer for Fake {
        fn tokens(&self, text: &str) -> Result<Vec<u32>> {
            Ok(text.trim().chars().map(u32::from).collect())
        }

        fn max_tokens(&self) -> usize {
            self.max
        }

        fn pairs(&self, pairs: &[Pair<'_>]) -> Result<Vec<f32>> {
            assert!(pairs.len() <= BATCH);
            self.seen.borrow_mut().extend(pairs.iter().map(|pair| (pair.left.to_vec(), pair.right.to_vec())));
            Ok(pairs
                .iter()
                .map(|pair| {
                    (self.answer)(pair.left.last().copied().unwrap_or(0), pair.right.first().copied().unwrap_or(0))
                })
                .collect())
        }
    }

    fn text_of(tokens: &[u32]) -> String {
        tokens.iter().filter_map(|&token| char::from_u32(token)).collect()
    }

    #[test]
    fn a_sentence_that_does_not_follow_starts_a_section() {
        let scorer = Fake::new(64, |_, first| if first == u32::from('B') { 0.2 } else { 0.5 });
        let sentences = ["Alpha.", "and.", "Beta.", "or.", "Beta."];
        assert_eq!(NextSentenceSplitter::default().breaks(&sentences, &scorer).unwrap(), [1, 3]);
        let document = Document::from_text("a.md", "And so. But no.\n\nBut on. So it is.\n".into(), Format::Markdown);
        let sections = NextSentenceSplitter { threshold: 0.5 }.split_with(&document, &scorer).unwrap();
        let texts: Vec<&str> = sections.iter().map(|section| document.text.slice(section.span)).collect();
        assert_eq!(texts, ["And so. ", "But no.\n\n", "But on. So it is.\n"]);
    }

    #[test]
    fn long_pairs_keep_the_tokens_next_to_the_place() {
        let scorer = Fake::new(11, |_, _| 1.0);
        NextSentenceSplitter::default().breaks(&["abcdefgh", "ijklmnop", "q", "rstuvwxyz"], &scorer).unwrap();
        let seen: Vec<(String, String)> =
            scorer.seen.borrow().iter().map(|(left, right)| (text_of(left), text_of(right))).collect();
        let expected = [("efgh", "ijkl"), ("jklmnop", "q"), ("q", "rstuvwx")];
        assert_eq!(seen, expected.map(|(left, right)| (left.to_owned(), right.to_owned())));
    }

    #[test]
    fn cross_segment_contexts_run_over_neighbouring_sentences() {
        let scorer = Fake::new(64, |left, _| if left == u32::from('f') { 0.6 } else { 0.5 });
        let splitter = CrossSegmentSplitter { context: 4, threshold: 0.5 };
        assert_eq!(splitter.breaks(&["ab", "c", "def", "gh"], &scorer).unwrap(), [2]);
        let seen: Vec<(String, String)> =
            scorer.seen.borrow().iter().map(|(left, right)| (text_of(left), text_of(right))).collect();
        let expected = [("ab", "cdef"), ("abc", "defg"), ("cdef", "gh")];
        assert_eq!(seen, expected.map(|(left, right)| (left.to_owned(), right.to_owned())));

        let narrow = Fake::new(8, |_, _| 0.0);
        CrossSegmentSplitter::default().breaks(&["abcd", "efgh"], &narrow).unwrap();
        assert_eq!(
            narrow.seen.borrow()[0],
            (vec![u32::from('c'), u32::from('d')], vec![u32::from('e'), u32::from('f')])
        );
    }

    #[test]
    fn more_sentences_than_a_batch_are_all_asked_about() {
        let scorer = Fake::new(64, |_, first| if first == u32::from('b') { 0.0 } else { 1.0 });
        let sentences: Vec<&str> = (0..100).map(|i| if i % 10 == 0 { "b." } else { "a." }).collect();
        let breaks = NextSentenceSplitter::default().breaks(&sentences, &scorer).unwrap();
        assert_eq!(breaks, (1..10).map(|i| 10 * i - 1).collect::<Vec<_>>());
        assert!(NextSentenceSplitter::default().breaks(&["one"], &scorer).unwrap().is_empty());
        assert!(CrossSegmentSplitter::default().breaks(&[], &scorer).unwrap().is_empty());
    }

    #[test]
    fn wrong_answers_and_wrong_questions_are_errors() {
        struct Short;
        impl BoundaryScorer for Short {
            fn tokens(&self, _: &str) -> Result<Vec<u32>> {
                Ok(vec![7])
            }
            fn max_tokens(&self) -> usize {
                8
            }
            fn pairs(&self, _: &[Pair<'_>]) -> Result<Vec<f32>> {
                Ok(vec![0.5])
            }
        }
        let error = NextSentenceSplitter::default().breaks(&["a", "b", "c"], &Short).unwrap_err();
        assert!(error.to_string().contains("expected 2, found 1"), "{error}");
        let error = Short.window(&Window { sentences: vec![&[1]], rest: &[] }).unwrap_err();
        assert!(error.to_string().contains("cannot score sequences of sentences"), "{error}");
        let nan = Fake::new(64, |_, _| f32::NAN);
        assert!(CrossSegmentSplitter::default().breaks(&["a", "b"], &nan).is_err());
    }
}
