//! The key-value cache: a tree whose nodes hold the keys and values of a stretch of tokens and are shared by all that
//! continues them.
//!
//! The instructions are one node, a section continues it, and every sentence of the section continues that. What was
//! computed for a prefix is computed once.

use super::decoder::Row;
use crate::compute::KeyValues;
use crate::error::Result;

/// Names a node of a [`Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeId(usize);

/// A stretch of tokens.
#[derive(Debug)]
struct Node<L> {
    parent: Option<NodeId>,
    /// Position of the first token in the sequence.
    start: usize,
    /// Tokens that all layers have.
    len: usize,
    layers: Vec<L>,
}

/// A tree of token stretches with what `L` keeps of their keys and values in a layer.
#[derive(Debug)]
pub(super) struct Cache<L = KeyValues> {
    nodes: Vec<Node<L>>,
    free: Vec<NodeId>,
    layers: usize,
    kv_heads: usize,
    head_dimension: usize,
}

/// Keys and values of a stretch of tokens in one layer.
pub(super) trait Layer: Default {
    /// Empties it and makes room for `positions` positions of `heads` heads of `dimension` components.
    fn reset(&mut self, heads: usize, dimension: usize, positions: usize);

    /// Takes back all positions from `len` on.
    fn truncate(&mut self, len: usize) -> Result<()>;
}

impl Layer for KeyValues {
    fn reset(&mut self, heads: usize, dimension: usize, positions: usize) {
        KeyValues::reset(self, heads, dimension, positions);
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        KeyValues::truncate(self, len);
        Ok(())
    }
}

impl<L: Layer> Cache<L> {
    pub(super) fn new(layers: usize, kv_heads: usize, head_dimension: usize) -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), layers, kv_heads, head_dimension }
    }

    /// An empty node that continues `parent`, with room for `tokens`. The parent must not grow any more.
    pub(super) fn branch(&mut self, parent: Option<NodeId>, tokens: usize) -> NodeId {
        let start = parent.map_or(0, |p| self.end(p));
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node { parent: None, start: 0, len: 0, layers: Vec::new() });
            NodeId(self.nodes.len() - 1)
        });
        let node = &mut self.nodes[id.0];
        (node.parent, node.start, node.len) = (parent, start, 0);
        node.layers.resize_with(self.layers, L::default);
        for layer in &mut node.layers {
            layer.reset(self.kv_heads, self.head_dimension, tokens);
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

    /// Counts `tokens` more positions.
    pub(super) fn grow(&mut self, id: NodeId, tokens: usize) {
        self.nodes[id.0].len += tokens;
    }

    /// Takes back the last positions of a node, down to `len` of its own.
    pub(super) fn truncate(&mut self, id: NodeId, len: usize) -> Result<()> {
        let node = &mut self.nodes[id.0];
        node.len = node.len.min(len);
        node.layers.iter_mut().try_for_each(|layer| layer.truncate(node.len))
    }

    /// Number of layers.
    pub(super) fn layers(&self) -> usize {
        self.layers
    }

    /// Position of the node's first token.
    pub(super) fn start(&self, id: NodeId) -> usize {
        self.nodes[id.0].start
    }

    /// The nodes from the root down to `id`.
    pub(super) fn path(&self, id: NodeId) -> Vec<NodeId> {
        let mut path: Vec<NodeId> = std::iter::successors(Some(id), |n| self.nodes[n.0].parent).collect();
        path.reverse();
        path
    }

    /// Keys and values of a node in one layer.
    pub(super) fn layer(&self, id: NodeId, layer: usize) -> &L {
        &self.nodes[id.0].layers[layer]
    }

    /// The same, to be changed.
    pub(super) fn layer_mut(&mut self, id: NodeId, layer: usize) -> &mut L {
        &mut self.nodes[id.0].layers[layer]
    }

    /// The position of each row: after what its node holds and the rows before it.
    pub(super) fn positions(&self, rows: &[Row]) -> Vec<usize> {
        let mut positions: Vec<usize> = Vec::with_capacity(rows.len());
        for (i, row) in rows.iter().enumerate() {
            let position = match i.checked_sub(1) {
                Some(before) if rows[before].node == row.node => positions[before] + 1,
                _ => self.end(row.node),
            };
            positions.push(position);
        }
        positions
    }
}

impl Cache {
    /// Adds keys and values of one more position in `layer`. [`Self::grow`] counts it once all layers have it.
    pub(super) fn push(&mut self, id: NodeId, layer: usize, key: &[f32], value: &[f32]) {
        self.nodes[id.0].layers[layer].push(key, value);
    }

    /// Fills an empty node with `positions` positions from the bytes of its layers, all of which must be used.
    pub(super) fn restore(&mut self, id: NodeId, positions: usize, bytes: &[u8]) -> Option<()> {
        let node = &mut self.nodes[id.0];
        let rest = node.layers.iter_mut().try_fold(bytes, |bytes, layer| layer.restore(positions, bytes))?;
        if !rest.is_empty() {
            return None;
        }
        node.len = positions;
        Some(())
    }
}
