//! The words of running text without its inline marks (docutils: "Inline Markup").
//!
//! A mark opens after white space or punctuation and closes before it. Chinese has no space between words, so a Chinese
//! character counts as such a border, too: what was meant as a mark never stays in the text.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::document::html::raised;
use crate::document::notation::is_wide;

/// Substitutions within substitutions are followed this deep, and make at most this many bytes.
const DEPTH: usize = 4;
const LONGEST: usize = 4096;
/// Bytes that all substitutions of a file may add, and what each costs at least.
const ALL: usize = 16 << 20;
const LEAST: usize = 16;

/// What inline marks refer to.
#[derive(Debug)]
pub(super) struct Inline {
    substitutions: HashMap<String, String>,
    targets: HashSet<String>,
    /// Bytes that substitutions may still add.
    left: Cell<usize>,
}

impl Inline {
    pub(super) fn new(substitutions: HashMap<String, String>, targets: HashSet<String>) -> Self {
        Self { substitutions, targets, left: Cell::new(ALL) }
    }

    /// True when substitutions were left as they are because they add too much.
    pub(super) fn is_cut(&self) -> bool {
        self.left.get() == 0
    }

    /// `text` without marks.
    pub(super) fn words(&self, text: &str) -> String {
        self.at_depth(text, 0)
    }

    fn at_depth(&self, text: &str, depth: usize) -> String {
        if !text.contains(['*', '`', '|', '_', '\\', ':']) {
            return text.to_string();
        }
        let mut scan = Scan { text, at: 0, out: String::with_capacity(text.len()), hopeless: HashSet::new() };
        while let Some(c) = scan.rest().chars().next() {
            let done = match c {
                '\\' => scan.escape(),
                '`' => scan.backquotes(),
                '*' => scan.emphasis(),
                ':' => scan.role(),
                '|' => self.substitution(&mut scan, depth),
                '_' => self.reference(&mut scan),
                _ => false,
            };
            if !done {
                scan.out.push(c);
                scan.at += c.len_utf8();
            }
        }
        scan.out
    }

    fn substitution(&self, scan: &mut Scan<'_>, depth: usize) -> bool {
        if !scan.opens(1) {
            return false;
        }
        let Some(inside) = scan.until("|", 1) else { return false };
        let Some(value) = self.substitutions.get(&inside.trim().to_lowercase()) else { return false };
        let cost = value.len().max(LEAST);
        let Some(left) = self.left.get().checked_sub(cost) else {
            self.left.set(0);
            return false;
        };
        self.left.set(left);
        let words =
            if depth < DEPTH && value.len() <= LONGEST { self.at_depth(value, depth + 1) } else { value.clone() };
        if scan.out.len() > scan.text.len() * 64 + (1 << 20) {
            return false;
        }
        scan.out.push_str(&words);
        scan.at += inside.len() + 2;
        scan.skip_underscores();
        true
    }

    /// `name_` is a link if the file has such a target; `_` is part of many names.
    fn reference(&self, scan: &mut Scan<'_>) -> bool {
        if scan.rest().starts_with("_`") && scan.opens(2) {
            // A target in the text: its words stay.
            scan.at += 1;
            return true;
        }
        if scan.rest()[1..].chars().next().is_some_and(|next| next.is_alphanumeric() && !is_wide(next)) {
            return false;
        }
        if scan.out.ends_with(']') {
            scan.skip_underscores();
            return true;
        }
        let mut start = scan.out.len();
        for (at, c) in scan.out.char_indices().rev().take(100) {
            if !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+')) {
                break;
            }
            start = at;
        }
        let is_target = start < scan.out.len() && self.targets.contains(&scan.out[start..].to_lowercase());
        if is_target {
            scan.skip_underscores();
        }
        is_target
    }
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// Closing marks that were looked for and do not come any more.
    hopeless: HashSet<&'static str>,
}

impl<'a> Scan<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_underscores(&mut self) {
        for _ in 0..2 {
            if self.rest().starts_with('_') {
                self.at += 1;
            }
        }
    }

    /// True where a mark of `length` bytes may open.
    fn opens(&self, length: usize) -> bool {
        let before = self.text[..self.at].chars().next_back();
        let after = self.text[self.at + length..].chars().next();
        before.is_none_or(is_border) && after.is_some_and(|c| !c.is_whitespace())
    }

    /// The text behind an opening mark of `length` bytes up to the closing `mark`, which does not stand at once, nor behind
    /// white space or a backslash, nor before a letter.
    fn until(&mut self, mark: &'static str, length: usize) -> Option<&'a str> {
        if self.hopeless.contains(mark) {
            return None;
        }
        let inside = &self.text[self.at + length..];
        let mut from = 0;
        while let Some(found) = inside[from..].find(mark).map(|found| from + found) {
            let before = inside[..found].chars().next_back();
            let after = inside[found + mark.len()..].chars().next();
            let is_end = before.is_some_and(|c| !c.is_whitespace() && (c != '\\' || mark == "``"));
            if is_end && after.is_none_or(|c| is_border(c) || c == '_') {
                return Some(&inside[..found]);
            }
            from = found + mark.len();
        }
        self.hopeless.insert(mark);
        None
    }

    fn escape(&mut self) -> bool {
        let mut chars = self.rest()[1..].chars();
        match chars.next() {
            Some(c) if c.is_whitespace() => self.at += 1 + c.len_utf8(),
            Some(c) if c.is_ascii_punctuation() => {
                self.out.push(c);
                self.at += 2;
            }
            // Paths such as `C:\temp` are written without doubling more often than escapes of letters are.
            _ => return false,
        }
        true
    }

    fn backquotes(&mut self) -> bool {
        if self.rest().starts_with("``") {
            let Some(inside) = self.until("``", 2) else { return false };
            self.out.push_str(inside);
            self.at += inside.len() + 4;
            return true;
        }
        if !self.opens(1) {
            return false;
        }
        let Some(inside) = self.until("`", 1) else { return false };
        self.at += inside.len() + 2;
        self.skip_underscores();
        // A role may stand behind.
        if let Some(role) = role_name(self.rest()) {
            self.at += role.len() + 2;
            self.push_role(role, inside);
        } else {
            self.push_role("", inside);
        }
        true
    }

    fn role(&mut self) -> bool {
        if !self.opens(1) {
            return false;
        }
        let Some(role) = role_name(self.rest()) else { return false };
        if !self.rest()[role.len() + 2..].starts_with('`') {
            return false;
        }
        let Some(inside) = self.until("`", role.len() + 3) else { return false };
        self.at += role.len() + 4 + inside.len();
        self.skip_underscores();
        self.push_role(role, inside);
        true
    }

    fn push_role(&mut self, role: &str, inside: &str) {
        let role = role.rsplit(':').next().unwrap_or_default();
        match role {
            "sup" | "superscript" => return self.out.push_str(&raised(inside)),
            "math" | "code" | "literal" | "samp" | "kbd" | "command" | "file" => return self.out.push_str(inside),
            _ => {}
        }
        let words = match inside.strip_suffix('>').and_then(|inside| inside.rsplit_once('<')) {
            Some((words, _)) if !words.trim().is_empty() => words.trim(),
            Some((_, target)) => target.trim(),
            None => inside.trim_start_matches('!'),
        };
        self.out.push_str(&words.replace('\\', ""));
    }

    fn emphasis(&mut self) -> bool {
        let mark = if self.rest().starts_with("**") { "**" } else { "*" };
        if !self.opens(mark.len()) {
            return false;
        }
        let Some(inside) = self.until(mark, mark.len()) else { return false };
        self.at += inside.len() + 2 * mark.len();
        self.out.push_str(&inside.replace("\\*", "*"));
        true
    }
}

fn is_border(c: char) -> bool {
    c.is_whitespace() || is_wide(c) || !c.is_alphanumeric() && c != '_'
}

/// `name` of `:name:` at the start.
fn role_name(text: &str) -> Option<&str> {
    let body = text.strip_prefix(':')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | ':');
    let end = body.char_indices().take(60).find(|(_, c)| !is_part(*c)).map_or(body.len().min(60), |(at, _)| at);
    let name = body.get(..end)?.strip_suffix(':')?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        let substitutions = HashMap::from([("产品".to_string(), "XH-500 *型*".to_string())]);
        let inline = Inline::new(substitutions, HashSet::from(["guide".to_string()]));
        for (text, words) in [
            ("点击**保存**按钮，*不要* ``a*b`` 停", "点击保存按钮，不要 a*b 停"),
            ("`手册 <http://a.b>`_ 与 guide_ 和 a_b_ c_", "手册 与 guide 和 a_b_ c_"),
            (":ref:`安装 <x>` :doc:`y` :sup:`2` `x`:sub: [1]_ [#a]_", "安装 y ² x [1] [#a]"),
            ("|产品| 与 |未知| a|b|c", "XH-500 型 与 |未知| a|b|c"),
            (r"2 * 3 * 4, a*b*c, \*x\*, C:\temp, H\ :sub:`2`\ O", r"2 * 3 * 4, a*b*c, *x*, C:\temp, H2O"),
            ("温度：`a` 时间 12:30:00 **未完", "温度：a 时间 12:30:00 **未完"),
        ] {
            assert_eq!(inline.words(text), words);
        }
    }
}
