//! Fields (ISO/IEC 29500-1, 17.16): what is an instruction, what is a result, and what fields without a result show.

use super::numerals;
use crate::document::budget::DEEPEST;

/// Fields that are open at a place of the text.
#[derive(Debug, Default)]
pub(super) struct Fields {
    open: Vec<Field>,
    /// Fields deeper than any program writes them, which are only counted.
    deeper: usize,
}

#[derive(Debug, Default)]
struct Field {
    instruction: String,
    in_result: bool,
    has_result: bool,
    /// What a form field shows by itself: a box, the entry of a list.
    form: Option<String>,
}

impl Fields {
    /// A field begins; `form` is what it shows as a form field.
    pub(super) fn begin(&mut self, form: Option<String>) {
        if self.open.len() < DEEPEST {
            self.open.push(Field { form, ..Field::default() });
        } else {
            self.deeper += 1;
        }
    }

    /// The instruction ends, the result begins.
    pub(super) fn separate(&mut self) {
        if let Some(field) = self.open.last_mut() {
            field.in_result = true;
        }
    }

    /// The field ends. What it shows if it brought no result of its own.
    pub(super) fn end(&mut self) -> Option<String> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return None;
        }
        let field = self.open.pop()?;
        if field.has_result || !self.shows() { None } else { field.form.or_else(|| shown(&field.instruction)) }
    }

    pub(super) fn instruction(&mut self, text: &str) {
        if let Some(field) = self.open.last_mut().filter(|field| !field.in_result) {
            field.instruction.push_str(text);
        }
    }

    /// True where text is shown: in no instruction.
    pub(super) fn shows(&self) -> bool {
        self.open.iter().all(|field| field.in_result)
    }

    /// Text is shown here.
    pub(super) fn shown(&mut self) {
        for field in &mut self.open {
            field.has_result = true;
        }
    }

    /// True inside a table of contents.
    pub(super) fn in_contents(&self) -> bool {
        self.open
            .iter()
            .filter(|field| field.in_result)
            .filter_map(|field| field.instruction.trim_start().get(..3))
            .any(|name| name.eq_ignore_ascii_case("TOC"))
    }

    /// A paragraph ends. Instructions end with it, so that a field that never ends does not swallow the document.
    pub(super) fn end_of_paragraph(&mut self) {
        self.open.retain(|field| field.in_result);
    }
}

/// What a field shows by its instruction alone.
fn shown(instruction: &str) -> Option<String> {
    let instruction = instruction.trim();
    let (name, rest) = instruction.split_once(char::is_whitespace).unwrap_or((instruction, ""));
    match name.to_ascii_uppercase().as_str() {
        "EQ" => Some(equation(rest)),
        "SYMBOL" => symbol(rest),
        "MACROBUTTON" => Some(rest.trim().split_once(char::is_whitespace)?.1.trim().to_string()),
        "QUOTE" => Some(rest.trim().trim_matches('"').to_string()),
        _ => None,
    }
}

fn symbol(rest: &str) -> Option<String> {
    let mut words = rest.split_whitespace();
    let code = words.next()?;
    let code: u32 = match code.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => code.parse().ok()?,
    };
    let font = rest.split_once("\\f").map(|(_, font)| font.trim().trim_matches('"')).unwrap_or_default();
    let font = font.split('"').next().unwrap_or_default();
    let is_own = font.eq_ignore_ascii_case("symbol") || font.to_ascii_lowercase().starts_with("wingdings");
    let c = char::from_u32(if is_own && code < 0x100 { 0xf000 + code } else { code })?;
    Some(super::symbols::unicode(c, font).to_string())
}

/// An `EQ` field as linear text: fractions, roots, enclosed characters, lists and brackets.
fn equation(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.trim();
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let name: String = rest.chars().take_while(char::is_ascii_alphabetic).collect();
        rest = rest.get(name.len()..).unwrap_or_default();
        if name.is_empty() {
            // `\,` and `\(` stand for the characters themselves.
            let c = rest.chars().next();
            out.extend(c);
            rest = rest.get(c.map_or(0, char::len_utf8)..).unwrap_or_default();
            continue;
        }
        // Options such as `\ac` or `\up8` before the bracket.
        let open = rest.find('(').filter(|&open| rest.get(..open).is_some_and(|o| !o.contains([',', ')', '（'])));
        let Some((arguments, after)) = open.and_then(|open| arguments(rest.get(open..)?)) else {
            continue;
        };
        rest = after;
        out.push_str(&element(&name.to_ascii_lowercase(), &arguments));
    }
    out.push_str(rest);
    out.trim().to_string()
}

/// The arguments of a bracket at the start of `text`, and what follows it. `None` for a bracket that never closes.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let (mut depth, mut from, mut escaped) = (0usize, 1, false);
    let mut out = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '(' => depth += 1,
            ')' if depth == 1 => {
                out.push(text.get(from..at)?);
                return Some((out, text.get(at + 1..)?));
            }
            ')' => depth = depth.saturating_sub(1),
            ',' | ';' if depth == 1 => {
                out.push(text.get(from..at)?);
                from = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn element(name: &str, arguments: &[&str]) -> String {
    let get = |at: usize| arguments.get(at).map(|a| inner(a)).unwrap_or_default();
    match name {
        "f" => format!("{}/{}", get(0), get(1)),
        "r" if arguments.len() > 1 && !get(0).is_empty() => format!("√[{}]({})", get(0), get(1)),
        "r" => format!("√({})", get(arguments.len().saturating_sub(1))),
        "b" => format!("({})", get(0)),
        "o" if arguments.len() == 2 && matches!(get(0).as_str(), "○" | "〇" | "◯" | "О") => {
            let number = get(1).trim().parse().ok().and_then(numerals::circled);
            number.unwrap_or_else(|| format!("({})", get(1)))
        }
        "i" => format!("∫_{}^{} {}", get(0), get(1), get(2)),
        _ => arguments.iter().map(|a| inner(a)).collect::<Vec<_>>().join(if name == "a" { "; " } else { "" }),
    }
}

/// An argument, in which elements may lie; two deep is what people write.
fn inner(argument: &str) -> String {
    if argument.len() < 200 && argument.matches('\\').count() < 8 { equation(argument) } else { argument.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_are_shown() {
        let mut fields = Fields::default();
        fields.begin(None);
        fields.instruction(" TOC \\o ");
        assert!(!fields.shows());
        fields.separate();
        assert!(fields.shows() && fields.in_contents());
        fields.begin(None);
        fields.end_of_paragraph();
        assert!(fields.shows() && fields.end().is_none() && !fields.in_contents());
    }

    #[test]
    fn fields_without_a_result_show_what_they_draw() {
        for (instruction, expected) in [
            (" eq \\o\\ac(○,12)", "⑫"),
            ("EQ \\f(a,b) = \\r(3,x)", "a/b = √[3](x)"),
            ("EQ \\f(1,\\r(,2))", "1/√(2)"),
            ("EQ x\\s\\up8(2)", "x2"),
            ("EQ \\f(a", "(a"),
            ("SYMBOL 176 \\f \"Symbol\" \\s 12", "°"),
            ("MACROBUTTON none 点这里", "点这里"),
        ] {
            let mut fields = Fields::default();
            fields.begin(None);
            fields.instruction(instruction);
            assert_eq!(fields.end().as_deref(), Some(expected), "{instruction}");
        }
    }
}
