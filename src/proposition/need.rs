//! Which sentences gain from being rewritten, and which can be searched as they stand.

use crate::proposition::clause::{clauses, label_len};
use crate::proposition::gates::refers;
use crate::proposition::lexis::{Folded, is_chinese, is_content};
use crate::proposition::{Sentence, SentenceKind};

/// Characters of a sentence that is taken to hold several facts, however it is built.
const LONG: usize = 160;
/// Content characters, or words, from which a clause counts as a fact of its own.
const CLAUSE: (usize, usize) = (4, 3);

/// Words that a sentence without a subject of its own opens with.
const OPENERS_ZH: &[&str] = &[
    "应", "應", "须", "須", "必须", "不得", "严禁", "禁止", "可", "不", "未", "并", "且", "而", "但", "则", "也", "还",
    "再", "又", "然后", "随后", "之后", "之前", "否则", "同时", "此外", "另外", "因此", "所以", "超过", "低于", "高于",
    "达到", "小于", "大于", "仅", "只", "将", "由",
];
const OPENERS_EN: &[&str] = &[
    "and",
    "but",
    "or",
    "then",
    "also",
    "otherwise",
    "however",
    "therefore",
    "instead",
    "here",
    "there",
    "else",
    "nor",
    "so",
    "must",
    "shall",
    "may",
    "cannot",
    "which",
    "who",
];
/// Words that open a condition.
const CONDITIONS_EN: &[&str] =
    &["if", "when", "while", "before", "after", "where", "unless", "once", "until", "during"];

/// True for a sentence that a model should rewrite: it points back, leaves its subject out, is an item under a lead-in, or
/// holds several clauses. The others say one thing that can be read under their headings. When in doubt, true.
pub fn needs_rewriting(sentence: &str, kind: SentenceKind) -> bool {
    match kind {
        SentenceKind::Prose => {}
        SentenceKind::ListItem => return true,
        SentenceKind::TableRow | SentenceKind::Heading | SentenceKind::Verbatim => return false,
    }
    let folded = Folded::new(sentence);
    let label = label_len(&folded);
    let body = folded.text(label, folded.len());
    if folded.len() - label > LONG || points_back(&body) || !names_its_subject(&body) {
        return true;
    }
    let chinese = is_chinese(&body);
    let pieces: Vec<String> =
        clauses(&folded).into_iter().filter(|c| c.start >= label).map(|c| folded.text(c.start, c.end)).collect();
    let facts = pieces.iter().filter(|piece| is_fact(piece, chinese)).count();
    // A condition in front is a part of the fact.
    let condition =
        pieces.len() > 1 && pieces.first().is_some_and(|piece| is_fact(piece, chinese) && is_condition(piece, chinese));
    facts > 1 + usize::from(condition)
}

/// For each sentence of a passage whether it is kept as it stands without asking the model.
pub fn readable_as_they_stand(text: &str, sentences: &[Sentence]) -> Vec<bool> {
    let chars: Vec<char> = text.chars().collect();
    sentences
        .iter()
        .map(|sentence| {
            let end = sentence.span.end.min(chars.len());
            let text: String = chars[sentence.span.start.min(end)..end].iter().collect();
            !needs_rewriting(&text, sentence.kind)
        })
        .collect()
}

/// True where the passage takes what it speaks of from the text in front: its first sentence opens with a back reference.
pub(crate) fn opens_with_reference(text: &str, sentences: &[Sentence]) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let first = sentences.iter().find(|s| matches!(s.kind, SentenceKind::Prose | SentenceKind::ListItem));
    first.is_some_and(|sentence| {
        let end = sentence.span.end.min(chars.len());
        let sentence: String = chars[sentence.span.start.min(end)..end].iter().collect();
        let folded = Folded::new(&sentence);
        let body = folded.text(label_len(&folded), folded.len());
        points_back(&opening(&body))
    })
}

/// The beginning of a sentence, in which a reference can only point at what stood before; words that point ahead are
/// taken out.
fn opening(body: &str) -> String {
    const CHARS: usize = 10;
    const WORDS: usize = 5;
    const AHEAD_ZH: [&str; 8] = ["下列", "如下", "以下", "见下", "下图", "下表", "下文", "后文"];
    if is_chinese(body) {
        let start: String = body.chars().take(CHARS).collect();
        return AHEAD_ZH.iter().fold(start, |text, word| text.replace(word, " "));
    }
    let ahead = |word: &&str| !matches!(*word, "following" | "follows" | "follows:" | "below");
    body.split_whitespace().take(WORDS).filter(ahead).collect::<Vec<_>>().join(" ")
}

/// True when a back reference stands in `clause`; words that only look like one are taken out.
fn points_back(clause: &str) -> bool {
    let mut clause = clause.to_owned();
    for plain in ["应该", "應該", "其他", "其它", "其余", "其餘", "其实", "其次", "尤其", "极其"] {
        clause = clause.replace(plain, " ");
    }
    refers(&clause)
}

fn names_its_subject(body: &str) -> bool {
    let body = body.trim_start_matches(|c: char| !c.is_alphanumeric());
    if is_chinese(body) {
        return !OPENERS_ZH.iter().any(|w| body.starts_with(w)) && !is_bare_circumstance(body);
    }
    let first = body.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    !OPENERS_EN.contains(&first)
}

/// `启动后，…`, `断电时，…`: what is started stands somewhere else.
fn is_bare_circumstance(body: &str) -> bool {
    let Some((lead, _)) = body.split_once(['，', ',']) else { return false };
    lead.chars().filter(|&c| is_content(c)).count() <= 4 && lead.trim_end().ends_with(['后', '後', '时', '時', '前'])
}

fn is_fact(piece: &str, chinese: bool) -> bool {
    if chinese {
        return piece.chars().filter(|&c| is_content(c)).count() >= CLAUSE.0;
    }
    piece.split_whitespace().filter(|word| word.chars().any(is_content)).count() >= CLAUSE.1
}

fn is_condition(piece: &str, chinese: bool) -> bool {
    let piece = piece.trim_matches(|c: char| !c.is_alphanumeric());
    if chinese {
        return piece.ends_with(['时', '時', '后', '後', '前', '的', '间', '間'])
            || piece.starts_with(['当', '當', '若', '如']);
    }
    piece.split_whitespace().next().is_some_and(|word| CONDITIONS_EN.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Format;
    use crate::proposition::sentences;

    #[test]
    fn sentences_that_say_one_thing_under_their_own_name_need_no_model() {
        for sentence in [
            "油温不得超过 95 ℃。",
            "第三条 行政许可的设定和实施适用本法。",
            "油温超过65℃时，系统报警。",
            "油泵应该在停机后冷却。",
            "The oil temperature must not exceed 95 °C.",
            "If the oil exceeds 95 °C, the controller stops the motor.",
        ] {
            assert!(!needs_rewriting(sentence, SentenceKind::Prose), "{sentence}");
        }
        assert!(!needs_rewriting("| 5011 | 负限位，停机；断电 |", SentenceKind::TableRow));
    }

    #[test]
    fn references_missing_subjects_and_joined_facts_need_the_model() {
        for sentence in [
            "该设备每月清洗一次。",
            "操作人员应当遵守上述规定。",
            "超过时，控制器停机。",
            "启动后，油泵自检。",
            "必须每月更换润滑油。",
            "油泵停止运行，控制器发出报警信号。",
            "油温超过65℃时，系统发出报警，油泵停止运行。",
            "It stops the pump.",
            "The controller raises an alarm and the pump stops at once.",
            "Otherwise the pump runs dry.",
        ] {
            assert!(needs_rewriting(sentence, SentenceKind::Prose), "{sentence}");
        }
        assert!(needs_rewriting("（二）堵塞消防通道的", SentenceKind::ListItem));
    }

    #[test]
    fn only_an_opening_reference_needs_the_text_in_front() {
        let opens = |text: &str| opens_with_reference(text, &sentences(text, Format::Markdown));
        for text in [
            "## 维护\n\n该设备每月清洗一次。\n",
            "其油温不得超过 95 ℃。",
            "第五条 前款规定的单位应当备案。",
            "# Use\n\nThese pumps run dry.\n",
        ] {
            assert!(opens(text), "{text}");
        }
        for text in [
            "## 维护\n\n冷却器每月清洗一次。该设备应断电。\n",
            "其他人员不得进入。",
            "应该断电。",
            "# Use\n\nThe pump runs dry if it fails.\n",
            "",
            "# 标题\n",
        ] {
            assert!(!opens(text), "{text}");
        }
    }
}
