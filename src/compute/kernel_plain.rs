//! The kernel for any processor, and the one that the others are checked against.

use half::f16;

use super::packed::{BATCH, Batch, LANES, Layout};

/// Products of up to [`BATCH`] activation rows with the 16 weight rows of a tile.
pub(super) fn tile(layout: Layout, tile: &[u8], x: Batch<'_>, out: &mut [[f32; LANES]; BATCH]) {
    for (row, out) in out[..x.rows].iter_mut().enumerate() {
        *out = [0.0; LANES];
        for (g, group) in tile.chunks_exact(layout.stride()).enumerate() {
            let (quanta, factors) = group.split_at(layout.quanta());
            let cell = &x.cells[g * x.rows + row];
            let mut dots = [[0i32; LANES]; 2];
            for (i, &x) in cell.q.iter().enumerate() {
                let dot = &mut dots[i / 16];
                for (lane, dot) in dot.iter_mut().enumerate() {
                    let q = match layout {
                        Layout::Four if i < 16 => quanta[i / 4 * 64 + lane * 4 + i % 4] & 15,
                        Layout::Four => quanta[(i - 16) / 4 * 64 + lane * 4 + i % 4] >> 4,
                        Layout::Eight | Layout::EightHalves => quanta[i / 4 * 64 + lane * 4 + i % 4],
                    };
                    *dot += i32::from(q) * i32::from(x);
                }
            }
            let factor = |slot: usize, lane: usize| {
                let at = (slot * LANES + lane) * 2;
                f16::from_le_bytes([factors[at], factors[at + 1]]).to_f32()
            };
            let parts = layout.parts();
            for (lane, out) in out.iter_mut().enumerate() {
                for (half, dot) in dots.iter().enumerate() {
                    let part = half.min(parts - 1);
                    *out += dot[lane] as f32 * factor(part, lane) * cell.scale
                        - factor(parts + part, lane) * cell.sums[half];
                }
            }
        }
    }
}
