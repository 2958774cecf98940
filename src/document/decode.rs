//! From bytes to text, without ever replacing a byte in silence.
//!
//! Order of trust: what someone says ([`decode_as`]); a byte-order mark; UTF-32 and UTF-16 told by their zero bytes; the
//! escapes of ISO-2022-JP; valid UTF-8; UTF-16 told by its characters; a legacy encoding that decodes the whole file and
//! whose text is plausible. Damaged UTF-8 is an error and not a reason to read the file as something else.

use encoding_rs::{DecoderResult, Encoding, GB18030, GBK, ISO_2022_JP, UTF_16BE, UTF_16LE};

use super::{legacy, magic, plausible, wide};
use crate::error::{Error, Kind, Result};

/// A text, and how sure its encoding is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Decoded {
    /// Without byte-order mark.
    pub(crate) text: String,
    /// Name of the encoding, such as `UTF-8` or `GB18030`.
    pub(crate) encoding: &'static str,
    /// From 0 (a guess) to 1 (certain).
    pub(crate) confidence: f32,
    /// Why the text may be another one than was written, for the person to check.
    pub(crate) warning: Option<String>,
}

impl Decoded {
    fn certain((text, encoding): (String, &'static str)) -> Self {
        Self { text, encoding, confidence: 1.0, warning: None }
    }
}

/// A guess below this is worth a word.
const DOUBTFUL: f32 = 0.5;

/// Decodes `bytes` in the encoding that they say or look like.
///
/// # Errors
/// The bytes are no text, or no encoding makes a plausible text of them.
pub(crate) fn decode(bytes: Vec<u8>) -> Result<Decoded> {
    if let Some((body, is_little)) = wide::utf32_mark(&bytes) {
        return wide::utf32(body, is_little, 4).map(Decoded::certain);
    }
    if let Some(body) = bytes.strip_prefix(&[0xff, 0xfe]) {
        return strictly(UTF_16LE, body, 2).map(Decoded::certain);
    }
    if let Some(body) = bytes.strip_prefix(&[0xfe, 0xff]) {
        return strictly(UTF_16BE, body, 2).map(Decoded::certain);
    }
    if let Some(found) = magic::name(&bytes) {
        return Err(not_text(found));
    }
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        if let Some(is_little) = wide::utf32_without_mark(&bytes) {
            return wide::utf32(&bytes, is_little, 0).map(Decoded::certain);
        }
        return match wide::utf16_without_mark(&bytes) {
            Some(encoding) => Ok(Decoded { confidence: 0.95, ..Decoded::certain(strictly(encoding, &bytes, 0)?) }),
            None => Err(not_text(format!("binary data (a NUL byte at offset {at})"))),
        };
    }
    if bytes.is_ascii() && [b"\x1b$B".as_slice(), b"\x1b$@"].iter().any(|escape| contains(&bytes, escape)) {
        return Ok(Decoded { confidence: 0.95, ..Decoded::certain(strictly(ISO_2022_JP, &bytes, 0)?) });
    }
    match String::from_utf8(bytes) {
        Ok(string) => {
            refuse_control_characters(string.as_bytes())?;
            Ok(Decoded::certain((without_mark(string), "UTF-8")))
        }
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            if let Some(encoding) = wide::utf16_of_characters(&bytes) {
                return Ok(Decoded { confidence: 0.8, ..Decoded::certain(strictly(encoding, &bytes, 0)?) });
            }
            refuse_control_characters(&bytes)?;
            if is_damaged_utf8(&bytes) {
                return Err(undecodable("UTF-8", at, bytes[at]));
            }
            from_legacy(&bytes)
        }
    }
}

/// The text in the encoding of before Unicode that suits it best.
fn from_legacy(bytes: &[u8]) -> Result<Decoded> {
    let detected = legacy::detected(bytes);
    let guess = legacy::guess(bytes, detected);
    let Some((encoding, confidence)) = plausible::best(bytes, guess, detected) else {
        // An error that names a byte says more.
        let (_, name) = strictly(guess, bytes, 0)?;
        return Err(Error::new(Kind::Format, "cannot tell the encoding of the text")
            .expected("text in UTF-8, UTF-16, or one of the older encodings")
            .found(format!("bytes that make no plausible text in any of them (most like {name})"))
            .hint("name it with `--encoding NAME`, or save the file as UTF-8"));
    };
    let (text, name) = strictly(encoding, bytes, 0)?;
    let text = without_mark(text);
    let doubt = (confidence < DOUBTFUL)
        .then(|| format!("only guessed to be {name}; name it with `--encoding NAME` if the text looks wrong"));
    let warning = doubt.or_else(|| plausible::oddity(&text));
    Ok(Decoded { text, encoding: name, confidence, warning })
}

/// Decodes `bytes` in the encoding called `name`, under any name that the Encoding Standard lists, or as UTF-32.
///
/// # Errors
/// There is no such encoding, or a byte does not fit it.
pub(crate) fn decode_as(bytes: &[u8], name: &str) -> Result<Decoded> {
    let label = name.trim().to_ascii_lowercase();
    if label.starts_with("utf-32") || label.starts_with("utf32") {
        let (body, is_little) = wide::utf32_mark(bytes).unwrap_or((bytes, !label.ends_with("be")));
        return wide::utf32(body, is_little, bytes.len() - body.len()).map(Decoded::certain);
    }
    let Some(encoding) = Encoding::for_label_no_replacement(label.as_bytes()) else {
        return Err(Error::new(Kind::Usage, "unknown encoding")
            .expected("a name such as utf-8, utf-16le, gb18030, big5, shift_jis, euc-kr, windows-1251")
            .found(format!("`{name}`")));
    };
    let encoding = if encoding == GBK { GB18030 } else { encoding };
    let mark = Encoding::for_bom(bytes).filter(|(found, _)| *found == encoding).map_or(0, |(_, length)| length);
    let (text, name) = strictly(encoding, &bytes[mark..], mark)?;
    let warning = plausible::oddity(&text);
    Ok(Decoded { text, encoding: name, confidence: 1.0, warning })
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Removes a byte-order mark at the start.
pub(super) fn without_mark(mut string: String) -> String {
    if string.starts_with('\u{feff}') {
        string.drain(..'\u{feff}'.len_utf8());
    }
    string
}

/// Decodes all of `body` or names the first byte that does not fit; `offset` is where `body` starts in the file.
fn strictly(encoding: &'static Encoding, body: &[u8], offset: usize) -> Result<(String, &'static str)> {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut out = String::new();
    let mut read = 0;
    loop {
        // Grows with what the decoder asks for, so that a large file does not cost its worst case up front.
        let rest = body.len() - read;
        let need = decoder.max_utf8_buffer_length_without_replacement(rest.min(1 << 20)).unwrap_or(rest).max(64);
        out.reserve(need);
        let (result, consumed) = decoder.decode_to_string_without_replacement(&body[read..], &mut out, true);
        read += consumed;
        match result {
            DecoderResult::InputEmpty => break,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(bad, after) => {
                let at = read.saturating_sub(usize::from(bad) + usize::from(after));
                let byte = body.get(at).copied().unwrap_or(0);
                return Err(undecodable(label(encoding), offset + at, byte));
            }
        }
    }
    out.shrink_to_fit();
    if encoding.is_single_byte() {
        // Single-byte decoders map bytes that mean nothing to C1 controls instead of failing.
        if let Some((index, _)) = out.chars().enumerate().find(|(_, c)| ('\u{80}'..='\u{9f}').contains(c)) {
            return Err(undecodable(label(encoding), offset + index, body[index]));
        }
    }
    Ok((out, label(encoding)))
}

/// The name as the standard writes it; encoding_rs spells this one in lower case.
fn label(encoding: &'static Encoding) -> &'static str {
    if encoding == GB18030 { "GB18030" } else { encoding.name() }
}

fn not_text(found: impl Into<String>) -> Error {
    Error::new(Kind::Format, "not a text file").expected("text").found(found)
}

pub(super) fn undecodable(encoding: &str, at: usize, byte: u8) -> Error {
    Error::new(Kind::Format, "cannot decode the text")
        .expected(format!("text in {encoding}, which it looks most like"))
        .found(format!("the byte 0x{byte:02x} at offset {at}"))
        .hint("save the file as UTF-8")
}

/// Text holds almost no control characters besides white space; backspace and escape occur in terminal logs.
fn refuse_control_characters(bytes: &[u8]) -> Result<()> {
    let is_control = |b: u8| (b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x08 | 0x1b)) || b == 0x7f;
    let count = bytes.iter().filter(|&&b| is_control(b)).count();
    if count > 2 + bytes.len() / 200 {
        let at = bytes.iter().position(|&b| is_control(b)).unwrap_or(0);
        return Err(not_text(format!("binary data ({count} control characters, the first at offset {at})")));
    }
    Ok(())
}

/// True when most multi-byte sequences are valid UTF-8: then the rest is damage and not another encoding.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let cut_at_end = std::str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none());
    let (mut valid, mut invalid) = (0usize, 0usize);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    // Chinese in GB18030 or Big5 yields about as many broken sequences as characters.
    valid >= 2 && (cut_at_end || valid >= 8 * invalid)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use encoding_rs::{BIG5, WINDOWS_1252};

    const SIMPLIFIED: &str = "主轴报警温度为 85 ℃。\r\n超过该温度时，设备自动停机。\n";
    const TRADITIONAL: &str = "主軸警報溫度為攝氏八十五度。超過該溫度時，設備會自動停機，請聯絡維修人員。";

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn pair(bytes: Vec<u8>) -> (String, &'static str) {
        let decoded = decode(bytes).unwrap();
        (decoded.text, decoded.encoding)
    }

    fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let (bytes, _, failed) = encoding.encode(text);
        assert!(!failed);
        bytes.into_owned()
    }

    #[test]
    fn every_encoding_gives_the_same_text_back() {
        let with_mark = |mark: &[u8], body: Vec<u8>| [mark, &body].concat();
        for (bytes, encoding) in [
            (SIMPLIFIED.as_bytes().to_vec(), "UTF-8"),
            (with_mark(b"\xef\xbb\xbf", SIMPLIFIED.as_bytes().to_vec()), "UTF-8"),
            (with_mark(b"\xff\xfe", utf16(SIMPLIFIED, u16::to_le_bytes)), "UTF-16LE"),
            (with_mark(b"\xfe\xff", utf16(SIMPLIFIED, u16::to_be_bytes)), "UTF-16BE"),
            (utf16(SIMPLIFIED, u16::to_le_bytes), "UTF-16LE"),
            (utf16(SIMPLIFIED, u16::to_be_bytes), "UTF-16BE"),
            (encoded(SIMPLIFIED, GB18030), "GB18030"),
        ] {
            assert_eq!(pair(bytes), (SIMPLIFIED.to_string(), encoding));
        }
        assert_eq!(pair(encoded(TRADITIONAL, BIG5)), (TRADITIONAL.to_string(), "Big5"));
    }

    #[test]
    fn short_simplified_texts_are_gb18030() {
        for text in [
            "设备",
            "报警",
            "主轴",
            "停机检查",
            "开机前请检查电源。",
            "联通",
            "E-101 报警",
            "温度: 85",
            "密码",
            "说明书",
            "电机过热时请立即停机",
            "- 阀门\n- 水泵",
            "# 手册\n\n正文",
            "注意！",
            "操作步骤如下：",
        ] {
            assert_eq!(pair(encoded(text, GB18030)), (text.to_string(), "GB18030"), "{text}");
        }
    }

    #[test]
    fn traditional_texts_are_big5() {
        for text in ["請先關閉電源，再打開機殼。", "警報代碼與處理方法", "安全注意事項：操作前請詳閱本說明書。"]
        {
            assert_eq!(pair(encoded(text, BIG5)), (text.to_string(), "Big5"), "{text}");
        }
    }

    #[test]
    fn rare_characters_of_four_bytes_survive_gb18030() {
        let text = "产品名称：㐂𠮷牌水泵，型号一。使用前请检查电源电压是否正常。";
        assert_eq!(pair(encoded(text, GB18030)), (text.to_string(), "GB18030"));
    }

    #[test]
    fn western_text_stays_western() {
        let text = "The caf\u{e9} is closed \u{2013} \u{201c}come back tomorrow\u{201d}, the na\u{ef}ve owner said.";
        assert_eq!(pair(encoded(text, WINDOWS_1252)), (text.to_string(), "windows-1252"));
    }

    #[test]
    fn binary_files_are_refused_with_their_name() {
        for (bytes, found) in [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec(), "a PNG image"),
            (b"%PDF-1.7\n1 0 obj".to_vec(), "a PDF document"),
            (b"PK\x03\x04\x14\0".to_vec(), "a ZIP archive"),
            (b"\x7fELF\x02\x01\x01\0".to_vec(), "an ELF program"),
            (b"GGUF\x03\0\0\0".to_vec(), "a GGUF model"),
            (b"abc\0def\0\x01\x02\x03".to_vec(), "a NUL byte at offset 3"),
            ((0u8..200).map(|i| 1 + i % 31).collect(), "control characters"),
        ] {
            let message = decode(bytes).unwrap_err().to_string();
            assert!(message.contains("expected text") && message.contains(found), "{message}");
        }
    }

    #[test]
    fn damage_is_an_error_that_names_the_byte() {
        let mut broken = SIMPLIFIED.repeat(3).into_bytes();
        let at = broken.len() - 4;
        broken[at] = 0xff;
        let message = decode(broken).unwrap_err().to_string();
        assert!(message.contains("0xff") || message.contains("offset"), "{message}");

        let mut cut = SIMPLIFIED.repeat(3).into_bytes();
        cut.truncate(10);
        assert!(decode(cut).unwrap_err().to_string().contains("at offset 9"));

        let odd = [b"\xff\xfe".as_slice(), &utf16("温度", u16::to_le_bytes), b"x"].concat();
        assert!(decode(odd).unwrap_err().to_string().contains("at offset 6"));

        let lone = [b"\xff\xfe".as_slice(), &utf16("温", u16::to_le_bytes), &[0x00, 0xd8, 0x41, 0x00]].concat();
        assert!(decode(lone).unwrap_err().to_string().contains("at offset 4"));
    }

    #[test]
    fn a_named_encoding_is_believed_and_checked() {
        let bytes = encoded("Ошибка 12", encoding_rs::KOI8_R);
        assert_eq!(decode_as(&bytes, " KOI8-R ").unwrap().text, "Ошибка 12");
        assert_eq!(decode_as(&encoded(SIMPLIFIED, GB18030), "gb2312").unwrap().encoding, "GB18030");
        assert_eq!(decode_as(b"\xef\xbb\xbfa", "utf8").unwrap().text, "a");
        assert!(decode_as(b"a\xff", "utf-8").unwrap_err().to_string().contains("offset 1"));
        assert!(decode_as(b"a", "utf-7").unwrap_err().to_string().contains("unknown encoding"));
    }

    #[test]
    fn doubt_is_told_and_escapes_are_read() {
        assert!(decode(encoded("联通", GB18030)).unwrap().warning.is_some());
        let sure = decode(encoded(SIMPLIFIED, GB18030)).unwrap();
        assert!(sure.warning.is_none() && sure.confidence > DOUBTFUL);
        let text = "温度は八十五度です";
        assert_eq!(decode(encoded(text, ISO_2022_JP)).unwrap().text, text);
    }

    #[test]
    fn any_bytes_give_text_or_an_error_and_never_a_replacement() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for round in 0..4000u64 {
            let length = next() % 60;
            let bytes: Vec<u8> = (0..length)
                .map(|_| match round % 3 {
                    0 => next() as u8,
                    1 => 0x20 + (next() % 0xdf) as u8,
                    _ => 0xa1 + (next() % 0x5e) as u8,
                })
                .collect();
            if let Ok(Decoded { text, .. }) = decode(bytes.clone()) {
                assert!(!text.contains('\u{fffd}') || bytes.windows(3).any(|w| w == [0xef, 0xbf, 0xbd]), "{bytes:x?}");
            }
        }
    }
}
