//! A statement that joins facts, taken apart where the parts are certain.
//!
//! Two forms are safe in Chinese. A second predicate behind 并 or 且 shares the subject and the modal of the first: `压机必须停机，
//! 并切断电源` is `压机必须停机` and `压机必须切断电源`. A later clause with a subject and a modal of its own stands alone. In both the
//! circumstance in front (`停机后，`, `温度过高时，`) is said with each part. Anything else stays joined.

use crate::proposition::clause::is_conjunction;
use crate::proposition::gates::{Force, modals};
use crate::proposition::lexis::{Folded, is_ideograph};

/// The parts of a statement; one if it cannot be taken apart safely.
pub(crate) fn split(statement: &str) -> Vec<String> {
    let whole = vec![statement.to_owned()];
    if !statement.chars().any(is_ideograph)
        || statement.contains(['；', ';', '“', '"', '「', '：', ':']) && has_quoted_comma(statement)
    {
        return whole;
    }
    let chars: Vec<char> = statement.trim().chars().collect();
    let clauses = pieces(&chars);
    let first = clauses.iter().take_while(|c| is_circumstance(c)).count();
    let Some((main, later)) = clauses.get(first..).and_then(|c| c.split_first()) else { return whole };
    // A circumstance further on holds for what follows it, which only a reader can tell.
    if later.iter().any(|c| is_circumstance(c)) {
        return whole;
    }
    let circumstance: String = clauses[..first].iter().flatten().collect();
    let mut parts: Vec<String> = Vec::new();
    let mut current: Vec<char> = main.clone();
    let mut shared = None;
    if let Some((head, tail, prefix)) = conjunct(main) {
        parts.push(head);
        current = prefix.iter().copied().chain(tail).collect();
        shared = Some(prefix);
    }
    for clause in later {
        let plain = !is_circumstance(clause) && !opens_attached(clause);
        let joined = joining(clause);
        if plain
            && joined > 0
            && let Some(prefix) = shared.clone().or_else(|| prefix_of(main))
            && !has_modal(&clause[joined..])
        {
            parts.push(current.iter().collect());
            current = prefix.iter().copied().chain(clause[joined..].iter().copied()).collect();
            shared = Some(prefix);
        } else if plain && together(clause) > 0 && first > 0 && is_complete(main) {
            parts.push(current.iter().collect());
            current = clause[together(clause)..].to_vec();
        } else if plain && stands_alone(clause) && stands_alone(&current) {
            parts.push(current.iter().collect());
            current = clause.clone();
        } else {
            current.extend(clause);
        }
    }
    parts.push(current.iter().collect());
    if parts.len() < 2 {
        return whole;
    }
    parts.iter().map(|part| format!("{circumstance}{}。", part.trim_end_matches(['，', ',', '。', '.']))).collect()
}

/// True when the statement still joins facts that [`split`] left together.
pub(crate) fn joins_facts(statement: &str) -> bool {
    let chars: Vec<char> = statement.trim().chars().collect();
    chars.iter().any(|c| is_ideograph(*c))
        && pieces(&chars).iter().skip(1).any(|c| !is_circumstance(c) && (joining(c) > 0 || together(c) > 0))
}

/// False for `可以根据情况`: a modal in front of a circumstance whose verb comes later.
fn is_complete(main: &[char]) -> bool {
    !has_modal(main) || binding(main).is_some()
}

/// A comma within quotation marks would be taken for the end of a clause.
fn has_quoted_comma(statement: &str) -> bool {
    let mut depth = false;
    statement.chars().any(|c| {
        match c {
            '“' | '「' => depth = true,
            '”' | '」' => depth = false,
            '"' => depth = !depth,
            _ => {}
        }
        depth && matches!(c, '，' | ',')
    }) || statement.contains(['；', ';'])
}

/// Clauses with their closing comma.
fn pieces(chars: &[char]) -> Vec<Vec<char>> {
    let mut out: Vec<Vec<char>> = vec![Vec::new()];
    let mut depth = 0usize;
    for (i, &c) in chars.iter().enumerate() {
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
        match c {
            '(' | '（' => depth += 1,
            ')' | '）' => depth = depth.saturating_sub(1),
            '，' | ',' if depth == 0 && i + 1 < chars.len() => out.push(Vec::new()),
            _ => {}
        }
    }
    out
}

fn text(clause: &[char]) -> String {
    clause.iter().collect::<String>().trim().trim_end_matches(['，', ',', '。', '.']).to_owned()
}

/// `停机后，`, `如果温度过高，`, `未配备灭火器的，`: says when, not what.
fn is_circumstance(clause: &[char]) -> bool {
    const OPEN: &[&str] = &[
        "当", "當", "如果", "若", "如", "一旦", "除", "对于", "在", "为了", "按照", "根据", "因", "由于", "只有",
        "只要", "从", "自", "对", "遇有", "发生", "经",
    ];
    const CLOSE: &[&str] = &[
        "时",
        "時",
        "后",
        "後",
        "前",
        "的",
        "的话",
        "情况下",
        "过程中",
        "期间",
        "外",
        "以外",
        "内",
        "起",
        "中",
        "之前",
        "之后",
        "下",
    ];
    let text = text(clause);
    OPEN.iter().any(|w| text.starts_with(w)) || CLOSE.iter().any(|w| text.ends_with(w))
}

/// `例如`, `包括`, `即`, `具体表现是`: belongs to what stands before it.
fn opens_attached(clause: &[char]) -> bool {
    let text = text(clause);
    [
        "(",
        "（",
        "尽管",
        "儘管",
        "虽然",
        "雖然",
        "從而",
        "还",
        "還",
        "又",
        "再",
        "然后",
        "最后",
        "另外",
        "首先",
        "有权",
        "有義務",
        "有义务",
        "负有",
    ]
    .iter()
    .any(|w| text.starts_with(w))
        || [
            "例如", "比如", "包括", "即", "如", "其中", "具体", "而", "但", "否则", "以", "使", "以便", "从而", "直到",
            "直至", "不", "那", "则", "就", "因此", "因而", "所以", "也",
        ]
        .iter()
        .any(|w| text.starts_with(w))
}

/// 1 where a clause opens with 并 and a predicate that has its own object; 并且 often brings another subject, and `并向社会公布`
/// leaves out what the first predicate named.
fn joining(clause: &[char]) -> usize {
    const NEEDS_OBJECT: &[&str] =
        &["且", "向", "报", "報", "由", "予以", "及时", "定期", "依法", "在", "对", "對", "为", "按"];
    let text: String = clause.iter().collect();
    let Some(rest) = text.strip_prefix(['并', '並']) else { return 0 };
    usize::from(
        !NEEDS_OBJECT.iter().any(|w| rest.starts_with(w)) && rest.trim_end_matches(['，', '。']).chars().count() >= 3,
    )
}

/// Length of 同时 at the start of a clause.
fn together(clause: &[char]) -> usize {
    let text: String = clause.iter().collect();
    ["同时", "同時"].iter().find(|w| text.starts_with(**w)).map_or(0, |w| w.chars().count())
}

/// The modal of a clause that holds for what is joined to it, as its end; none behind which a circumstance stands.
fn binding(clause: &[char]) -> Option<usize> {
    const PLAIN: &[&str] = &["会", "將", "将会", "请", "請", "需要", "需", "要", "能够"];
    /// Open a circumstance that may hold for both predicates.
    const BETWEEN: &[&str] = &[
        "自", "在", "于", "按", "根据", "依", "向", "对", "由", "从", "以", "通过", "为", "每", "与", "和", "先",
        "首先",
    ];
    let text: String = clause.iter().collect();
    let folded = Folded::new(&text);
    let found = modals(&folded, true);
    if found.iter().any(|m| matches!(m.force, Force::Forbid | Force::Deny | Force::Restrict)) {
        return None;
    }
    let modal = found.iter().find(|m| matches!(m.force, Force::Demand | Force::Allow)).map(|m| m.end);
    let plain = PLAIN.iter().filter_map(|w| position(clause, w).map(|at| at + w.chars().count())).min();
    let end = modal.or(plain)?;
    let rest: String = clause[end..].iter().collect();
    (!BETWEEN.iter().any(|w| rest.starts_with(w))).then_some(end)
}

fn position(clause: &[char], word: &str) -> Option<usize> {
    let word: Vec<char> = word.chars().collect();
    clause.windows(word.len()).position(|w| w == word)
}

/// Subject and modal of a clause.
fn prefix_of(clause: &[char]) -> Option<Vec<char>> {
    binding(clause).map(|end| clause[..end].to_vec())
}

/// Two predicates within one clause: the first part, the second predicate, and the subject and modal of both.
fn conjunct(clause: &[char]) -> Option<(String, Vec<char>, Vec<char>)> {
    let end = binding(clause)?;
    let at = (end + 1..clause.len()).find(|&i| matches!(clause[i], '并' | '並') && is_conjunction(clause, i))?;
    let tail = &clause[at..];
    if joining(tail) == 0 {
        return None;
    }
    let tail = tail[1..].to_vec();
    (tail.len() >= 3 && at - end >= 2 && !has_modal(&tail))
        .then(|| (clause[..at].iter().collect(), tail, clause[..end].to_vec()))
}

fn has_modal(clause: &[char]) -> bool {
    let text: String = clause.iter().collect();
    if ["有权", "有義務", "有义务", "负有"].iter().any(|w| text.starts_with(w)) {
        return true;
    }
    modals(&Folded::new(&text), true).iter().any(|m| !matches!(m.force, Force::Restrict))
}

/// A subject of at least two ideographs, and a modal behind it.
fn stands_alone(clause: &[char]) -> bool {
    let text: String = clause.iter().collect();
    if joining(clause) > 0 || together(clause) > 0 {
        return false;
    }
    modals(&Folded::new(&text), true)
        .iter()
        .find(|m| matches!(m.force, Force::Demand | Force::Forbid) || m.word == "可以")
        .is_some_and(|m| m.start >= 2 && clause[..2].iter().all(|c| is_ideograph(*c) || c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_predicates_are_taken_apart_with_subject_modal_and_circumstance() {
        for (joined, parts) in [
            ("维修人员应当通知班长并记录停机原因。", &["维修人员应当通知班长。", "维修人员应当记录停机原因。"][..]),
            ("如果油温过高，请停机并检查冷却器。", &["如果油温过高，请停机。", "如果油温过高，请检查冷却器。"]),
            ("停机后，压机必须泄压，并切断电源。", &["停机后，压机必须泄压。", "停机后，压机必须切断电源。"]),
            ("通电时，探针会回零并上下移动两次。", &["通电时，探针会回零。", "通电时，探针会上下移动两次。"]),
            (
                "油温超过限值时，控制器报警，同时切断电机。",
                &["油温超过限值时，控制器报警。", "油温超过限值时，切断电机。"],
            ),
            (
                "首次使用前，压机应当试车，操作人员应当记录结果。",
                &["首次使用前，压机应当试车。", "首次使用前，操作人员应当记录结果。"],
            ),
        ] {
            assert_eq!(split(joined), parts);
        }
    }

    #[test]
    fn what_might_change_its_meaning_stays_joined() {
        for statement in [
            "不得打开防护罩并触摸刀具。",
            "主管部门应当自收到申请之日起三日内审查并作出决定。",
            "油泵与电机并联运行。",
            "操作人员应当关闭阀门，未关闭的，不得开机。",
            "压机停机，指示灯亮。",
            "班组应当统计停机次数，并定期向车间公布。",
            "操作人员需按住按钮，并且指示灯变红。",
            "可以根据情况，同时停用两台压机。",
            "The operator must stop the press and call the shift leader.",
        ] {
            assert_eq!(split(statement), [statement]);
        }
    }
}
