//! Marks of warnings and notes: `!!! warning "高压"` and `??? note` (Python-Markdown), `::: danger` (containers of site
//! generators and Pandoc), `> [!WARNING]` (GitHub, Obsidian), of tabs (`=== "Windows"`), and tags of template languages.
//!
//! The line with the mark is a piece of its own; what it marks is ordinary text.

/// Words that name a kind of note, in lower case.
const KINDS: &[&str] = &[
    "abstract",
    "admonition",
    "attention",
    "bug",
    "caution",
    "check",
    "danger",
    "deprecated",
    "details",
    "done",
    "error",
    "example",
    "fail",
    "failure",
    "faq",
    "help",
    "hint",
    "important",
    "info",
    "missing",
    "note",
    "question",
    "quote",
    "seealso",
    "success",
    "summary",
    "tip",
    "tldr",
    "todo",
    "warning",
];

/// The mark that a line begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Callout {
    /// Bytes of the mark and its kind; a title may follow.
    pub(super) len: usize,
    /// What it marks is indented by four columns.
    pub(super) indents: bool,
}

/// The mark at the start of a line without the quote marks in front; `quoted`: there were some.
pub(super) fn callout(bare: &str, quoted: bool) -> Option<Callout> {
    if quoted && bare.starts_with("[!") {
        let close = bare.find(']')?;
        let kind = &bare[2..close];
        let len = close + 1 + usize::from(bare[close + 1..].starts_with(['+', '-']));
        return is_word(kind).then_some(Callout { len, indents: false });
    }
    if let Some(rest) = bare.strip_prefix(":::") {
        let rest = rest.trim_start_matches(':');
        let kind = rest.trim_start();
        let braced = kind.starts_with('{').then(|| kind.find('}')).flatten().map_or(0, |end| end + 1);
        let word = kind.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')).count();
        return Some(Callout { len: bare.len() - kind.len() + braced.max(word), indents: false });
    }
    if is_shortcode(bare) {
        return Some(Callout { len: bare.len(), indents: false });
    }
    if let Some(rest) = bare.strip_prefix("===") {
        let title = rest.trim_start_matches(['!', '+']);
        let marks = rest.len() - title.len();
        let is_tab = marks <= 1 && title.starts_with(' ') && title.trim_start().starts_with(['"', '\'']);
        return is_tab.then_some(Callout { len: 3 + marks, indents: true });
    }
    let rest = bare.strip_prefix("!!!").or_else(|| bare.strip_prefix("???"))?;
    let rest = if bare.starts_with('?') { rest.strip_prefix('+').unwrap_or(rest) } else { rest };
    let words = rest.trim_start();
    let kind = words.split([' ', '\t', '"']).next().filter(|kind| is_word(kind))?;
    let title = words[kind.len()..].trim_start();
    // An unknown word may open a sentence; then only the form tells.
    let formal = words.len() < rest.len()
        && (title.is_empty()
            || title.starts_with(['"', '\''])
            || title.starts_with("inline")
            || title.starts_with("end"));
    let known = KINDS.contains(&kind.to_ascii_lowercase().as_str());
    (known || formal).then_some(Callout { len: bare.len() - words.len() + kind.len(), indents: true })
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'|'))
}

/// `{% hint style="danger" %}`, `{{< alert >}}`: one tag of a template language, alone.
fn is_shortcode(bare: &str) -> bool {
    [("{%", "%}"), ("{{<", ">}}"), ("{{%", "%}}")].into_iter().any(|(open, close)| {
        bare.strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|inner| !inner.contains(open) && !inner.contains(close))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_sentences() {
        for (line, mark) in [
            ("!!! warning \"高压\"", "!!! warning"),
            ("!!!danger", "!!!danger"),
            ("!!! 5-volt \"x\"", ""),
            ("!!! note inline end \"x\"", "!!! note"),
            ("!!! pied-piper \"x\"", "!!! pied-piper"),
            ("!!! Warning 高压", "!!! Warning"),
            ("???+ tip", "???+ tip"),
            ("??? question \"为什么\"", "??? question"),
            ("::: danger 高压", "::: danger"),
            (":::{.note #a} x", ":::{.note #a}"),
            ("::::", "::::"),
            ("::: 注意", "::: "),
            ("{% hint style=\"danger\" %}", "{% hint style=\"danger\" %}"),
            ("{{< alert >}}", "{{< alert >}}"),
            ("=== \"Windows\"", "==="),
            ("===+ '一'", "===+"),
            ("=== 一", ""),
            ("===", ""),
        ] {
            assert_eq!(callout(line, false).map_or("", |c| &line[..c.len]), mark, "{line}");
        }
        for line in [
            "!!! 高压危险",
            "!!! Do not open",
            "??? what is it",
            "!!!",
            "[!NOTE]",
            "{% raw %}a{% endraw %}",
            "!",
            ":: x",
        ] {
            assert_eq!(callout(line, false), None, "{line}");
        }
        assert_eq!(callout("[!WARNING]- 高压", true).map(|c| c.len), Some(11));
        assert_eq!(callout("[!高压] x", true), None);
    }
}
