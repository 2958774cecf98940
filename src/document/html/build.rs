//! From characters to a tree, as browsers do it where it matters for the text.
//!
//! Tags are told from text by html5gum, which follows the tokenizer of the HTML Living Standard (13.2.5). Tree construction
//! (13.2.6) is the part of it that moves words: end tags that are left out, tags that are never closed or were never opened,
//! tables, ruby, raw text. What only repeats formatting is left out. Elements deeper than [`DEEPEST`] become siblings, as in
//! browsers; so every step costs at most that many comparisons and a page of any shape takes linear time.

use std::collections::HashMap;

use html5gum::emitters::ForwardingEmitter;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Emitter, Error as Slip, Span, State, Tokenizer};

use super::name::{
    attribute, closes_paragraph, element, heading_level, is_cell, is_raw, is_row_group, is_scope, is_special,
    is_table_part, is_void,
};
use super::tree::{COST, Id, Tree};
use crate::document::budget::{Budget, DEEPEST};
use crate::error::Result;

/// Values of attributes are cut here; numbers, dates and descriptions of pictures are shorter.
const VALUE: usize = 4096;
/// Tags between two looks at the budget.
const STEP: usize = 1024;

/// A page as a tree.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// The element or comment that was never closed and took the rest of the page with it, and its characters.
    pub(super) swallowed: Option<(&'static str, usize)>,
}

/// Parses `text`; in `xml`, `<a/>` is an element without content whatever its name.
pub(super) fn parse(text: &str, xml: bool, budget: &mut Budget) -> Result<Parsed> {
    let mut builder = Builder {
        tree: Tree::new(),
        open: vec![0],
        flattened: HashMap::new(),
        xml,
        tag: None,
        raw: None,
        raw_closed: false,
        next_state: None,
        swallowed: None,
    };
    let tokens = Tokenizer::new_with_emitter(text, Switch(CallbackEmitter::new(Handle(&mut builder))));
    let mut paid = 0;
    for (n, token) in tokens.enumerate() {
        if n % STEP == 0 {
            let Ok(nodes) = token;
            budget.spend(COST * (nodes - paid) as u64)?;
            paid = nodes;
        }
    }
    builder.close_raw();
    Ok(Parsed { tree: builder.tree, swallowed: builder.swallowed })
}

/// Lets the tree decide how the tokenizer goes on after a tag, and reads CDATA sections as text everywhere.
struct Switch<'a>(CallbackEmitter<Handle<'a>, usize>);

impl ForwardingEmitter for Switch<'_> {
    type Token = usize;

    fn inner(&mut self) -> &mut impl Emitter<Token = usize> {
        &mut self.0
    }

    fn emit_current_tag(&mut self) -> Option<State> {
        let _ = Emitter::emit_current_tag(&mut self.0);
        self.0.callback_mut().0.next_state.take()
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&mut self) -> bool {
        true
    }
}

struct Handle<'a>(&'a mut Builder);

impl Callback<usize, ()> for Handle<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<usize> {
        let builder = &mut *self.0;
        match event {
            CallbackEvent::OpenStartTag { name } => builder.open_tag(&String::from_utf8_lossy(name)),
            CallbackEvent::AttributeName { name } => builder.attribute_name(&String::from_utf8_lossy(name)),
            CallbackEvent::AttributeValue { value } => builder.attribute_value(&String::from_utf8_lossy(value)),
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some((name, attributes, _)) = builder.tag.take() {
                    builder.start(name, &attributes, self_closing);
                }
                return Some(builder.tree.len());
            }
            CallbackEvent::EndTag { name } => {
                builder.tag = None;
                let name = String::from_utf8_lossy(name);
                builder.end(builder.element(&name));
                return Some(builder.tree.len());
            }
            CallbackEvent::String { value } => builder.text(&String::from_utf8_lossy(value)),
            CallbackEvent::Comment { value } if builder.swallowed.is_some_and(|(_, n)| n == 0) => {
                builder.swallowed = Some(("comment", String::from_utf8_lossy(value).chars().count()));
            }
            CallbackEvent::Error(Slip::EofInComment) => builder.swallowed = Some(("comment", 0)),
            CallbackEvent::Comment { .. } | CallbackEvent::Doctype { .. } | CallbackEvent::Error(_) => {}
        }
        None
    }
}

/// A start tag as far as it was read: its element, attributes, and whether the next value belongs to the last of them.
type Tag = (&'static str, Vec<(&'static str, String)>, bool);

struct Builder {
    tree: Tree,
    /// The open elements, the root first.
    open: Vec<Id>,
    /// How many start tags of a name were too deep to be opened; as many end tags are passed over.
    flattened: HashMap<&'static str, usize>,
    xml: bool,
    tag: Option<Tag>,
    /// The raw text element whose text is read, and its characters so far.
    raw: Option<(Id, usize)>,
    raw_closed: bool,
    next_state: Option<State>,
    swallowed: Option<(&'static str, usize)>,
}

impl Builder {
    /// The element of a tag's name, without the prefix that XML may give it.
    fn element(&self, name: &str) -> &'static str {
        let name = if self.xml { name.rsplit(':').next().unwrap_or(name) } else { name };
        match element(&name.to_ascii_lowercase()) {
            "?" if name == "image" => "img",
            found => found,
        }
    }

    fn open_tag(&mut self, name: &str) {
        self.tag = Some((self.element(name), Vec::new(), false));
    }

    fn attribute_name(&mut self, name: &str) {
        let Some((_, attributes, is_open)) = &mut self.tag else { return };
        *is_open = false;
        if let Some(name) = attribute(&name.to_ascii_lowercase())
            && attributes.iter().all(|(known, _)| *known != name)
        {
            attributes.push((name, String::new()));
            *is_open = true;
        }
    }

    fn attribute_value(&mut self, value: &str) {
        if let Some((_, attributes, true)) = &mut self.tag
            && let Some((_, last)) = attributes.last_mut()
        {
            last.extend(value.chars().take(VALUE));
        }
    }

    fn current(&self) -> Id {
        self.open.last().copied().unwrap_or(0)
    }

    fn name_at(&self, at: usize) -> &'static str {
        self.open.get(at).map_or("html", |&id| self.tree.name(id))
    }

    /// Place among the open elements of the innermost one that `wanted` accepts, before any that `barrier` accepts.
    fn find(&self, wanted: impl Fn(&str) -> bool, barrier: impl Fn(&str) -> bool) -> Option<usize> {
        for at in (1..self.open.len()).rev() {
            let name = self.name_at(at);
            if wanted(name) {
                return Some(at);
            }
            if barrier(name) {
                return None;
            }
        }
        None
    }

    /// Closes the open element at place `at` and all within it.
    fn close(&mut self, at: Option<usize>) {
        if let Some(at) = at {
            self.open.truncate(at.max(1));
        }
    }

    fn push(&mut self, name: &'static str, attributes: &[(&'static str, String)]) {
        let id = self.tree.add(self.current(), name, attributes);
        if self.open.len() < DEEPEST {
            self.open.push(id);
        } else {
            *self.flattened.entry(name).or_default() += 1;
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((id, characters)) = &mut self.raw {
            *characters += text.chars().count();
            let id = *id;
            // Scripts and styles are no words to anybody.
            if !matches!(self.tree.name(id), "script" | "style") {
                self.tree.add_text(id, text);
            }
            return;
        }
        self.tree.add_text(self.current(), text);
    }

    /// Ends the raw text; one without end tag took the rest of the page.
    fn close_raw(&mut self) {
        if let Some((id, characters)) = self.raw.take() {
            let name = self.tree.name(id);
            if !self.raw_closed && name != "plaintext" && characters > 0 {
                self.swallowed = Some((name, characters));
            }
        }
        self.raw_closed = false;
    }

    fn start(&mut self, name: &'static str, attributes: &[(&'static str, String)], self_closing: bool) {
        self.close_raw();
        if matches!(name, "html" | "body" | "head") {
            return;
        }
        if self.leaves_foreign(name) {
            let root = self.find(|open| matches!(open, "svg" | "math"), |_| false);
            self.close(root);
        }
        if !self.place(name) {
            return;
        }
        if is_void(name) || (self_closing && (self.xml || self.in_foreign() || matches!(name, "svg" | "math"))) {
            self.tree.add(self.current(), name, attributes);
        } else if is_raw(name) && !self.in_foreign() {
            self.raw = Some((self.tree.add(self.current(), name, attributes), 0));
            self.next_state = Some(match name {
                "title" | "textarea" => State::RcData,
                "script" => State::ScriptData,
                "plaintext" => State::PlainText,
                _ => State::RawText,
            });
        } else {
            self.push(name, attributes);
        }
    }

    fn in_foreign(&self) -> bool {
        self.find(|name| matches!(name, "svg" | "math"), |name| name == "foreignobject").is_some()
    }

    /// An HTML element in a drawing or formula ends it, as the standard lists (13.2.6.5).
    fn leaves_foreign(&self, name: &str) -> bool {
        (is_special(name) && !is_scope(name)
            || name == "table"
            || matches!(name, "img" | "span" | "code" | "ruby" | "br"))
            && name != "annotation"
            && self
                .find(|open| matches!(open, "svg" | "math"), |open| matches!(open, "foreignobject" | "mtext"))
                .is_some()
    }

    /// Closes what a start tag closes. False when the tag means nothing where it stands.
    fn place(&mut self, name: &'static str) -> bool {
        if closes_paragraph(name) || name == "table" {
            self.close_paragraph();
        }
        let in_select = self.find(|open| open == "select", is_scope);
        if in_select.is_some() {
            if name == "select" {
                self.close(in_select);
                return false;
            }
            // One that is never closed must not take the blocks behind it.
            let is_part = is_cell(name) || is_table_part(name) || name == "caption";
            let has_table = || self.find(|open| open == "table", |_| false).is_some();
            let ends =
                if is_part { has_table() } else { is_special(name) || matches!(name, "input" | "textarea" | "keygen") };
            if ends {
                self.close(in_select);
            }
        }
        match name {
            "li" => self.close_item(&["li"]),
            "dd" | "dt" => self.close_item(&["dd", "dt"]),
            "option" | "optgroup" => {
                if self.find(|open| matches!(open, "select" | "datalist"), is_scope).is_none() {
                    return false;
                }
                self.close(self.find(|open| open == "option", |open| open != "option"));
            }
            "a" | "nobr" | "button" => self.close(self.find(|open| open == name, is_special)),
            "rb" | "rt" | "rtc" | "rp" => {
                let is_part =
                    |open: &str| matches!(open, "rb" | "rt" | "rp") || (open == "rtc" && name != "rt" && name != "rp");
                self.close(self.find(is_part, |open| open == "ruby" || is_special(open)));
            }
            "table" => {
                let outer = self.find(|open| open == "table", |open| is_cell(open) || is_scope(open));
                self.close(outer);
            }
            "caption" | "colgroup" | "col" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" => {
                return self.table_part(name);
            }
            _ if heading_level(name).is_some() => {
                self.close(self.find(|open| heading_level(open).is_some(), |_| true));
            }
            _ => {}
        }
        true
    }

    /// Closes the cells, rows and groups that a part of a table ends, and opens the row that a cell needs.
    fn table_part(&mut self, name: &str) -> bool {
        let Some(table) = self.find(|open| open == "table", |open| matches!(open, "template" | "svg" | "math")) else {
            return false;
        };
        let keep = match name {
            "td" | "th" => self.find(|open| open == "tr", |open| open == "table"),
            "tr" => None,
            _ => Some(table),
        };
        let keep = keep.or_else(|| self.find(is_row_group, |open| open == "table")).unwrap_or(table);
        self.open.truncate(keep + 1);
        if is_cell(name) && self.name_at(keep) != "tr" {
            self.push("tr", &[]);
        }
        true
    }

    fn close_paragraph(&mut self) -> bool {
        let found = self.find(|open| open == "p", |open| is_scope(open) || open == "button");
        self.close(found);
        found.is_some()
    }

    fn close_item(&mut self, names: &[&str]) {
        let is_barrier = |open: &str| is_special(open) && !matches!(open, "address" | "div" | "p");
        self.close(self.find(|open| names.contains(&open), is_barrier));
    }

    fn end(&mut self, name: &'static str) {
        if let Some((id, _)) = self.raw {
            self.raw_closed = self.tree.name(id) == name;
            self.close_raw();
            return;
        }
        if let Some(count) = self.flattened.get_mut(name).filter(|count| **count > 0) {
            *count -= 1;
            return;
        }
        match name {
            "html" | "body" | "head" => {}
            "br" => {
                self.tree.add(self.current(), "br", &[]);
            }
            "p" => {
                if !self.close_paragraph() {
                    self.tree.add(self.current(), "p", &[]);
                }
            }
            _ if heading_level(name).is_some() => self.close(self.find(|open| heading_level(open).is_some(), is_scope)),
            "td" | "th" | "tr" | "caption" | "colgroup" | "tbody" | "thead" | "tfoot" | "table" => {
                self.close(self.find(|open| open == name, |open| matches!(open, "table" | "template")));
            }
            "li" => self.close(self.find(|open| open == "li", |open| is_scope(open) || matches!(open, "ol" | "ul"))),
            _ if is_special(name) || is_table_part(name) || name == "svg" => {
                self.close(self.find(|open| open == name, is_scope));
            }
            _ => self.close(self.find(|open| open == name, is_special)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The tree as `name(children)`, texts in quotes.
    fn shape(html: &str) -> String {
        fn show(tree: &Tree, id: Id, out: &mut String) {
            for child in tree.children(id) {
                if tree.name(child).is_empty() {
                    out.push_str(&format!("'{}' ", tree.text(child)));
                    continue;
                }
                out.push_str(tree.name(child));
                out.push('(');
                show(tree, child, out);
                out.truncate(out.trim_end().len());
                out.push_str(") ");
            }
        }
        let mut out = String::new();
        show(&parse(html, false, &mut Budget::default()).unwrap().tree, 0, &mut out);
        out.trim_end().to_string()
    }

    #[test]
    fn left_out_end_tags_are_supplied() {
        for (html, expected) in [
            ("<p>a<p>b<div>c</div>", "p('a') p('b') div('c')"),
            ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>", "ul(li('a') li('b' ul(li('c'))) li('d'))"),
            ("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt('a') dd('b') dt('c'))"),
            ("<table><td>a<td>b<tr><th>c</table>d", "table(tr(td('a') td('b')) tr(th('c'))) 'd'"),
            ("<b><p>x</b>y</p>z", "b(p('xy') 'z')"),
            ("<td>a</td></div></p>b", "'a' p() 'b'"),
            ("<ruby>漢<rp>(<rt>kan<rp>)</ruby>", "ruby('漢' rp('(') rt('kan') rp(')'))"),
            ("<option>a<p>b<select><option>c<option>d<p>e", "'a' p('b' select(option('c') option('d'))) p('e')"),
            ("<h1>a<h2>b</h1>c", "h1('a') h2('b') 'c'"),
            ("<script>if (a<b) '</p>'</script>x", "script() 'x'"),
            ("<svg><text>a</text><p>b", "svg(text('a')) p('b')"),
            ("a<![CDATA[<b>]]>&lt;&#x6e29;&nbsp;", "'a<b><温\u{a0}'"),
        ] {
            assert_eq!(shape(html), expected, "{html}");
        }
    }

    #[test]
    fn what_an_open_element_swallowed_is_told() {
        let swallowed = |html: &str| parse(html, false, &mut Budget::default()).unwrap().swallowed;
        assert_eq!(swallowed("a<!-- b<p>c"), Some(("comment", 6)));
        assert_eq!(swallowed("a<script>b<p>c"), Some(("script", 5)));
        assert_eq!(swallowed("a<script>b</script><!-- c --><p>c"), None);
    }

    #[test]
    fn deep_nesting_becomes_flat_and_loses_nothing() {
        let html = format!("{}x{}y", "<div>".repeat(3000), "</div>".repeat(3000));
        let tree = parse(&html, false, &mut Budget::default()).unwrap().tree;
        assert_eq!(tree.words(0), "xy");
        let last = tree.children(0).last().unwrap();
        assert_eq!(tree.text(last), "y");
    }
}
