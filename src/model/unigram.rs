//! A Unigram model (Kudo, 2018) for vocabularies of hundreds of thousands of pieces, ready in milliseconds.
//!
//! The `tokenizers` crate builds a tree of hash maps for such a vocabulary, which takes seconds and hundreds of megabytes
//! at each start. This model keeps the pieces in one string with a flat hash table over it and plugs into the crate's
//! pipeline in place of its own; a test holds that both give the same pieces.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tokenizers::models::unigram::UnigramTrainer;
use tokenizers::{Model, Token};

/// Score of a character without a piece, below that of the worst piece, as in SentencePiece.
const UNKNOWN_PENALTY: f64 = 10.0;
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_PRIME: u64 = 0x0100_0000_01b3;

/// Pieces, their log probabilities, and a table that finds a piece by its bytes.
#[derive(Debug, Clone)]
pub struct FlatUnigram {
    /// The pieces, one after the other. Bytes that are no UTF-8 match no text.
    text: Vec<u8>,
    /// Piece `i` is `text[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    scores: Vec<f32>,
    /// Open addressing with linear steps: id + 1, or 0 where empty. Its length is a power of two.
    slots: Vec<u32>,
    longest: usize,
    unknown: u32,
    unknown_score: f64,
}

/// One step of FNV-1a, which can be continued byte by byte along a text.
fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(HASH_PRIME)
}

fn slot_of(hash: u64, mask: usize) -> usize {
    // The low bits of FNV are its weakest; fold the high ones in.
    (hash ^ (hash >> 32)) as usize & mask
}

#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// Start of the last piece; `usize::MAX` where no path ends.
    start: usize,
    id: u32,
}

impl FlatUnigram {
    /// A model of `pieces` with their log probabilities; `None` when the two differ in length, there are too many, or
    /// `unknown` is not among them.
    pub(super) fn new<'a>(
        pieces: impl ExactSizeIterator<Item = &'a [u8]>,
        scores: Vec<f32>,
        unknown: u32,
    ) -> Option<Self> {
        /// What a piece takes on average, to ask for memory once.
        const USUAL: usize = 10;
        let count = pieces.len();
        if count != scores.len() || unknown as usize >= count {
            return None;
        }
        let mut text = Vec::with_capacity(count * USUAL);
        let mut offsets = Vec::with_capacity(count + 1);
        offsets.push(0);
        let mut slots = vec![0; (count * 2).next_power_of_two()];
        let mask = slots.len() - 1;
        let mut longest = 0;
        for (id, piece) in (1..).zip(pieces) {
            text.extend_from_slice(piece);
            offsets.push(u32::try_from(text.len()).ok()?);
            longest = longest.max(piece.len());
            let mut slot = slot_of(piece.iter().fold(HASH_START, |hash, byte| step(hash, *byte)), mask);
            while slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            slots[slot] = id;
        }
        let worst = scores.iter().fold(f64::INFINITY, |low, s| low.min(f64::from(*s)));
        Some(Self { text, offsets, scores, slots, longest, unknown, unknown_score: worst - UNKNOWN_PENALTY })
    }

    /// The text of piece `id`.
    pub(super) fn piece(&self, id: u32) -> Option<Cow<'_, str>> {
        self.bytes(id).map(String::from_utf8_lossy)
    }

    fn bytes(&self, id: u32) -> Option<&[u8]> {
        let (start, end) = (self.offsets.get(id as usize)?, self.offsets.get(id as usize + 1)?);
        self.text.get(*start as usize..*end as usize)
    }

    fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = slot_of(hash, mask);
        loop {
            let id = self.slots[slot].checked_sub(1)?;
            if self.bytes(id) == Some(bytes) {
                return Some(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The most probable segmentation of `text` (Viterbi), as ends and ids in order. Of equal paths the one found first
    /// from the left stands, as in SentencePiece.
    fn segment(&self, text: &str) -> Vec<(usize, u32)> {
        let bytes = text.as_bytes();
        let mut best = vec![Best { score: 0.0, start: usize::MAX, id: self.unknown }; bytes.len() + 1];
        let improve = |target: &mut Best, score: f64, start: usize, id: u32| {
            if target.start == usize::MAX || score > target.score {
                *target = Best { score, start, id };
            }
        };
        for (start, first) in text.char_indices() {
            let so_far = best[start].score;
            let width = first.len_utf8();
            let mut has_single = false;
            let mut hash = HASH_START;
            for (length, byte) in (1..).zip(&bytes[start..bytes.len().min(start + self.longest)]) {
                hash = step(hash, *byte);
                let end = start + length;
                if text.is_char_boundary(end)
                    && let Some(id) = self.find(hash, &bytes[start..end])
                {
                    improve(&mut best[end], f64::from(self.scores[id as usize]) + so_far, start, id);
                    has_single |= length == width;
                }
            }
            if !has_single {
                improve(&mut best[start + width], self.unknown_score + so_far, start, self.unknown);
            }
        }
        let mut pieces: Vec<(usize, u32)> = Vec::new();
        let mut end = bytes.len();
        while end > 0 {
            let Best { start, id, .. } = best[end];
            // Unknown characters in a row are one token, which begins where the first of them does.
            let joins = id == self.unknown && pieces.last().is_some_and(|(_, next)| *next == self.unknown);
            if !joins {
                pieces.push((end, id));
            }
            end = start;
        }
        pieces.reverse();
        pieces
    }
}

impl Model for FlatUnigram {
    type Trainer = UnigramTrainer;

    fn tokenize(&self, sequence: &str) -> tokenizers::Result<Vec<Token>> {
        let mut start = 0;
        Ok(self
            .segment(sequence)
            .into_iter()
            .map(|(end, id)| {
                let token = Token { id, value: sequence[start..end].to_owned(), offsets: (start, end) };
                start = end;
                token
            })
            .collect())
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.find(token.bytes().fold(HASH_START, step), token.as_bytes())
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.piece(id).map(Cow::into_owned)
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        (0..self.scores.len() as u32).filter_map(|id| Some((self.id_to_token(id)?, id))).collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.scores.len()
    }

    fn save(&self, _folder: &Path, _prefix: Option<&str>) -> tokenizers::Result<Vec<PathBuf>> {
        Err("this model is only read".into())
    }

    fn get_trainer(&self) -> Self::Trainer {
        UnigramTrainer::default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use tokenizers::models::unigram::Unigram;

    use super::*;

    #[test]
    fn segments_like_the_crate_it_stands_in_for() {
        let mut state = 11u64;
        let mut next = |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % n
        };
        let alphabet = ['a', 'b', 'c', '主', '轴', '▁', 'é'];
        let mut pieces = vec!["<unk>".to_owned()];
        while pieces.len() < 200 {
            let piece: String = (0..1 + next(4)).map(|_| alphabet[next(6) as usize]).collect();
            if !pieces.contains(&piece) {
                pieces.push(piece);
            }
        }
        // Few distinct scores, so that ties occur.
        let scores: Vec<f32> = pieces.iter().map(|_| -(next(5) as f32)).collect();
        let ours = FlatUnigram::new(pieces.iter().map(|p| p.as_bytes()), scores.clone(), 0).unwrap();
        let vocab = pieces.iter().cloned().zip(scores.iter().map(|s| f64::from(*s))).collect();
        let theirs = Unigram::from(vocab, Some(0), false).unwrap();
        for _ in 0..500 {
            let text: String = (0..next(30)).map(|_| alphabet[next(7) as usize]).collect();
            assert_eq!(ours.tokenize(&text).unwrap(), theirs.tokenize(&text).unwrap(), "{text}");
        }
    }

    #[test]
    fn pieces_are_found_by_text_and_id() {
        let pieces = ["<unk>".to_owned(), "▁a".to_owned(), String::new()];
        let build = |scores: &[f32], unknown| {
            FlatUnigram::new(pieces.iter().map(|p| p.as_bytes()), scores.to_vec(), unknown)
        };
        let model = build(&[0.0, -1.0, -2.0], 0).unwrap();
        assert_eq!(model.token_to_id("▁a"), Some(1));
        assert_eq!(model.id_to_token(1).unwrap(), "▁a");
        assert_eq!(model.token_to_id("b"), None);
        assert!(build(&[0.0], 0).is_none());
        assert!(build(&[0.0; 3], 3).is_none());
    }
}
