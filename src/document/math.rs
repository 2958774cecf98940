//! Office math markup (ISO/IEC 29500-1, 22.1) as linear text: `a/b`, `x_1`, `x^2`, `√(x+1)`, `∑_(i=1)^n`.

use super::xml::{Element, Space};

/// The linear text of an `m:oMath`, an `m:oMathPara` or anything inside one.
pub(crate) fn linear(element: Element<'_>) -> String {
    if element.space() == Space::Word {
        // Changes, links and properties may lie inside: what was deleted does not count.
        return if matches!(element.name(), "del" | "moveFrom" | "rPr") { String::new() } else { word(element) };
    }
    match element.name() {
        // The invisible operators between a function and its argument, factors, indices.
        "t" => element.text().replace(['\u{2061}', '\u{2062}', '\u{2063}'], " "),
        "f" => fraction(element),
        "sSup" => format!("{}^{}", base(element), grouped(part(element, "sup"))),
        "sSub" => format!("{}_{}", base(element), grouped(part(element, "sub"))),
        "sSubSup" => format!("{}_{}^{}", base(element), grouped(part(element, "sub")), grouped(part(element, "sup"))),
        "sPre" => format!("_{}^{}{}", grouped(part(element, "sub")), grouped(part(element, "sup")), part(element, "e")),
        "rad" => root(element),
        "nary" => sum(element),
        "d" => delimited(element),
        "func" => format!("{} {}", part(element, "fName"), part(element, "e")),
        "limLow" => format!("{}_{}", part(element, "e"), grouped(part(element, "lim"))),
        "limUpp" => format!("{}^{}", part(element, "e"), grouped(part(element, "lim"))),
        "acc" => format!("{}{}", base(element), property(element, "accPr", "chr").unwrap_or("\u{302}")),
        "bar" => format!("{}\u{305}", base(element)),
        "eqArr" => parts(element, "e", "; "),
        "m" => format!("[{}]", parts(element, "mr", "; ")),
        "mr" => parts(element, "e", ", "),
        "oMathPara" => parts(element, "oMath", "\n"),
        name if name.ends_with("Pr") => String::new(),
        _ => element.children().map(linear).collect(),
    }
}

fn word(element: Element<'_>) -> String {
    match element.name() {
        "t" => element.text().into_owned(),
        "br" | "tab" => " ".to_string(),
        _ => element.children().map(linear).collect(),
    }
}

fn part(element: Element<'_>, name: &str) -> String {
    element.child(Space::Math, name).map(|part| part.children().map(linear).collect()).unwrap_or_default()
}

fn parts(element: Element<'_>, name: &'static str, between: &str) -> String {
    let texts: Vec<String> = element
        .all(Space::Math, name)
        .map(|part| match name {
            "e" => part.children().map(linear).collect(),
            _ => linear(part),
        })
        .collect();
    texts.join(between)
}

fn property<'t>(element: Element<'t>, group: &str, name: &str) -> Option<&'t str> {
    element.child(Space::Math, group)?.child(Space::Math, name)?.attribute(Space::Math, "val")
}

fn base(element: Element<'_>) -> String {
    grouped(part(element, "e"))
}

/// In brackets when it is more than one number, word or bracketed group.
fn grouped(text: String) -> String {
    let text = text.trim();
    let is_word = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '′' | '°' | '%'));
    if is_word || is_bracketed(text) || text.chars().count() <= 1 { text.to_string() } else { format!("({text})") }
}

fn is_bracketed(text: &str) -> bool {
    let mut depth = 0usize;
    let last = text.chars().count().saturating_sub(1);
    text.starts_with('(')
        && text.chars().enumerate().all(|(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || at == last
        })
}

fn fraction(element: Element<'_>) -> String {
    let (over, under) = (part(element, "num"), part(element, "den"));
    match property(element, "fPr", "type") {
        Some("noBar") => format!("({over} ¦ {under})"),
        _ => format!("{}/{}", grouped(over), grouped(under)),
    }
}

fn root(element: Element<'_>) -> String {
    let degree = part(element, "deg");
    let inner = part(element, "e");
    let inner = if is_bracketed(&inner) { inner } else { format!("({inner})") };
    match degree.trim() {
        "" => format!("√{inner}"),
        "3" => format!("∛{inner}"),
        degree => format!("√[{degree}]{inner}"),
    }
}

fn sum(element: Element<'_>) -> String {
    let mut out = property(element, "naryPr", "chr").unwrap_or("∫").to_string();
    for (mark, name) in [('_', "sub"), ('^', "sup")] {
        let bound = grouped(part(element, name));
        if !bound.is_empty() {
            out.push(mark);
            out.push_str(&bound);
        }
    }
    format!("{out} {}", part(element, "e"))
}

fn delimited(element: Element<'_>) -> String {
    let mark = |name, usual| property(element, "dPr", name).unwrap_or(usual);
    format!("{}{}{}", mark("begChr", "("), parts(element, "e", mark("sepChr", "|")), mark("endChr", ")"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::budget::Budget;
    use crate::document::xml::Tree;

    fn text(inner: &str) -> String {
        let xml = format!(
            "<m:oMath xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math' \
             xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>{inner}</m:oMath>"
        );
        linear(Tree::parse(&xml, "m", &mut Budget::default()).unwrap().root())
    }

    #[test]
    fn equations_become_linear() {
        let r = |t: &str| format!("<m:r><m:rPr/><w:rPr/><m:t>{t}</m:t></m:r>");
        let e = |name: &str, t: &str| format!("<m:{name}>{}</m:{name}>", r(t));
        for (inner, expected) in [
            (format!("<m:f>{}{}</m:f>", e("num", "a+b"), e("den", "2")), "(a+b)/2"),
            (format!("<m:sSub>{}{}</m:sSub>", e("e", "x"), e("sub", "i+1")), "x_(i+1)"),
            (format!("<m:sSup>{}{}</m:sSup>{}", e("e", "x"), e("sup", "2"), r("=4")), "x^2=4"),
            (format!("<m:rad><m:deg/>{}</m:rad>", e("e", "x")), "√(x)"),
            (
                format!(
                    "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr>{}{}{}</m:nary>",
                    e("sub", "i=1"),
                    e("sup", "n"),
                    e("e", "i")
                ),
                "∑_(i=1)^n i",
            ),
            (format!("<m:d><m:dPr><m:begChr m:val='['/></m:dPr>{}{}</m:d>", e("e", "a"), e("e", "b")), "[a|b)"),
            (
                format!(
                    "<m:m><m:mr>{}{}</m:mr><m:mr>{}{}</m:mr></m:m>",
                    e("e", "1"),
                    e("e", "0"),
                    e("e", "0"),
                    e("e", "1")
                ),
                "[1, 0; 0, 1]",
            ),
            (format!("<w:ins>{}</w:ins><w:del>{}</w:del>", r("a"), r("b")), "a"),
        ] {
            assert_eq!(text(&inner), expected);
        }
    }
}
