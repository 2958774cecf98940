//! Makes sure that every vector can be found.
//!
//! After the build every vector is searched for, and every node must be reachable from the entry point. A vector that
//! the walk does not find gets a link from the best node that the walk opened and that has a place free: the walk looks at all
//! links of that node, so the next one finds it.

use std::collections::HashMap;

use rayon::prelude::*;

use super::builder::Graph;
use super::format::NONE;
use super::graph::{GraphView, Links, Scratch};
use crate::compute::similarity::{ByteQuery, ByteRows};

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

impl Graph {
    /// The graph over `rows`, which are those that it was built of.
    pub(super) fn view<'a>(&'a self, rows: ByteRows<'a>) -> GraphView<'a> {
        GraphView {
            rows,
            entry: self.entry,
            level0: Links { lists: &self.level0, capacity: self.links0 },
            upper: &self.upper,
            levels: self.levels.iter().map(|lists| Links { lists, capacity: self.links }).collect(),
        }
    }

    /// Links `node` from the first of `hosts` with a place free; from the first of all, instead of its last link, where none has.
    fn link(&mut self, hosts: &[u32], node: u32) {
        let links0 = self.links0;
        let place = |host: u32| host as usize * links0..(host as usize + 1) * links0;
        let free = hosts.iter().find(|&&host| self.level0[place(host)].contains(&NONE));
        let Some(&host) = free.or(hosts.first()) else { return };
        let list = &mut self.level0[place(host)];
        let at = list.iter().position(|&to| to == NONE).unwrap_or(links0 - 1);
        list[at] = node;
    }
}

/// Searches for every vector and follows every link; adds links until everything is found and reached.
pub(super) fn repair(graph: &mut Graph, rows: ByteRows<'_>) -> Repaired {
    let mut repaired = Repaired::default();
    for round in 0..ROUNDS {
        let view = graph.view(rows);
        let lost: Vec<(u32, Vec<u32>)> = (0..rows.scales.len() as u32)
            .into_par_iter()
            .map_init(Scratch::default, |scratch, node| lost(&view, node, scratch).map(|hosts| (node, hosts)))
            .flatten()
            .collect();
        if round == 0 {
            repaired.not_found = lost.len();
        }
        let done = lost.is_empty();
        let copies = if done { unreached(&view) } else { Vec::new() };
        for (node, hosts) in lost {
            graph.link(&hosts, node);
        }
        if done {
            repaired.unreachable += copies.len();
            if copies.is_empty() {
                break;
            }
            // Copies of one vector form a chain, so that no list fills up with them.
            let mut last: HashMap<u32, u32> = HashMap::new();
            for (node, mut hosts) in copies {
                if let Some(tail) = hosts.first().and_then(|&best| last.insert(best, node)) {
                    hosts.insert(0, tail);
                }
                graph.link(&hosts, node);
            }
        }
    }
    repaired
}

/// The nodes that the search for `node` found, if neither it nor a copy of it is among them.
fn lost(view: &GraphView<'_>, node: u32, scratch: &mut Scratch) -> Option<Vec<u32>> {
    let row = view.rows.row(node);
    let query = ByteQuery::new(row);
    let mut own = [0f32];
    query.scores(&view.rows, &[node], &mut own);
    // Hardly anything scores more than the vector itself, so once it is met it stays.
    for enough in [own[0], f32::INFINITY] {
        view.walk(&query, CHECK_EF, enough, scratch);
        if scratch.pool.iter().any(|(found, _)| found.node == node || view.rows.row(found.node) == row) {
            return None;
        }
    }
    Some(scratch.pool.iter().map(|(found, _)| found.node).collect())
}

/// Every node that no path leads to, with the nodes most similar to it that are reached. Such a node is the copy of another, or
/// the search for it would have failed.
fn unreached(view: &GraphView<'_>) -> Vec<(u32, Vec<u32>)> {
    let reached = view.reachable();
    let missing: Vec<u32> = (0..reached.len() as u32).filter(|&node| !reached[node as usize]).collect();
    let hosts = |scratch: &mut Scratch, node: u32| {
        view.walk(&ByteQuery::new(view.rows.row(node)), CHECK_EF, f32::INFINITY, scratch);
        (node, scratch.pool.iter().map(|(found, _)| found.node).collect())
    };
    missing.into_par_iter().map_init(Scratch::default, hosts).collect()
}
