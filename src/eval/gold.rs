//! Gold files and files of results: JSON Lines, each line checked when it is read.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::document::Span;
use crate::error::{Error, Kind, Result};
use crate::proposition::{Status, UnitKind};

/// A passage that a person decomposed.
#[derive(Debug, Clone, Deserialize)]
pub struct GoldPassage {
    /// What results are matched by.
    pub id: Value,
    /// Title of the document.
    #[serde(default)]
    pub doc_title: String,
    /// Headings above, outermost first.
    #[serde(default)]
    pub heading_path: Vec<String>,
    /// The passage.
    pub text: String,
    /// Its statements.
    pub gold: Vec<GoldStatement>,
}

/// A statement that a person wrote.
#[derive(Debug, Clone, Deserialize)]
pub struct GoldStatement {
    /// The statement.
    pub statement: String,
    /// The clause it comes from, in code points of the passage.
    pub evidence: Span,
}

/// What an extractor made of a passage: a line of `mingti extract --json`. Other keys are not looked at.
#[derive(Debug, Clone, Deserialize)]
pub struct ResultPassage {
    /// The passage's name in the gold file.
    pub id: Value,
    /// Units, refused ones too.
    pub units: Vec<ResultUnit>,
    /// Sentences that no searchable unit covers.
    #[serde(default)]
    pub uncovered: Vec<Span>,
}

/// A unit as far as it is scored.
#[derive(Debug, Clone, Deserialize)]
pub struct ResultUnit {
    /// The statement.
    pub statement: String,
    /// What it is.
    #[serde(rename = "unit")]
    pub kind: UnitKind,
    /// Whether it is searchable.
    pub status: Status,
    /// Belief in it, in [0, 1].
    #[serde(default = "sure")]
    pub confidence: f32,
    /// Where it comes from, in code points of the passage.
    pub evidence: Vec<Span>,
}

fn sure() -> f32 {
    1.0
}

/// Reads a gold file: a line `{"id","doc_title","heading_path","text","gold":[{"statement","evidence"}]}` a passage.
///
/// Fails on a line that is no such object, on an id that stands twice, on evidence outside its text and on a file without
/// passages; the error names the line.
pub fn read_gold(path: &Path) -> Result<Vec<GoldPassage>> {
    let expected = r#"{"id","doc_title","heading_path","text","gold":[{"statement","evidence":[start,end]}]}"#;
    let passages: Vec<(usize, GoldPassage)> = lines(path, "gold", expected)?;
    let mut seen = HashSet::new();
    for (number, passage) in &passages {
        let error = |what: &str| Error::new(Kind::Format, format!("line {number}: {what}")).at(path);
        if !seen.insert(passage.id.to_string()) {
            return Err(error("an id stands twice").expected("one line an id").found(passage.id.to_string()));
        }
        let length = passage.text.chars().count();
        if let Some(statement) = passage.gold.iter().find(|s| s.evidence.end > length || s.evidence.is_empty()) {
            let Span { start, end } = statement.evidence;
            return Err(error("evidence outside the text")
                .expected(format!("a range within 0..{length}"))
                .found(format!("[{start},{end}] of `{}`", statement.statement)));
        }
    }
    if passages.is_empty() {
        return Err(Error::new(Kind::Format, "no passages in the gold file").at(path).expected(expected));
    }
    Ok(passages.into_iter().map(|(_, passage)| passage).collect())
}

/// Reads what `mingti extract --passages … --json` wrote. Fails on a line that is no result and on an id that stands
/// twice; the error names the line.
pub fn read_results(path: &Path) -> Result<Vec<ResultPassage>> {
    let expected = r#"{"id","units":[{"statement","unit","status","evidence"}],"uncovered"}"#;
    let results: Vec<(usize, ResultPassage)> = lines(path, "results", expected)?;
    let mut seen = HashSet::new();
    for (number, result) in &results {
        if !seen.insert(result.id.to_string()) {
            return Err(Error::new(Kind::Format, format!("line {number}: an id stands twice"))
                .at(path)
                .expected("one line an id")
                .found(result.id.to_string()));
        }
    }
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The lines of a JSON Lines file with their numbers; empty ones are passed over.
fn lines<T: DeserializeOwned>(path: &Path, what: &str, expected: &str) -> Result<Vec<(usize, T)>> {
    /// Characters of a faulty line that are shown.
    const SHOWN: usize = 60;
    let bytes = fs::read(path).map_err(|error| Error::io(format!("cannot read the {what} file"), path, error))?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut out = Vec::new();
    for (number, line) in bytes.split(|b| *b == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value = serde_json::from_slice(line).map_err(|error| {
            let text = String::from_utf8_lossy(line);
            let shown: String = text.trim().chars().take(SHOWN).collect();
            Error::new(Kind::Format, format!("line {}: not a line of a {what} file", number + 1))
                .at(path)
                .expected(expected)
                .found(format!("{shown}…"))
                .because(error)
        })?;
        out.push((number + 1, value));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const GOOD: &str = r#"{"id":"a","text":"泵停。","gold":[{"statement":"泵停。","evidence":[0,3],"more":1}]}"#;

    fn read(text: &str) -> Result<Vec<GoldPassage>> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gold.jsonl");
        fs::write(&file, text).unwrap();
        read_gold(&file)
    }

    #[test]
    fn a_faulty_line_is_named_with_what_was_expected_and_found() {
        assert_eq!(read(&format!("\u{feff}{GOOD}\r\n\r\n")).unwrap().len(), 1);
        for (bad, words) in [
            ("{\"id\":\"b\"}", ["line 2", "expected", "missing field"]),
            ("[1,", ["line 2", "expected", "[1,"]),
            (GOOD, ["line 2", "an id stands twice", "\"a\""]),
            (
                r#"{"id":1,"text":"泵","gold":[{"statement":"x","evidence":[0,9]}]}"#,
                ["line 2", "evidence outside", "[0,9]"],
            ),
        ] {
            let error = read(&format!("{GOOD}\n{bad}\n")).unwrap_err();
            let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            let text = format!("{error} {source}");
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
        assert!(read("\n").unwrap_err().to_string().contains("no passages"));
        assert!(read_gold(Path::new("missing.jsonl")).unwrap_err().is_missing());
    }

    #[test]
    fn results_need_only_what_is_scored() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("out.jsonl");
        let line = r#"{"id":"a","units":[{"statement":"x","unit":"sentence","status":"accepted","evidence":[[0,1]]}]}"#;
        fs::write(&file, line).unwrap();
        assert_eq!(read_results(&file).unwrap()[0].units[0].confidence, 1.0);
        fs::write(&file, format!("{line}\n{line}")).unwrap();
        assert!(read_results(&file).unwrap_err().to_string().contains("line 2"));
    }
}
