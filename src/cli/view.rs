//! What became of a passage, for people: each sentence with its evidence and antecedents marked, under it its statements with
//! the gates that spoke, at the end the account.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use mingti::document::Span;
use mingti::proposition::{Assembly, Outcome, Passage, SentenceOutcome, Status, Unit, UnitKind};

use super::output::printable;

const TITLE: Style = AnsiColor::Cyan.on_default().bold();
const QUIET: Style = Style::new().dimmed();
const EVIDENCE: Style = Style::new().underline();
const ANTECEDENT: Style = AnsiColor::Magenta.on_default();
const BOTH: Style = AnsiColor::Magenta.on_default().underline();
const ACCEPTED: Style = AnsiColor::Green.on_default();
const REVIEW: Style = AnsiColor::Yellow.on_default();
const REFUSED: Style = AnsiColor::Red.on_default();

/// The page of one passage. Without colour evidence stands between `«` and `»`, antecedents between `‹` and `›`.
pub(crate) fn page(id: &str, passage: &Passage<'_>, assembly: &Assembly, coloured: bool) -> String {
    let trail: String = passage.heading_path.iter().map(|heading| format!(" › {}", printable(heading))).collect();
    let mut page = format!("{TITLE}{}{TITLE:#}{trail}\n", printable(id));
    let text = Marked::new(passage.text, &assembly.units, coloured);
    let mut shown = vec![false; assembly.units.len()];
    for entry in &assembly.ledger {
        page.push_str(&indented(&text.slice(entry.sentence.span), "  "));
        writeln!(page, "  {QUIET}[{}]{QUIET:#}", printable(&outcome(&entry.outcome))).ok();
        for (unit, shown) in assembly.units.iter().zip(&mut shown) {
            if unit.evidence.iter().any(|span| span.intersect(entry.sentence.span).is_some()) {
                statement(&mut page, unit, std::mem::replace(shown, true), &text);
            }
        }
    }
    for (unit, _) in assembly.units.iter().zip(shown).filter(|(_, shown)| !shown) {
        statement(&mut page, unit, false, &text);
    }
    writeln!(page, "  {QUIET}{}{QUIET:#}\n", account(&assembly.ledger, assembly.uncovered.len())).ok();
    page
}

/// A statement with its status, and what the gates said. One that was shown under an earlier sentence is only named again.
fn statement(page: &mut String, unit: &Unit, again: bool, text: &Marked) {
    let (style, mark, word) = match (unit.status, unit.kind) {
        (Status::Rejected, _) => (REFUSED, '✗', "refused"),
        (Status::Review, _) => (REVIEW, '?', "review"),
        (Status::Accepted, UnitKind::Proposition) => (ACCEPTED, '•', "accepted"),
        (Status::Accepted, _) => (QUIET, '=', "verbatim"),
    };
    let words = unit.statement.split_whitespace().collect::<Vec<_>>().join(" ");
    // The words of a verbatim unit stand right above it, and the sentence says why it is one.
    let words = if unit.kind == UnitKind::Proposition { printable(&words) + "  " } else { String::new() };
    if again || (words.is_empty() && unit.reasons.is_empty()) {
        if again && !words.is_empty() && unit.is_searchable() {
            writeln!(page, "    {QUIET}{mark} as above: {}{QUIET:#}", words.trim_end()).ok();
        }
        return;
    }
    writeln!(page, "    {style}{mark}{style:#} {words}{style}{word} {:.2}{style:#}", unit.confidence).ok();
    if !unit.antecedents.is_empty() && unit.status != Status::Rejected {
        let from: Vec<String> = unit.antecedents.iter().map(|span| text.antecedent(*span)).collect();
        writeln!(page, "      {QUIET}from{QUIET:#} {}", from.join(" ")).ok();
    }
    for reason in &unit.reasons {
        let detail = printable(&reason.detail);
        writeln!(
            page,
            "      {style}{}{style:#}: {}",
            printable(&reason.gate),
            indented(&detail, "      ").trim_start()
        )
        .ok();
    }
}

fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Propositions { count: 1 } => "1 statement".to_owned(),
        Outcome::Propositions { count } => format!("{count} statements"),
        Outcome::Repaired { rules, reason, .. } => format!("by rule ({}): {reason}", rules.join(", ")),
        Outcome::Fallback { reason } => format!("verbatim: {reason}"),
        Outcome::Heading => "heading".to_owned(),
        Outcome::TableRow => "table row".to_owned(),
        Outcome::Skipped { reason } => format!("skipped: {reason}"),
    }
}

/// `9 sentences: 5 as statements, 2 verbatim, 1 table row, 1 heading; 0 uncovered`
fn account(ledger: &[SentenceOutcome], uncovered: usize) -> String {
    const KINDS: [(&str, &str); 6] = [
        ("as statements", "as statements"),
        ("by rule", "by rule"),
        ("verbatim", "verbatim"),
        ("table row", "table rows"),
        ("heading", "headings"),
        ("skipped", "skipped"),
    ];
    let mut counts = [0; KINDS.len()];
    for entry in ledger {
        counts[match &entry.outcome {
            Outcome::Propositions { .. } => 0,
            Outcome::Repaired { .. } => 1,
            Outcome::Fallback { .. } => 2,
            Outcome::TableRow => 3,
            Outcome::Heading => 4,
            Outcome::Skipped { .. } => 5,
        }] += 1;
    }
    let number = |count: usize, (one, many): (&str, &str)| format!("{count} {}", if count == 1 { one } else { many });
    let parts: Vec<String> =
        counts.iter().zip(KINDS).filter(|(count, _)| **count > 0).map(|(count, kind)| number(*count, kind)).collect();
    format!("{}: {}; {uncovered} uncovered", number(ledger.len(), ("sentence", "sentences")), parts.join(", "))
}

/// Lines behind the first start with `margin` too; none is left with white space at its end.
fn indented(text: &str, margin: &str) -> String {
    text.lines().map(|line| format!("{margin}{line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A text of which every character knows whether it is evidence or antecedent of a searchable unit.
struct Marked {
    chars: Vec<char>,
    evidence: Vec<bool>,
    antecedent: Vec<bool>,
    coloured: bool,
}

impl Marked {
    fn new(text: &str, units: &[Unit], coloured: bool) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let flags = |spans: &dyn Fn(&Unit) -> Vec<Span>| {
            let mut flags = vec![false; chars.len()];
            for span in units.iter().filter(|unit| unit.is_searchable()).flat_map(spans) {
                let end = span.end.min(flags.len());
                flags[span.start.min(end)..end].fill(true);
            }
            flags
        };
        let evidence = flags(&|unit| unit.evidence.clone());
        let antecedent = flags(&|unit| unit.antecedents.clone());
        Self { chars, evidence, antecedent, coloured }
    }

    /// The words of an antecedent.
    fn antecedent(&self, span: Span) -> String {
        let end = span.end.min(self.chars.len());
        let words: String = self.chars[span.start.min(end)..end].iter().collect();
        let words = printable(&words.split_whitespace().collect::<Vec<_>>().join(" "));
        if self.coloured { format!("{ANTECEDENT}{words}{ANTECEDENT:#}") } else { format!("‹{words}›") }
    }

    /// A stretch of the text with its marks. Colour is opened and closed on each line.
    fn slice(&self, span: Span) -> String {
        let end = span.end.min(self.chars.len());
        let mut out = String::new();
        let (mut evidence, mut antecedent) = (false, false);
        let mut at = span.start.min(end);
        while at < end {
            let same = |i: &usize| self.evidence[*i] == self.evidence[at] && self.antecedent[*i] == self.antecedent[at];
            let stop = (at..end).find(|i| !same(i)).unwrap_or(end);
            let run = printable(&self.chars[at..stop].iter().filter(|c| **c != '\r').collect::<String>());
            let now = (self.evidence[at], self.antecedent[at]);
            if self.coloured {
                colour(&mut out, &run, now);
            } else {
                marks(&mut out, (evidence, antecedent), now);
                out.push_str(&run);
            }
            (evidence, antecedent) = now;
            at = stop;
        }
        if !self.coloured {
            marks(&mut out, (evidence, antecedent), (false, false));
        }
        out
    }
}

fn colour(out: &mut String, run: &str, (evidence, antecedent): (bool, bool)) {
    let style = match (evidence, antecedent) {
        (true, true) => BOTH,
        (true, false) => EVIDENCE,
        (false, true) => ANTECEDENT,
        (false, false) => Style::new(),
    };
    for (number, line) in run.split('\n').enumerate() {
        out.push_str(if number > 0 { "\n" } else { "" });
        if !line.is_empty() {
            write!(out, "{style}{line}{style:#}").ok();
        }
    }
}

/// Closes and opens what differs; antecedents lie inside evidence, never across its end.
fn marks(out: &mut String, before: (bool, bool), now: (bool, bool)) {
    let turn = before.0 != now.0;
    if before.1 && (!now.1 || turn) {
        out.push('›');
    }
    if turn {
        out.push(if now.0 { '«' } else { '»' });
    }
    if now.1 && (!before.1 || turn) {
        out.push('‹');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mingti::document::Format;
    use mingti::proposition::{Reason, assemble, sentences};

    const TEXT: &str = "## 2 液压\n\n液压机的主油泵停止。该泵不得\r\n空转。\n";

    const PAGE: &str = "\
a.md#1 › 2 液压
  ## 2 液压  [heading]
  «液压机的‹主油泵›停止。»  [2 statements]
    • 液压机的主油泵停止。  accepted 0.97
    ? 主油泵停止。  review 0.40
      low-confidence: 0.40
  «该泵不得
  空转。»  [verbatim: no statement passed the gates]
    • as above: 液压机的主油泵停止。
    • 主油泵不得空转。  accepted 0.90
      from ‹主油泵›
    ✗ 主油泵停于 99 MPa。  refused 0.00
      number-not-in-source: 99 MPa
  3 sentences: 1 as statements, 1 verbatim, 1 heading; 0 uncovered

";

    fn view(coloured: bool) -> String {
        let headings = ["2 液压".to_owned()];
        let sentences = sentences(TEXT, Format::Markdown);
        let passage = Passage::new("手册", &headings, TEXT, &sentences);
        let (first, second) = (sentences[1].span, sentences[2].span);
        let unit = |statement: &str, status: Status, confidence: f32, span: Span, reason: Option<(&str, &str)>| Unit {
            kind: UnitKind::Proposition,
            status,
            confidence,
            reasons: reason
                .map(|(gate, detail)| Reason { gate: gate.to_owned(), detail: detail.to_owned() })
                .into_iter()
                .collect(),
            ..Unit::verbatim(UnitKind::Proposition, statement, span)
        };
        let mut units = vec![
            unit("液压机的主油泵停止。", Status::Accepted, 0.97, first, None),
            unit("主油泵停止。", Status::Review, 0.4, first, Some(("low-confidence", "0.40"))),
            unit("主油泵不得空转。", Status::Accepted, 0.9, second, None),
            unit("主油泵停于 99 MPa。", Status::Rejected, 0.0, second, Some(("number-not-in-source", "99 MPa"))),
            Unit::verbatim(UnitKind::Sentence, "该泵不得空转。", second),
        ];
        units[0].evidence.push(second);
        units[2].antecedents = vec![Span::new(first.start + 4, first.start + 7)];
        let outcomes = [
            Outcome::Heading,
            Outcome::Propositions { count: 2 },
            Outcome::Fallback { reason: "no statement passed the gates".to_owned() },
        ];
        let ledger = sentences
            .iter()
            .zip(outcomes)
            .map(|(sentence, outcome)| SentenceOutcome { sentence: *sentence, outcome })
            .collect();
        page("a.md#1", &passage, &Assembly { units, ledger, ..Assembly::default() }, coloured)
    }

    #[test]
    fn sentences_stand_with_their_statements_gates_and_account() {
        let page = anstream::adapter::strip_str(&view(false)).to_string();
        assert!(page == PAGE, "{page}");
    }

    #[test]
    fn colour_marks_the_same_words_without_adding_any() {
        let bare = |page: &str| anstream::adapter::strip_str(page).to_string().replace(['«', '»', '‹', '›'], "");
        let coloured = view(true);
        assert!(coloured.contains(&format!("{BOTH}主油泵")) && coloured.contains(&format!("{EVIDENCE}")));
        assert!(!coloured.contains('«') && !coloured.contains('‹'));
        assert_eq!(bare(&coloured), bare(&view(false)));
    }

    #[test]
    fn marks_close_in_the_order_in_which_they_opened() {
        let text = "甲乙丙丁戊己";
        let mut units = vec![Unit::verbatim(UnitKind::Proposition, "", Span::new(1, 4))];
        units[0].antecedents = vec![Span::new(3, 5)];
        assert_eq!(Marked::new(text, &units, false).slice(Span::new(0, 6)), "甲«乙丙‹丁›»‹戊›己");
    }

    #[test]
    fn a_document_cannot_steer_the_terminal_and_ranges_outside_the_text_do_no_harm() {
        let text = "a\u{1b}[2Jb\u{9b}31mc";
        let sentences = sentences(text, Format::Markdown);
        let passage = Passage::new("", &[], text, &sentences);
        let mut assembly = assemble(&passage, &[]);
        assembly.units[0].evidence.push(Span::new(5, 900));
        assembly.units[0].antecedents = vec![Span::new(700, 900)];
        let page = page("\u{1b}[1m", &passage, &assembly, true);
        assert!(!page.contains("\u{1b}[2J") && !page.contains('\u{9b}'));
    }
}
