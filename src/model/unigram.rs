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

use super::block_file::Block;

/// Score of a character without a piece, below that of the worst piece, as in SentencePiece.
const UNKNOWN_PENALTY: f64 = 10.0;
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_PRIME: u64 = 0x0100_0000_01b3;

/// Raised when the words change for the same pieces.
pub(crate) const VERSION: u32 = 1;
/// Numbers at the beginning: version, pieces, slots, bytes of text, longest piece, unknown piece, worst score (`f32`), 0.
const HEAD: usize = 8;

/// Pieces, their log probabilities, and a table that finds a piece by its bytes.
///
/// All of it is one run of 32-bit little-endian words, so that it can be kept in a file and mapped: the numbers of the head; the
/// offsets of the pieces in the text, one more than pieces; their scores (`f32`); the slots of the hash table, a power of two:
/// open addressing with linear steps, id + 1 or 0 where empty; the pieces one after the other, filled up with zeros. Bytes that are
/// no UTF-8 match no text.
#[derive(Debug, Clone)]
pub struct FlatUnigram {
    words: Words,
    pieces: usize,
    slots: usize,
    longest: usize,
    unknown: u32,
    unknown_score: f64,
}

#[derive(Debug, Clone)]
enum Words {
    Own(Vec<u32>),
    Mapped(Block),
}

impl std::ops::Deref for Words {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        match self {
            Words::Own(words) => words,
            // Blocks begin at a page; checked when it was taken.
            Words::Mapped(block) => bytemuck::try_cast_slice(block.as_ref()).unwrap_or_default(),
        }
    }
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
        pieces: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
        scores: &[f32],
        unknown: u32,
    ) -> Option<Self> {
        let count = pieces.len();
        if count != scores.len() || unknown as usize >= count {
            return None;
        }
        let slots = (count * 2).next_power_of_two();
        let (bytes, longest) = pieces.clone().fold((0, 0), |(sum, most), p| (sum + p.len(), p.len().max(most)));
        let numbers = [count, slots, bytes, longest].map(u32::try_from);
        let [Ok(_), Ok(_), Ok(_), Ok(_)] = numbers else { return None };
        let mut words = vec![0u32; HEAD + count + 1 + count + slots + bytes.div_ceil(4)];
        words[0] = VERSION;
        for (word, number) in words[1..].iter_mut().zip(numbers) {
            *word = number.ok()?;
        }
        words[5] = unknown;
        words[6] = scores.iter().copied().fold(f32::INFINITY, f32::min).to_bits();
        let (offsets, rest) = words[HEAD..].split_at_mut(count + 1);
        let (kept_scores, rest) = rest.split_at_mut(count);
        let (table, text) = rest.split_at_mut(slots);
        let text: &mut [u8] = bytemuck::cast_slice_mut(text);
        let mut at = 0;
        for ((number, piece), score) in pieces.enumerate().zip(scores) {
            text[at..at + piece.len()].copy_from_slice(piece);
            at += piece.len();
            offsets[number + 1] = at as u32;
            kept_scores[number] = score.to_bits();
            let mut slot = slot_of(piece.iter().fold(HASH_START, |hash, byte| step(hash, *byte)), slots - 1);
            while table[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            table[slot] = number as u32 + 1;
        }
        Self::over(Words::Own(words))
    }

    /// The model that a block holds; `None` when it is none.
    pub(super) fn mapped(block: Block) -> Option<Self> {
        if cfg!(target_endian = "big") || bytemuck::try_cast_slice::<u8, u32>(block.as_ref()).is_err() {
            return None;
        }
        Self::over(Words::Mapped(block))
    }

    fn over(words: Words) -> Option<Self> {
        let [VERSION, pieces, slots, text, longest, unknown, worst, 0] = *words.first_chunk::<HEAD>()? else {
            return None;
        };
        let [pieces, slots, text, longest] = [pieces, slots, text, longest].map(|n| n as usize);
        let fits = words.len() == HEAD + 2 * pieces + 1 + slots + text.div_ceil(4);
        if !fits || !slots.is_power_of_two() || slots <= pieces || unknown as usize >= pieces {
            return None;
        }
        let unknown_score = f64::from(f32::from_bits(worst)) - UNKNOWN_PENALTY;
        Some(Self { words, pieces, slots, longest, unknown, unknown_score })
    }

    fn score(&self, id: usize) -> f64 {
        f64::from(f32::from_bits(self.words.get(HEAD + self.pieces + 1 + id).copied().unwrap_or(0)))
    }

    /// The text of piece `id`.
    pub(super) fn piece(&self, id: u32) -> Option<Cow<'_, str>> {
        self.piece_bytes(id).map(String::from_utf8_lossy)
    }

    fn piece_bytes(&self, id: u32) -> Option<&[u8]> {
        let at = HEAD + id as usize;
        if id as usize >= self.pieces {
            return None;
        }
        let (start, end) = (*self.words.get(at)?, *self.words.get(at + 1)?);
        let text = self.words.get(HEAD + 2 * self.pieces + 1 + self.slots..)?;
        bytemuck::cast_slice::<u32, u8>(text).get(start as usize..end as usize)
    }

    fn find(&self, hash: u64, bytes: &[u8]) -> Option<u32> {
        let table = self.words.get(HEAD + 2 * self.pieces + 1..)?.get(..self.slots)?;
        let mut slot = slot_of(hash, self.slots - 1);
        // A damaged table may have no end.
        for _ in 0..self.slots {
            let id = table[slot].checked_sub(1)?;
            if self.piece_bytes(id) == Some(bytes) {
                return Some(id);
            }
            slot = (slot + 1) & (self.slots - 1);
        }
        None
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
                    improve(&mut best[end], self.score(id as usize) + so_far, start, id);
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

/// To be kept and given to `FlatUnigram::mapped`.
impl AsRef<[u8]> for FlatUnigram {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
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
        (0..self.pieces as u32).filter_map(|id| Some((self.id_to_token(id)?, id))).collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.pieces
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
        let ours = FlatUnigram::new(pieces.iter().map(|p| p.as_bytes()), &scores, 0).unwrap();
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
        let build = |scores: &[f32], unknown| FlatUnigram::new(pieces.iter().map(|p| p.as_bytes()), scores, unknown);
        let model = build(&[0.0, -1.0, -2.0], 0).unwrap();
        assert_eq!(model.token_to_id("▁a"), Some(1));
        assert_eq!(model.id_to_token(1).unwrap(), "▁a");
        assert_eq!(model.token_to_id("b"), None);
        assert!(build(&[0.0], 0).is_none());
        assert!(build(&[0.0; 3], 3).is_none());
    }

    #[test]
    fn a_damaged_table_ends_every_search() {
        let pieces: Vec<String> = (0..40).map(|n| format!("p{n}")).collect();
        let model = FlatUnigram::new(pieces.iter().map(|p| p.as_bytes()), &[-1.0; 40], 0).unwrap();
        let Words::Own(whole) = &model.words else { panic!("made here") };
        for at in 0..whole.len() {
            for value in [0, 1, 7, u32::MAX] {
                let mut words = whole.clone();
                words[at] = value;
                if let Some(damaged) = FlatUnigram::over(Words::Own(words)) {
                    damaged.tokenize("p1p2p39xp40").unwrap();
                }
            }
        }
        let full: Vec<u32> = whole.iter().map(|word| if *word == 0 { 1 } else { *word }).collect();
        let head = [&whole[..HEAD], &full[HEAD..]].concat();
        FlatUnigram::over(Words::Own(head)).unwrap().tokenize("xyz").unwrap();
    }
}
