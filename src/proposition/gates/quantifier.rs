//! Quantifiers: what holds for some must not be said of all, and the other way round.

use super::{Candidate, Finding};
use crate::proposition::lexis::{Folded, is_content, is_ideograph, is_wordlike};
use crate::proposition::source::Source;

/// Say that something holds for each one.
const ALL: &[&str] = &["所有", "全部", "一切", "任何", "每个", "每個", "全体", "全體", "all", "every"];
/// Say that it holds for some, or for the others.
const SOME: &[&str] = &[
    "部分",
    "有些",
    "某些",
    "个别",
    "個別",
    "一些",
    "少数",
    "少數",
    "多数",
    "多數",
    "大多数",
    "其余",
    "其餘",
    "其他",
    "其它",
    "some",
    "several",
    "certain",
    "few",
    "most",
    "many",
    "other",
];

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let (text, own) = (&candidate.folded, &candidate.own.folded);
    for (class, other) in [(ALL, SOME), (SOME, ALL)] {
        let Some(said) = words(text, class).first().map(|w| w.word) else { continue };
        if !words(own, class).is_empty() {
            continue;
        }
        if words(own, other).iter().any(|w| !words(text, other).iter().any(|o| o.word == w.word)) {
            return Some(Finding::reject("quantifier-changed", said));
        }
        if words(own, other).is_empty()
            && words(&source.body, class).is_empty()
            && words(&source.heads, class).is_empty()
        {
            return Some(Finding::reject("quantifier-added", said));
        }
    }
    if let Some(word) = restriction(candidate) {
        return Some(Finding::reject("restriction-dropped", word));
    }
    if !words(text, SOME).is_empty() {
        return None;
    }
    let range = &candidate.alignment.evidence;
    let dropped = words(own, SOME).into_iter().find(|w| {
        let noun = candidate.own.terms.iter().find(|t| t.start >= w.end);
        !matches!(w.word, "other" | "其他" | "其它")
            && range.start <= w.start
            && w.end <= range.end
            && noun.is_some_and(|n| n.start <= w.end + 1 && candidate.set.contains(&n.key))
    })?;
    Some(Finding::reject("quantifier-dropped", dropped.word))
}

/// `untrained` of `untrained persons must not …`: without it the statement speaks of more.
fn restriction(candidate: &Candidate<'_>) -> Option<String> {
    let own = candidate.own;
    if own.chinese {
        return None;
    }
    own.terms.windows(2).find_map(|pair| {
        let word = own.folded.text(pair[0].start, pair[0].end);
        let restricts =
            word.len() >= 6 && ["un", "non", "in"].iter().any(|p| word.starts_with(p)) && word.ends_with("ed");
        let joined = own.folded.text(pair[0].end, pair[1].start) == " ";
        (restricts && joined && candidate.set.contains(&pair[1].key) && !candidate.set.contains(&pair[0].key))
            .then_some(word)
    })
}

struct Found {
    word: &'static str,
    start: usize,
    end: usize,
}

/// The words of `class` in `text`: Latin ones whole, `at most` aside; 部分 where it opens a phrase.
fn words(text: &Folded, class: &[&'static str]) -> Vec<Found> {
    let mut out = Vec::new();
    for at in 0..text.len() {
        let Some(word) = class.iter().copied().filter(|w| text.has(at, w)).max_by_key(|w| w.len()) else { continue };
        let end = at + word.chars().count();
        let before = at.checked_sub(1).map(|k| text.chars[k]);
        let stands = if is_ideograph(text.chars[at]) {
            // 骗取税款部分 and 外部分布 hold the characters only.
            word != "部分" || before.is_none_or(|c| !is_content(c) || "有将把对由使在除外，".contains(c))
        } else {
            before.is_none_or(|c| !is_wordlike(c))
                && text.chars.get(end).is_none_or(|c| !is_wordlike(*c))
                && !(matches!(word, "most" | "all") && text.ends(at, "at "))
                && !(word == "other" && (text.has(end, " than") || text.ends(at, "each ") || text.ends(at, "or ")))
        };
        if stands {
            out.push(Found { word, start: at, end });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    #[test]
    fn some_must_not_become_all_nor_lose_its_word() {
        let zh = &["部分阀门可以在运行中调整。", "所有安全门必须关闭。"];
        for (i, wrong) in
            [(0, "所有阀门可以在运行中调整。"), (0, "阀门可以在运行中调整。"), (1, "部分安全门必须关闭。")]
        {
            assert!(rejections("", zh, i, wrong).iter().any(|g| g.starts_with("quantifier")), "{wrong}");
        }
        assert!(rejections("", zh, 0, "部分阀门可以在运行中调整。").is_empty());
        let en = &["Some valves can be adjusted while the press runs.", "Test the pump at most twice a year."];
        assert!(
            rejections("", en, 0, "All valves can be adjusted while the press runs.")
                .contains(&"quantifier-changed".to_owned())
        );
        assert!(rejections("", en, 1, "Test the pump at most twice a year.").is_empty());
    }
}
