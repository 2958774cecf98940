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
            let parts = layout.parts();
            let centre = match layout {
                Layout::Four | Layout::Eight => [0, 0],
                Layout::Signed => [cell.centre[0], 0],
                Layout::SignedHalves => [cell.centre[1], cell.centre[2]],
            };
            let mut dots = centre.map(|start| [start; LANES]);
            for (i, &x) in cell.q.iter().enumerate() {
                let dot = &mut dots[i / 16 * (parts - 1)];
                for (lane, dot) in dot.iter_mut().enumerate() {
                    let q = match layout {
                        Layout::Four if i < 16 => quanta[i / 4 * 64 + lane * 4 + i % 4] & 15,
                        Layout::Four => quanta[(i - 16) / 4 * 64 + lane * 4 + i % 4] >> 4,
                        _ => quanta[i / 4 * 64 + lane * 4 + i % 4],
                    };
                    *dot += i32::from(q) * i32::from(x);
                }
            }
            let factor = |slot: usize, lane: usize| {
                let at = (slot * LANES + lane) * 2;
                f16::from_le_bytes([factors[at], factors[at + 1]]).to_f32()
            };
            for (lane, out) in out.iter_mut().enumerate() {
                for (part, dot) in dots[..parts].iter().enumerate() {
                    *out += dot[lane] as f32 * (factor(part, lane) * cell.scale);
                    if layout.has_minima() {
                        *out -= factor(parts + part, lane) * cell.sum;
                    }
                }
            }
        }
    }
}
