//! Tells files that are not text by their first bytes, so that the refusal can name what they are.

/// Signatures at the start of a file, and what a person calls such a file.
const SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (as .docx, .xlsx and .epub files are)"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an OLE file (as old .doc and .xls files are)"),
    (b"\x7fELF", "an ELF program"),
    (b"\x1f\x8b\x08", "gzip data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program"),
    (b"OggS\x00", "an Ogg file"),
    (b"ID3\x03\x00", "an MP3 file"),
    (b"ID3\x04\x00", "an MP3 file"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"{\\rtf1", "an RTF document"),
];

/// Signatures whose bytes also start ordinary text; they count only when a NUL byte follows soon.
const WEAK_SIGNATURES: &[(&[u8], &str)] = &[
    (b"GGUF", "a GGUF model"),
    (b"MZ", "a Windows program"),
    (b"BM", "a BMP image"),
    (b"RIFF", "a RIFF file (sound, video or WebP)"),
];

/// What kind of binary file starts with `bytes`, if it is a known one.
pub(super) fn name(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, name)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Some(name);
    }
    let head = &bytes[..bytes.len().min(64)];
    if !head.contains(&0) {
        return None;
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some("an MP4 or HEIF file");
    }
    WEAK_SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_signatures_do_not_turn_text_away() {
        assert_eq!(name("BMW 的保养手册".as_bytes()), None);
        assert_eq!(name(b"GGUF is a file format."), None);
        assert_eq!(name(b"GGUF\x03\0\0\0"), Some("a GGUF model"));
        assert_eq!(name(b"\x89PNG\r\n\x1a\n...."), Some("a PNG image"));
    }
}
