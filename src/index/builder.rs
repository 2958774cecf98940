//! Builds the graph with hnsw_rs. The only file that knows it.
//!
//! What hnsw_rs does that matters here: its levels come from a generator with a fixed seed, so insertion by one thread
//! always gives the same graph (its parallel insertion does not, and can lose points for search, its issue 32); it
//! asserts that distances are not negative; reverse links are pruned by distance alone, so that a point in a crowd can
//! end with no link to it, which [`repair`](super::repair) mends.

use hnsw_rs::hnsw::Hnsw;
use hnsw_rs::prelude::Distance;

use super::graph::dot;

/// How the graph is built and when.
#[derive(Debug, Clone, Copy)]
pub struct GraphOptions {
    /// Fewer vectors than this get no graph: looking at every vector is fast enough and always right.
    pub exact_below: usize,
    /// Links of a node on the upper levels (*M* of the paper); twice as many on the lowest.
    pub links: usize,
    /// Candidates looked at when a node is inserted.
    pub ef_construction: usize,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { exact_below: 10_000, links: 16, ef_construction: 200 }
    }
}

/// Links as lists: level 0 by node, the levels above by their nodes in rising order.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    pub(super) entry: u32,
    pub(super) level0: Vec<Vec<u32>>,
    pub(super) upper: Vec<UpperLevel>,
}

/// Nodes of a level above the lowest, and the links of each.
#[derive(Debug, Clone, Default)]
pub(super) struct UpperLevel {
    pub(super) nodes: Vec<u32>,
    pub(super) links: Vec<Vec<u32>>,
}

/// One minus the inner product of vectors of unit length; never negative, whatever rounding does.
struct UnitDistance;

impl Distance<f32> for UnitDistance {
    fn eval(&self, a: &[f32], b: &[f32]) -> f32 {
        (1.0 - dot(a, b)).max(0.0)
    }
}

/// Builds the graph over `vectors`, rows of `dimension` finite values. There must be at least one row.
pub(super) fn build(vectors: &[f32], dimension: usize, options: &GraphOptions) -> Graph {
    let n = vectors.len() / dimension;
    let links = options.links.clamp(2, 128);
    let hnsw = Hnsw::<f32, UnitDistance>::new(links, n, 16, options.ef_construction.max(links), UnitDistance);
    for node in insertion_order(n) {
        hnsw.insert((&vectors[node * dimension..(node + 1) * dimension], node));
    }
    let points = hnsw.get_point_indexation();
    let top = hnsw.get_max_level_observed() as usize;
    let mut levels = vec![0u8; n];
    let mut lists: Vec<Vec<Vec<u32>>> = vec![Vec::new(); n];
    for level in 0..=top {
        for point in points.get_layer_iterator(level) {
            let node = point.get_origin_id();
            levels[node] = point.get_point_id().0;
            lists[node] = point
                .get_neighborhood_id()
                .into_iter()
                .take(top + 1)
                .map(|list| list.into_iter().map(|neighbour| neighbour.get_origin_id() as u32).collect())
                .collect();
        }
    }
    // hnsw_rs leaves links on levels that one of their ends does not have; a walk must not follow those.
    let on_level = |node: u32, level: usize| {
        let list = lists[node as usize].get(level).map_or(&[][..], |list| list);
        list.iter().copied().filter(|&to| to != node && levels[to as usize] as usize >= level).collect::<Vec<u32>>()
    };
    let upper = (1..=top).map(|level| {
        let nodes: Vec<u32> = (0..n as u32).filter(|&node| levels[node as usize] as usize >= level).collect();
        let links = nodes.iter().map(|&node| on_level(node, level)).collect();
        UpperLevel { nodes, links }
    });
    let upper: Vec<UpperLevel> = upper.collect();
    Graph {
        entry: upper.last().and_then(|level| level.nodes.first().copied()).unwrap_or(0),
        level0: (0..n as u32).map(|node| on_level(node, 0)).collect(),
        upper,
    }
}

/// All numbers below `n`, shuffled in the same way every time: insertion in the order of the documents would offer each
/// node only the neighbours that stand before it in the text.
fn insertion_order(n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..n).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        order.swap(i, (state % (i as u64 + 1)) as usize);
    }
    order
}
