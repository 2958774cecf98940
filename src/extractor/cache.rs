//! The key-value cache: a tree whose nodes hold the keys and values of a stretch of tokens and are shared by all that
//! continues them.
//!
//! The instructions are one node, a section continues it, and every sentence of the section continues that. What was
//! computed for a prefix is computed once.

use crate::compute::elementwise::Segment;

/// Names a node of a [`Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(usize);

/// Keys and values of one node. For each layer, position-major: `[position][kv head][head dimension]`.
#[derive(Debug, Default)]
struct Node {
    parent: Option<NodeId>,
    /// Position of the first token in the sequence.
    start: usize,
    len: usize,
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
}

/// A tree of token stretches with their keys and values.
#[derive(Debug)]
pub(super) struct Cache {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    layers: usize,
    /// Values of one position in one layer: kv heads times head dimension.
    width: usize,
}

impl Cache {
    pub(super) fn new(layers: usize, width: usize) -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), layers, width }
    }

    /// An empty node that continues `parent`, with room for `tokens`. The parent must not grow any more.
    pub(super) fn branch(&mut self, parent: Option<NodeId>, tokens: usize) -> NodeId {
        let start = parent.map_or(0, |p| self.end(p));
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            NodeId(self.nodes.len() - 1)
        });
        let node = &mut self.nodes[id.0];
        (node.parent, node.start, node.len) = (parent, start, 0);
        for part in [&mut node.keys, &mut node.values] {
            part.resize_with(self.layers, Vec::new);
            for layer in part {
                layer.clear();
                layer.reserve(tokens * self.width);
            }
        }
        id
    }

    /// Gives a node back. Nothing may continue it.
    pub(super) fn release(&mut self, id: NodeId) {
        self.free.push(id);
    }

    /// Position after the node's last token.
    pub(super) fn end(&self, id: NodeId) -> usize {
        self.nodes[id.0].start + self.nodes[id.0].len
    }

    /// Adds keys and values of one more position in `layer`. [`Self::grow`] counts it once all layers have it.
    pub(super) fn push(&mut self, id: NodeId, layer: usize, key: &[f32], value: &[f32]) {
        let node = &mut self.nodes[id.0];
        node.keys[layer].extend_from_slice(key);
        node.values[layer].extend_from_slice(value);
    }

    /// Counts `tokens` more positions.
    pub(super) fn grow(&mut self, id: NodeId, tokens: usize) {
        self.nodes[id.0].len += tokens;
    }

    /// The segments that a token at `position` of node `id` attends to, innermost first, for one layer and kv head.
    pub(super) fn segments(
        &self,
        id: NodeId,
        position: usize,
        layer: usize,
        head: usize,
        dimension: usize,
    ) -> impl Iterator<Item = Segment<'_>> {
        let mut next = Some(id);
        let mut visible = position + 1;
        std::iter::from_fn(move || {
            let node = &self.nodes[next?.0];
            let len = visible - node.start;
            visible = node.start;
            next = node.parent;
            let offset = (head * dimension).min(node.keys[layer].len());
            Some(Segment {
                keys: &node.keys[layer][offset..],
                values: &node.values[layer][offset..],
                stride: self.width,
                len,
            })
        })
    }
}
