//! Markdown links: what they say, and where they lead. A target is an address, not words of the text.

use std::borrow::Cow;
use std::ops::Range;

use crate::proposition::lexis::Folded;

/// The targets of inline links in a folded text: `](…)` with its brackets.
pub(crate) fn targets(text: &Folded) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for at in 0..text.len() {
        if out.last().is_none_or(|last| last.end <= at)
            && let Some(end) = target_end(&text.chars, at)
        {
            out.push(at..end);
        }
    }
    out
}

/// The text as a reader of the rendered page sees it: `see [5032](#5032-overload)` becomes `see 5032`, an image its
/// description. A text of nothing but addresses stays as it is.
pub fn spoken(text: &str) -> Cow<'_, str> {
    without_targets(text, |_, _| false)
}

/// The text without anchors and the places of images, which repeat headings and file names; other addresses stay, for
/// somebody may look for them.
pub fn without_anchors(text: &str) -> Cow<'_, str> {
    without_targets(text, |target, image| !image && target.first() != Some(&'#'))
}

/// Takes out the links whose target, or whose being an image, `keep` does not want; their text stays.
fn without_targets(text: &str, keep: impl Fn(&[char], bool) -> bool) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let mut out: Vec<char> = Vec::with_capacity(chars.len());
    // Places in `out` of the brackets that are still open.
    let mut opened: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let open = match chars[at] {
            '[' => {
                opened.push(out.len());
                None
            }
            ']' => opened.pop(),
            _ => None,
        };
        let Some(end) = target_end(&chars, at) else {
            out.push(chars[at]);
            at += 1;
            continue;
        };
        let image = open.is_some_and(|open| open > 0 && out[open - 1] == '!');
        if keep(&chars[at + 2..end], image) {
            out.extend(&chars[at..end]);
        } else if let Some(open) = open {
            out.drain(open - usize::from(image)..=open);
        }
        at = end;
    }
    let out: String = out.into_iter().collect();
    if out.chars().any(char::is_alphanumeric) { Cow::Owned(out) } else { Cow::Borrowed(text) }
}

/// Behind the bracket that closes the target beginning with `](` at `at`. A target ends on its line: what is never closed is no
/// link, and all of it stays text.
fn target_end(chars: &[char], at: usize) -> Option<usize> {
    if chars.get(at..at + 2) != Some(&[']', '(']) {
        return None;
    }
    let mut depth = 0usize;
    for (i, c) in chars.iter().enumerate().skip(at + 1) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' | '\r' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(i + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_says_its_text_and_not_where_it_leads() {
        for (text, said) in [
            ("查看错误编号 [5032](#5032加速度太低---正-sw).", "查看错误编号 5032."),
            ("- [7404：参数](#_7404%EF) [b](c(d)e)!", "- 7404：参数 b!"),
            ("![alt](a.png) [[1]](#n)", "alt [1]"),
            ("![](FILES/a.png)", "![](FILES/a.png)"),
            ("f[0](x 不得高于 28 ℃。", "f[0](x 不得高于 28 ℃。"),
            ("[a](b\n停机。)", "[a](b\n停机。)"),
            ("a](b)", "a"),
            ("no [link] (here)", "no [link] (here)"),
            ("](", "]("),
        ] {
            assert_eq!(spoken(text), said);
        }
    }

    #[test]
    fn what_is_never_closed_hides_nothing() {
        assert!(targets(&Folded::new("见 [附件](附件(1，油温不得高于 60 ℃。")).is_empty());
        assert_eq!(targets(&Folded::new("见 [a](b(c)d)。")).first(), Some(&(4..12)));
    }

    #[test]
    fn an_address_can_be_looked_for_but_an_anchor_cannot() {
        let text = "[页](https://a.example/b_(c)) 见 [5032](#5032超限)，![图](FILES/7000.png)";
        assert_eq!(without_anchors(text), "[页](https://a.example/b_(c)) 见 5032，图");
    }
}
