//! Tokenizers: from a `tokenizer.json` beside the weights, else from the vocabulary inside a GGUF file.
//!
//! A GGUF file carries the vocabulary and names the kind of tokenizer (`tokenizer.ggml.model`) and its pre-tokenizer
//! (`tokenizer.ggml.pre`), not the splitting rules themselves; those are given here for the families that are supported.

use std::borrow::Cow;
use std::path::Path;

use tokenizers::decoders::wordpiece::WordPiece as WordPieceDecoder;
use tokenizers::models::bpe::{BPE, Merges, Vocab};
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::{BertNormalizer, NFC, NormalizerWrapper, Precompiled, Replace, Sequence};
use tokenizers::pre_tokenizers::PreTokenizerWrapper;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::pre_tokenizers::sequence::Sequence as PreSequence;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{
    AddedToken, DecoderWrapper, Encoding, Model, PostProcessorWrapper, SplitDelimiterBehavior, Tokenizer, TokenizerImpl,
};

use super::block_file::Block;
use super::gguf::GgufFile;
use super::unigram::FlatUnigram;
use crate::error::{Error, Kind, Result};

/// `LLAMA_TOKEN_TYPE_CONTROL`: markers such as `<|im_start|>`.
const CONTROL: u32 = 3;
/// `LLAMA_TOKEN_TYPE_USER_DEFINED`: matched whole in the text, but ordinary output.
const USER_DEFINED: u32 = 4;
/// `LLAMA_TOKEN_TYPE_UNUSED`: filler up to the size of the embedding table.
const UNUSED: u32 = 5;
/// Marks the start of a word in the WordPiece and Unigram vocabularies of GGUF files.
const WORD_START: char = '\u{2581}';

/// Splits of Qwen2: each digit stands alone.
const QWEN2_SPLIT: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
/// Splits of Llama 3: up to three digits stay together.
const LLAMA3_SPLIT: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The crate's pipeline around any model.
type Pipeline<M> = TokenizerImpl<M, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// A tokenizer that only turns text into ids: of any kind that [`Tokenizer`] covers, or Unigram with a large vocabulary.
#[derive(Debug)]
pub enum TextTokenizer {
    /// A tokenizer of the crate.
    General(Box<Tokenizer>),
    /// A Unigram vocabulary from a GGUF file.
    Unigram(Box<Pipeline<FlatUnigram>>),
}

impl TextTokenizer {
    /// The tokenizer of a GGUF embedder. A Unigram vocabulary is read from the file itself, which takes milliseconds;
    /// for other kinds see [`beside_or_inside`].
    ///
    /// # Errors
    /// As [`from_json`] and [`from_gguf`].
    pub fn of_gguf(gguf: &GgufFile) -> Result<Self> {
        Self::of_gguf_with(gguf, None)
    }

    /// [`Self::of_gguf`] with the [`vocabulary_table`] of the file, if it was kept.
    pub(crate) fn of_gguf_with(gguf: &GgufFile, table: Option<Block>) -> Result<Self> {
        if is_unigram(gguf) {
            let model = table.and_then(FlatUnigram::mapped).map_or_else(|| vocabulary_table(gguf), Ok);
            let tokenizer = model.and_then(|model| unigram(gguf, model));
            return Ok(Self::Unigram(Box::new(tokenizer.map_err(|e| e.at(gguf.path()))?)));
        }
        Ok(Self::General(Box::new(beside_or_inside(gguf)?)))
    }

    /// Ids of `text` within the tokens that the model begins and ends with.
    ///
    /// # Errors
    /// When the tokenizer fails.
    pub fn encode(&self, text: &str) -> Result<Encoding> {
        match self {
            Self::General(tokenizer) => tokenizer.encode_fast(text, true),
            Self::Unigram(tokenizer) => tokenizer.encode_fast(text, true),
        }
        .map_err(|e| Error::new(Kind::Model, "cannot tokenize a text").because(e))
    }
}

/// Reads a `tokenizer.json`. Padding and truncation settings in the file are dropped: callers decide on both.
///
/// # Errors
/// When the file is missing or is no tokenizer.
pub fn from_json(path: &Path) -> Result<Tokenizer> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("cannot read the tokenizer", path, e))?;
    let mut tokenizer = Tokenizer::from_bytes(&bytes)
        .map_err(|e| Error::new(Kind::Format, "cannot read the tokenizer").at(path).because(e))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|e| Error::new(Kind::Internal, "cannot lift the truncation").because(e))?;
    Ok(tokenizer)
}

/// The tokenizer of a GGUF model: `tokenizer.json` in the same folder if there is one, else [`from_gguf`].
///
/// # Errors
/// As [`from_json`] and [`from_gguf`].
pub fn beside_or_inside(gguf: &GgufFile) -> Result<Tokenizer> {
    match gguf.path().parent().map(|folder| folder.join("tokenizer.json")) {
        Some(path) if path.is_file() => from_json(&path),
        _ => from_gguf(gguf),
    }
}

/// Builds the tokenizer that the metadata of `gguf` describes. `encode(text, true)` adds the begin and end tokens that
/// the model was trained with; control tokens in the text, such as `<|im_start|>`, become their single ids either way.
///
/// # Errors
/// When the vocabulary is missing or inconsistent, or the kind of tokenizer is not supported.
pub fn from_gguf(gguf: &GgufFile) -> Result<Tokenizer> {
    let built = match gguf.meta_str("tokenizer.ggml.model") {
        Some("gpt2") => byte_level_bpe(gguf),
        Some("bert") => word_piece(gguf),
        Some(other) => Err(Error::new(Kind::Model, "unsupported tokenizer").expected("gpt2 or bert").found(other)),
        None => Err(Error::new(Kind::Model, "the model file holds no tokenizer")
            .hint("put the model's tokenizer.json into the same folder")),
    };
    built.map_err(|e| e.at(gguf.path()))
}

/// Tokens and their types; a file without types has ordinary tokens only.
fn vocabulary(gguf: &GgufFile) -> Result<(Vec<String>, Vec<u32>)> {
    let tokens = gguf
        .meta_str_array("tokenizer.ggml.tokens")
        .filter(|tokens| !tokens.is_empty())
        .ok_or_else(|| Error::new(Kind::Model, "the model file holds no vocabulary"))?;
    let types = token_types(gguf, tokens.len())?;
    Ok((tokens, types))
}

/// The type of each of `count` tokens.
fn token_types(gguf: &GgufFile, count: usize) -> Result<Vec<u32>> {
    let types = gguf.meta_u32_array("tokenizer.ggml.token_type").unwrap_or_else(|| vec![1; count]);
    if types.len() != count {
        return Err(Error::new(Kind::Corrupt, "the vocabulary is inconsistent")
            .expected(format!("{count} token types"))
            .found(types.len().to_string()));
    }
    Ok(types)
}

fn failed(what: &str) -> impl FnOnce(tokenizers::Error) -> Error {
    let what = format!("cannot build the tokenizer: {what}");
    move |e| Error::new(Kind::Model, what).because(e)
}

fn byte_level_bpe(gguf: &GgufFile) -> Result<Tokenizer> {
    let (tokens, types) = vocabulary(gguf)?;
    let merges: Merges = gguf
        .meta_str_array("tokenizer.ggml.merges")
        .ok_or_else(|| Error::new(Kind::Model, "the model file holds no merges"))?
        .iter()
        // A merge is two tokens with one space between them; tokens write a space of the text as another character.
        .filter_map(|merge| merge.split_once(' '))
        .map(|(left, right)| (left.to_owned(), right.to_owned()))
        .collect();
    let name = gguf.meta_str("tokenizer.ggml.pre").unwrap_or("default");
    let (normalizer, pre_tokenizer, ignore_merges) = byte_level_rules(name)?;
    let vocab: Vocab = tokens.iter().enumerate().map(|(id, token)| (token.clone(), id as u32)).collect();
    let model = BPE::builder()
        .vocab_and_merges(vocab, merges)
        .ignore_merges(ignore_merges)
        .build()
        .map_err(failed("byte-level BPE"))?;

    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(normalizer).map_err(failed("normalizer"))?;
    tokenizer.with_pre_tokenizer(Some(pre_tokenizer));
    tokenizer.with_decoder(Some(ByteLevel::new(false, false, false)));
    add_marked_tokens(&mut tokenizer, &tokens, &types)?;
    let name = |id: u32| tokens.get(id as usize).cloned();
    let bos =
        flag_token(gguf, name, tokens.len(), "tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", false)?;
    let eos =
        flag_token(gguf, name, tokens.len(), "tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false)?;
    wrap_in(&mut tokenizer, bos, eos)?;
    Ok(tokenizer)
}

type ByteLevelRules = (Option<NormalizerWrapper>, PreTokenizerWrapper, bool);

fn byte_level_rules(name: &str) -> Result<ByteLevelRules> {
    let bytes_only = || ByteLevel::new(false, false, false);
    let split = |pattern: &str| -> Result<PreTokenizerWrapper> {
        let split = Split::new(SplitPattern::Regex(pattern.into()), SplitDelimiterBehavior::Isolated, false)
            .map_err(failed("splitting rules"))?;
        Ok(PreSequence::new(vec![split.into(), bytes_only().into()]).into())
    };
    let gpt2 = || ByteLevel::new(false, false, true);
    Ok(match name {
        "qwen2" | "deepseek-r1-qwen" => (Some(NFC.into()), split(QWEN2_SPLIT)?, false),
        "llama-bpe" | "llama3" | "llama-v3" => (None, split(LLAMA3_SPLIT)?, true),
        "smollm" | "refact" | "command-r" | "starcoder" => {
            (None, PreSequence::new(vec![Digits::new(true).into(), gpt2().into()]).into(), false)
        }
        "default" | "gpt-2" | "gpt2" => (None, gpt2().into(), false),
        other => {
            return Err(Error::new(Kind::Model, "unsupported splitting rules of the tokenizer")
                .expected("qwen2, llama-bpe, smollm or gpt-2")
                .found(other)
                .hint("put the model's tokenizer.json into the same folder"));
        }
    })
}

fn word_piece(gguf: &GgufFile) -> Result<Tokenizer> {
    let (tokens, types) = vocabulary(gguf)?;
    // The file writes `▁word` and `piece` where WordPiece writes `word` and `##piece`.
    let is_marker = |token: &str| token.starts_with('[') && token.ends_with(']') && token.len() > 2;
    let pieces: Vec<String> = tokens
        .iter()
        .zip(&types)
        .map(|(token, kind)| match token.strip_prefix(WORD_START) {
            Some(word) => word.to_owned(),
            None if *kind != 1 || is_marker(token) => token.clone(),
            None => format!("##{token}"),
        })
        .collect();
    let id_of = |key: &str, token: &str| -> Result<u32> {
        let by_key = gguf.meta_u32(key).filter(|id| (*id as usize) < tokens.len());
        by_key
            .or_else(|| tokens.iter().position(|t| t == token).map(|id| id as u32))
            .ok_or_else(|| Error::new(Kind::Model, format!("the vocabulary holds no `{token}`")))
    };
    let unknown = id_of("tokenizer.ggml.unknown_token_id", "[UNK]")?;
    let first =
        id_of("tokenizer.ggml.cls_token_id", "[CLS]").or_else(|_| id_of("tokenizer.ggml.bos_token_id", "[CLS]"))?;
    let last = id_of("tokenizer.ggml.seperator_token_id", "[SEP]")?;
    let cased = pieces
        .iter()
        .any(|piece| !is_marker(piece) && !piece.starts_with('<') && piece.contains(|c: char| c.is_ascii_uppercase()));

    let model = WordPiece::builder()
        .vocab(pieces.iter().enumerate().map(|(id, piece)| (piece.clone(), id as u32)).collect::<Vocab>())
        .unk_token(pieces[unknown as usize].clone())
        .continuing_subword_prefix("##".into())
        .max_input_chars_per_word(100)
        .build()
        .map_err(failed("WordPiece"))?;
    let mut tokenizer = Tokenizer::new(model);
    tokenizer.with_normalizer(Some(BertNormalizer::new(true, true, None, !cased))).map_err(failed("normalizer"))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer.with_decoder(Some(WordPieceDecoder::new("##".into(), true)));
    let marked: Vec<u32> = pieces
        .iter()
        .zip(&types)
        .map(|(p, kind)| if is_marker(p) && *kind != UNUSED { CONTROL } else { *kind })
        .collect();
    let marked: Vec<u32> = marked
        .iter()
        .zip(&pieces)
        // `[unused12]` is no marker that a text may address.
        .map(|(kind, piece)| if piece.starts_with("[unused") { UNUSED } else { *kind })
        .collect();
    add_marked_tokens(&mut tokenizer, &pieces, &marked)?;
    let name = |id: u32| (pieces[id as usize].clone(), id);
    wrap_in(&mut tokenizer, Some(name(first)), Some(name(last)))?;
    Ok(tokenizer)
}

/// True for a file whose vocabulary [`vocabulary_table`] reads.
pub(crate) fn is_unigram(gguf: &GgufFile) -> bool {
    gguf.meta_str("tokenizer.ggml.model") == Some("t5")
}

/// The Unigram vocabulary of a file. Making it takes longer than mapping one that was kept.
pub(crate) fn vocabulary_table(gguf: &GgufFile) -> Result<FlatUnigram> {
    let pieces = gguf
        .meta_strings("tokenizer.ggml.tokens")
        .ok_or_else(|| Error::new(Kind::Model, "the model file holds no vocabulary"))?;
    let used = used(&token_types(gguf, pieces.len())?);
    let scores = gguf
        .meta_f32_array("tokenizer.ggml.scores")
        .filter(|scores| scores.len() == pieces.len())
        .ok_or_else(|| Error::new(Kind::Corrupt, "the vocabulary has no score for each token"))?;
    FlatUnigram::new(pieces.take(used), &scores[..used], unknown_token(gguf))
        .ok_or_else(|| Error::new(Kind::Corrupt, "the vocabulary has no unknown token"))
}

/// Tokens before the filler at the end, whose scores would distort the penalty for unknown characters.
fn used(types: &[u32]) -> usize {
    types.iter().rposition(|kind| *kind != UNUSED).map_or(0, |last| last + 1)
}

fn unknown_token(gguf: &GgufFile) -> u32 {
    gguf.meta_u32("tokenizer.ggml.unknown_token_id").unwrap_or(0)
}

fn unigram(gguf: &GgufFile, model: FlatUnigram) -> Result<Pipeline<FlatUnigram>> {
    let types = token_types(gguf, gguf.meta_strings("tokenizer.ggml.tokens").map_or(0, |pieces| pieces.len()))?;
    let (used, unknown) = (used(&types), unknown_token(gguf));
    // The unknown token of such files has a type of its own; in a text it is a marker like the others.
    let marker = |id: u32| if id == unknown { CONTROL } else { types[id as usize] };
    let marked = (0..used as u32)
        .filter(|id| matches!(marker(*id), CONTROL | USER_DEFINED))
        .map(|id| (model.piece(id).unwrap_or_default().into_owned(), marker(id)));
    let (marked_tokens, marked_types): (Vec<String>, Vec<u32>) = marked.unzip();
    let name = |id: u32| model.piece(id).map(Cow::into_owned);
    let bos = flag_token(gguf, name, used, "tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", true)?;
    let eos = flag_token(gguf, name, used, "tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", true)?;
    let mut tokenizer = Pipeline::new(model);
    let mut normalizers: Vec<NormalizerWrapper> = Vec::new();
    if let Some(map) = gguf.meta_bytes("tokenizer.ggml.precompiled_charsmap").filter(|map| !map.is_empty()) {
        let map = Precompiled::from(map).map_err(|e| failed("character map")(Box::new(e)))?;
        normalizers.push(map.into());
    }
    let spaces = tokenizers::normalizers::replace::ReplacePattern::Regex(" {2,}".into());
    normalizers.push(Replace::new(spaces, " ").map_err(failed("normalizer"))?.into());
    tokenizer.with_normalizer(Some(Sequence::new(normalizers))).map_err(failed("normalizer"))?;
    let scheme = if gguf.meta_bool("tokenizer.ggml.add_space_prefix").unwrap_or(true) {
        PrependScheme::Always
    } else {
        PrependScheme::Never
    };
    let metaspace = Metaspace::new(WORD_START, scheme, true);
    tokenizer.with_pre_tokenizer(Some(metaspace.clone()));
    tokenizer.with_decoder(Some(metaspace));
    add_marked_tokens(&mut tokenizer, &marked_tokens, &marked_types)?;
    wrap_in(&mut tokenizer, bos, eos)?;
    Ok(tokenizer)
}

fn add_marked_tokens<M: Model>(tokenizer: &mut Pipeline<M>, tokens: &[String], types: &[u32]) -> Result<()> {
    let of_type = |wanted: u32, special: bool| -> Vec<AddedToken> {
        tokens
            .iter()
            .zip(types)
            .filter(|(token, kind)| **kind == wanted && !token.is_empty())
            .map(|(token, _)| AddedToken::from(token.clone(), special).normalized(false))
            .collect()
    };
    tokenizer.add_special_tokens(of_type(CONTROL, true)).map_err(failed("control tokens"))?;
    tokenizer.add_tokens(of_type(USER_DEFINED, false)).map_err(failed("added tokens"))?;
    Ok(())
}

/// The token under `id_key` if the flag says that it is added to every text.
fn flag_token(
    gguf: &GgufFile,
    name: impl Fn(u32) -> Option<String>,
    count: usize,
    flag_key: &str,
    id_key: &str,
    default: bool,
) -> Result<Option<(String, u32)>> {
    if !gguf.meta_bool(flag_key).unwrap_or(default) {
        return Ok(None);
    }
    let Some(id) = gguf.meta_u32(id_key) else { return Ok(None) };
    match name(id) {
        Some(token) => Ok(Some((token, id))),
        None => Err(Error::new(Kind::Corrupt, format!("`{id_key}` is outside the vocabulary"))
            .expected(format!("less than {count}"))
            .found(id.to_string())),
    }
}

fn wrap_in<M: Model>(
    tokenizer: &mut Pipeline<M>,
    first: Option<(String, u32)>,
    last: Option<(String, u32)>,
) -> Result<()> {
    if first.is_none() && last.is_none() {
        return Ok(());
    }
    let mut template = Vec::new();
    template.extend(first.as_ref().map(|(token, _)| token.clone()));
    template.push("$A".to_owned());
    template.extend(last.as_ref().map(|(token, _)| token.clone()));
    let processor = TemplateProcessing::builder()
        .try_single(template)
        .map_err(|e| failed("begin and end tokens")(e.into()))?
        .special_tokens(first.into_iter().chain(last).collect::<Vec<_>>())
        .build()
        .map_err(|e| failed("begin and end tokens")(e.into()))?;
    tokenizer.with_post_processor(Some(processor));
    Ok(())
}
