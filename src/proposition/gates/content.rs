//! Content: most of what a statement says must be words of its source.

use super::{Candidate, Finding};
use crate::proposition::lexis::{TokenKind, is_ideograph, stem};
use crate::proposition::source::Source;

/// Smallest share of content that must come from passage, headings or title.
const MIN_SHARE: f32 = 0.7;
/// Longest run of ideographs without any pair from the source.
const MAX_RUN: usize = 5;

/// Longest run of words that the source does not have.
const MAX_WORDS: usize = 3;

/// Characters that join words without adding content.
const JOINTS: &str = "的了是在和与及或等也都就而且并但对于由从把被将为以之其所则即让使时後后前中上下者有这那该個个会會能可需要當当若如果进行進給给来來到至自按";

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let (share, novel, run) = support(candidate, source);
    if share < MIN_SHARE {
        return Some(Finding::reject("content-not-in-source", novel));
    }
    if let Some(word) = novel_word(candidate, source) {
        return Some(Finding::reject("content-not-in-source", word));
    }
    let words = novel.split(' ').filter(|w| w.is_ascii() && w.len() > 1).count();
    (run > MAX_RUN || words > MAX_WORDS).then(|| Finding::reject("content-not-in-source", novel))
}

/// Two ideographs in a row of which the source has neither, though they do not merely join: a word that stands nowhere.
fn novel_word(candidate: &Candidate<'_>, source: &Source) -> Option<String> {
    let text = &candidate.folded;
    let new = |i: usize| {
        let c = text.chars[i];
        is_ideograph(c) && !JOINTS.contains(c) && !source.letters.contains(&c)
    };
    let at = (1..text.len()).find(|&i| new(i - 1) && new(i))?;
    Some(text.text(at - 1, at + 1))
}

/// Share of the statement's content that the source supports, the longest unsupported stretch, and its length.
pub(crate) fn support(candidate: &Candidate<'_>, source: &Source) -> (f32, String, usize) {
    let text = &candidate.folded;
    let (mut total, mut good) = (0.0_f32, 0.0_f32);
    let (mut longest, mut run) = (String::new(), String::new());
    for token in &candidate.tokens {
        match token.kind {
            TokenKind::Han => {
                for i in token.start..token.end {
                    let c = text.chars[i];
                    if JOINTS.contains(c) {
                        continue;
                    }
                    let pair = |a: usize, b: usize| {
                        a >= token.start && b < token.end && source.vocabulary.contains(&text.text(a, b + 1))
                    };
                    let lone = token.end - token.start == 1 && source.letters.contains(&c);
                    let held = lone || pair(i, i + 1) || (i > 0 && pair(i - 1, i));
                    total += 1.0;
                    // A character that the source has, in another company, is half a proof: 补救措施 for 补救、措施.
                    let score = if held {
                        1.0
                    } else if source.letters.contains(&c) {
                        0.5
                    } else {
                        0.0
                    };
                    good += score;
                    if score < 1.0 {
                        run.push(c);
                    } else {
                        keep_longer(&mut longest, &mut run);
                    }
                }
            }
            TokenKind::Word => {
                let word = text.text(token.start, token.end);
                let key = stem(&word);
                if is_joint_word(&word) {
                    continue;
                }
                // A Latin word weighs about as much as two ideographs.
                total += 2.0;
                if source.vocabulary.contains(&key) || part_of_compound(&key, source) {
                    good += 2.0;
                    keep_longer(&mut longest, &mut run);
                } else {
                    run.push_str(&word);
                    run.push(' ');
                }
            }
            // Numbers and codes have gates of their own.
            _ => keep_longer(&mut longest, &mut run),
        }
    }
    keep_longer(&mut longest, &mut run);
    let share = if total > 0.0 { good / total } else { 1.0 };
    let len = longest.chars().filter(|&c| is_ideograph(c)).count();
    (share, longest.trim().to_owned(), len)
}

fn keep_longer(longest: &mut String, run: &mut String) {
    if run.len() > longest.len() {
        std::mem::swap(longest, run);
    }
    run.clear();
}

fn is_joint_word(word: &str) -> bool {
    crate::proposition::lexis::terms(&crate::proposition::lexis::Folded::new(word)).is_empty()
        || matches!(
            word,
            "not" | "no" | "must" | "shall" | "may" | "should" | "cannot" | "other" | "during" | "after" | "before"
        )
}

/// `leveling` in a source that has `bed-leveling` only.
fn part_of_compound(key: &str, source: &Source) -> bool {
    key.len() >= 4 && source.vocabulary.iter().any(|v| v.contains('-') && v.split('-').any(|p| stem(p) == key))
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::testing::rejections;

    #[test]
    fn restored_names_and_joints_pass() {
        let zh = &["过滤器堵塞会使油压下降。", "应立即更换。"];
        assert!(rejections("液压站手册", zh, 1, "过滤器堵塞时，应立即更换过滤器。").is_empty());
        let en = &["The filter clogs when the oil is old.", "Replace at once."];
        assert!(rejections("", en, 1, "Replace the clogged filter at once.").is_empty());
    }

    #[test]
    fn invented_content_is_rejected() {
        let zh = &["过滤器堵塞会使油压下降。", "应立即更换。"];
        assert!(
            rejections("液压站手册", zh, 1, "应立即联系厂家售后服务人员上门维修。")
                .contains(&"content-not-in-source".to_owned())
        );
        let en = &["The filter clogs when the oil is old.", "Replace at once."];
        assert!(
            rejections("", en, 1, "Call the service partner and order a replacement kit today.")
                .contains(&"content-not-in-source".to_owned())
        );
    }
}
