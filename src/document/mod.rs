//! From the bytes of a file to a [`Document`]: decoded text, title and metadata.

mod budget;
pub(crate) mod csv;
mod date;
mod date_find;
mod dating;
pub(crate) mod decode;
pub(crate) mod epub;
mod front;
mod grid;
pub(crate) mod html;
mod legacy;
mod lines;
mod magic;
pub(crate) mod markdown;
mod notation;
mod pattern;
mod plausible;
pub(crate) mod rst;
mod text;
mod title;
mod wide;

pub use budget::Budget;
pub use date::Date;
pub use notation::{Extracted, Page, Skipped};
pub use pattern::PathPattern;
pub use text::{Span, Text};

pub(crate) use date_find::{MONTHS, dates_in};
pub(crate) use front::key_of;
pub(crate) use lines::{Line, text_lines};
pub(crate) use markdown::{collapse, front_matter};
pub(crate) use title::{join, leading_title};

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// How the text of a document is marked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Markdown (CommonMark headings, tables and lists).
    Markdown,
    /// Plain text; headings are recognised by their numbering.
    PlainText,
}

impl Format {
    /// The format that a file name stands for: `.md`, `.markdown` and `.mdown` are Markdown, anything else is plain text.
    pub fn of_path(path: &Path) -> Self {
        match extension(path).as_deref() {
            Some("md" | "markdown" | "mdown") => Self::Markdown,
            _ => Self::PlainText,
        }
    }
}

/// True for files that a walk through a folder takes up, by their extension: `md`, `markdown`, `mdown`, `txt`, `text`.
/// A file that is named explicitly is always tried.
pub fn supported(path: &Path) -> bool {
    matches!(extension(path).as_deref(), Some("md" | "markdown" | "mdown" | "txt" | "text"))
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// A decoded document.
#[derive(Debug, Clone)]
pub struct Document {
    /// Path relative to the folder that was named, with `/`; the identity of the document in an index.
    pub path: String,
    /// Where the bytes were read from; empty for a document that was never a file.
    pub source: PathBuf,
    /// The decoded text, byte-order mark removed, line endings kept.
    pub text: Text,
    /// Title from front matter, the first heading or the file name.
    pub title: String,
    /// Markup of `text`.
    pub format: Format,
    /// The `key: value` entries of front matter, keys in lower case with `_` between words; empty without front matter.
    pub metadata: Vec<(String, String)>,
    /// When the text was last made, from front matter, else the file name, else a note on the first page.
    pub date: Option<Date>,
    /// Name of the encoding that the bytes were in, such as `UTF-8` or `GB18030`.
    pub encoding: &'static str,
}

impl Document {
    /// Reads and decodes the file at `path`; `name` becomes the path of the document in the index.
    ///
    /// # Errors
    /// The file cannot be read, is not text (the error says what it is instead), or has bytes that no likely encoding
    /// allows (the error names the offset). Nothing is ever replaced without a word.
    pub fn read(path: &Path, name: &str) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|e| Error::io("cannot read the file", path, e))?;
        if metadata.is_dir() {
            return Err(Error::new(Kind::Format, "cannot read the file")
                .at(path)
                .expected("a text file")
                .found("a folder"));
        }
        let bytes = fs::read(path).map_err(|e| Error::io("cannot read the file", path, e))?;
        let decoded = decode::decode(bytes).map_err(|e| e.at(path))?;
        Ok(Self {
            source: path.to_path_buf(),
            ..Self::build(name, decoded.text, Format::of_path(path), decoded.encoding)
        })
    }

    /// Decodes bytes that did not come from a file; the format follows the extension of `name`.
    ///
    /// # Errors
    /// As for [`Document::read`].
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self> {
        let decoded = decode::decode(bytes.to_vec()).map_err(|e| e.place(name))?;
        Ok(Self::build(name, decoded.text, Format::of_path(Path::new(name)), decoded.encoding))
    }

    /// Takes text that is decoded already. A byte-order mark at its start is removed.
    pub fn from_text(name: &str, text: String, format: Format) -> Self {
        Self::build(name, decode::without_mark(text), format, "UTF-8")
    }

    fn build(name: &str, string: String, format: Format, encoding: &'static str) -> Self {
        let title = title::find(&string, format).unwrap_or_else(|| title::stem(name));
        let metadata = front::entries(&string, format);
        let date = dating::find(name, &string, format, &metadata);
        let (path, source, text) = (name.to_string(), PathBuf::new(), Text::new(string));
        Self { path, source, text, title, format, metadata, date, encoding }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn extension_decides_the_format_and_whether_a_walk_takes_the_file() {
        for (name, format, walked) in [
            ("a.md", Format::Markdown, true),
            ("A.Markdown", Format::Markdown, true),
            ("dir.md/notes.TXT", Format::PlainText, true),
            ("server.log", Format::PlainText, false),
            ("README", Format::PlainText, false),
            ("photo.png", Format::PlainText, false),
        ] {
            assert_eq!((Format::of_path(Path::new(name)), supported(Path::new(name))), (format, walked), "{name}");
        }
    }

    #[test]
    fn a_file_is_read_with_its_line_endings_and_named_as_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("操作 手册.md");
        fs::write(&path, "\u{feff}# 手册\r\n\r正文。\n").unwrap();
        let document = Document::read(&path, "zh/操作 手册.md").unwrap();
        assert_eq!(document.text.as_str(), "# 手册\r\n\r正文。\n");
        assert_eq!((document.path.as_str(), document.title.as_str()), ("zh/操作 手册.md", "手册"));
        assert_eq!(document.source, path);
    }

    #[test]
    fn missing_files_and_folders_are_errors_that_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Document::read(&folder.path().join("none.md"), "none.md").unwrap_err();
        assert!(missing.is_missing() && missing.to_string().contains("none.md"));
        let is_folder = Document::read(folder.path(), "x").unwrap_err();
        assert!(is_folder.to_string().contains("a folder"));
    }

    #[test]
    fn an_empty_file_is_an_empty_document() {
        let document = Document::from_bytes("空.txt", b"").unwrap();
        assert_eq!((document.text.chars(), document.title.as_str()), (0, "空"));
    }
}
