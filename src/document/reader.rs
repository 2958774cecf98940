//! Which reader a file goes to, and what keeps a bad file from harming the others.
//!
//! The first bytes decide before the name does: a PDF that is called `.txt` is a PDF. Formats that take a parser are read on a
//! thread of their own, so that one that panics or does not come to an end is given up with its name.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use super::budget::Budget;
use super::notation::{Extracted, Skipped};
use super::{Format, csv, decode, docx, epub, extension, html, pdf, pptx, refused, rst, sheet};
use crate::error::{Error, Kind, Result};

/// Name of the threads that readers run on. A panic there is an error of the file, and need not be shown.
pub const READER_THREAD: &str = "mingti-reader";

/// How files are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// Name of the encoding of text files, such as `gbk`; else it is told by the bytes.
    pub encoding: Option<String>,
    /// Longest time that a file may take.
    pub time_limit: Duration,
    /// Most bytes that a file may unpack to.
    pub unpacked_limit: u64,
}

impl Default for ReadOptions {
    /// A minute and a gigabyte.
    fn default() -> Self {
        Self { encoding: None, time_limit: Duration::from_secs(60), unpacked_limit: 1 << 30 }
    }
}

/// What a file was made into.
pub(super) struct Read {
    pub(super) text: String,
    pub(super) format: Format,
    pub(super) encoding: &'static str,
    pub(super) confidence: f32,
    pub(super) warning: Option<String>,
    /// Title, pages and the like of a format that is no text; its `text` was moved out.
    pub(super) extracted: Extracted,
    /// True where the metadata of the file says when it was last saved rather than when it was written.
    pub(super) dated_by_software: bool,
}

/// The formats that are not read as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parsed {
    Pdf,
    Docx,
    Pptx,
    Sheet,
    Epub,
    Html,
    Csv,
    Rst,
    /// An archive of no known kind.
    Zip,
}

/// Extensions that a walk through a folder takes up. Legacy formats are among them so that they are named, not passed over.
const EXTENSIONS: &[&str] = &[
    "md", "markdown", "mdown", "txt", "text", "rst", "html", "htm", "xhtml", "csv", "tsv", "pdf", "epub", "docx",
    "docm", "dotx", "xlsx", "xlsm", "xls", "ods", "pptx", "pptm", "ppsx", "doc", "dot", "ppt", "pps", "rtf", "wps",
    "et", "dps", "odt", "odp", "xlsb",
];

/// True for files that a walk through a folder takes up, by their extension. A file that is named explicitly is always tried.
pub fn supported(path: &Path) -> bool {
    extension(path).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

fn parsed(name: &Path, bytes: &[u8]) -> Option<Parsed> {
    if pdf_starts(bytes) {
        return Some(Parsed::Pdf);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some(in_package(bytes, extension(name).as_deref()));
    }
    if bytes.starts_with(OLE) {
        // What is no workbook was refused before.
        return Some(Parsed::Sheet);
    }
    match extension(name)?.as_str() {
        "pdf" => Some(Parsed::Pdf),
        "html" | "htm" | "xhtml" => Some(Parsed::Html),
        "csv" | "tsv" => Some(Parsed::Csv),
        "rst" => Some(Parsed::Rst),
        // Their reader says what is wrong with one that is no package.
        "docx" | "docm" | "dotx" => Some(Parsed::Docx),
        "xlsx" | "xlsm" | "ods" | "xls" => Some(Parsed::Sheet),
        "pptx" | "pptm" | "ppsx" => Some(Parsed::Pptx),
        "epub" => Some(Parsed::Epub),
        _ => None,
    }
}

/// Beginning of a compound file.
const OLE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// What a ZIP archive holds, by the names in its directory, which end the file and are never compressed; else by its own name.
fn in_package(bytes: &[u8], extension: Option<&str>) -> Parsed {
    /// A directory with tens of thousands of names is longer.
    const TAIL: usize = 4 << 20;
    let holds = |name: &str| {
        let (head, tail) = (&bytes[..bytes.len().min(200)], &bytes[bytes.len().saturating_sub(TAIL)..]);
        [head, tail].iter().any(|part| part.windows(name.len()).any(|window| window == name.as_bytes()))
    };
    match extension {
        Some("docx" | "docm" | "dotx") => return Parsed::Docx,
        Some("xlsx" | "xlsm" | "ods") => return Parsed::Sheet,
        Some("pptx" | "pptm" | "ppsx") => return Parsed::Pptx,
        Some("epub") => return Parsed::Epub,
        _ => {}
    }
    let known = [
        ("word/", Parsed::Docx),
        ("xl/", Parsed::Sheet),
        ("ppt/", Parsed::Pptx),
        ("application/epub+zip", Parsed::Epub),
        ("opendocument.spreadsheet", Parsed::Sheet),
    ];
    known.into_iter().find(|(name, _)| holds(name)).map_or(Parsed::Zip, |(_, parsed)| parsed)
}

/// Readers of PDF files accept some bytes before the mark.
fn pdf_starts(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(1024)].windows(5).position(|window| window == b"%PDF-").is_some_and(|at| {
        // In front of it is nothing that a person wrote.
        bytes[..at].iter().all(|b| !b.is_ascii_alphanumeric())
    })
}

/// Reads `bytes` of the file `name`.
pub(super) fn read(name: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Read> {
    if let Some(refusal) = refused::refusal(&bytes) {
        return Err(refusal);
    }
    let Some(parsed) = parsed(name, &bytes).filter(|parsed| *parsed != Parsed::Zip) else {
        let decoded = decoded(bytes, options)?;
        let (format, extracted) = (Format::of_path(name), Extracted::default());
        let decode::Decoded { text, encoding, confidence, warning } = decoded;
        return Ok(Read { text, format, encoding, confidence, warning, extracted, dated_by_software: false });
    };
    let (mut encoding, mut confidence, mut warning) = ("", 1.0, None);
    let budget = Budget::new(options.time_limit, options.unpacked_limit);
    let mut extracted = match parsed {
        Parsed::Pdf => guarded(options, budget, move |budget| pdf::read(&bytes, budget))?,
        Parsed::Docx => guarded(options, budget, move |budget| docx::read(&bytes, budget))?,
        Parsed::Pptx => guarded(options, budget, move |budget| pptx::read(&bytes, budget))?,
        Parsed::Sheet => guarded(options, budget, move |budget| sheet::read(&bytes, budget))?,
        Parsed::Zip => Extracted::default(),
        Parsed::Epub => guarded(options, budget, move |budget| epub::read(&bytes, budget))?,
        Parsed::Html => {
            let charset = options.encoding.as_deref().map(named).transpose()?;
            encoding = charset.map_or("", |charset| charset.name());
            guarded(options, budget, move |budget| html::read(&bytes, charset, budget))?
        }
        Parsed::Csv | Parsed::Rst => {
            let decoded = decoded(bytes, options)?;
            (encoding, confidence, warning) = (decoded.encoding, decoded.confidence, decoded.warning);
            let reader = if parsed == Parsed::Csv { csv::read } else { rst::read };
            guarded(options, budget, move |budget| reader(&decoded.text, budget))?
        }
    };
    extracted = extracted.without_controls();
    name_lost_characters(&mut extracted);
    let text = std::mem::take(&mut extracted.text);
    let dated_by_software = matches!(parsed, Parsed::Pdf | Parsed::Docx | Parsed::Pptx | Parsed::Sheet);
    Ok(Read { text, format: Format::Markdown, encoding, confidence, warning, extracted, dated_by_software })
}

/// Says how many characters are shown as lost, unless the reader did: halves of pairs, references to no character, and those
/// that an earlier program lost already.
fn name_lost_characters(extracted: &mut Extracted) {
    let lost = extracted.text.matches(char::REPLACEMENT_CHARACTER).count();
    let is_named = extracted.skipped.iter().any(|part| part.reason.contains(char::REPLACEMENT_CHARACTER));
    if lost > 0 && !is_named {
        let reason = format!("damaged in the file: shown as {}", char::REPLACEMENT_CHARACTER);
        extracted.skipped.push(Skipped { place: format!("{lost} characters"), reason });
    }
}

fn decoded(bytes: Vec<u8>, options: &ReadOptions) -> Result<decode::Decoded> {
    match &options.encoding {
        Some(name) => decode::decode_as(&bytes, name),
        None => decode::decode(bytes),
    }
}

fn named(name: &str) -> Result<&'static encoding_rs::Encoding> {
    encoding_rs::Encoding::for_label(name.as_bytes()).ok_or_else(|| {
        Error::new(Kind::Usage, "no such encoding").found(name).hint("use a name such as utf-8, gb18030 or big5")
    })
}

/// Runs a reader where it can do no harm.
fn guarded(
    options: &ReadOptions,
    mut budget: Budget,
    reader: impl FnOnce(&mut Budget) -> Result<Extracted> + Send + 'static,
) -> Result<Extracted> {
    /// Readers bound their depth; what they are made of may need more of it.
    const STACK: usize = 32 << 20;
    /// A reader that keeps to its budget says so itself within this.
    const GRACE: Duration = Duration::from_secs(5);
    let (sender, receiver) = mpsc::channel();
    let work = move || {
        let mut read = reader(&mut budget);
        if let Ok(extracted) = &mut read
            && budget.is_cut()
        {
            let reason = "they cover too many places; their values do not stand in all of them";
            extracted
                .skipped
                .push(Skipped { place: "merged and repeated cells".to_owned(), reason: reason.to_owned() });
        }
        // Nobody waits for one that was given up.
        let _ = sender.send(read);
    };
    std::thread::Builder::new()
        .name(READER_THREAD.to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map_err(|error| Error::new(Kind::Io, "cannot start a thread to read the file").because(error))?;
    match receiver.recv_timeout(options.time_limit + GRACE) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(Error::new(Kind::Format, "gave up reading the file")
            .expected(format!("a file that is read within {} s", options.time_limit.as_secs_f32()))
            .hint("raise the limit with `--time-limit SECONDS`, or split the file")),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            Err(Error::new(Kind::Format, "the file is damaged in a way that its reader does not survive")
                .hint("open it in the program that made it, save it again, and index the copy"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_reader_that_panics_or_does_not_end_is_an_error_of_its_file() {
        let options = ReadOptions { time_limit: Duration::from_millis(1), ..ReadOptions::default() };
        let error = guarded(&options, Budget::default(), |_| panic!("a defect of a reader, made for this test"));
        assert!(error.unwrap_err().to_string().contains("does not survive"));
        let slow = guarded(&options, Budget::default(), |_| {
            std::thread::sleep(Duration::from_secs(7));
            Ok(Extracted::default())
        });
        assert!(slow.unwrap_err().to_string().contains("gave up reading"));
    }

    #[test]
    fn characters_that_are_shown_as_lost_are_named_once() {
        let lost = |html: &str| {
            let read = read(Path::new("a.html"), html.as_bytes().to_vec(), &ReadOptions::default()).unwrap();
            read.extracted.skipped.into_iter().map(|part| part.place).collect::<Vec<_>>()
        };
        assert_eq!(lost("<p>a&#0;b&#xd800;c"), ["2 characters"]);
        assert!(lost("<p>a&#1;b").is_empty());
    }

    #[test]
    fn the_first_bytes_count_more_than_the_name() {
        let of = |name: &str, bytes: &[u8]| parsed(Path::new(name), bytes);
        assert_eq!(of("a.txt", b"\xef\xbb\xbf\n%PDF-1.7"), Some(Parsed::Pdf));
        assert_eq!(of("a.txt", b"See %PDF-1.7"), None);
        assert_eq!(of("a.HTM", b"x"), Some(Parsed::Html));
        assert_eq!(of("README", b"x"), None);
    }
}
