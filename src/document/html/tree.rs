//! The elements and texts of a page as one array: a child comes after its parent, a later sibling after an earlier one.
//!
//! Numbers instead of references keep a tree of any depth free of recursion, also when it is dropped.

/// Number of a node. The root is 0.
pub(super) type Id = u32;

/// No node.
const NONE: Id = u32::MAX;

/// Bytes that a node costs, for the budget.
pub(super) const COST: u64 = size_of::<Node>() as u64;

/// An element, or a text if `name` is empty.
#[derive(Debug, Clone, Copy)]
struct Node {
    name: &'static str,
    parent: Id,
    first: Id,
    last: Id,
    next: Id,
    /// Range of `Tree::attributes`; of a text, range of `Tree::text`.
    from: u32,
    to: u32,
}

/// A parsed page.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<(&'static str, u32, u32)>,
    /// All texts and values of attributes.
    text: String,
}

impl Tree {
    /// A root without children.
    pub(super) fn new() -> Self {
        let mut tree = Self { nodes: Vec::new(), attributes: Vec::new(), text: String::new() };
        tree.nodes.push(Node { name: "html", parent: NONE, first: NONE, last: NONE, next: NONE, from: 0, to: 0 });
        tree
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds an element as the last child of `parent`.
    pub(super) fn add(&mut self, parent: Id, name: &'static str, attributes: &[(&'static str, String)]) -> Id {
        let from = self.attributes.len() as u32;
        for (key, value) in attributes {
            let start = self.text.len() as u32;
            self.text.push_str(value);
            self.attributes.push((key, start, self.text.len() as u32));
        }
        self.attach(parent, name, from, self.attributes.len() as u32)
    }

    /// Adds text at the end of `parent`.
    pub(super) fn add_text(&mut self, parent: Id, text: &str) {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let end = self.text.len() as u32;
        let last = self.nodes[parent as usize].last;
        if let Some(node) = self.nodes.get_mut(last as usize).filter(|node| node.name.is_empty() && node.to == start) {
            node.to = end;
        } else {
            self.attach(parent, "", start, end);
        }
    }

    fn attach(&mut self, parent: Id, name: &'static str, from: u32, to: u32) -> Id {
        let id = self.nodes.len() as Id;
        self.nodes.push(Node { name, parent, first: NONE, last: NONE, next: NONE, from, to });
        let last = self.nodes[parent as usize].last;
        match self.nodes.get_mut(last as usize) {
            Some(last) => last.next = id,
            None => self.nodes[parent as usize].first = id,
        }
        self.nodes[parent as usize].last = id;
        id
    }

    /// Name of an element; empty for a text.
    pub(super) fn name(&self, id: Id) -> &'static str {
        self.nodes[id as usize].name
    }

    /// The text of a text node.
    pub(super) fn text(&self, id: Id) -> &str {
        let node = &self.nodes[id as usize];
        if node.name.is_empty() { &self.text[node.from as usize..node.to as usize] } else { "" }
    }

    /// Value of an attribute.
    pub(super) fn attribute(&self, id: Id, key: &str) -> Option<&str> {
        let node = &self.nodes[id as usize];
        if node.name.is_empty() {
            return None;
        }
        let all = &self.attributes[node.from as usize..node.to as usize];
        let (_, from, to) = all.iter().find(|(name, _, _)| *name == key)?;
        Some(&self.text[*from as usize..*to as usize])
    }

    /// The element around a node.
    pub(super) fn parent(&self, id: Id) -> Option<Id> {
        Some(self.nodes[id as usize].parent).filter(|&id| id != NONE)
    }

    /// The first child.
    pub(super) fn first(&self, id: Id) -> Option<Id> {
        Some(self.nodes[id as usize].first).filter(|&id| id != NONE)
    }

    /// The next sibling.
    pub(super) fn next(&self, id: Id) -> Option<Id> {
        Some(self.nodes[id as usize].next).filter(|&id| id != NONE)
    }

    /// The children in order.
    pub(super) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(self.first(id), |&child| self.next(child))
    }

    /// `top` and all below it, in the order of the page.
    pub(super) fn subtree(&self, top: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(top), move |&id| self.first(id).or_else(|| self.after(id, top)))
    }

    /// What follows `id` and all below it, within `top`.
    fn after(&self, mut id: Id, top: Id) -> Option<Id> {
        while id != top {
            if let Some(next) = self.next(id) {
                return Some(next);
            }
            id = self.parent(id)?;
        }
        None
    }

    /// All words below `id`, white space collapsed; nothing of scripts and the like.
    pub(super) fn words(&self, id: Id) -> String {
        let mut out = String::new();
        for node in self.subtree(id) {
            let parent = self.parent(node).map_or("", |parent| self.name(parent));
            if !matches!(parent, "script" | "style" | "noscript" | "template") {
                out.push_str(self.text(node));
            }
        }
        crate::document::collapse(&out)
    }
}
