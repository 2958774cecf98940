//! Model files: the manifest, getting and checking them, opening GGUF, tokenizers, and the choice of device.

mod block_file;
pub(crate) mod checksum;
mod convert;
mod device;
mod disk_cache;
mod gguf;
mod import;
mod inspect;
mod install;
mod manifest;
mod map;
mod pip;
mod pull;
mod safetensors;
mod store;
pub mod tokenizer;
mod unigram;
mod verify;

pub use device::DeviceChoice;
pub use disk_cache::{CachedFile, DiskCache};
pub use gguf::{GgufFile, GgufWriter, MetaValue, TensorView};
pub use manifest::{Defaults, Entry, FilePin, Manifest, Role, Source, Step};
pub use pull::PullProgress;
pub use safetensors::SafetensorsFile;
pub use store::{ModelFiles, ModelInfo, ModelStore};
pub use tokenizer::TextTokenizer;
pub use unigram::FlatUnigram;
pub use verify::VerifyReport;

pub(crate) use block_file::{BlockFile, Made};
pub(crate) use inspect::{pooling_folder, read_json};
pub(crate) use unigram::VERSION as VOCABULARY_VERSION;
