//! The graph over the vectors, in memory or in the map, and the walk through it.
//!
//! The walk is algorithm 5 of Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs", 2016: greedy on the upper levels, best first with a list of `ef` on the
//! lowest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use half::f16;
use half::slice::{HalfBitsSliceExt, HalfFloatSliceExt};

/// Values that are added up side by side, so that the compiler can use vector registers.
const LANES: usize = 16;

/// A node with its similarity to the query. Ordered by similarity, then by smaller number, so that equal similarities
/// never leave the order to chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scored {
    pub(super) score: f32,
    pub(super) node: u32,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.score.total_cmp(&other.score).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Rows of f16 values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) bits: &'a [u16],
    pub(super) dimension: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn len(&self) -> usize {
        self.bits.len().checked_div(self.dimension).unwrap_or(0)
    }

    pub(super) fn row(&self, node: u32) -> &'a [f16] {
        let at = node as usize * self.dimension;
        self.bits[at..at + self.dimension].reinterpret_cast()
    }

    /// Inner product of a row with `query`; `buffer` has room for a row.
    pub(super) fn score(&self, node: u32, query: &[f32], buffer: &mut [f32]) -> f32 {
        self.row(node).convert_to_f32_slice(buffer);
        dot(buffer, query)
    }
}

/// Inner product. The order of the additions is fixed, so the result is the same on every call and every thread.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    lanes.iter().sum::<f32>() + rest
}

/// A level above the lowest: its nodes in rising order and a link list for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level<'a> {
    pub(super) nodes: &'a [u32],
    pub(super) links: &'a [u32],
}

/// A graph as the file holds it.
#[derive(Debug, Clone)]
pub(super) struct GraphView<'a> {
    pub(super) rows: Rows<'a>,
    pub(super) entry: u32,
    pub(super) links0: usize,
    pub(super) links: usize,
    pub(super) level0: &'a [u32],
    /// Levels 1 and up.
    pub(super) upper: Vec<Level<'a>>,
}

impl<'a> GraphView<'a> {
    /// The links of `node` on `level`, cut to numbers that exist; empty for a node that is not there.
    fn neighbours(&self, level: usize, node: u32) -> &'a [u32] {
        let (lists, slot, capacity) = if level == 0 {
            (self.level0, node as usize, self.links0)
        } else {
            let Some(level) = self.upper.get(level - 1) else { return &[] };
            let Ok(slot) = level.nodes.binary_search(&node) else { return &[] };
            (level.links, slot, self.links)
        };
        let at = slot * (capacity + 1);
        let Some(list) = lists.get(at..at + capacity + 1) else { return &[] };
        &list[1..=(list[0] as usize).min(capacity)]
    }

    /// The nodes most similar to `query`, best first, at most `ef`.
    pub(super) fn walk(&self, query: &[f32], ef: usize) -> Vec<Scored> {
        let n = self.rows.len();
        if n == 0 || self.entry as usize >= n {
            return Vec::new();
        }
        let mut buffer = vec![0f32; self.rows.dimension];
        let mut best = Scored { score: self.rows.score(self.entry, query, &mut buffer), node: self.entry };
        for level in (1..=self.upper.len()).rev() {
            loop {
                let mut next = best;
                for &node in self.neighbours(level, best.node) {
                    if (node as usize) < n {
                        next = next.max(Scored { score: self.rows.score(node, query, &mut buffer), node });
                    }
                }
                if next == best {
                    break;
                }
                best = next;
            }
        }
        let ef = ef.max(1);
        let mut seen = vec![0u64; n.div_ceil(64)];
        let mut visit = |node: u32| {
            let (word, bit) = (node as usize / 64, 1u64 << (node % 64));
            let new = seen[word] & bit == 0;
            seen[word] |= bit;
            new
        };
        visit(best.node);
        let mut open = BinaryHeap::from([best]);
        let mut found = BinaryHeap::from([Reverse(best)]);
        while let Some(from) = open.pop() {
            let worst = found.peek().map_or(from, |worst| worst.0);
            if found.len() >= ef && from < worst {
                break;
            }
            for &node in self.neighbours(0, from.node) {
                if node as usize >= n || !visit(node) {
                    continue;
                }
                let scored = Scored { score: self.rows.score(node, query, &mut buffer), node };
                if found.len() < ef || found.peek().is_some_and(|worst| scored > worst.0) {
                    open.push(scored);
                    found.push(Reverse(scored));
                    if found.len() > ef {
                        found.pop();
                    }
                }
            }
        }
        let mut hits: Vec<Scored> = found.into_iter().map(|hit| hit.0).collect();
        hits.sort_unstable_by(|a, b| b.cmp(a));
        hits
    }

    /// Which nodes some walk can reach: from the entry point along the links of its level, and down.
    pub(super) fn reachable(&self) -> Vec<bool> {
        let n = self.rows.len();
        let mut reached = vec![false; n];
        let mut from = vec![self.entry];
        for level in (0..=self.upper.len()).rev() {
            // What a level above reached is where this level starts.
            let mut here = vec![false; n];
            let mut queue = std::mem::take(&mut from);
            while let Some(node) = queue.pop() {
                if (node as usize) < n && !std::mem::replace(&mut here[node as usize], true) {
                    from.push(node);
                    queue.extend(self.neighbours(level, node));
                }
            }
            reached = here;
        }
        reached
    }

    /// The first fault in the links, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let n = self.rows.len();
        let lists = |lists: &[u32], capacity: usize, level: usize, exists: &dyn Fn(u32) -> bool| {
            lists.chunks(capacity + 1).enumerate().find_map(|(slot, list)| {
                let count = list[0] as usize;
                let bad = count > capacity || list[1..=count.min(capacity)].iter().any(|&node| !exists(node));
                bad.then(|| format!("a wrong link in list {slot} of level {level}"))
            })
        };
        if let Some(fault) = lists(self.level0, self.links0, 0, &|node| (node as usize) < n) {
            return Some(fault);
        }
        for (above, level) in self.upper.iter().enumerate() {
            let rising = level.nodes.windows(2).all(|pair| pair[0] < pair[1]);
            if !rising || level.nodes.last().is_some_and(|&node| node as usize >= n) {
                return Some(format!("wrong nodes on level {}", above + 1));
            }
            let exists = |node: u32| level.nodes.binary_search(&node).is_ok();
            if let Some(fault) = lists(level.links, self.links, above + 1, &exists) {
                return Some(fault);
            }
        }
        let lost = self.reachable().iter().filter(|&&reached| !reached).count();
        (lost > 0).then(|| format!("{lost} vectors that the graph does not reach"))
    }
}
