//! Office files that are not read: what they are, and what to do about it.

use super::budget::Budget;
use super::ole::{Ole, is_ole};
use crate::error::{Error, Kind};

/// Streams or storages of a compound file by which its kind is known, what a person calls it, and what to save it as.
const STREAMS: &[(&str, &str, &str)] = &[
    ("EncryptedPackage", "an office document behind a password", ""),
    ("WordDocument", "an old Word document (.doc, .wps)", ".docx"),
    ("PowerPoint Document", "an old presentation (.ppt, .dps)", ".pptx"),
    ("MatOST", "a Works document (.wps)", ".docx"),
    ("FileHeader", "a Hangul document (.hwp)", ".docx"),
    ("VisioDocument", "a Visio drawing", ".pdf"),
    ("Quill", "a Publisher document", ".pdf"),
    ("__properties_version1.0", "an Outlook message", ".html"),
];

/// The error for a file that is an office file of a kind that is not read; `None` for all others, old workbooks among them.
pub(crate) fn refusal(bytes: &[u8]) -> Option<Error> {
    if is_ole(bytes) {
        return of_ole(bytes);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(refused("an RTF document", ".docx"));
    }
    let head = bytes.get(..bytes.len().min(1024)).unwrap_or_default();
    let says = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    if says(b"<?mso-application progid=\"Word.Document\"") {
        return Some(refused("a Word document of 2003 in one XML file", ".docx"));
    }
    if says(b"<?mso-application progid=\"Excel.Sheet\"") {
        return Some(refused("an Excel workbook of 2003 in one XML file", ".xlsx"));
    }
    // OpenDocument packages begin with an unpacked entry that says what they are.
    if bytes.get(30..38) == Some(b"mimetype") {
        const KINDS: &[(&[u8], &str, &str)] = &[
            (b"vnd.oasis.opendocument.text", "an OpenDocument text (.odt)", ".docx"),
            (b"vnd.oasis.opendocument.presentation", "an OpenDocument presentation (.odp)", ".pptx"),
            (b"vnd.oasis.opendocument.graphics", "an OpenDocument drawing (.odg)", ".pdf"),
        ];
        return KINDS.iter().find(|(word, _, _)| says(word)).map(|(_, name, as_what)| refused(name, as_what));
    }
    None
}

fn of_ole(bytes: &[u8]) -> Option<Error> {
    let ole = match Ole::open(bytes, &mut Budget::default()) {
        Ok(ole) => ole,
        Err(error) => return Some(error),
    };
    if let Some((_, name, as_what)) = STREAMS.iter().find(|(stream, _, _)| ole.has(stream)) {
        return Some(refused(name, as_what));
    }
    let is_workbook = ole.has("Workbook") || ole.has("Book");
    (!is_workbook).then(|| {
        let names: Vec<&str> = ole.entries().iter().take(4).map(|entry| entry.name.as_str()).collect();
        Error::new(Kind::Format, "the file is not read")
            .expected("a document that has text")
            .found(format!("a compound file with {}", names.join(", ")))
            .hint("open it in its program and save it in a format of today, or as PDF")
    })
}

fn refused(name: &str, as_what: &str) -> Error {
    let hint = match as_what {
        "" => "open it in its program, remove the password, save it and index it again".to_string(),
        as_what => format!("open it in Word, WPS, LibreOffice or its own program, save it as {as_what} and index that"),
    };
    Error::new(Kind::Format, "the file is not read").found(name.to_string()).hint(hint)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::ole::tests::compound;

    #[test]
    fn old_and_encrypted_files_are_named_with_a_way_out() {
        for (stream, name, hint) in [
            ("WordDocument", "old Word document", ".docx"),
            ("PowerPoint Document", "old presentation", ".pptx"),
            ("EncryptedPackage", "behind a password", "remove the password"),
            ("Something", "compound file with Root Entry, Something", "PDF"),
        ] {
            let error = refusal(&compound(&[(stream, b"x")])).unwrap().to_string();
            assert!(error.contains(name) && error.contains(hint), "{error}");
        }
        assert!(refusal(&compound(&[("Workbook", b"x")])).is_none());
        assert!(refusal(b"{\\rtf1 x}").unwrap().to_string().contains("RTF"));
        assert!(refusal("普通文本".as_bytes()).is_none() && refusal(b"PK\x03\x04").is_none());
        assert!(refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1").unwrap().to_string().contains("cut off"));
    }
}
