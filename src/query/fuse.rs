//! From hits of two kinds to one order of sections.
//!
//! Cosines and BM25 scores live on different scales, and both scales depend on embedder, corpus and question. Cosines of
//! multilingual-e5 lie between about 0.75 and 0.95 for whatever text, so what counts is how far a cosine stands above
//! those of unrelated text. That background is the mean over all vectors of the index. BM25 is set against
//! the best section's and against what a section would get that holds every term of the question, so that the best of a
//! poor lot does not count as much as a full match.

use serde::{Deserialize, Serialize};

/// How sections are ranked. The defaults were chosen by measurement on several sets of questions at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// Weight of the lexical score in `hybrid`; the dense score has the rest.
    pub lexical: f32,
    /// The same for a question that names a code of the index: vectors hardly tell one code from the next.
    pub lexical_for_codes: f32,
    /// Weight of log10(1 + n), where n is the number of a section's units among the hits, on the normalised dense score.
    pub density: f32,
    /// What a section gets that holds all phrases which the question quotes, where terms count.
    pub phrase: f32,
    /// Sections that the lexical index hands over.
    pub lexical_pool: usize,
    /// Candidates that a walk through the graph keeps.
    pub ef: usize,
    /// A result shorter than this, in code points, takes in its neighbours under the same headings.
    pub expand_below: usize,
    /// Propositions shown for a section.
    pub propositions: usize,
    /// Units whose score is at least this share of the best one's in their section are highlighted: the others explain
    /// why the section was found, but are not what was asked for.
    pub highlight: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            lexical: 0.35,
            lexical_for_codes: 0.6,
            density: 0.1,
            phrase: 0.15,
            lexical_pool: 50,
            ef: 128,
            expand_below: 200,
            propositions: 5,
            highlight: 0.7,
        }
    }
}

/// What is known about a section for one question.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Evidence {
    /// The best cosine of its units; none when there are no vectors or no embedder.
    pub(super) cosine: Option<f32>,
    /// Its units among the dense hits.
    pub(super) hits: usize,
    /// Its BM25 score; 0 when it shares no term.
    pub(super) bm25: f32,
    /// Share of the quoted phrases that it holds.
    pub(super) phrases: f32,
}

/// The scale of one question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    /// Mean cosine of unrelated text.
    pub(super) background: f32,
    /// Weight of the lexical score in `hybrid`, in [0, 1].
    pub(super) lexical_weight: f32,
    /// The highest BM25 of any section.
    pub(super) best_bm25: f32,
    /// About what a section with every term of the question gets.
    pub(super) full_bm25: f32,
}

impl Scale {
    /// A cosine as a share of the way from unrelated text to the same text.
    pub(super) fn dense(&self, cosine: f32) -> f32 {
        ((cosine - self.background) / (1.0 - self.background).max(0.05)).clamp(0.0, 1.0)
    }

    /// BM25 in [0, 1]: the geometric mean of the shares of the best and of the full score.
    pub(super) fn lexical(&self, bm25: f32) -> f32 {
        if bm25 <= 0.0 || self.best_bm25 <= 0.0 {
            return 0.0;
        }
        let of_full = (bm25 / self.full_bm25.max(f32::MIN_POSITIVE)).min(1.0);
        let of_best = (bm25 / self.best_bm25).min(1.0);
        (of_full * of_best).sqrt()
    }
}

/// How a section came by the score that it is ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Explanation {
    /// The best cosine of its units; `None` without vectors.
    pub cosine: Option<f32>,
    /// Mean cosine of all units of the index with the question.
    pub background: f32,
    /// The cosine as a share of the way from the background to the same text.
    pub dense: f32,
    /// Its units among the dense hits.
    pub hits: usize,
    /// What these add to `dense`.
    pub density: f32,
    /// Its BM25.
    pub bm25: f32,
    /// The highest BM25 of any section.
    pub best_bm25: f32,
    /// About what a section with every term of the question gets.
    pub full_bm25: f32,
    /// BM25 in [0, 1]: the geometric mean of its shares of the best and of the full one.
    pub lexical: f32,
    /// Weight of `lexical`; `dense + density` has the rest.
    pub lexical_weight: f32,
    /// What the phrases that the question quotes and the section holds add.
    pub phrase: f32,
    /// The sum that sections are ranked by; may exceed 1.
    pub score: f32,
    /// What the reranker says of the section, by which the best are ranked anew; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relevance: Option<f32>,
}

/// How a section is ranked.
pub(super) fn explain(ranking: &Ranking, mode: super::Mode, scale: &Scale, evidence: &Evidence) -> Explanation {
    let density = ranking.density * (1.0 + evidence.hits as f32).log10();
    let dense = evidence.cosine.map_or(0.0, |cosine| scale.dense(cosine));
    let lexical = scale.lexical(evidence.bm25);
    let lexical_weight = match mode {
        super::Mode::Dense => 0.0,
        super::Mode::Lexical => 1.0,
        super::Mode::Hybrid => scale.lexical_weight,
    };
    let phrase = if mode == super::Mode::Dense { 0.0 } else { ranking.phrase * evidence.phrases };
    Explanation {
        cosine: evidence.cosine,
        background: scale.background,
        dense,
        hits: evidence.hits,
        density,
        bm25: evidence.bm25,
        best_bm25: scale.best_bm25,
        full_bm25: scale.full_bm25,
        lexical,
        lexical_weight,
        phrase,
        score: (1.0 - lexical_weight) * (dense + density) + lexical_weight * lexical + phrase,
        relevance: None,
    }
}

/// The score that sections are ranked by; may exceed 1.
pub(super) fn score(ranking: &Ranking, mode: super::Mode, scale: &Scale, evidence: &Evidence) -> f32 {
    explain(ranking, mode, scale, evidence).score
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::*;

    const SCALE: Scale = Scale { background: 0.8, lexical_weight: 0.4, best_bm25: 10.0, full_bm25: 20.0 };

    #[test]
    fn a_higher_score_of_either_kind_never_ranks_lower() {
        let ranking = Ranking::default();
        for mode in [Mode::Dense, Mode::Lexical, Mode::Hybrid] {
            let mut last = f32::MIN;
            for step in 0..=20 {
                let part = step as f32 / 20.0;
                let evidence = Evidence { cosine: Some(0.8 + 0.2 * part), hits: step, bm25: 20.0 * part, phrases: 0.0 };
                let score = score(&ranking, mode, &SCALE, &evidence);
                assert!(score.is_finite() && score >= last);
                last = score;
            }
        }
    }

    #[test]
    fn scales_without_any_spread_give_finite_scores() {
        let flat = Scale { background: 1.0, lexical_weight: 0.4, best_bm25: 0.0, full_bm25: 0.0 };
        for value in [0.0, 0.5, 1.0, f32::MAX] {
            assert!((0.0..=1.0).contains(&flat.dense(value)) && (0.0..=1.0).contains(&flat.lexical(value)));
        }
    }
}
