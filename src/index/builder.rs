//! Builds the graph.
//!
//! Insertion goes in batches, as in Manohar et al., "ParlayANN", 2024: the nodes of a batch look for their neighbours in the
//! graph as it was before the batch, on all threads, and then links back are added target by target. So the result does not
//! depend on threads. Neighbours are chosen by algorithm 4 of Malkov and Yashunin 2016: a candidate that is clearly more
//! similar to a chosen one than to the node is left out.
//!
//! Nodes are numbered anew for the build, those of the highest level first and in random order within a level. A level then
//! holds the nodes from 0 up to some number, and begins as the level above it.

use rayon::prelude::*;

use super::format::NONE;
use super::graph::{Links, Scored, Scratch, best_first, greedy};
use super::room::Room;
use crate::compute::similarity::{ByteQuery, ByteRows};
use crate::error::Result;

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
        Self { exact_below: 10_000, links: 24, ef_construction: 200 }
    }
}

/// A graph in the order of the file: lists of links with a fixed capacity, see [`GraphView`](super::graph::GraphView).
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) entry: u32,
    pub(super) links0: usize,
    pub(super) level0: Room<u32>,
    pub(super) upper: Vec<u32>,
    pub(super) links: usize,
    pub(super) levels: Vec<Vec<u32>>,
}

/// Levels above the lowest: more than any number of nodes fills.
const MAX_LEVEL: usize = 15;
/// A batch is at most this part of the nodes: what its nodes do not see of each other is little.
const LARGEST_BATCH: usize = 50;
/// A batch is at most this part of the nodes before it.
const GROWTH: usize = 4;
/// Links back are gathered beyond the capacity, so that a list is thinned out once for many.
const SLACK: usize = 2;

/// A chosen neighbour stands for a candidate only when it is this much closer to it than the node is (*α* of Subramanya et al.,
/// "DiskANN", 2019): longer links stay, which questions that resemble no passage need. On embeddings of e5 a walk of 128 finds .950
/// of the ten best instead of .942.
const REACH: f32 = 1.1;

/// Builds the graph over rows of `stride` bytes with their factors. There must be at least one. While it builds, rows and factors
/// are in the order of the build; then they are as they were.
pub(super) fn build(bytes: &mut [i8], stride: usize, scales: &mut [f32], options: &GraphOptions) -> Result<Graph> {
    let links = options.links.clamp(2, 128);
    let n = scales.len();
    let (order, counts) = numbering(n, links);
    gather(bytes, stride, &order);
    gather(scales, 1, &order);
    let rows = ByteRows { bytes, stride, scales };
    let centres: Vec<i32> = (0..n as u32).into_par_iter().map(|node| ByteQuery::new(rows.row(node)).centre()).collect();
    let mut builder = Builder { rows, centres, levels: Vec::new(), ef: options.ef_construction.max(links) };
    // One place of the lowest level stays free for the repair.
    for (level, &count) in counts.iter().enumerate().rev() {
        builder.add_level(count, links, if level == 0 { 2 * links - 1 } else { links })?;
    }
    let mut levels: Vec<Room<u32>> = builder.levels.into_iter().map(|level| level.lists).collect();
    levels.reverse();
    let built = levels.remove(0);
    let links0 = 2 * links;
    let mut level0 = Room::new(n * links0)?;
    for (list, &node) in built.chunks_exact(2 * links - 1).zip(&order) {
        let (to, free) = level0[node as usize * links0..][..links0].split_at_mut(list.len());
        for (to, &link) in to.iter_mut().zip(list) {
            *to = order.get(link as usize).copied().unwrap_or(NONE);
        }
        free.fill(NONE);
    }
    drop(built);
    let back = inverse(&order);
    gather(bytes, stride, &back);
    gather(scales, 1, &back);
    let upper = order[..counts.get(1).copied().unwrap_or(0)].to_vec();
    let levels = levels.iter().map(|level| level.to_vec()).collect();
    Ok(Graph { entry: order[0], links0, level0, upper, links, levels })
}

/// Where each node is in `order`.
fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (place, &node) in order.iter().enumerate() {
        places[node as usize] = place as u32;
    }
    places
}

/// Puts row `from[i]` at place `i`, for all places, in the room that the rows have. Each row moves once, along the cycles of the
/// permutation `from`.
fn gather<T: Copy>(rows: &mut [T], stride: usize, from: &[u32]) {
    let mut done = vec![false; from.len()];
    let mut first: Vec<T> = Vec::with_capacity(stride);
    for start in 0..from.len() {
        if done[start] {
            continue;
        }
        first.clear();
        first.extend_from_slice(&rows[start * stride..][..stride]);
        let mut at = start;
        loop {
            done[at] = true;
            let next = from[at] as usize;
            if next == start {
                break;
            }
            rows.copy_within(next * stride..(next + 1) * stride, at * stride);
            at = next;
        }
        rows[at * stride..][..stride].copy_from_slice(&first);
    }
}

/// The nodes in the order of the build, and how many there are on each level.
fn numbering(n: usize, links: usize) -> (Vec<u32>, Vec<usize>) {
    let scale = 1.0 / (links as f64).ln();
    let mut keys: Vec<(usize, u64, u32)> = (0..n as u32)
        .map(|node| {
            let random = mix(u64::from(node));
            let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
            let level = (-(1.0 - uniform).ln() * scale) as usize;
            (MAX_LEVEL - level.min(MAX_LEVEL), mix(random), node)
        })
        .collect();
    keys.sort_unstable();
    let top = keys.first().map_or(0, |key| MAX_LEVEL - key.0);
    let counts = (0..=top).map(|level| keys.partition_point(|key| MAX_LEVEL - key.0 >= level)).collect();
    (keys.into_iter().map(|key| key.2).collect(), counts)
}

/// The finalizer of SplitMix64.
fn mix(x: u64) -> u64 {
    let mut x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Links of one level while it grows.
struct Level {
    capacity: usize,
    lists: Room<u32>,
}

impl Level {
    fn links(&self) -> Links<'_> {
        Links { lists: &self.lists, capacity: self.capacity }
    }
}

struct Builder<'a> {
    rows: ByteRows<'a>,
    centres: Vec<i32>,
    /// Highest first; finished ones hold no more than their final capacity.
    levels: Vec<Level>,
    ef: usize,
}

/// A node that was asked for as a neighbour, by whom, and how similar they are.
type Back = (u32, Scored);

impl Builder<'_> {
    fn query(&self, node: u32) -> ByteQuery<'_> {
        ByteQuery::with_centre(self.rows.row(node), self.centres[node as usize])
    }

    /// Adds the level that holds the nodes below `count`: each new node gets at most `links` links, each list holds at most
    /// `capacity`.
    fn add_level(&mut self, count: usize, links: usize, capacity: usize) -> Result<()> {
        let mut level = Level { capacity: SLACK * capacity, lists: Room::new(count * SLACK * capacity)? };
        level.lists.fill(NONE);
        let mut done = 1;
        if let Some(above) = self.levels.last() {
            done = above.lists.len() / above.capacity;
            for (to, from) in level.lists.chunks_exact_mut(level.capacity).zip(above.lists.chunks_exact(above.capacity))
            {
                to[..from.len()].copy_from_slice(from);
            }
        }
        while done < count {
            let batch = (done / GROWTH).min(count / LARGEST_BATCH).max(1).min(count - done);
            let found: Vec<Vec<Scored>> = (done as u32..(done + batch) as u32)
                .into_par_iter()
                .map_init(Scratch::default, |scratch, node| self.neighbours(&level, node, links, scratch))
                .collect();
            let mut back: Vec<Back> = Vec::with_capacity(batch * links);
            for (at, found) in found.iter().enumerate() {
                let node = (done + at) as u32;
                let list = &mut level.lists[node as usize * level.capacity..][..found.len()];
                for (to, neighbour) in list.iter_mut().zip(found) {
                    *to = neighbour.node;
                }
                back.extend(found.iter().map(|to| (to.node, Scored { score: to.score, node })));
            }
            self.link_back(&mut level, back, capacity);
            done += batch;
        }
        let full = level.capacity;
        level.lists.par_chunks_mut(full).enumerate().for_each(|(node, list)| {
            let used = list.iter().position(|&to| to == NONE).unwrap_or(full);
            if used > capacity {
                let chosen = self.thinned(node as u32, &list[..used], &[], capacity);
                list.fill(NONE);
                list[..chosen.len()].copy_from_slice(&chosen);
            }
        });
        for node in 1..count {
            level.lists.copy_within(node * full..node * full + capacity, node * capacity);
        }
        level.lists.truncate(count * capacity);
        self.levels.push(Level { capacity, lists: level.lists });
        Ok(())
    }

    /// The neighbours of a node that is not yet in `level`, best first.
    fn neighbours(&self, level: &Level, node: u32, links: usize, scratch: &mut Scratch) -> Vec<Scored> {
        let query = self.query(node);
        let mut start = 0;
        for above in &self.levels {
            start = greedy(above.links(), |node| node, &self.rows, &query, start);
        }
        best_first(&level.links(), &self.rows, &query, start, self.ef, f32::INFINITY, scratch);
        // The scores of a walk leave out the factor of its query.
        let factor = self.rows.scales[node as usize];
        let candidates = scratch.pool.iter().map(|(found, _)| Scored { score: found.score * factor, ..*found });
        self.choose(candidates, links)
    }

    /// Adds links to the nodes of a batch, target by target.
    fn link_back(&self, level: &mut Level, mut back: Vec<Back>, capacity: usize) {
        back.par_sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let groups: Vec<&[Back]> = back.chunk_by(|a, b| a.0 == b.0).collect();
        let full = level.capacity;
        let changed: Vec<(u32, Option<Vec<u32>>)> = groups
            .par_iter()
            .map(|group| {
                let target = group[0].0;
                let list = level.links().of(target);
                let over = list.len() + group.len() > full;
                (target, over.then(|| self.thinned(target, list, group, capacity)))
            })
            .collect();
        for ((target, thinned), group) in changed.into_iter().zip(groups) {
            let list = &mut level.lists[target as usize * full..][..full];
            match thinned {
                Some(chosen) => {
                    list.fill(NONE);
                    list[..chosen.len()].copy_from_slice(&chosen);
                }
                None => {
                    let used = list.iter().position(|&to| to == NONE).unwrap_or(full);
                    for (to, (_, from)) in list[used..].iter_mut().zip(group) {
                        *to = from.node;
                    }
                }
            }
        }
    }

    /// The best `capacity` links of `node` among those that it has and those that ask for it.
    fn thinned(&self, node: u32, list: &[u32], group: &[Back], capacity: usize) -> Vec<u32> {
        let mut scores = vec![0f32; list.len()];
        self.query(node).scores(&self.rows, list, &mut scores);
        let factor = self.rows.scales[node as usize];
        let known = list.iter().zip(scores).map(|(&node, score)| Scored { score: score * factor, node });
        let mut candidates: Vec<Scored> = known.chain(group.iter().map(|(_, from)| *from)).collect();
        candidates.sort_unstable_by(|a, b| b.cmp(a));
        self.choose(candidates.into_iter(), capacity).into_iter().map(|chosen| chosen.node).collect()
    }

    /// Of `candidates`, best first, those that are more similar to the node than to every one chosen before; at most `most`.
    /// Of equal vectors one is chosen, so that copies do not fill a list.
    fn choose(&self, candidates: impl Iterator<Item = Scored>, most: usize) -> Vec<Scored> {
        let mut chosen: Vec<Scored> = Vec::with_capacity(most);
        let mut numbers: Vec<u32> = Vec::with_capacity(most);
        let mut scores = [0f32; 4];
        for candidate in candidates {
            if chosen.len() == most {
                break;
            }
            let query = self.query(candidate.node);
            let factor = self.rows.scales[candidate.node as usize];
            // Most are refused by one of the first few.
            let refused = numbers.chunks(scores.len()).any(|numbers| {
                query.scores(&self.rows, numbers, &mut scores);
                scores[..numbers.len()].iter().any(|score| (1.0 - score * factor) * REACH <= 1.0 - candidate.score)
            });
            if !refused {
                chosen.push(candidate);
                numbers.push(candidate.node);
            }
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_to_their_places() {
        for n in [1usize, 2, 3, 100, 1001] {
            let (order, _) = numbering(n, 4);
            let rows: Vec<u32> = (0..3 * n as u32).collect();
            let mut moved = rows.clone();
            gather(&mut moved, 3, &order);
            assert!(order.iter().zip(moved.chunks(3)).all(|(&node, row)| row[0] == 3 * node && row[2] == 3 * node + 2));
            gather(&mut moved, 3, &inverse(&order));
            assert_eq!(moved, rows);
        }
    }
}
