//! Makes sure that every vector can be found.
//!
//! After the build every vector is searched for, and every node must be reachable from the entry point. A vector that
//! the walk does not find gets a link from the node where the walk ended: the walk looks at all links of that node, so
//! the next one finds it.

use rayon::prelude::*;

use super::builder::Graph;
use super::graph::{GraphView, Level, Rows, Scored};

/// The width of the walk that must find every vector; no search is narrower.
pub(super) const CHECK_EF: usize = 64;
/// Each round searches for all vectors again, because a new link can lead a walk astray. More than two have not been
/// seen.
const ROUNDS: usize = 16;

/// What the check found and mended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Repaired {
    /// Vectors that a search for them did not find.
    pub(super) not_found: usize,
    /// Nodes that no path from the entry point led to.
    pub(super) unreachable: usize,
}

/// Link lists with a fixed capacity one after the other, as the file holds them.
pub(super) struct FlatGraph {
    entry: u32,
    pub(super) links0: usize,
    pub(super) links: usize,
    pub(super) level0: Vec<u32>,
    /// Nodes and lists of levels 1 and up.
    pub(super) upper: Vec<(Vec<u32>, Vec<u32>)>,
}

impl FlatGraph {
    pub(super) fn new(graph: &Graph) -> Self {
        let capacity = |lists: &[Vec<u32>]| lists.iter().map(Vec::len).max().unwrap_or(0);
        let links0 = capacity(&graph.level0);
        let links = graph.upper.iter().map(|level| capacity(&level.links)).max().unwrap_or(0);
        let upper = graph.upper.iter().map(|level| (level.nodes.clone(), flatten(&level.links, links))).collect();
        Self { entry: graph.entry, links0, links, level0: flatten(&graph.level0, links0), upper }
    }

    pub(super) fn view<'a>(&'a self, rows: Rows<'a>) -> GraphView<'a> {
        GraphView {
            rows,
            entry: self.entry,
            links0: self.links0,
            links: self.links,
            level0: &self.level0,
            upper: self.upper.iter().map(|(nodes, links)| Level { nodes, links }).collect(),
        }
    }
}

fn flatten(lists: &[Vec<u32>], capacity: usize) -> Vec<u32> {
    let mut flat = Vec::with_capacity(lists.len() * (capacity + 1));
    for list in lists {
        flat.push(list.len() as u32);
        flat.extend(list);
        flat.resize(flat.len() + capacity - list.len(), super::format::NONE);
    }
    flat
}

/// Searches for every vector and follows every link; adds links until everything is found and reached.
pub(super) fn repair(graph: &mut Graph, rows: Rows<'_>) -> Repaired {
    let mut repaired = Repaired::default();
    for round in 0..ROUNDS {
        let flat = FlatGraph::new(graph);
        let view = flat.view(rows);
        let lost: Vec<(u32, u32)> =
            (0..rows.len() as u32).into_par_iter().filter_map(|node| lost(&view, node)).collect();
        if round == 0 {
            repaired.not_found = lost.len();
        }
        for &(node, end) in &lost {
            graph.level0[end as usize].push(node);
        }
        if lost.is_empty() {
            let unreachable = link_unreachable(graph, &view);
            repaired.unreachable += unreachable;
            if unreachable == 0 {
                break;
            }
        }
    }
    repaired
}

/// The node where the search for `node` ended, if it did not find it or a vector that is as similar.
fn lost(view: &GraphView<'_>, node: u32) -> Option<(u32, u32)> {
    let mut query = vec![0f32; view.rows.dimension];
    let mut buffer = query.clone();
    for (value, half) in query.iter_mut().zip(view.rows.row(node)) {
        *value = half.to_f32();
    }
    let own = Scored { score: view.rows.score(node, &query, &mut buffer), node };
    let hits = view.walk(&query, CHECK_EF);
    let best = *hits.first()?;
    (best.score < own.score).then_some((node, best.node))
}

/// Links every node that no path leads to from the most similar node that is reached. Such a node is the copy of
/// another, or the search for it would have failed. Returns how many there were.
fn link_unreachable(graph: &mut Graph, view: &GraphView<'_>) -> usize {
    let reached = view.reachable();
    let missing: Vec<u32> = (0..reached.len() as u32).filter(|&node| !reached[node as usize]).collect();
    let links: Vec<(u32, u32)> = missing
        .par_iter()
        .map(|&node| {
            let query: Vec<f32> = view.rows.row(node).iter().map(|half| half.to_f32()).collect();
            let from = view.walk(&query, CHECK_EF).first().map_or(view.entry, |best| best.node);
            (from, node)
        })
        .collect();
    // Copies of one vector form a chain, so that no list grows with their number.
    let mut last: std::collections::HashMap<u32, u32> = std::collections::HashMap::new();
    for (from, node) in links {
        let tail = last.insert(from, node).unwrap_or(from);
        graph.level0[tail as usize].push(node);
    }
    missing.len()
}
