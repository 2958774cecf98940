//! Quantized matrix products on the CPU, with the instruction set chosen at run time. Nothing here knows a model.
//!
//! A weight matrix is repacked once from its GGUF blocks ([`blocks`]) into tiles of 16 rows ([`PackedMatrix`]), so that
//! one vector register holds four columns of all 16 rows and a product needs no horizontal sum. Activations are
//! quantized to 8 bits on the way ([`Activations`]). Attention meets keys and values ([`KeyValues`]) with many queries
//! ([`Queries`]) at once. Kernels exist for AVX-512 VNNI, AVX2, NEON and any CPU; see [`Isa`].

mod attention;
mod attention_kernels;
pub mod blocks;
pub mod elementwise;
mod isa;
mod kernel_avx2;
mod kernel_avx512;
mod kernel_neon;
mod kernel_plain;
mod packed;
mod product;
mod quantize;
pub mod similarity;

pub use attention::{KeyValues, Queries};
pub use isa::Isa;
pub use packed::{Activations, PackedMatrix, SharedBytes};
