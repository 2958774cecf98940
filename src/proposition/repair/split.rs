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
    // A circumstance further on holds for what follows it, an exception for what stands before it: only a reader can tell how
    // much of it.
    if later.iter().any(|c| is_circumstance(c) || excepts(c)) {
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
            && (shared.is_some() || says_all(&main[prefix.len()..]))
            && !has_modal(&clause[joined..])
            && !closes_attribute(main, clause)
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

/// `但紧急情况除外`, `除非已经泄压`: takes something back.
fn excepts(clause: &[char]) -> bool {
    let text = text(clause);
    ["但", "除非", "不过", "然而", "不包括", "不适用"].iter().any(|w| text.starts_with(w)) || text.ends_with("除外")
}

/// Verbs whose object may stand behind the second predicate: `制定并落实制度`.
const TRANSITIVE: &[&str] = &[
    "建立", "健全", "制定", "落实", "实施", "组织", "完善", "设立", "执行", "编制", "修订", "审查", "审核", "批准",
    "检查", "确认", "记录", "保存", "使用", "安装", "拆卸", "更换", "清洁", "清洗", "调整", "校准", "打开", "关闭",
    "启动", "停止", "测量", "监控", "监视", "管理", "维护", "操作", "检测", "测试", "设置", "选择", "读取", "写入",
    "加载", "下载", "保持", "采取", "提供", "提出", "接受", "签订", "核实", "配备", "设置", "公布", "发布", "修改",
];
/// Say how, not what.
const ADVERBS: &[&str] =
    &["立即", "及时", "定期", "依法", "首先", "尽快", "按时", "认真", "仔细", "严格", "自动", "共同", "事先", "如实"];
/// Two ideographs that need no object.
const COMPLETE: &[&str] = &[
    "停机", "停车", "回零", "归零", "断电", "报警", "泄压", "通电", "上电", "关机", "开机", "降速", "减速", "加速",
    "闪烁", "变红", "重启",
];

/// True for a predicate with its object, so that nothing of it stands behind the next one.
fn says_all(predicate: &[char]) -> bool {
    let whole = text(predicate);
    let mut rest = whole.as_str();
    while let Some(tail) = ADVERBS.iter().find_map(|w| rest.strip_prefix(w)) {
        rest = tail;
    }
    if rest.chars().count() <= 2 {
        return COMPLETE.contains(&rest);
    }
    while let Some(tail) = TRANSITIVE.iter().find_map(|w| rest.strip_prefix(w)) {
        rest = tail;
    }
    !rest.is_empty()
}

/// `履行交付货物，并移交单证的义务`: the noun that closes the joined clause belongs to both.
fn closes_attribute(first: &[char], joined: &[char]) -> bool {
    const NOUNS: &[&str] = &[
        "义务", "权利", "责任", "情形", "情况", "方式", "条件", "要求", "功能", "能力", "行为", "程序", "资格", "职责",
        "职权", "期限", "费用",
    ];
    let (first, joined) = (text(first), text(joined));
    NOUNS.iter().any(|noun| joined.ends_with(&format!("的{noun}")) && !first.ends_with(noun))
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
    (tail.len() >= 3 && says_all(&clause[end..at]) && !has_modal(&tail) && !closes_attribute(&clause[..at], &tail))
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
    /// Open no subject: a joint, a verb whose object holds the modal (`适用于可以联网的设备`), or 任何人, of whom something is said
    /// about what stands in front (`费用应当上缴，任何人不得截留`).
    const NO_SUBJECT: &[&str] = &[
        "并", "並", "且", "而", "或", "以及", "从而", "以便", "适用", "用于", "用来", "具有", "包含", "包括", "属于",
        "位于", "便于", "由于", "按照", "根据", "通过", "使用", "采用", "有", "是", "为", "使", "让", "用", "由", "对",
        "向", "任何",
    ];
    let text: String = clause.iter().collect();
    if joining(clause) > 0 || together(clause) > 0 || NO_SUBJECT.iter().any(|w| text.starts_with(w)) {
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
            "操作人员应当打开防护罩，并切断电源，但试车期间可以带电作业。",
            "车间应当制定并实施检修计划。",
            "车间应当建立健全并落实检修制度。",
            "出卖人应当履行交付货物，并移交单证的义务。",
            "罚款必须全部上缴，任何人不得截留。",
            "模块应当包含操作系统，适用于可以联网的每种设备。",
            "移动时应当均匀送料，并且在移动后不应送料。",
            "The operator must stop the press and call the shift leader.",
        ] {
            assert_eq!(split(statement), [statement]);
        }
    }
}
