//! What each token of a model writes, in bytes.

use crate::error::{Error, Kind, Result};
use crate::model::GgufFile;

/// The bytes of every token; control tokens write nothing.
pub(super) struct Vocabulary {
    bytes: Vec<u8>,
    /// `ends[i]` is where token `i` ends in `bytes`.
    ends: Vec<u32>,
}

/// `tokenizer.ggml.token_type` of ordinary and of byte tokens; all others are unknown, control, user-defined or unused.
const NORMAL: u32 = 1;
const BYTE: u32 = 6;

impl Vocabulary {
    /// Reads the vocabulary of a model file: byte-level BPE (`gpt2`) or SentencePiece (`llama`).
    pub(super) fn read(gguf: &GgufFile) -> Result<Self> {
        let missing = || {
            Error::new(Kind::Format, "the model file lacks its vocabulary")
                .at(gguf.path())
                .expected("`tokenizer.ggml.tokens`")
        };
        let tokens = gguf.meta_str_array("tokenizer.ggml.tokens").ok_or_else(missing)?;
        let types = gguf.meta_u32_array("tokenizer.ggml.token_type").unwrap_or_default();
        let byte_level = gguf.meta_str("tokenizer.ggml.model") == Some("gpt2");
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(tokens.len());
        for (i, token) in tokens.iter().enumerate() {
            match types.get(i).copied().unwrap_or(NORMAL) {
                NORMAL if byte_level => bytes.extend(token.chars().filter_map(byte_of)),
                NORMAL => bytes.extend(token.replace('\u{2581}', " ").bytes()),
                BYTE => {
                    let hex = token.trim_start_matches("<0x").trim_end_matches('>');
                    bytes.extend(u8::from_str_radix(hex, 16).ok());
                }
                _ => {}
            }
            ends.push(u32::try_from(bytes.len()).map_err(|_| missing().found("more than 4 GiB of tokens"))?);
        }
        Ok(Self { bytes, ends })
    }

    /// The bytes that `token` writes; empty for control tokens and numbers past the vocabulary.
    pub(super) fn bytes(&self, token: u32) -> &[u8] {
        let i = token as usize;
        let Some(&end) = self.ends.get(i) else { return &[] };
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start as usize..end as usize]
    }
}

/// The byte that a character of a byte-level vocabulary stands for: printable Latin-1 stands for itself, the 68 other
/// bytes for the characters from U+0100 on (Radford et al. 2019).
fn byte_of(c: char) -> Option<u8> {
    let plain = |b: u32| matches!(b, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
    let code = u32::from(c);
    if plain(code) {
        return u8::try_from(code).ok();
    }
    let rank = code.checked_sub(0x100)?;
    (0u32..256).filter(|b| !plain(*b)).nth(rank as usize).and_then(|b| u8::try_from(b).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_level_characters_stand_for_all_bytes_once() {
        let mut seen = [false; 256];
        for code in 0x21..0x144 {
            if let Some(b) = char::from_u32(code).and_then(byte_of) {
                assert!(!seen[b as usize], "{code:#x} repeats byte {b:#x}");
                seen[b as usize] = true;
            }
        }
        assert!(seen.iter().all(|s| *s));
        assert_eq!(byte_of('Ġ'), Some(b' '));
        assert_eq!(byte_of('Ċ'), Some(b'\n'));
    }
}
