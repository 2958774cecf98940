//! What holds for every document, whatever file it was made from.

use std::hash::{DefaultHasher, Hash, Hasher};

use mingti::Result;
use mingti::document::{Document, Format, Span};
use mingti::section::{HeadingSplitter, Section, Splitter, sentence_spans};

/// Where the characters of a document come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The file is the text.
    Text,
    /// The file is text with marks that are not kept.
    Marked,
    /// The file is no text.
    Binary,
}

/// What the file holds before it is packed, as far as it decides what the text may hold.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    pub(crate) source: Source,
    /// How often each control character occurs as a byte.
    controls: [usize; 32],
    /// It may have the character that stands for a lost one.
    has_replaced: bool,
}

impl Evidence {
    pub(crate) fn of(source: Source, bytes: &[u8]) -> Self {
        let mut controls = [0; 32];
        for &byte in bytes {
            if let Some(count) = controls.get_mut(usize::from(byte)) {
                *count += 1;
            }
        }
        // U+FFFD in UTF-8, UTF-16 in both orders, and GB18030.
        let marks: [&[u8]; 4] = [b"\xef\xbf\xbd", b"\xff\xfd", b"\xfd\xff", b"\x84\x31\xa4\x37"];
        let has_replaced = marks.iter().any(|mark| bytes.windows(mark.len()).any(|window| window == *mark));
        Self { source, controls, has_replaced }
    }
}

/// The rules that `document` breaks: a name for the rule, and what was found.
pub(crate) fn broken(document: &Document, evidence: &Evidence) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    let total = document.text.chars();
    if let Some(fault) = not_tiled(document, HeadingSplitter::default().split(document)) {
        faults.push(("sections tile the text", fault));
    }
    if let Some(fault) = not_tiled(document, HeadingSplitter { min: 20, max: 60 }.split(document)) {
        faults.push(("short sections tile the text", fault));
    }
    let sentences = sentence_spans(document).into_iter().map(|span| Section { span, heading_path: Vec::new() });
    if let Some(fault) = not_tiled(document, sentences.collect()) {
        faults.push(("sentences tile the text", fault));
    }
    let starts: Vec<usize> = document.pages.iter().map(|page| page.start).collect();
    if !starts.is_sorted() || starts.last().is_some_and(|&last| last > total) {
        faults.push(("pages ascend within the text", format!("{starts:?} in {total} characters")));
    }
    let spoken = document.pages.iter().map(|page| &page.label).chain([&document.title]);
    let spoken = spoken.chain(document.skipped.iter().flat_map(|part| [&part.place, &part.reason]));
    let mut spoken = spoken.chain(document.metadata.iter().flat_map(|(key, value)| [key, value]));
    // Of a text that is kept as it stands, its title is, too.
    let is_kept = evidence.source == Source::Text && !document.encoding.is_empty();
    if !is_kept
        && let Some(line) = spoken.find(|line| line.contains(|c: char| c.is_control() && c != '\n' && c != '\t'))
    {
        faults.push(("what is said of a file has no control characters", format!("{line:?}")));
    }
    faults.extend(characters(document, evidence).map(|fault| ("the text has the characters of the file", fault)));
    faults
}

/// Control characters that the file does not have, line ends that were to be changed, and lost characters without a word.
fn characters(document: &Document, evidence: &Evidence) -> Option<String> {
    let text = document.text.as_str();
    // A file of any name may turn out to be of a format that is no text.
    let source =
        if evidence.source == Source::Text && document.encoding.is_empty() { Source::Binary } else { evidence.source };
    let mut counts = [0usize; 32];
    for c in text.chars() {
        if let Some(count) = counts.get_mut(c as usize) {
            *count += 1;
        }
    }
    for (code, (&count, &there)) in counts.iter().zip(&evidence.controls).enumerate() {
        let allowed = match (source, code as u8) {
            (Source::Text, b'\t' | b'\n' | b'\r') | (_, b'\n' | b'\t') => usize::MAX,
            (Source::Marked, b'\r') | (Source::Binary, _) => 0,
            _ => there,
        };
        if count > allowed {
            return Some(format!("{count} times U+{code:04X}, {allowed} allowed"));
        }
    }
    let is_named = !document.skipped.is_empty() || document.warning.is_some();
    let is_kept = source == Source::Text && evidence.has_replaced;
    (text.contains('\u{fffd}') && !is_named && !is_kept).then(|| "a lost character that nothing names".to_owned())
}

fn not_tiled(document: &Document, sections: Vec<Section>) -> Option<String> {
    let mut at = 0;
    for Section { span: Span { start, end }, .. } in &sections {
        if *start != at || end <= start {
            return Some(format!("a section at {start}..{end} after {at}"));
        }
        at = *end;
    }
    (at != document.text.chars()).then(|| format!("the end at {at} of {}", document.text.chars()))
}

/// A number for what happened, the same for files that were read alike: files that give a new one are worth changing further.
pub(crate) fn signature(read: &Result<Document>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match read {
        Err(error) => words(&error.to_string()).hash(&mut hasher),
        Ok(document) => {
            for (kind, count) in blocks(document.text.as_str(), document.format).into_iter().enumerate() {
                (kind, magnitude(count)).hash(&mut hasher);
            }
            let counts =
                [document.pages.len(), document.metadata.len(), document.skipped.len(), document.text.chars() / 64];
            counts.map(magnitude).hash(&mut hasher);
            (document.encoding, document.warning.is_some(), document.date.is_some()).hash(&mut hasher);
            let mut reasons: Vec<String> = document.skipped.iter().map(|part| words(&part.reason)).collect();
            reasons.sort_unstable();
            reasons.dedup();
            reasons.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Counts of headings, rows, items, items further in, fences, escaped lines, empty lines and other lines.
fn blocks(text: &str, format: Format) -> [usize; 8] {
    let mut counts = [0; 8];
    for line in text.split(['\n', '\r']) {
        let kind = match line.trim_start().as_bytes() {
            [] => 6,
            _ if format == Format::PlainText => 7,
            [b'#', ..] => 0,
            [b'|', ..] => 1,
            [b'-', ..] if line.starts_with(' ') => 3,
            [b'-', ..] => 2,
            [b'`', ..] => 4,
            [b'\\', ..] => 5,
            _ => 7,
        };
        counts[kind] += 1;
    }
    counts
}

fn magnitude(count: usize) -> u32 {
    usize::BITS - count.leading_zeros()
}

/// The words of the start of a message, without numbers and without what it quotes from the file.
fn words(message: &str) -> String {
    let mut quoted = false;
    let keep = message.chars().take(200).filter(|&c| {
        quoted ^= matches!(c, '`' | '\'' | '"');
        !quoted && (c.is_ascii_alphabetic() || c == ' ')
    });
    keep.take(80).collect()
}
