//! The encoding of a page: what someone says, a byte-order mark, what the page declares, what its bytes look like.
//!
//! A declaration is believed when the bytes fit it. Pages are edited and converted by tools that leave it as it was, so one
//! that does not fit gives way to what the bytes say; a few damaged characters are replaced, as in browsers, and named.

use encoding_rs::{Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::document::decode;
use crate::document::notation::Skipped;
use crate::error::{Error, Kind, Result};

/// Bytes at the start of a page in which a declaration is looked for.
const HEAD: usize = 16 * 1024;
/// One damaged character in as many is tolerated.
const DAMAGE: usize = 1000;

/// The text of a page, and a word on what was replaced in it.
pub(super) fn decode(bytes: &[u8], charset: Option<&'static Encoding>) -> Result<(String, Option<Skipped>)> {
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    if let Some(encoding) = charset.or(marked) {
        return with_replacement(encoding, bytes);
    }
    if let Some(encoding) = declared(bytes) {
        if let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) {
            return Ok((text.into_owned(), None));
        }
        if std::str::from_utf8(bytes).is_err()
            && let Ok(found) = with_replacement(encoding, bytes)
        {
            return Ok(found);
        }
    }
    match decode::decode(bytes.to_vec()) {
        Ok(decoded) => {
            Ok((decoded.text, decoded.warning.map(|reason| Skipped { place: "the encoding".to_string(), reason })))
        }
        Err(error) => with_replacement(UTF_8, bytes).map_err(|_| error),
    }
}

/// Decodes and counts what does not fit; too much of it is an error.
fn with_replacement(encoding: &'static Encoding, bytes: &[u8]) -> Result<(String, Option<Skipped>)> {
    let (text, _, broken) = encoding.decode(bytes);
    if !broken {
        return Ok((text.into_owned(), None));
    }
    let lost = text.matches('\u{fffd}').count();
    let all = text.chars().count();
    if lost * DAMAGE > all + 2 * DAMAGE {
        return Err(Error::new(Kind::Format, "cannot decode the page")
            .expected(format!("text in {}", encoding.name()))
            .found(format!("{lost} damaged characters of {all}"))
            .hint("name the encoding with `--encoding`, or save the page as UTF-8"));
    }
    let reason = format!("not {}: replaced by \u{fffd}", encoding.name());
    Ok((text.into_owned(), Some(Skipped { place: format!("{lost} damaged characters"), reason })))
}

/// The encoding that `<?xml encoding>`, `<meta charset>` or `<meta http-equiv content>` declares.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(HEAD).map(|&byte| char::from(byte.to_ascii_lowercase())).collect();
    if let Some(declaration) = head.trim_start().strip_prefix("<?xml") {
        let declaration = declaration.split("?>").next().unwrap_or_default();
        if let Some(encoding) = label_after(declaration, "encoding").and_then(usable) {
            return Some(encoding);
        }
    }
    let mut rest = head.as_str();
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end..]);
            continue;
        }
        if let Some(tag) = rest.strip_prefix("<meta") {
            let tag = tag.split('>').next().unwrap_or_default();
            if let Some(encoding) = label_after(tag, "charset").and_then(usable) {
                return Some(encoding);
            }
        }
        rest = &rest[1..];
    }
    None
}

/// The value behind `key =`, with or without quotes.
fn label_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let value = text.split(key).skip(1).find_map(|rest| rest.trim_start().strip_prefix('='))?;
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    value.split(['"', '\'', ';', ' ', '\t', '\r', '\n', '/', '?']).next()
}

/// A declaration that was read as ASCII cannot be true of UTF-16.
fn usable(label: &str) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label.as_bytes())?;
    Some(match encoding {
        _ if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        _ if encoding == GBK => GB18030,
        // Said by default of pages in any encoding, so the bytes have to agree.
        _ if encoding == WINDOWS_1252 => return None,
        encoding => encoding,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use encoding_rs::{BIG5, SHIFT_JIS};

    fn page(declaration: &str, text: &str, encoding: &'static Encoding) -> Vec<u8> {
        let html = format!("<html><!-- charset=koi8-r --><head>{declaration}</head><p>{text}");
        encoding.encode(&html).0.into_owned()
    }

    #[test]
    fn declarations_are_read_and_checked() {
        for (declaration, encoding) in [
            ("<meta charset=gb2312>", GB18030),
            ("<META HTTP-EQUIV='Content-Type' content='text/html; charset=Big5'>", BIG5),
            ("<meta name=x><meta charset = \"shift_jis\" />", SHIFT_JIS),
            // A wrong one.
            ("<meta charset=gb2312>", UTF_8),
            ("", UTF_8),
        ] {
            let bytes = page(declaration, "本日中", encoding);
            let (text, warning) = decode(&bytes, None).unwrap();
            assert!(text.ends_with("本日中") && warning.is_none(), "{declaration} {text}");
        }
    }

    #[test]
    fn little_damage_is_named_and_much_is_an_error() {
        let mut bytes = page("<meta charset=utf-8>", &"温度".repeat(500), UTF_8);
        bytes.push(0xff);
        let (text, warning) = decode(&bytes, None).unwrap();
        assert!(text.ends_with('\u{fffd}') && warning.is_some());
        let much: Vec<u8> = (0..600u32).flat_map(|n| [0xe6, 0xb8, 0xa9, 0xff, (n % 64) as u8 + 0x20]).collect();
        assert!(decode(&much, Some(UTF_8)).is_err());
    }
}
