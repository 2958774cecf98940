//! Model files: the manifest, getting and checking them, opening GGUF, tokenizers, and the choice of device.

mod gguf;
mod map;
pub mod tokenizer;

pub use gguf::{GgufFile, GgufWriter, MetaValue, TensorView};
