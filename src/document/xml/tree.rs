//! A part in memory, with the alternatives of markup compatibility settled.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::name::{Namespace, ResolveResult};

use super::{Event, Events, Space, Tag, space_of, value};
use crate::document::budget::Budget;
use crate::error::Result;

/// A part in memory.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
    names: Vec<String>,
    /// All values and characters one after the other.
    text: String,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    space: Space,
    /// `None` for characters.
    name: Option<u32>,
    /// Range of attributes for an element, of bytes for characters.
    from: usize,
    to: usize,
    first: Option<u32>,
    next: Option<u32>,
    /// It or something inside has characters that are shown.
    has_text: bool,
}

#[derive(Debug, Clone, Copy)]
struct Attribute {
    space: Space,
    name: u32,
    from: usize,
    to: usize,
}

/// An element that is still open while the tree grows.
struct Open {
    node: u32,
    last: Option<u32>,
    /// The child before `last`, so that alternatives can be put in the place of their frame.
    before: Option<u32>,
}

impl Tree {
    /// Reads a whole part. The memory it takes comes off the budget.
    ///
    /// # Errors
    /// As for [`Events::next`]; or there is no element.
    pub(crate) fn parse(text: &str, place: &str, budget: &mut Budget) -> Result<Self> {
        let mut tree = Self { nodes: Vec::new(), attributes: Vec::new(), names: Vec::new(), text: String::new() };
        let mut known: HashMap<String, u32> = HashMap::new();
        let mut open: Vec<Open> = Vec::new();
        let mut events = Events::new(text, place);
        let mut spent = 0;
        while let Some(event) = events.next(budget)? {
            let size =
                tree.nodes.len() * size_of::<Node>() + tree.attributes.len() * size_of::<Attribute>() + tree.text.len();
            if size > spent + (1 << 20) {
                budget.spend((size - spent) as u64)?;
                spent = size;
            }
            match event {
                Event::Start(tag) => {
                    let from = tree.attributes.len();
                    tree.take_attributes(&tag, &events, &mut known);
                    let name = Some(intern(&mut tree.names, &mut known, tag.name()));
                    let to = tree.attributes.len();
                    let node = Node { space: tag.space, name, from, to, first: None, next: None, has_text: false };
                    let at = tree.add(node, &mut open);
                    open.push(Open { node: at, last: None, before: None });
                }
                Event::Text(piece) => tree.take_text(&piece, &mut open),
                Event::End => {
                    if let Some(closed) = open.pop() {
                        tree.close(closed.node, &mut open);
                    }
                }
            }
        }
        if tree.nodes.is_empty() {
            return Err(events.damaged().found("no element"));
        }
        Ok(tree)
    }

    /// The outermost element.
    pub(crate) fn root(&self) -> Element<'_> {
        Element { tree: self, at: 0 }
    }

    fn take_attributes(&mut self, tag: &Tag<'_>, events: &Events<'_>, known: &mut HashMap<String, u32>) {
        for attribute in tag.start.attributes().with_checks(false).flatten() {
            if attribute.key.as_namespace_binding().is_some() {
                continue;
            }
            let (space, local) = match events.reader.resolver().resolve_attribute(attribute.key) {
                (ResolveResult::Bound(Namespace(uri)), local) => (space_of(uri), local),
                (ResolveResult::Unbound, local) => (Space::None, local),
                (ResolveResult::Unknown(_), local) => (Space::Other, local),
            };
            let from = self.text.len();
            self.text.push_str(&value(&attribute));
            let name = intern(&mut self.names, known, local.into_inner());
            self.attributes.push(Attribute { space, name, from, to: self.text.len() });
        }
    }

    fn take_text(&mut self, piece: &str, open: &mut [Open]) {
        let Some(parent) = open.last() else { return };
        if let Some(last) = parent.last.and_then(|last| self.nodes.get_mut(last as usize))
            && last.name.is_none()
            && last.to == self.text.len()
        {
            self.text.push_str(piece);
            last.to = self.text.len();
            return;
        }
        let from = self.text.len();
        self.text.push_str(piece);
        let node = Node {
            space: Space::None,
            name: None,
            from,
            to: self.text.len(),
            first: None,
            next: None,
            has_text: false,
        };
        self.add(node, open);
    }

    /// Adds `node` as the last child of the innermost open element.
    fn add(&mut self, node: Node, open: &mut [Open]) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(node);
        if let Some(parent) = open.last_mut() {
            self.link(parent.node, parent.last, Some(at));
            parent.before = parent.last;
            parent.last = Some(at);
        }
        at
    }

    fn link(&mut self, parent: u32, last: Option<u32>, next: Option<u32>) {
        match last {
            Some(last) => {
                if let Some(last) = self.nodes.get_mut(last as usize) {
                    last.next = next;
                }
            }
            None => {
                if let Some(parent) = self.nodes.get_mut(parent as usize) {
                    parent.first = next;
                }
            }
        }
    }

    /// Settles what is only known at the end of an element: whether it shows characters, and which alternative stands.
    fn close(&mut self, at: u32, open: &mut [Open]) {
        let element = Element { tree: self, at };
        let shows = matches!(element.name(), "t" | "oMath" | "v")
            && matches!(element.space(), Space::Word | Space::Drawing | Space::Math | Space::Chart)
            && !element.text().trim().is_empty();
        let has_text =
            shows || element.children().any(|child| self.nodes.get(child.at as usize).is_some_and(|n| n.has_text));
        let is_choice = element.is(Space::Compatibility, "AlternateContent");
        let chosen = if is_choice { element.alternative().map(|chosen| chosen.at) } else { None };
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.has_text = has_text;
        }
        let Some(parent) = open.last_mut().filter(|_| is_choice) else { return };
        let first = chosen.and_then(|chosen| self.nodes.get(chosen as usize)?.first);
        self.link(parent.node, parent.before, first);
        let mut last = first;
        while let Some(next) = last.and_then(|last| self.nodes.get(last as usize)?.next) {
            last = Some(next);
        }
        if first.is_some() {
            parent.last = last;
            // Never looked at again: the next child moves it on first.
            parent.before = None;
        } else {
            parent.last = parent.before;
        }
    }
}

fn intern(names: &mut Vec<String>, known: &mut HashMap<String, u32>, name: &str) -> u32 {
    if let Some(&at) = known.get(name) {
        return at;
    }
    let at = names.len() as u32;
    names.push(name.to_string());
    known.insert(name.to_string(), at);
    at
}

/// An element of a [`Tree`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'t> {
    tree: &'t Tree,
    at: u32,
}

impl<'t> Element<'t> {
    fn node(self) -> Option<&'t Node> {
        self.tree.nodes.get(self.at as usize)
    }

    /// Name without prefix.
    pub(crate) fn name(self) -> &'t str {
        let name = self.node().and_then(|node| self.tree.names.get(node.name? as usize));
        name.map_or("", String::as_str)
    }

    pub(crate) fn space(self) -> Space {
        self.node().map_or(Space::None, |node| node.space)
    }

    pub(crate) fn is(self, space: Space, name: &str) -> bool {
        self.space() == space && self.name() == name
    }

    /// The value of an attribute.
    pub(crate) fn attribute(self, space: Space, name: &str) -> Option<&'t str> {
        let node = self.node()?;
        let attributes = self.tree.attributes.get(node.from..node.to)?;
        let is_it =
            |a: &&Attribute| a.space == space && self.tree.names.get(a.name as usize).is_some_and(|n| n == name);
        let found = attributes.iter().find(is_it)?;
        self.tree.text.get(found.from..found.to)
    }

    /// The elements right inside.
    pub(crate) fn children(self) -> impl Iterator<Item = Element<'t>> {
        let mut next = self.node().and_then(|node| node.first);
        std::iter::from_fn(move || {
            loop {
                let at = next?;
                let node = self.tree.nodes.get(at as usize)?;
                next = node.next;
                if node.name.is_some() {
                    return Some(Element { tree: self.tree, at });
                }
            }
        })
    }

    /// The first such element right inside.
    pub(crate) fn child(self, space: Space, name: &str) -> Option<Element<'t>> {
        self.children().find(|child| child.is(space, name))
    }

    /// The elements right inside that have this name.
    pub(crate) fn all(self, space: Space, name: &'static str) -> impl Iterator<Item = Element<'t>> {
        self.children().filter(move |child| child.is(space, name))
    }

    /// The characters right inside, without those of inner elements.
    pub(crate) fn text(self) -> Cow<'t, str> {
        let mut out = Cow::Borrowed("");
        let mut next = self.node().and_then(|node| node.first);
        while let Some(node) = next.and_then(|at| self.tree.nodes.get(at as usize)) {
            next = node.next;
            if node.name.is_none() {
                let piece = self.tree.text.get(node.from..node.to).unwrap_or_default();
                if out.is_empty() { out = Cow::Borrowed(piece) } else { out.to_mut().push_str(piece) }
            }
        }
        out
    }

    /// Calls `each` for characters (`Ok`) and elements (`Err`) right inside, in order.
    pub(crate) fn pieces(self, each: &mut dyn FnMut(std::result::Result<&'t str, Element<'t>>)) {
        let mut next = self.node().and_then(|node| node.first);
        while let Some((at, node)) = next.and_then(|at| Some((at, self.tree.nodes.get(at as usize)?))) {
            next = node.next;
            match node.name {
                Some(_) => each(Err(Element { tree: self.tree, at })),
                None => each(Ok(self.tree.text.get(node.from..node.to).unwrap_or_default())),
            }
        }
    }

    /// All elements inside, in order, itself left out.
    pub(crate) fn descendants(self) -> impl Iterator<Item = Element<'t>> {
        let mut stack = vec![self.node().and_then(|node| node.first)];
        std::iter::from_fn(move || {
            loop {
                let Some(at) = stack.pop()? else { continue };
                let Some(node) = self.tree.nodes.get(at as usize) else { continue };
                stack.push(node.next);
                if node.name.is_some() {
                    stack.push(node.first);
                    return Some(Element { tree: self.tree, at });
                }
            }
        })
    }

    /// Of the alternatives in an `mc:AlternateContent`, the one to read: the first that shows characters, else the first.
    ///
    /// The fallback of a chart is a picture or the words that the chart cannot be shown, which are not the author's.
    fn alternative(self) -> Option<Element<'t>> {
        let has_text = |e: &Element<'t>| e.node().is_some_and(|node| node.has_text);
        let is_chart = |e: &Element<'t>| e.attribute(Space::None, "Requires").is_some_and(|r| r.starts_with("cx"));
        let first = self.children().next()?;
        if is_chart(&first) { Some(first) } else { self.children().find(has_text).or(Some(first)) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::document::budget::DEEPEST;

    const W: &str = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main' \
                     xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'";

    fn tree(text: &str) -> Result<Tree> {
        Tree::parse(text, "part.xml", &mut Budget::default())
    }

    #[test]
    fn prefixes_do_not_matter_and_strict_is_the_same() {
        let strict = "<x:p xmlns:x='http://purl.oclc.org/ooxml/wordprocessingml/main' x:val='a&amp;b'><x:t>一&lt;&#20108;</x:t></x:p>";
        let tree = tree(strict).unwrap();
        let root = tree.root();
        assert!(root.is(Space::Word, "p"));
        assert_eq!(root.attribute(Space::Word, "val"), Some("a&b"));
        assert_eq!(root.child(Space::Word, "t").unwrap().text(), "一<二");
    }

    #[test]
    fn one_alternative_takes_the_place_of_all() {
        let text = format!(
            "<w:r {W}><w:t>a</w:t><mc:AlternateContent><mc:Choice Requires='wps'><w:t>b</w:t><w:t>c</w:t></mc:Choice>\
             <mc:Fallback><w:t>b</w:t></mc:Fallback></mc:AlternateContent><mc:AlternateContent/><w:t>d</w:t>\
             <mc:AlternateContent><mc:Choice/><mc:Fallback><w:t>e</w:t></mc:Fallback></mc:AlternateContent></w:r>"
        );
        let tree = tree(&text).unwrap();
        let pieces: Vec<String> = tree.root().children().map(|t| t.text().into_owned()).collect();
        assert_eq!(pieces, ["a", "b", "c", "d", "e"]);
        assert_eq!(tree.root().descendants().count(), 5);
    }

    #[test]
    fn broken_deep_or_typed_xml_is_an_error() {
        let deep = "<a>".repeat(DEEPEST + 1);
        for text in ["", "<a>", "<a></b>", "<a>&x;</a>", "<!DOCTYPE a><a/>", &deep] {
            assert!(tree(text).unwrap_err().to_string().starts_with("part.xml: "), "{text}");
        }
    }
}
