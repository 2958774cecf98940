//! Lines and blocks that state nothing to rewrite and are kept as they stand: contents pages, addresses, forms,
//! formulas, indented code, tables drawn with characters.

use super::classify::is_links_only;
use super::numbering::{Scheme, label};
use super::sentence::is_cjk;

/// A line of a contents page, an address or a form.
pub(super) fn is_verbatim_line(bare: &str) -> bool {
    is_contents(bare) || is_contact(bare) || is_form(bare) || is_numbered_link(bare)
}

/// A line of a contents list: a title with leader dots and a page number, or nothing but links.
pub(crate) fn is_contents_entry(line: &str) -> bool {
    let bare = line.trim();
    let linked = bare.contains("](") && !bare.contains("![");
    is_contents(bare) || (linked && (is_links_only(bare) || is_numbered_link(bare)))
}

/// `1.2 Scope ........ 12`, `第一章 总则……3`: a title, leader dots, a page number.
fn is_contents(bare: &str) -> bool {
    /// Dots that make a leader.
    const LEADER: usize = 4;
    let title = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    let title = if title.len() < bare.len() { title } else { bare.trim_end_matches(['i', 'v', 'x', 'l']) };
    let page = bare.len() - title.len();
    let rest = title.trim_end_matches(|c: char| c.is_whitespace() || is_leader(c));
    let dots: usize = title[rest.len()..]
        .chars()
        .map(|c| match c {
            '…' | '⋯' => 3,
            c => usize::from(is_leader(c)),
        })
        .sum();
    (1..=6).contains(&page) && dots >= LEADER && rest.contains(char::is_alphanumeric)
}

fn is_leader(c: char) -> bool {
    matches!(c, '.' | '．' | '·' | '…' | '⋯' | '•' | '‥')
}

/// `1. [Scope](#scope)`: a numbered entry of a contents list.
fn is_numbered_link(bare: &str) -> bool {
    let entry = label(bare).filter(|l| matches!(l.scheme, Scheme::Item | Scheme::Decimal));
    entry.is_some_and(|l| l.rest.starts_with('[') && is_links_only(l.rest))
}

/// `电话：0755-1234567`, `E-mail: a@b.example`, an address on the network by itself.
fn is_contact(bare: &str) -> bool {
    /// What stands before the colon, in lower case.
    const LABELS: &[&str] = &[
        "电话",
        "联系电话",
        "客服电话",
        "服务热线",
        "客服热线",
        "热线",
        "手机",
        "传真",
        "邮箱",
        "电子邮箱",
        "电子邮件",
        "邮编",
        "邮政编码",
        "网址",
        "网站",
        "官网",
        "地址",
        "公司地址",
        "通讯地址",
        "联系地址",
        "联系人",
        "签字",
        "签名",
        "签章",
        "盖章",
        "微信",
        "電話",
        "傳真",
        "電子郵件",
        "網址",
        "tel",
        "tel.",
        "telephone",
        "phone",
        "mobile",
        "hotline",
        "fax",
        "e-mail",
        "email",
        "web",
        "website",
        "homepage",
        "url",
        "address",
        "contact",
        "signature",
        "signed",
        "signed by",
        "zip",
        "postcode",
    ];
    /// A longer value is a sentence.
    const MAX: usize = 100;
    let bare = bare.trim_start_matches(['-', '*', '+', '•', '_', ' ', '\t']);
    let address = |word: &str| {
        let word = word.trim_matches(['<', '>', ',', ';', '，', '；', '、']);
        let mail = word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'));
        word.is_ascii() && (mail || ["http://", "https://", "www.", "mailto:"].iter().any(|p| word.starts_with(p)))
    };
    if !bare.is_empty() && bare.split_whitespace().all(address) {
        return true;
    }
    let Some((name, value)) = bare.split_once(['：', ':']) else { return false };
    let mut name = name.trim_matches(['*', '_', ' ', '\t']).to_lowercase();
    if !name.is_ascii() {
        name.retain(|c| !c.is_whitespace()); // `地　址`
    }
    let value = value.trim_matches(['*', '_', ' ', '\t', '\u{3000}']);
    LABELS.contains(&name.as_str())
        && !value.is_empty()
        && value.chars().count() <= MAX
        && !value.contains(['。', '；', '！', '？'])
        && !value.contains(". ")
}

/// A line with blanks to fill in.
fn is_form(bare: &str) -> bool {
    bare.contains("____") || bare.contains("＿＿＿")
}

/// `P = F · v / 60`, `$U = R I$`: names joined by signs and no two words in a row.
pub(super) fn is_formula(bare: &str) -> bool {
    const EQUAL: [char; 6] = ['=', '≈', '≤', '≥', '≠', '∝'];
    const JOIN: [char; 10] = ['+', '*', '/', '×', '÷', '^', '√', '∑', '·', '∫'];
    let bare = &bare.trim_start_matches(['-', '+', '•', ' ']).replace("**", "");
    if let Some(inner) = bare.strip_prefix('$').and_then(|b| b.strip_suffix('$')) {
        let inner = inner.trim_matches('$');
        return !inner.contains('$') && inner.contains(['=', '\\', '^', '_', '<', '>', '+', '*', '/']);
    }
    if !bare.contains(EQUAL) || bare.contains(['`', '"', '“']) || bare.ends_with(['.', ';', '!', '?', ':']) {
        return false;
    }
    if !bare.chars().any(is_cjk) {
        return word_pairs(bare) == 0;
    }
    let stops = bare.contains(['，', '。', '；', '：', '、', '！', '？']);
    let longest = bare.split(|c| !is_cjk(c)).map(|run| run.chars().count()).max().unwrap_or(0);
    !stops && longest <= 8 && bare.contains(JOIN)
}

/// Words of letters only that follow each other with nothing but a space between: what prose is made of.
fn word_pairs(text: &str) -> usize {
    let is_word = |w: &str| w.len() >= 2 && w.bytes().all(|b| b.is_ascii_alphabetic() || b == b'\'');
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.windows(2).filter(|pair| is_word(pair[0]) && is_word(pair[1].trim_end_matches([',', '.', ';', ':']))).count()
}

/// Length in bytes of the formula block that `text` starts with, with its marks. It ends before an empty line, at the end
/// of a line.
pub(super) fn math_block(text: &str) -> Option<usize> {
    /// Lines that are searched for the closing mark.
    const LINES: usize = 40;
    let (open, close) = [("$$", "$$"), ("\\[", "\\]"), ("\\begin{", "\\end{")]
        .into_iter()
        .find(|(open, _)| text.trim_start().starts_with(open))?;
    let mut at = text.len() - text.trim_start().len() + open.len();
    for (number, line) in text[at..].split_inclusive('\n').take(LINES).enumerate() {
        if number > 0 && line.trim().is_empty() {
            return None;
        }
        if let Some(found) = line.find(close) {
            let end = at + line.trim_end().len();
            let behind = &line[found + close.len()..];
            let behind = if close == "\\end{" { behind.split_once('}')?.1 } else { behind };
            return behind.trim().is_empty().then_some(end);
        }
        at += line.len();
    }
    None
}

/// An indented line that is code by its signs. Indented prose is none.
pub(super) fn is_code(content: &str) -> bool {
    let bare = content.trim();
    label(bare).is_none()
        && !bare.chars().any(is_cjk)
        && bare.contains(['{', '}', '=', '(', '[', '<', '$', '#', ';', '|', '&', '\\', '/', '_'])
        && word_pairs(bare) <= 2
}

/// Columns of white space in front of a line; a tab goes to the next multiple of four.
pub(super) fn indent(content: &str) -> usize {
    let spaces = content.chars().take_while(|c| matches!(c, ' ' | '\t'));
    spaces.fold(0, |column, c| if c == '\t' { column / 4 * 4 + 4 } else { column + 1 })
}

/// The column in which the text of the list item begins that the line opens, by CommonMark.
pub(super) fn item_column(content: &str) -> Option<usize> {
    let column = indent(content);
    let bare = content.trim_start();
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=9).contains(&digits) && bare[digits..].starts_with(['.', ')']);
    let marks = if numbered { digits + 1 } else { usize::from(bare.starts_with(['-', '*', '+'])) };
    let behind = &bare[marks..];
    let space = indent(behind);
    match space {
        _ if marks == 0 || (space == 0 && !behind.trim().is_empty()) => None,
        1..=4 => Some(column + marks + space),
        // An item without text, or one that opens with code.
        _ => Some(column + marks + 1),
    }
}

/// The first line of a footnote or a definition: what belongs to it is indented by four columns.
pub(super) fn is_container(bare: &str) -> bool {
    bare.starts_with(": ") || bare.starts_with(":\t") || (bare.starts_with("[^") && bare.contains("]:"))
}

/// `|  a |  b |`, `+  a +----+`: a line of a table that is drawn with characters.
pub(super) fn is_grid(bare: &str) -> bool {
    let drawn = bare.starts_with('+') && bare.contains("--") && bare.contains(char::is_alphanumeric);
    bare.len() > 2 && bare.ends_with(['+', '|']) && (bare.starts_with('|') || drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_addresses_forms_and_formulas_are_told_from_statements() {
        for line in [
            "1.2 Scope ........ 12",
            "第一章 总则……3",
            "第二节 安装 . . . . . 17",
            "Preface .......... iv",
            "2. [Wiring](#wiring)",
            "电话：0755-1234567",
            "- **E-mail**: service@pumps.example",
            "地　址：某市某路 12 号",
            "https://a.example/x www.b.example",
            "检验人：________ 日期：________",
        ] {
            assert!(is_verbatim_line(line), "{line}");
        }
        for line in
            ["P = F · v / 60", "$U = R I$", "转速 = 60 × 频率 / 极对数", "rotation_distance = <belt_pitch> * <teeth>"]
        {
            assert!(is_formula(line), "{line}");
        }
        for line in [
            "压力为 2...5 MPa",
            "等待……然后按 3",
            "第 3 章说明安装。",
            "电话线：不得与动力线同槽",
            "地址：由拨码开关设定。断电后生效。",
            "**其他参数** PIDENT_FIT = 0",
            "Set the speed = 5 mm/s before the start",
            "若 A=B，则停机",
            "温度 ≥ 80 ℃",
            "Contact: call the maker. Do not open the case.",
            "1. Turn it off",
            "It costs $5 or $6",
        ] {
            assert!(!is_verbatim_line(line) && !is_formula(line), "{line}");
        }
    }

    #[test]
    fn formula_blocks_end_with_their_mark() {
        assert_eq!(math_block("$$\nE = m c^2\n$$\nText"), Some(15));
        assert_eq!(math_block("$$ a $$\n"), Some(7));
        assert_eq!(math_block("\\begin{align}\na\n\\end{align}\nText"), Some(27));
        assert_eq!(math_block("$$ a\n\nb $$"), None);
        assert_eq!(math_block("$$ a $$ is text"), None);
        assert_eq!(math_block("$$"), None);
        assert_eq!(math_block("text"), None);
    }

    #[test]
    fn code_and_grids_are_told_from_prose() {
        assert!(is_code("    sudo service klipper_mcu stop") && is_code("\tint x = f(1);"));
        assert!(!is_code("    The pump (see figure) runs until the lamp is on") && !is_code("    泵 = 开"));
        let columns = ["x", "  \tx", "\t x", "\u{3000}x"].map(indent);
        assert_eq!(columns, [0, 4, 5, 0]);
        let columns = ["- x", "  *   x", "10. x", "-", "-      x", "（一）x", "+x"].map(item_column);
        assert_eq!(columns, [Some(2), Some(6), Some(4), Some(2), Some(2), None, None]);
        assert!(is_grid("+  a +----+") && is_grid("|  a |"));
        assert!(!is_grid("+ 24 V / 0 V +") && !is_grid("+++++") && !is_grid("|") && !is_grid("a | b"));
    }
}
