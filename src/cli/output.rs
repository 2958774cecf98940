//! Results for people (coloured on a terminal) and for programs (one JSON object a line).

use std::fmt::Write as _;
use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use mingti::document::{Span, Text};
use mingti::proposition::{Assembly, Passage, UnitKind};
use mingti::query::{Explanation, SearchResponse, SectionResult};

use super::failure::{Failure, Outcome};
use super::view;

/// Sections up to this many characters are shown whole.
const WHOLE: usize = 400;
/// Characters shown on each side of a highlight in longer ones.
const AROUND: usize = 80;
/// Propositions listed under a section.
const PROPOSITIONS: usize = 3;
/// Of these, those that score at least this part of the best.
const CLOSE: f32 = 0.5;

const RANK: Style = Style::new().bold();
const PATH: Style = AnsiColor::Cyan.on_default().bold();
const QUIET: Style = Style::new().dimmed();
const MARK: Style = AnsiColor::Yellow.on_default().bold().underline();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Green.on_default().bold();

/// Standard output, locked, buffered by line blocks and stripped of colour where none is wanted.
pub(crate) struct Out {
    stream: AutoStream<io::StdoutLock<'static>>,
    pending: Vec<u8>,
    coloured: bool,
}

impl Out {
    /// Locks standard output.
    pub(crate) fn stdout() -> Self {
        let choice = AutoStream::choice(&io::stdout());
        let stream = AutoStream::new(io::stdout().lock(), choice);
        Self { stream, pending: Vec::new(), coloured: choice != ColorChoice::Never }
    }

    /// Writes one JSON object and a line end, and hands it to the reader at once.
    pub(crate) fn json(&mut self, value: &impl serde::Serialize) -> Outcome<()> {
        serde_json::to_writer(&mut self.pending, value)?;
        self.pending.push(b'\n');
        self.flush()
    }

    /// Writes text and hands it to the reader at once.
    pub(crate) fn text(&mut self, text: &str) -> Outcome<()> {
        self.pending.extend_from_slice(text.as_bytes());
        self.flush()
    }

    /// Writes a response for people.
    pub(crate) fn response(&mut self, response: &SearchResponse) -> Outcome<()> {
        let text = render(response, self.coloured);
        self.text(&text)
    }

    /// Writes what became of a passage, for people.
    pub(crate) fn extraction(&mut self, id: &str, passage: &Passage<'_>, assembly: &Assembly) -> Outcome<()> {
        let text = view::page(id, passage, assembly, self.coloured);
        self.text(&text)
    }

    /// Writes a question above its answer, and a remark on it.
    pub(crate) fn question(&mut self, question: &str, remark: &str) -> Outcome<()> {
        self.text(&format!("{RANK}? {question}{RANK:#}  {QUIET}({remark}){QUIET:#}\n"))
    }

    fn flush(&mut self) -> Outcome<()> {
        let written = self.stream.write_all(&self.pending).and_then(|()| self.stream.flush());
        self.pending.clear();
        written.map_err(Failure::Output)
    }
}

/// A line that names a section.
pub(crate) fn place(path: &str, heading_path: &[String]) -> String {
    let trail = heading_path.iter().fold(String::new(), |trail, heading| trail + " › " + &printable(heading));
    format!("{PATH}{}{PATH:#}{trail}\n", printable(path))
}

/// The text of a section at `range` of its document, with ranges of the document marked.
pub(crate) fn highlighted(text: &str, range: Span, highlights: &[Span]) -> String {
    let coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
    indented(&marked(text, range.start, highlights, coloured))
}

/// A line for the person on stderr. A closed stderr is nobody's failure.
pub(crate) fn note(text: &str) {
    writeln!(anstream::stderr().lock(), "{text}").ok();
}

/// A fault that does not end the command.
pub(crate) fn complain(text: impl std::fmt::Display) {
    label("error", &text.to_string());
}

/// Something a person should know.
pub(crate) fn warn(text: impl std::fmt::Display) {
    note(&format!("{WARNING}warning{WARNING:#}: {}", printable(&text.to_string())));
}

/// Why the command ends.
pub(crate) fn report(failure: &Failure) {
    label("error", &failure.to_string());
}

fn label(word: &str, text: &str) {
    let text = printable(text);
    let text = match text.split_once("\nhint: ") {
        Some((what, hint)) => format!("{what}\n{HINT}hint{HINT:#}: {hint}"),
        None => text,
    };
    note(&format!("{ERROR}{word}{ERROR:#}: {text}"));
}

/// Replaces control characters, so that no document can steer the terminal. Line ends and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// Ranked sections for people. Without colour, highlights stand between `«` and `»`.
fn render(response: &SearchResponse, coloured: bool) -> String {
    let mut page = String::new();
    for result in &response.results {
        section(&mut page, result, coloured);
    }
    page
}

fn section(page: &mut String, result: &SectionResult, coloured: bool) {
    let SectionResult { rank, score, document, section, .. } = result;
    let trail = section.heading_path.iter().fold(String::new(), |trail, heading| trail + " › " + &printable(heading));
    let path = printable(&document.path);
    let at = result.page.as_ref().map_or_else(String::new, |label| format!(" p. {}", printable(label)));
    writeln!(page, "{RANK}{rank}.{RANK:#} {PATH}{path}{PATH:#}{QUIET}{at}{QUIET:#}{trail}  {QUIET}{score:.2}{QUIET:#}")
        .ok();
    page.push_str(&indented(&marked(&result.text, result.text_range.start, &result.highlights, coloured)));
    let best = result.propositions.first().map_or(0.0, |hit| hit.score);
    let close = result.propositions.iter().filter(|hit| hit.score >= CLOSE * best);
    let written = close.filter(|hit| hit.unit == UnitKind::Proposition);
    for hit in written.take(PROPOSITIONS) {
        writeln!(page, "   {QUIET}• {}  {:.2}{QUIET:#}", printable(&hit.statement), hit.score).ok();
    }
    for version in &result.older_versions {
        let date = version.date.as_ref().map_or_else(String::new, |date| format!(" ({date})"));
        writeln!(page, "   {QUIET}older version: {}{date}{QUIET:#}", printable(&version.document.path)).ok();
    }
    if let Some(explanation) = &result.explanation {
        writeln!(page, "   {QUIET}{}{QUIET:#}", explained(explanation)).ok();
    }
    page.push('\n');
}

/// `0.65 · (dense 0.512 [cosine 0.914, background 0.824] + density 0.048 [3 units]) + 0.35 · lexical 0.401 [BM25 …] = 0.504`
fn explained(e: &Explanation) -> String {
    let cosine = e.cosine.map_or_else(|| "no cosine".to_owned(), |cosine| format!("cosine {cosine:.3}"));
    let dense = format!("dense {:.3} [{cosine}, background {:.3}]", e.dense, e.background);
    let lexical =
        format!("lexical {:.3} [BM25 {:.2}, best {:.2}, full {:.2}]", e.lexical, e.bm25, e.best_bm25, e.full_bm25);
    let quoted = if e.phrase > 0.0 { format!(" + quoted {:.2}", e.phrase) } else { String::new() };
    let reranked = e.relevance.map_or_else(String::new, |relevance| format!("; reranked {relevance:.3}"));
    format!(
        "{:.2} · ({dense} + density {:.3} [units found: {}]) + {:.2} · {lexical}{quoted} = {:.3}{reranked}",
        1.0 - e.lexical_weight,
        e.density,
        e.hits,
        e.lexical_weight,
        e.score
    )
}

fn indented(text: &str) -> String {
    let mut page = String::new();
    for line in text.lines().map(str::trim_end) {
        match line {
            "" => page.push('\n'),
            line => {
                page.push_str("   ");
                page.push_str(line);
                page.push('\n');
            }
        }
    }
    page
}

/// A text that starts at code point `base` of its document, with its highlights marked, cut to their surroundings if it is
/// long.
fn marked(text: &str, base: usize, highlights: &[Span], coloured: bool) -> String {
    let text = Text::new(text.trim_end().to_owned());
    let highlights: Vec<Span> = highlights
        .iter()
        .map(|span| Span::new(span.start.saturating_sub(base), span.end.saturating_sub(base)))
        .map(|span| Span::new(span.start, span.end.min(text.chars())))
        .filter(|span| !span.is_empty())
        .collect();
    // The headings stand above the text already.
    let first = highlights.first().map_or(text.chars(), |span| span.start);
    let body = Some(headings(&text)).filter(|body| *body <= first && *body < text.chars()).unwrap_or(0);
    let windows = windows(&highlights, Span::new(body, text.chars()));
    let mut out = String::new();
    let mut end = body;
    for window in windows {
        if window.start > end {
            out.push_str("… ");
        }
        let mut at = window.start;
        for span in highlights.iter().filter_map(|span| span.intersect(window)) {
            out.push_str(&printable(text.slice(Span::new(at, span.start))));
            mark(&mut out, &printable(text.slice(span)), coloured);
            at = span.end;
        }
        out.push_str(&printable(text.slice(Span::new(at, window.end))));
        end = window.end;
    }
    if end < text.chars() {
        out.push_str(" …");
    }
    collapse(&out)
}

/// Colour is opened and closed on each line, so that indented lines do not carry a coloured margin.
fn mark(out: &mut String, text: &str, coloured: bool) {
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let line = line.trim_end_matches('\r');
        match (line.trim().is_empty(), coloured) {
            (true, _) => out.push_str(line),
            (false, true) => out.push_str(&format!("{MARK}{line}{MARK:#}")),
            (false, false) => out.push_str(&format!("«{line}»")),
        }
    }
}

/// Code points of the Markdown headings and empty lines that `text` starts with.
fn headings(text: &Text) -> usize {
    let lines = text.as_str().split_inclusive('\n');
    let heading = |line: &&str| {
        let marks = line.trim_start_matches('#');
        line.trim().is_empty() || (marks.len() < line.len() && marks.starts_with([' ', '\t']))
    };
    lines.take_while(heading).map(|line| line.chars().count()).sum()
}

/// The parts of `body` that are shown: all of it if short, else the surroundings of highlights.
fn windows(highlights: &[Span], body: Span) -> Vec<Span> {
    if body.len() <= WHOLE {
        return vec![body];
    }
    let mut windows: Vec<Span> = Vec::new();
    for span in highlights {
        let window = Span::new(span.start.saturating_sub(AROUND).max(body.start), (span.end + AROUND).min(body.end));
        match windows.last_mut() {
            // A gap shorter than the mark that would stand for it is shown.
            Some(last) if window.start <= last.end + AROUND / 4 => last.end = last.end.max(window.end),
            _ => windows.push(window),
        }
    }
    if windows.is_empty() {
        windows.push(Span::new(body.start, body.start + WHOLE));
    }
    windows
}

/// At most one empty line in a row.
fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut empty = false;
    for line in text.trim_matches(['\n', '\r']).split('\n') {
        let blank = line.trim().is_empty();
        if !(blank && empty) {
            out.push_str(line);
            out.push('\n');
        }
        empty = blank;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use mingti::query::{DocumentRef, PropositionHit, SectionRef};

    fn response(text: &str, start: usize, highlights: Vec<Span>) -> SearchResponse {
        let range = Span::new(start, start + text.chars().count());
        let hit = PropositionHit {
            id: "u".into(),
            statement: "主油泵的额定工作压力为 25 MPa".into(),
            score: 0.91,
            unit: UnitKind::Proposition,
            confidence: 0.9,
            evidence: highlights.clone(),
            entities: vec![],
            entity_ranges: vec![],
        };
        let result = SectionResult {
            rank: 1,
            score: 0.987,
            document: DocumentRef { id: "d".into(), path: "手册 一.md".into(), title: "手册".into() },
            section: SectionRef {
                id: "s".into(),
                heading_path: vec!["2 液压".into(), "2.1 主油泵".into()],
                char_range: range,
                page: None,
            },
            text: text.into(),
            text_range: range,
            highlights,
            propositions: vec![hit],
            explanation: None,
            page: None,
            older_versions: vec![],
        };
        SearchResponse { version: 1, qid: None, query: "q".into(), took_ms: 1.0, generation: 1, results: vec![result] }
    }

    #[test]
    fn highlights_are_marked_without_colour() {
        let page =
            render(&response("启动前检查。额定压力为 25 MPa。\n\n\n\n完。\n", 100, vec![Span::new(106, 118)]), false);
        let page = anstream::adapter::strip_str(&page).to_string();
        assert_eq!(
            page,
            "1. 手册 一.md › 2 液压 › 2.1 主油泵  0.99\n   启动前检查。«额定压力为 25 MPa»。\n\n   完。\n   • 主油泵的额定工作压力为 25 MPa  0.91\n\n"
        );
    }

    #[test]
    fn colour_adds_no_text() {
        let response = response("a\nbc\nd", 0, vec![Span::new(0, 4)]);
        let page = anstream::adapter::strip_str(&render(&response, true)).to_string();
        assert!(page.contains("   a\n   bc\n   d\n"), "{page}");
    }

    #[test]
    fn long_sections_are_shown_around_their_highlights() {
        let text = "文".repeat(3000) + "目标" + &"文".repeat(3000);
        let page = render(&response(&text, 7, vec![Span::new(3007, 3009)]), false);
        assert!(page.contains("… 文") && page.contains("文«目标»文") && page.contains("文 …"));
        assert!(page.chars().count() < 600);
    }

    #[test]
    fn headings_are_not_shown_twice() {
        let page = render(&response("# 甲\n\n## 乙\n\n#标签 丙丁\n", 0, vec![Span::new(15, 17)]), false);
        assert!(!page.contains("# 甲") && page.contains("   #标签 «丙丁»\n"), "{page}");
        let page = render(&response("# 甲\n\n## 乙\n", 0, vec![]), false);
        assert!(page.contains("## 乙"), "a section of headings only is shown: {page}");
    }

    #[test]
    fn every_highlight_is_inside_a_window() {
        let spans: Vec<Span> = (0..40).map(|i| Span::new(i * i * 3, i * i * 3 + 1 + i % 7)).collect();
        let windows = windows(&spans, Span::new(0, 5000));
        assert!(spans.iter().all(|span| windows.iter().any(|window| window.contains(*span))));
        assert!(windows.windows(2).all(|pair| pair[0].end < pair[1].start));
    }

    #[test]
    fn a_document_cannot_steer_the_terminal() {
        let page = render(&response("a\u{1b}[2Jb\u{9b}31mc\rd", 0, vec![]), true);
        assert!(!page.contains("\u{1b}[2J") && !page.contains('\u{9b}') && !page.contains('\r'));
    }

    #[test]
    fn ranges_outside_the_text_do_no_harm() {
        render(&response("短", 10, vec![Span::new(0, 4), Span::new(500, 900)]), false);
    }
}
