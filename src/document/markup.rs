//! HTML inside Markdown: its tags, what they say, and the headings written with them.
//!
//! CommonMark lets HTML stand anywhere in a text, and manuals that were converted or laid out by hand are full of it. Tags are
//! told from text as the HTML Living Standard (13.2.5) does, but only names that HTML knows count: `<value>` in a manual is a
//! placeholder, a word of the text. Nothing is rewritten here, so every range stays exact.

use std::borrow::Cow;
use std::ops::Range;

use super::markdown::{collapse, title};

/// Longest tag in bytes; a `<` whose `>` is further away is text.
const TAG: usize = 4000;
/// Longest heading in bytes, tags included.
const HEADING: usize = 2000;

/// Elements that part the text around them.
const BLOCKS: &[&str] = &[
    "article",
    "aside",
    "blockquote",
    "br",
    "caption",
    "center",
    "col",
    "colgroup",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "iframe",
    "li",
    "nav",
    "ol",
    "p",
    "picture",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "tr",
    "ul",
    "video",
];
/// Elements inside a line of text. Names that manuals use as placeholders (`<address>`, `<time>`) are left out.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "big", "cite", "code", "dd", "del", "em", "font", "i", "img", "ins", "kbd", "mark", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "tt", "u", "var", "wbr",
];

/// A tag as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag<'a> {
    /// The byte of its `<`.
    pub(crate) start: usize,
    /// One past its `>`.
    pub(crate) end: usize,
    /// The name of its element, as written.
    pub(crate) name: &'a str,
    /// True for an end tag.
    pub(crate) closing: bool,
    /// What stands between name and `>`.
    attributes: &'a str,
}

impl Tag<'_> {
    /// Whether the tag is of one of `names`, which are in lower case.
    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }

    /// A start tag of `name`.
    pub(crate) fn opens(&self, name: &str) -> bool {
        !self.closing && self.is(&[name])
    }

    /// Whether it parts the text around it.
    pub(crate) fn is_block(&self) -> bool {
        self.is(BLOCKS)
    }

    /// Whether HTML knows the element.
    pub(crate) fn is_known(&self) -> bool {
        self.is_block() || self.is(INLINE)
    }

    /// The level of the heading that it opens.
    pub(crate) fn heading_level(&self) -> Option<u8> {
        let level = self.name.strip_prefix(['h', 'H'])?.parse().ok()?;
        (!self.closing && self.name.len() == 2 && (1..=6).contains(&level)).then_some(level)
    }

    /// The value of an attribute, without quotes.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
            let (key, after) = rest.split_at(end);
            let Some(value) = after.trim_start().strip_prefix('=') else {
                if rest.is_empty() {
                    return None;
                }
                rest = if end == 0 { rest.get(1..)? } else { after };
                continue;
            };
            let value = value.trim_start();
            let quoted = ['"', '\''].iter().find_map(|&q| value.strip_prefix(q)?.split_once(q));
            let bare = || value.split_at(value.find(char::is_whitespace).unwrap_or(value.len()));
            let (value, after) = quoted.unwrap_or_else(bare);
            if key.eq_ignore_ascii_case(name) {
                return Some(value);
            }
            rest = after;
        }
    }

    /// The words that stand for it where pictures cannot be shown, if they say more than a file name does.
    pub(crate) fn description(&self) -> Option<&str> {
        let alt = self.attribute("alt").filter(|_| self.opens("img"))?;
        describes(alt, self.attribute("src").unwrap_or_default()).then_some(alt)
    }
}

/// The tag whose `<` stands at byte `at`. It may span lines, but no empty one. Linear over a whole text, because the search
/// ends at the next `<` outside quotes.
pub(crate) fn tag_at(text: &str, at: usize) -> Option<Tag<'_>> {
    let rest = text.get(at..)?.strip_prefix('<')?;
    let closing = rest.starts_with('/');
    let named = rest.strip_prefix('/').unwrap_or(rest);
    if !named.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let length = named.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'-').count();
    let (name, attributes) = named.split_at(length);
    if !attributes.starts_with(|c: char| c.is_whitespace() || matches!(c, '/' | '>')) {
        return None;
    }
    let (mut quote, mut empty) = (None, false);
    for (offset, byte) in attributes.bytes().enumerate().take(TAG) {
        match byte {
            b'\n' if empty => return None,
            b'\n' => empty = true,
            b' ' | b'\t' | b'\r' => {}
            _ => empty = false,
        }
        match (byte, quote) {
            (b'>', None) => {
                let attributes = &attributes[..offset];
                let end = at + 1 + usize::from(closing) + length + offset + 1;
                return Some(Tag { start: at, end, name, closing, attributes });
            }
            (b'<', None) => return None,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

/// Whether the description of a picture says something: two Chinese characters, two words, or one that is no word for pictures
/// themselves; but not the name of its file or of a badge.
pub(crate) fn describes(alt: &str, target: &str) -> bool {
    /// Words for pictures, in lower case.
    const ITSELF: &[&str] = &[
        "alt",
        "banner",
        "cover",
        "demo",
        "diagram",
        "figure",
        "icon",
        "image",
        "img",
        "logo",
        "photo",
        "pic",
        "picture",
        "preview",
        "screenshot",
        "thumbnail",
    ];
    if alt.chars().filter(|&c| is_ideograph(c)).count() >= 2 {
        return true;
    }
    let words = alt.split_whitespace().filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2).count();
    let badge = ["badge", "shields.io", "travis-ci", "codecov", "workflows"].iter().any(|mark| target.contains(mark));
    let alone = alt.trim().to_ascii_lowercase();
    let is_name = target.contains(alt.trim())
        || alt.contains('\\')
        || (!alone.contains(' ') && alone.contains(['.', '/', '_', '-']));
    let is_word = alone.bytes().filter(u8::is_ascii_alphanumeric).count() >= 2 && !ITSELF.contains(&alone.as_str());
    (words >= 2 || (is_word && !target.is_empty())) && !badge && !is_name
}

/// An ideograph, kana or hangul: a character that words are made of.
pub(crate) fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Whether nothing but tags, comments and white space stands in `text`, and no tag has words of its own: no description of
/// a picture, no title.
pub(crate) fn is_only_tags(text: &str) -> bool {
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if at == text.len() {
            return true;
        }
        if text[at..].starts_with("<!--") {
            let Some(length) = text[at..].find("-->") else { return false };
            at += length + 3;
            continue;
        }
        let Some(tag) = tag_at(text, at).filter(Tag::is_known) else { return false };
        let spoken = |name| tag.attribute(name).is_some_and(|value| describes(value, ""));
        if tag.description().is_some() || spoken("title") || spoken("label") {
            return false;
        }
        at = tag.end;
    }
}

/// The words of a stretch of HTML: tags go, pictures become their description, line breaks and cells a space.
pub(crate) fn words(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut at = 0;
    while let Some(found) = html[at..].find('<') {
        let open = at + found;
        out.push_str(&html[at..open]);
        if html[open..].starts_with("<!--") {
            at = html[open..].find("-->").map_or(html.len(), |length| open + length + 3);
            continue;
        }
        match tag_at(html, open).filter(Tag::is_known) {
            Some(tag) => {
                if tag.is_block() {
                    out.push(' ');
                }
                if tag.opens("img") {
                    out.push_str(tag.attribute("alt").unwrap_or_default());
                }
                at = tag.end;
            }
            None => {
                out.push('<');
                at = open + 1;
            }
        }
    }
    out.push_str(&html[at..]);
    collapse(&out)
}

/// `text` with characters in place of their names and numbers (`&le;`, `&#37;`), as CommonMark (6.4) has them.
pub(crate) fn decoded(text: &str) -> String {
    /// Longest name that HTML knows, with its marks.
    const LONGEST: usize = 34;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest.bytes().skip(1).take(LONGEST).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
        let reference = rest.get(..name + 2).filter(|reference| reference.ends_with(';'));
        let sign = reference.and_then(character);
        let length = if sign.is_some() { name + 2 } else { name + 1 };
        out.push_str(sign.as_deref().unwrap_or(&rest[..length]));
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// What a reference to a character stands for; `None` where HTML knows none.
fn character(reference: &str) -> Option<String> {
    let tokens = html5gum::Tokenizer::new(reference).map(|Ok(token)| token);
    let text: Vec<u8> = tokens
        .filter_map(|token| match token {
            html5gum::Token::String(text) => Some(text.value.0),
            _ => None,
        })
        .flatten()
        .collect();
    String::from_utf8(text).ok().filter(|text| text != reference)
}

/// `text` as a reader of the rendered page sees it: without tags and comments, and with characters in place of their names.
/// Fenced code stays as it is.
pub(crate) fn rendered(text: &str) -> Cow<'_, str> {
    let opens = |at: usize| text[at..].starts_with("<!--") || tag_at(text, at).is_some_and(|tag| tag.is_known());
    if text.starts_with("```") || text.starts_with("~~~") || !text.match_indices('<').any(|(at, _)| opens(at)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(decoded(words(text).trim()))
}

/// The end of the heading that `tag` opens, and its title. It ends before the next heading and before an empty line.
pub(crate) fn heading(text: &str, tag: &Tag<'_>) -> Option<(usize, String)> {
    tag.heading_level()?;
    let mut at = tag.end;
    while let Some(found) = text[at..].bytes().take(HEADING).position(|b| b == b'<') {
        at += found;
        if let Some(next) = tag_at(text, at).filter(|next| next.name.len() == 2 && next.name.starts_with(['h', 'H'])) {
            let closes = next.closing && next.name.eq_ignore_ascii_case(tag.name);
            if closes && next.end - tag.start <= HEADING && !has_empty_line(&text[tag.end..next.start]) {
                let title = title(&format!("# {}", words(&text[tag.end..next.start])));
                return (!title.is_empty()).then_some((next.end, title));
            }
            if closes || next.heading_level().is_some() {
                return None;
            }
        }
        at += 1;
        if at - tag.start > HEADING {
            return None;
        }
    }
    None
}

/// Whether a line without words stands between two others of `text`.
pub(crate) fn has_empty_line(text: &str) -> bool {
    let mut lines = super::text_lines(text).map(|line| text[line.start..line.end].trim().is_empty());
    lines.next();
    lines.any(|empty| empty)
}

/// A heading in HTML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its lines; where words share its first or its last line, the heading alone.
    pub(crate) range: Range<usize>,
    /// 1 to 6.
    pub(crate) level: u8,
    /// Its words.
    pub(crate) title: String,
}

/// The headings in the block of HTML `text[block]` that begin a line, tags aside. Linear in the length of the block.
pub(crate) fn headings(text: &str, block: Range<usize>) -> Vec<Found> {
    /// Elements whose text is none of the page's, or stands as it is.
    const RAW: &[&str] = &["pre", "script", "style", "textarea"];
    let mut found: Vec<Found> = Vec::new();
    let mut at = block.start;
    // Where the line began, or the last heading on it ended, while only tags came since.
    let mut clean = Some(block.start);
    while let Some(gap) = text[at..block.end].find('<') {
        let open = at + gap;
        clean = pass(&text[at..open], at, clean, &mut found);
        if text[open..].starts_with("<!--") {
            at = text[open..block.end].find("-->").map_or(block.end, |length| open + length + 3);
            continue;
        }
        let Some(tag) = tag_at(text, open).filter(|tag| tag.end <= block.end) else {
            (at, clean) = (open + 1, None);
            continue;
        };
        at = tag.end;
        if !tag.closing && tag.is(RAW) {
            let close = format!("</{}", tag.name);
            at = text[at..block.end].find(&close).map_or(block.end, |length| at + length);
        } else if let Some(start) = clean
            && let Some(level) = tag.heading_level()
            && let Some((end, title)) = heading(text, &tag).filter(|(end, _)| *end <= block.end)
        {
            found.push(Found { range: start..end, level, title });
            (at, clean) = (end, Some(end));
        }
    }
    let rest = &text[at.min(block.end)..block.end];
    pass(rest, at, clean, &mut found);
    if let Some(last) = found.last_mut().filter(|last| text[last.range.end..block.end].trim().is_empty()) {
        last.range.end = block.end;
    }
    found
}

/// Goes over text without tags at `at`: the rest of a line without words belongs to the heading on it.
fn pass(gap: &str, at: usize, clean: Option<usize>, found: &mut [Found]) -> Option<usize> {
    let mut lines = super::text_lines(gap);
    let Some(first) = lines.next() else { return clean };
    let clean = clean.filter(|_| gap[first.start..first.end].trim().is_empty());
    if first.next == first.end {
        return clean;
    }
    if let Some(last) = found.last_mut().filter(|last| clean == Some(last.range.end)) {
        last.range.end = at + first.next;
    }
    let last = gap.rfind(['\n', '\r']).map_or(0, |end| end + 1);
    gap[last..].trim().is_empty().then_some(at + last)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn whole(text: &str) -> Vec<(String, u8, String)> {
        headings(text, 0..text.len()).into_iter().map(|f| (text[f.range].to_owned(), f.level, f.title)).collect()
    }

    #[test]
    fn tags_are_told_from_text() {
        for text in ["<p>", "</P >", "<img src='a>b' alt=\"x\">", "<br/>", "<a\n href=\"x\"\n>"] {
            let tag = tag_at(text, 0).unwrap();
            assert_eq!((tag.end, tag.is_known()), (text.len(), true), "{text}");
        }
        for text in ["<https://a.example>", "< p>", "<p", "<p <b>", "<a\n\nb>", "<1>", "<高压>", "<p a='>"] {
            assert!(tag_at(text, 0).is_none(), "{text}");
        }
        assert!(!tag_at("<value>", 0).unwrap().is_known());
    }

    #[test]
    fn attributes_are_found_in_any_notation() {
        let tag = tag_at("<img data-alt=no SRC = 'a b.png' hidden alt=\"接线 图\" width=3/>", 0).unwrap();
        let found = ["src", "alt", "width", "hidden", "none"].map(|name| tag.attribute(name));
        assert_eq!(found, [Some("a b.png"), Some("接线 图"), Some("3/"), None, None]);
        assert_eq!(tag_at("<img = / = =>", 0).unwrap().attribute("alt"), None);
    }

    #[test]
    fn descriptions_say_more_than_file_names_and_badges() {
        for (alt, target) in [
            ("接线图", "x.png"),
            ("Main switch", "img/a.png"),
            ("主板 v2", "https://a.example/b"),
            ("Danger", "img/danger.png"),
            ("E01", "a.png"),
            ("ON/OFF switch", "a.png"),
        ] {
            assert!(describes(alt, target), "{alt}");
        }
        for (alt, target) in [
            ("", "a.png"),
            ("图", "a.png"),
            ("zigzag", "img/zigzag.png"),
            ("Build Status", "https://a.example/badge.svg"),
            ("main switch.png", "img/main switch.png"),
            ("delta_cal_e", "img/delta.png"),
            ("mesh-before", "img/a.png"),
            ("Logo", "a.png"),
            ("E01", "E01.png"),
            ("x", "a.png"),
        ] {
            assert!(!describes(alt, target), "{alt}");
        }
    }

    #[test]
    fn references_become_characters() {
        for (text, expected) in [
            ("&lt;5 A&nbsp;&plusmn;&#37;&#x2103;", "<5 A\u{a0}±%℃"),
            ("R&D &copy &nope; &; & &温;", "R&D &copy &nope; &; & &温;"),
            ("&amp;lt; &", "&lt; &"),
        ] {
            assert_eq!(decoded(text), expected);
        }
    }

    #[test]
    fn lines_of_tags_say_nothing_unless_a_tag_does() {
        for text in ["<p align=\"center\"><b>", " </div>\n<br>\n", "<!-- 注 --><hr/>", "<img src=\"a.png\" alt=\"a\">"]
        {
            assert!(is_only_tags(text), "{text}");
        }
        for text in ["<STOP>", "<p>文", "<img alt=\"接线图\" src=a>", "<details title='高压 危险'>", "a", "<!-- 注"]
        {
            assert!(!is_only_tags(text), "{text}");
        }
        assert_eq!(words("<td>过<b>热</b><br>停机 <img alt=\"图\"> a<b <!-- c --></td>"), "过热 停机 图 a<b");
    }

    #[test]
    fn headings_begin_a_line_and_carry_their_words() {
        let text = "<div align=\"center\">\n<h1>\n <img src=\"l.png\" alt=\"泵\">\n <b>手册</b> &amp; 1. 版\n</h1>\n<H2 id=a>安装</H2> <br>\r\n<p>见 <h3>不是</h3></p>\n<!-- <h2>不是</h2> -->\n<pre>\n<h2>不是</h2>\n</pre>\n<h4>空\n\n行</h4>\n<h2></h2><h2>a</h3>\n</div><h5>断电</h5>先验电。\n";
        let found = whole(text);
        let said: Vec<(u8, &str)> = found.iter().map(|(_, level, title)| (*level, title.as_str())).collect();
        assert_eq!(said, [(1, "泵 手册 & 1. 版"), (2, "安装"), (5, "断电")]);
        assert!(found[0].0.starts_with("<h1>") && found[0].0.ends_with("</h1>\n"));
        assert_eq!(found[1].0, "<H2 id=a>安装</H2> <br>\r\n");
        assert_eq!(found[2].0, "</div><h5>断电</h5>");
        let line = "<h1>a</h1><h2>b</h2>\n";
        let ranges: Vec<Range<usize>> = headings(line, 0..line.len()).into_iter().map(|f| f.range).collect();
        assert_eq!(ranges, [0..10, 10..21]);
    }

    #[test]
    fn hostile_tags_take_linear_time() {
        for unit in
            ["<", "<a", "<a ", "<a '\"", "<h1>", "<h1>a</h1>", "<b><h1>x</h1>", "<!--", "<h1>a</h2>", "<img alt="]
        {
            let text = unit.repeat(400_000 / unit.len());
            headings(&text, 0..text.len());
            is_only_tags(&text);
            words(&text);
        }
    }
}
