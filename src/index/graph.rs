//! The graph over the vectors, in memory or in the map, and the walk through it.
//!
//! The walk is algorithm 5 of Malkov and Yashunin, "Efficient and robust approximate nearest neighbor search using
//! Hierarchical Navigable Small World graphs", 2016: greedy on the upper levels, best first with a list of `ef` on the
//! lowest. The list is one sorted array that holds both what is found and what is still to be looked at, as in Subramanya
//! et al., "DiskANN", 2019: what falls off its end could not have been opened any more.

use super::format::NONE;
use crate::compute::similarity::{ByteQuery, ByteRows};

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

/// Lists of links with a fixed capacity, one after the other; places that are not used hold [`NONE`] and come last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links<'a> {
    pub(super) lists: &'a [u32],
    pub(super) capacity: usize,
}

impl<'a> Links<'a> {
    /// Number of lists.
    pub(super) fn len(&self) -> usize {
        self.lists.len().checked_div(self.capacity).unwrap_or(0)
    }

    /// The links of `node`; none for a node that is not there.
    pub(super) fn of(&self, node: u32) -> &'a [u32] {
        let at = node as usize * self.capacity;
        let list = self.lists.get(at..at + self.capacity).unwrap_or_default();
        &list[..list.iter().position(|&to| to == NONE).unwrap_or(list.len())]
    }

    /// Asks for the links of `node` ahead of their use.
    #[inline]
    fn fetch(&self, node: u32) {
        crate::compute::similarity::fetch(self.lists, node as usize * self.capacity);
    }
}

/// Vectors as bytes, wherever they are.
pub(super) trait Rows {
    /// The similarities of `query` to the rows `numbers`, but for the factor of the query.
    fn scores(&self, query: &ByteQuery<'_>, numbers: &[u32], out: &mut [f32]);

    /// Asks for a row ahead of its use.
    #[inline]
    fn fetch(&self, _number: u32) {}
}

impl Rows for ByteRows<'_> {
    #[inline]
    fn scores(&self, query: &ByteQuery<'_>, numbers: &[u32], out: &mut [f32]) {
        query.scores(self, numbers, out);
    }

    #[inline]
    fn fetch(&self, number: u32) {
        ByteRows::fetch(self, number);
    }
}

/// Lists of links, wherever they are.
pub(super) trait Lists {
    /// Number of lists.
    fn len(&self) -> usize;

    /// The links of `node`, in `room` if need be; none for a node that is not there.
    fn of<'s>(&'s self, node: u32, room: &'s mut Vec<u32>) -> &'s [u32];

    /// Asks for the links of `node` ahead of their use.
    #[inline]
    fn fetch(&self, _node: u32) {}
}

impl Lists for Links<'_> {
    #[inline]
    fn len(&self) -> usize {
        Links::len(self)
    }

    #[inline]
    fn of<'s>(&'s self, node: u32, _room: &'s mut Vec<u32>) -> &'s [u32] {
        Links::of(self, node)
    }

    #[inline]
    fn fetch(&self, node: u32) {
        Links::fetch(self, node);
    }
}

/// What a walk needs room for; kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// A bit for each node: it was met.
    met: Vec<u64>,
    /// Words of `met` that are not zero.
    touched: Vec<u32>,
    /// Best first; true once its links were followed.
    pub(super) pool: Vec<(Scored, bool)>,
    numbers: Vec<u32>,
    scores: Vec<f32>,
    links: Vec<u32>,
}

impl Scratch {
    fn reset(&mut self, nodes: usize) {
        for word in self.touched.drain(..) {
            self.met[word as usize] = 0;
        }
        if self.met.len() < nodes.div_ceil(64) {
            self.met.resize(nodes.div_ceil(64), 0);
        }
        self.pool.clear();
    }

    /// True the first time that `node` is met.
    #[inline]
    fn meet(&mut self, node: u32) -> bool {
        let (word, bit) = (&mut self.met[node as usize / 64], 1u64 << (node % 64));
        if *word == 0 {
            self.touched.push(node / 64);
        }
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Puts `scored` where it belongs and gives its place, unless `ef` better ones are there.
    #[inline]
    fn offer(&mut self, scored: Scored, ef: usize) -> Option<usize> {
        if self.pool.len() >= ef && self.pool.last().is_some_and(|worst| scored <= worst.0) {
            return None;
        }
        let place = self.pool.partition_point(|other| other.0 > scored);
        if self.pool.len() >= ef {
            self.pool.pop();
        }
        self.pool.insert(place, (scored, false));
        Some(place)
    }
}

/// Fills `scratch.pool` with the `ef` nodes most similar to `query` that best-first search from `start` meets, best first. Stops
/// early when one scores `enough`.
pub(super) fn best_first(
    links: &impl Lists,
    rows: &impl Rows,
    query: &ByteQuery<'_>,
    start: u32,
    ef: usize,
    enough: f32,
    scratch: &mut Scratch,
) {
    let nodes = links.len();
    scratch.reset(nodes);
    if start as usize >= nodes {
        return;
    }
    let mut score = [0f32];
    rows.scores(query, &[start], &mut score);
    scratch.meet(start);
    let mut room = std::mem::take(&mut scratch.links);
    scratch.offer(Scored { score: score[0], node: start }, ef);
    let mut next = 0;
    while scratch.pool[0].0.score < enough
        && let Some((from, opened)) = scratch.pool.get_mut(next)
    {
        if std::mem::replace(opened, true) {
            next += 1;
            continue;
        }
        let from = from.node;
        let mut numbers = std::mem::take(&mut scratch.numbers);
        numbers.clear();
        for &node in links.of(from, &mut room) {
            if (node as usize) < nodes && scratch.meet(node) {
                rows.fetch(node);
                numbers.push(node);
            }
        }
        let mut scores = std::mem::take(&mut scratch.scores);
        scores.resize(numbers.len(), 0.0);
        rows.scores(query, &numbers, &mut scores);
        next += 1;
        for (&score, &node) in scores.iter().zip(&numbers) {
            if let Some(place) = scratch.offer(Scored { score, node }, ef) {
                next = next.min(place);
            }
        }
        // Its links come next: they are under way while the loop turns.
        if let Some((after, false)) = scratch.pool.get(next) {
            links.fetch(after.node);
        }
        (scratch.numbers, scratch.scores) = (numbers, scores);
    }
    scratch.links = room;
}

/// Goes from `start` to ever more similar nodes until no link leads to a better one.
pub(super) fn greedy(
    links: Links<'_>,
    number: impl Fn(u32) -> u32,
    rows: &impl Rows,
    query: &ByteQuery<'_>,
    start: u32,
) -> u32 {
    let mut score = [0f32];
    rows.scores(query, &[number(start)], &mut score);
    let mut best = Scored { score: score[0], node: start };
    let (mut numbers, mut scores) = (Vec::new(), Vec::new());
    loop {
        let slots = links.of(best.node);
        numbers.clear();
        numbers.extend(slots.iter().map(|&slot| number(slot)));
        numbers.iter().for_each(|&node| rows.fetch(node));
        scores.resize(numbers.len(), 0.0);
        rows.scores(query, &numbers, &mut scores);
        let found = slots.iter().zip(&scores).map(|(&node, &score)| Scored { score, node }).max();
        match found {
            Some(found) if found > best => best = found,
            _ => return best.node,
        }
    }
}

/// A graph as the file holds it; rows and the lists of level 0 may be anywhere.
#[derive(Debug, Clone)]
pub(super) struct GraphView<'a, R = ByteRows<'a>, L = Links<'a>> {
    pub(super) rows: R,
    pub(super) entry: u32,
    pub(super) level0: L,
    /// Nodes above level 0, those of the highest level first. A slot is a place in this list.
    pub(super) upper: &'a [u32],
    /// For each level from 1 up, the links of its nodes, from slot to slot.
    pub(super) levels: Vec<Links<'a>>,
}

impl<R: Rows, L: Lists> GraphView<'_, R, L> {
    /// Fills `scratch.pool` with the nodes most similar to `query`, best first, at most `ef`; stops early when one scores
    /// `enough`. Scores leave out the factor of the query.
    pub(super) fn walk(&self, query: &ByteQuery<'_>, ef: usize, enough: f32, scratch: &mut Scratch) {
        let n = self.level0.len();
        let mut start = self.entry;
        if !self.levels.is_empty() {
            // A slot that is not there counts as the entry point: links are checked, but only by `verify`.
            let number = |slot: u32| {
                let node = self.upper.get(slot as usize).copied().unwrap_or(self.entry);
                if (node as usize) < n { node } else { self.entry }
            };
            let mut slot = 0;
            for level in self.levels.iter().rev() {
                slot = greedy(*level, number, &self.rows, query, slot);
            }
            start = number(slot);
        }
        best_first(&self.level0, &self.rows, query, start, ef.max(1), enough, scratch);
    }
}

impl GraphView<'_> {
    /// Which nodes some walk can reach: all that links of level 0 lead to from the nodes that links of the level above lead to.
    pub(super) fn reachable(&self) -> Vec<bool> {
        let mut from = vec![0];
        for level in self.levels.iter().rev() {
            from = closure(*level, &from);
        }
        let n = self.level0.len();
        let start: Vec<u32> = match self.levels.is_empty() {
            true => vec![self.entry],
            false => from.iter().filter_map(|&slot| self.upper.get(slot as usize).copied()).collect(),
        };
        let mut reached = vec![false; n];
        for node in closure(self.level0, &start) {
            reached[node as usize] = true;
        }
        reached
    }

    /// The first fault in the links, in words.
    pub(super) fn fault(&self) -> Option<String> {
        let n = self.level0.len();
        let wrong = |links: &Links<'_>, level: usize| {
            let bad = |list: &[u32]| {
                let used = list.iter().position(|&to| to == NONE).unwrap_or(list.len());
                list[..used].iter().any(|&to| to as usize >= links.len()) || list[used..].iter().any(|&to| to != NONE)
            };
            let slot = links.lists.chunks(links.capacity.max(1)).position(bad)?;
            Some(format!("a wrong link in list {slot} of level {level}"))
        };
        if let Some(fault) = wrong(&self.level0, 0) {
            return Some(fault);
        }
        if let Some(fault) = self.levels.iter().enumerate().find_map(|(above, links)| wrong(links, above + 1)) {
            return Some(fault);
        }
        let mut nodes = self.upper.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.len() != self.upper.len() || nodes.last().is_some_and(|&node| node as usize >= n) {
            return Some("wrong nodes on the upper levels".to_owned());
        }
        let lost = self.reachable().iter().filter(|&&reached| !reached).count();
        (lost > 0).then(|| format!("{lost} vectors that the graph does not reach"))
    }
}

/// All that links lead to from `start`, which is part of it.
fn closure(links: Links<'_>, start: &[u32]) -> Vec<u32> {
    let mut met = vec![false; links.len()];
    let mut reached = Vec::new();
    let mut queue = start.to_vec();
    while let Some(node) = queue.pop() {
        if (node as usize) < met.len() && !std::mem::replace(&mut met[node as usize], true) {
            reached.push(node);
            queue.extend(links.of(node));
        }
    }
    reached
}
