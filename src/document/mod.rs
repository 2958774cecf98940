//! From the bytes of a file to a [`Document`]: decoded text, title and metadata.

mod budget;
mod csv;
mod date;
mod date_find;
mod dating;
mod decode;
mod docx;
mod drawing;
mod epub;
mod front;
mod front_toml;
pub(crate) mod grid;
mod html;
mod legacy;
mod lines;
mod magic;
pub(crate) mod markdown;
pub(crate) mod markup;
mod math;
mod notation;
mod ole;
mod package;
mod pattern;
mod pdf;
mod plausible;
mod pptx;
mod reader;
mod refused;
mod rst;
mod sheet;
mod tabular;
mod text;
mod tight;
mod title;
mod wide;
mod xml;

pub use budget::Budget;
pub(crate) use budget::DEEPEST;
pub use date::Date;
pub use notation::{Extracted, Page, Skipped};
pub use pattern::PathPattern;
pub use reader::{READER_THREAD, ReadOptions, supported};
pub use text::{Span, Text};

pub(crate) use date_find::{MONTHS, dates_in};
pub(crate) use front::{front_matter, key_of};
pub(crate) use lines::{Line, text_lines};
pub(crate) use markdown::collapse;
pub(crate) use tight::{fence, tight_headings};
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
    /// Name of the encoding that the bytes were in, such as `UTF-8` or `GB18030`; empty for formats that are no text.
    pub encoding: &'static str,
    /// Where pages begin, in code points; empty where the format has none.
    pub pages: Vec<Page>,
    /// What of the file is not in `text`, and why.
    pub skipped: Vec<Skipped>,
    /// How sure `encoding` is, from 0 (a guess) to 1 (certain).
    pub confidence: f32,
    /// Why `text` may be another one than was written.
    pub warning: Option<String>,
}

impl Document {
    /// Reads and decodes the file at `path`; `name` becomes the path of the document in the index.
    ///
    /// # Errors
    /// The file cannot be read, is of no format that is known (the error says what it is instead), or has bytes that no likely
    /// encoding allows (the error names the offset). Nothing is ever replaced without a word.
    pub fn read(path: &Path, name: &str, options: &ReadOptions) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|e| Error::io("cannot read the file", path, e))?;
        if metadata.is_dir() {
            return Err(Error::new(Kind::Format, "cannot read the file")
                .at(path)
                .expected("a text file")
                .found("a folder"));
        }
        let bytes = fs::read(path).map_err(|e| Error::io("cannot read the file", path, e))?;
        let read = reader::read(path, bytes, options).map_err(|e| e.at(path))?;
        Ok(Self { source: path.to_path_buf(), ..Self::made(name, read) })
    }

    /// Reads bytes that did not come from a file; the format follows the bytes and the extension of `name`.
    ///
    /// # Errors
    /// As for [`Document::read`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &ReadOptions) -> Result<Self> {
        reader::read(Path::new(name), bytes, options).map(|read| Self::made(name, read)).map_err(|e| e.place(name))
    }

    /// Takes text that is decoded already. A byte-order mark at its start is removed.
    pub fn from_text(name: &str, text: String, format: Format) -> Self {
        let (text, extracted) = (decode::without_mark(text), Extracted::default());
        let read = reader::Read {
            text,
            format,
            encoding: "UTF-8",
            confidence: 1.0,
            warning: None,
            extracted,
            dated_by_software: false,
        };
        Self::made(name, read)
    }

    fn made(name: &str, read: reader::Read) -> Self {
        let reader::Read { text: string, format, encoding, confidence, warning, extracted, dated_by_software } = read;
        let own = extracted.title.or_else(|| title::find(&string, format));
        let title = own.unwrap_or_else(|| title::stem(name));
        let mut metadata = front::entries(&string, format);
        let date = if dated_by_software {
            let written = dating::find(name, &string, format, &metadata);
            metadata.extend(extracted.metadata);
            written.or_else(|| dating::find(name, &string, format, &metadata))
        } else {
            metadata.extend(extracted.metadata);
            dating::find(name, &string, format, &metadata)
        };
        let (path, source, text) = (name.to_string(), PathBuf::new(), Text::new(string));
        let pages = extracted.pages.into_iter().map(|page| Page { start: text.char_of(page.start), ..page }).collect();
        let skipped = extracted.skipped;
        Self { path, source, text, title, format, metadata, date, encoding, confidence, pages, skipped, warning }
    }

    /// The label of the page on which code point `at` lies; none where there are no pages.
    pub fn page_of(&self, at: usize) -> Option<&str> {
        page_of(&self.pages, at)
    }
}

/// The label of the page on which code point `at` lies, given where pages begin.
pub fn page_of(pages: &[Page], at: usize) -> Option<&str> {
    let after = pages.partition_point(|page| page.start <= at);
    pages.get(after.checked_sub(1)?).map(|page| page.label.as_str())
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
            ("a.PDF", Format::PlainText, true),
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
        let document = Document::read(&path, "zh/操作 手册.md", &ReadOptions::default()).unwrap();
        assert_eq!(document.text.as_str(), "# 手册\r\n\r正文。\n");
        assert_eq!((document.path.as_str(), document.title.as_str()), ("zh/操作 手册.md", "手册"));
        assert_eq!(document.source, path);
    }

    #[test]
    fn missing_files_and_folders_are_errors_that_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let missing = Document::read(&folder.path().join("none.md"), "none.md", &ReadOptions::default()).unwrap_err();
        assert!(missing.is_missing() && missing.to_string().contains("none.md"));
        let is_folder = Document::read(folder.path(), "x", &ReadOptions::default()).unwrap_err();
        assert!(is_folder.to_string().contains("a folder"));
    }

    #[test]
    fn an_empty_file_is_an_empty_document() {
        let document = Document::from_bytes("空.txt", Vec::new(), &ReadOptions::default()).unwrap();
        assert_eq!((document.text.chars(), document.title.as_str()), (0, "空"));
    }
}
