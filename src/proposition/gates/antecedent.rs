//! Antecedents: a pronoun that opens a sentence most likely means the subject of the sentence before.
//!
//! Centering theory (Grosz, Joshi and Weinstein, 1995) makes that the preferred reading. A statement that puts another name in its
//! place may still be right, so it is sent to a person instead of being refused.

use super::{Candidate, Finding};
use crate::proposition::evidence::coverage;
use crate::proposition::lexis::{Folded, is_ideograph, term_set, terms};
use crate::proposition::source::{SentenceView, Source};

/// Pronouns that open a Chinese sentence.
const ZH: &[&str] = &["它们", "它們", "它", "其"];
/// The same in English, folded.
const EN: &[&str] = &["it ", "its ", "they ", "their "];
/// Words that follow an English subject.
const VERBS: &[&str] = &[
    "is", "are", "was", "were", "has", "have", "must", "may", "can", "will", "shall", "should", "cannot", "does", "do",
    "had",
];
/// Characters that follow a Chinese subject.
const PREDICATES: &str = "是为由采具有应可会能需必须不将已未在用使通";
/// Longest subject, in words or ideographs.
const LONGEST: usize = 12;

/// What `该设备` and `the device` may call a part as well as the whole product.
const GENERIC: &[&str] = &[
    "该设备",
    "該設備",
    "此设备",
    "这台设备",
    "该装置",
    "该机器",
    "该产品",
    "the device",
    "this device",
    "the unit",
    "this unit",
];

pub(super) fn check(candidate: &Candidate<'_>, source: &Source) -> Option<Finding> {
    let own = candidate.own;
    // Under the heading of a part they mean the part: what is true of it must not be told of the whole product.
    if let (Some(part), Some(product)) = (&source.frame.part, &source.frame.product)
        && let Some(word) = GENERIC.iter().find(|w| own.original.to_lowercase().contains(*w))
        && candidate.statement.contains(product.as_str())
        && !candidate.statement.to_lowercase().contains(&part.to_lowercase())
    {
        return Some(Finding::reject("antecedent", format!("{word}: `{part}`?")));
    }
    let opens = if own.chinese { ZH } else { EN };
    let place = &source.frame.places[candidate.index];
    let start = own.folded.position(place.marks + place.label);
    let pronoun = opens.iter().find(|w| own.folded.has(start, w))?;
    if *pronoun == "其" && ["其他", "其它", "其中", "其余", "其次"].iter().any(|w| own.folded.has(start, w))
    {
        return None;
    }
    let before = candidate.index.checked_sub(1).map(|i| &source.sentences[i])?;
    // A new line starts afresh.
    if place.begins {
        return None;
    }
    let there = &source.frame.places[candidate.index - 1];
    let subject = subject(before, there.marks + there.label)?;
    let names = terms(&Folded::new(&subject));
    let restored = candidate.terms.iter().any(|t| !own.set.contains(&t.key));
    // Any word of the subject will do: `the drawbar` for `the drawbar of the spindle`.
    let held = coverage(names.iter(), &candidate.set, source);
    (restored && !names.is_empty() && held <= 0.0)
        .then(|| Finding::review("antecedent", format!("{}: `{}`?", pronoun.trim(), subject.trim())))
}

/// The words in front of the first predicate of a sentence; `None` if that is no plain name.
fn subject(sentence: &SentenceView, skip: usize) -> Option<String> {
    let text = &sentence.folded;
    let start = text.position(skip);
    if sentence.chinese {
        let end = (start..text.len().min(start + LONGEST)).find(|&i| PREDICATES.contains(text.chars[i]))?;
        let name = text.text(start, end);
        let plain = name.chars().count() >= 2 && !name.contains([',', '，', ';', '它', '其', '该', '这']);
        return (plain && name.chars().any(is_ideograph)).then_some(name);
    }
    let whole = text.text(start, text.len());
    let words: Vec<&str> = whole.split(' ').collect();
    let end = words.iter().take(LONGEST).position(|w| VERBS.contains(w))?;
    let name = words[..end].join(" ");
    let pronoun = words.first().is_some_and(|w| {
        ["it", "they", "this", "these", "there", "if", "when", "in", "to", "you", "he", "she", "what"].contains(w)
    });
    (end > 0 && !pronoun && !name.contains(',') && !term_set(&terms(&Folded::new(&name))).is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use crate::proposition::gates::Verdict;
    use crate::proposition::gates::testing::gates_that_speak;

    #[test]
    fn another_name_than_the_last_subject_is_for_a_person_to_judge() {
        let doubt = ("antecedent".to_owned(), Verdict::Review);
        let en = &["The drawbar is held by disc springs.", "Its clamping force is 12 kN."];
        let title = "BX-9000 spindle controller";
        assert!(
            gates_that_speak(title, en, 1, "The clamping force of the BX-9000 spindle controller is 12 kN.")
                .contains(&doubt)
        );
        assert!(!gates_that_speak(title, en, 1, "The drawbar's clamping force is 12 kN.").contains(&doubt));
        let zh = &["拉杆由碟簧夹紧。", "其夹紧力为 12 kN。"];
        assert!(gates_that_speak("BX-9000 主轴手册", zh, 1, "BX-9000 主轴的夹紧力为 12 kN。").contains(&doubt));
        assert!(!gates_that_speak("BX-9000 主轴手册", zh, 1, "拉杆的夹紧力为 12 kN。").contains(&doubt));
    }
}
