//! Scores units against gold statements.

use std::collections::{HashMap, HashSet};

use serde::Serialize;

use super::MATCH;
use super::calibration::{Calibration, Judged};
use super::gold::{GoldPassage, ResultPassage, ResultUnit};
use super::wording::{dangling, f1, invented, modals_lost, words};
use crate::document::Span;
use crate::proposition::{Status, UnitKind};

/// The figures. Shares lie in [0, 1] and are rounded to four places; the others are counts. Only searchable units count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Passages of the gold file.
    pub passages: usize,
    /// Of these, passages without results; their statements count as missed.
    pub missing_passages: usize,
    /// Gold statements.
    pub gold: usize,
    /// Searchable units.
    pub units: usize,
    /// Share of gold statements that a unit matches.
    pub recall: f64,
    /// Share of units that match a gold statement.
    pub precision: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Share of units that are propositions and no verbatim sentences.
    pub proposition_share: f64,
    /// Share of the characters of gold evidence that the evidence of some unit covers.
    pub span_recall: f64,
    /// Mean intersection over union of the evidence of matched pairs.
    pub span_iou: f64,
    /// Propositions with a number, code or Latin name that stands neither in text, headings nor title.
    pub invented: usize,
    /// Propositions with a reference that nothing inside them resolves.
    pub dangling: usize,
    /// The same over all units.
    pub dangling_units: usize,
    /// Matched pairs whose gold has a negation or modal that the unit lacks.
    pub modality_lost: usize,
    /// Units whose statement an earlier unit of the passage has.
    pub duplicates: usize,
    /// Sentences that no searchable unit covers.
    pub uncovered: usize,
}

/// A unit with something wrong in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fault {
    /// The passage.
    pub id: serde_json::Value,
    /// `modality`, `invented` or `dangling`.
    pub kind: &'static str,
    /// The words it is about.
    pub detail: Vec<String>,
    /// The unit's statement.
    pub statement: String,
}

/// Everything that scoring tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// How far confidence tells matched propositions from others.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// Units with something wrong, in the order of the gold file.
    #[serde(skip)]
    pub faults: Vec<Fault>,
}

/// Scores `results` against `gold`; results are found by id, others are not looked at.
pub fn score(gold: &[GoldPassage], results: &[ResultPassage]) -> Report {
    let found: HashMap<String, &ResultPassage> = results.iter().map(|r| (r.id.to_string(), r)).collect();
    let mut tally = Tally::default();
    for passage in gold {
        tally.gold += passage.gold.len();
        match found.get(&passage.id.to_string()) {
            Some(result) => tally.passage(passage, result),
            None => tally.missing += 1,
        }
    }
    tally.report(gold.len())
}

#[derive(Default)]
struct Tally {
    missing: usize,
    gold: usize,
    hits: usize,
    units: usize,
    propositions: usize,
    ious: Vec<f64>,
    gold_chars: usize,
    covered_chars: usize,
    invented: usize,
    dangling: usize,
    dangling_units: usize,
    modality_lost: usize,
    duplicates: usize,
    uncovered: usize,
    judged: Vec<Judged>,
    faults: Vec<Fault>,
}

impl Tally {
    fn passage(&mut self, passage: &GoldPassage, result: &ResultPassage) {
        let units: Vec<&ResultUnit> = result.units.iter().filter(|u| u.status != Status::Rejected).collect();
        let mut matched = vec![false; units.len()];
        for (x, y) in pairs(passage, &units) {
            matched[y] = true;
            self.hits += 1;
            let (gold, unit) = (&passage.gold[x], units[y]);
            self.ious.push(iou(&chars(&[gold.evidence]), &chars(&unit.evidence)));
            let lost = modals_lost(&gold.statement, &unit.statement);
            if !lost.is_empty() {
                self.modality_lost += 1;
                self.fault(passage, "modality", lost.into_iter().map(str::to_owned).collect(), unit);
            }
        }
        self.units += units.len();
        self.uncovered += result.uncovered.len();
        let covered: HashSet<usize> = units.iter().flat_map(|u| chars(&u.evidence)).collect();
        let evidence: HashSet<usize> = passage.gold.iter().flat_map(|g| chars(&[g.evidence])).collect();
        self.gold_chars += evidence.len();
        self.covered_chars += evidence.intersection(&covered).count();
        let source =
            format!("{} {} {}", passage.text, passage.heading_path.join(" "), passage.doc_title).to_lowercase();
        let mut seen = HashSet::new();
        for (unit, matched) in units.iter().zip(matched) {
            self.duplicates += usize::from(!seen.insert(unit.statement.trim()));
            let open = dangling(&unit.statement);
            self.dangling_units += usize::from(open);
            if unit.kind != UnitKind::Proposition {
                continue;
            }
            self.propositions += 1;
            self.judged.push(Judged { confidence: f64::from(unit.confidence), matched });
            let names = invented(&unit.statement, &source);
            if !names.is_empty() {
                self.invented += 1;
                self.fault(passage, "invented", names, unit);
            }
            if open {
                self.dangling += 1;
                self.fault(passage, "dangling", Vec::new(), unit);
            }
        }
    }

    fn fault(&mut self, passage: &GoldPassage, kind: &'static str, detail: Vec<String>, unit: &ResultUnit) {
        self.faults.push(Fault { id: passage.id.clone(), kind, detail, statement: unit.statement.clone() });
    }

    fn report(self, passages: usize) -> Report {
        let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
        let (recall, precision) = (share(self.hits, self.gold), share(self.hits, self.units));
        let figures = Figures {
            passages,
            missing_passages: self.missing,
            gold: self.gold,
            units: self.units,
            recall: round(recall),
            precision: round(precision),
            f1: round(2.0 * recall * precision / (recall + precision).max(1e-9)),
            proposition_share: round(share(self.propositions, self.units)),
            span_recall: round(share(self.covered_chars, self.gold_chars)),
            span_iou: round(self.ious.iter().sum::<f64>() / self.ious.len().max(1) as f64),
            invented: self.invented,
            dangling: self.dangling,
            dangling_units: self.dangling_units,
            modality_lost: self.modality_lost,
            duplicates: self.duplicates,
            uncovered: self.uncovered,
        };
        Report { figures, calibration: Calibration::of(&self.judged), faults: self.faults }
    }
}

/// Pairs of gold statement and unit, one to one, the best first; of equal ones the later first.
fn pairs(passage: &GoldPassage, units: &[&ResultUnit]) -> Vec<(usize, usize)> {
    let gold: Vec<_> = passage.gold.iter().map(|g| words(&g.statement)).collect();
    let said: Vec<_> = units.iter().map(|u| words(&u.statement)).collect();
    let mut scored: Vec<(f64, usize, usize)> = Vec::new();
    for (x, a) in gold.iter().enumerate() {
        scored.extend(said.iter().enumerate().map(|(y, b)| (f1(a, b), x, y)).filter(|(score, ..)| *score >= MATCH));
    }
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2)));
    let (mut golds, mut taken, mut out) = (HashSet::new(), HashSet::new(), Vec::new());
    for (_, x, y) in scored {
        if !golds.contains(&x) && !taken.contains(&y) {
            golds.insert(x);
            taken.insert(y);
            out.push((x, y));
        }
    }
    out
}

fn chars(spans: &[Span]) -> HashSet<usize> {
    /// A range in a file of results may claim anything.
    const MAX: usize = 1 << 22;
    spans.iter().flat_map(|s| s.start.min(MAX)..s.end.min(MAX)).collect()
}

fn iou(a: &HashSet<usize>, b: &HashSet<usize>) -> f64 {
    let shared = a.intersection(b).count();
    shared as f64 / (a.len() + b.len() - shared).max(1) as f64
}

/// To four places.
pub(super) fn round(x: f64) -> f64 {
    format!("{x:.4}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::super::gold::GoldStatement;
    use super::*;

    fn gold(id: &str, text: &str, statements: &[(&str, usize, usize)]) -> GoldPassage {
        let gold = statements
            .iter()
            .map(|(s, a, b)| GoldStatement { statement: (*s).to_owned(), evidence: Span::new(*a, *b) })
            .collect();
        GoldPassage { id: id.into(), doc_title: "手册".into(), heading_path: vec![], text: text.into(), gold }
    }

    fn unit(statement: &str, kind: UnitKind, status: Status, range: (usize, usize)) -> ResultUnit {
        let evidence = vec![Span::new(range.0, range.1)];
        ResultUnit { statement: statement.into(), kind, status, confidence: 0.9, evidence }
    }

    #[test]
    fn every_figure_is_what_its_name_says() {
        let text = "主轴停止后不得复位。油泵压力为 25 MPa。";
        let gold = [
            gold("a", text, &[("主轴停止后不得复位。", 0, 10), ("油泵压力为 25 MPa。", 10, 23)]),
            gold("b", "甲乙丙丁。", &[("甲乙丙丁。", 0, 5)]),
        ];
        use UnitKind::{Proposition, Sentence};
        let units = vec![
            unit("主轴停止后复位。", Proposition, Status::Accepted, (0, 5)),
            unit("该泵压力为 30 MPa。", Proposition, Status::Review, (10, 23)),
            unit("该泵压力为 30 MPa。", Sentence, Status::Accepted, (10, 23)),
            unit("油泵压力为 25 MPa。", Proposition, Status::Rejected, (10, 23)),
        ];
        let results = [ResultPassage { id: "a".into(), units, uncovered: vec![Span::new(0, 1)] }];
        let Report { figures, faults, .. } = score(&gold, &results);
        assert_eq!((figures.passages, figures.missing_passages, figures.gold, figures.units), (2, 1, 3, 3));
        assert_eq!((figures.recall, figures.precision), (0.6667, 0.6667));
        assert_eq!((figures.span_recall, figures.span_iou), (0.7826, 0.75));
        assert_eq!((figures.invented, figures.dangling, figures.dangling_units), (1, 1, 2));
        assert_eq!((figures.modality_lost, figures.duplicates, figures.uncovered), (1, 1, 1));
        assert_eq!(figures.proposition_share, 0.6667);
        let kinds: Vec<_> = faults.iter().map(|f| (f.kind, f.detail.join(" "))).collect();
        assert_eq!(
            kinds,
            [("modality", "不得".to_owned()), ("invented", "30".to_owned()), ("dangling", String::new())]
        );
    }

    #[test]
    fn matching_is_one_to_one_and_best_first() {
        let passage = gold("a", "", &[("主轴停止后复位", 0, 1), ("主轴停止后复位指示灯", 0, 1)]);
        let units = [
            unit("主轴停止后复位指示灯", UnitKind::Proposition, Status::Accepted, (0, 1)),
            unit("主轴停止后复位指示", UnitKind::Proposition, Status::Accepted, (0, 1)),
        ];
        let units: Vec<&ResultUnit> = units.iter().collect();
        assert_eq!(pairs(&passage, &units), [(1, 0), (0, 1)]);
    }

    #[test]
    fn nothing_to_score_is_no_division_by_zero() {
        let report = score(&[gold("a", "", &[])], &[]);
        assert_eq!((report.figures.recall, report.figures.f1, report.figures.span_iou), (0.0, 0.0, 0.0));
    }
}
