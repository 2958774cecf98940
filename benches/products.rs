//! Quantized matrix products against candle's, on the same blocks in the same run.
//!
//! `cargo bench --bench products` prints, for each weight format and number of activation rows, the ratio of candle's time
//! to ours (above 1: ours is faster) for the shape of a feed-forward layer of a 1.5B model. Both are built for the same
//! portable target; ours chooses its instructions at run time.

#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::time::Instant;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Tensor};
use mingti::compute::{Activations, Isa, PackedMatrix};

const ROWS: usize = 8960;
const COLUMNS: usize = 1536;

/// The best of several runs, in seconds: the least disturbed one.
fn best(mut work: impl FnMut()) -> f64 {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let noise = |n: usize| -> Vec<f32> { (0..n).map(|i| ((i * 7919) % 2003) as f32 / 1001.5 - 1.0).collect() };
    let weights = Tensor::from_vec(noise(ROWS * COLUMNS), (ROWS, COLUMNS), &Device::Cpu).unwrap();
    println!("{ROWS} x {COLUMNS}, {} threads, {}", rayon::current_num_threads(), Isa::best().name());
    println!("{:>6} {:>5} {:>12} {:>12} {:>7}", "format", "rows", "candle ms", "mingti ms", "ratio");
    for dtype in [GgmlDType::Q4K, GgmlDType::Q6K, GgmlDType::Q5_0, GgmlDType::Q8_0] {
        let quantized = QTensor::quantize(&weights, dtype).unwrap();
        let packed = PackedMatrix::pack(dtype, ROWS, COLUMNS, &quantized.data().unwrap()).unwrap();
        let theirs = QMatMul::from_qtensor(quantized).unwrap();
        for rows in [1, 8, 64] {
            let x = noise(rows * COLUMNS);
            let tensor = Tensor::from_vec(x.clone(), (rows, COLUMNS), &Device::Cpu).unwrap();
            let mut out = vec![0f32; rows * ROWS];
            let candle = best(|| {
                std::hint::black_box(theirs.forward(&tensor).unwrap());
            });
            let ours = best(|| packed.multiply(&Activations::quantize(&x, COLUMNS), std::hint::black_box(&mut out)));
            let (name, ratio) = (format!("{dtype:?}"), candle / ours);
            println!("{name:>6} {rows:>5} {:>12.3} {:>12.3} {ratio:>7.2}", candle * 1e3, ours * 1e3);
        }
    }
}
