//! The decoder and its cache, on the processor or on a device.

use candle_core::Device;

use super::cache::{Cache, NodeId};
use super::decoder::{Config, Decoder, Row};
use super::snapshot;
use super::tensor_decoder::{Kept, TensorDecoder};
use crate::error::Result;
use crate::model::{DiskCache, GgufFile};

/// A model that computes rows of branches of a tree of prompts.
pub(super) enum Engine {
    /// Our own kernels.
    Processor(Box<Decoder>, Cache),
    /// candle's, on a device.
    Device(Box<TensorDecoder>, Cache<Kept>),
}

impl Engine {
    /// Loads the model on the processor; see [`Decoder::load`].
    pub(super) fn on_processor(gguf: GgufFile, disk: Option<(&DiskCache, &[u8; 32])>) -> Result<Self> {
        let decoder = Decoder::load(gguf, disk)?;
        let cache = decoder.new_cache();
        Ok(Self::Processor(Box::new(decoder), cache))
    }

    /// Copies the model to a device.
    pub(super) fn on_device(gguf: GgufFile, device: &Device) -> Result<Self> {
        let decoder = TensorDecoder::load(gguf, device)?;
        let cache = decoder.new_cache();
        Ok(Self::Device(Box::new(decoder), cache))
    }

    pub(super) fn config(&self) -> &Config {
        match self {
            Self::Processor(decoder, _) => decoder.config(),
            Self::Device(decoder, _) => decoder.config(),
        }
    }

    /// See [`Cache::branch`].
    pub(super) fn branch(&mut self, parent: Option<NodeId>, tokens: usize) -> NodeId {
        match self {
            Self::Processor(_, cache) => cache.branch(parent, tokens),
            Self::Device(_, cache) => cache.branch(parent, tokens),
        }
    }

    /// See [`Cache::release`].
    pub(super) fn release(&mut self, node: NodeId) {
        match self {
            Self::Processor(_, cache) => cache.release(node),
            Self::Device(_, cache) => cache.release(node),
        }
    }

    /// See [`Cache::start`].
    pub(super) fn start(&self, node: NodeId) -> usize {
        match self {
            Self::Processor(_, cache) => cache.start(node),
            Self::Device(_, cache) => cache.start(node),
        }
    }

    /// See [`Cache::end`].
    pub(super) fn end(&self, node: NodeId) -> usize {
        match self {
            Self::Processor(_, cache) => cache.end(node),
            Self::Device(_, cache) => cache.end(node),
        }
    }

    /// See [`Cache::truncate`].
    pub(super) fn truncate(&mut self, node: NodeId, len: usize) -> Result<()> {
        match self {
            Self::Processor(_, cache) => cache.truncate(node, len),
            Self::Device(_, cache) => cache.truncate(node, len),
        }
    }

    /// See [`Decoder::forward`].
    pub(super) fn forward(&mut self, rows: &[Row], wanted: &[usize]) -> Result<Vec<f32>> {
        match self {
            Self::Processor(decoder, cache) => decoder.forward(cache, rows, wanted),
            Self::Device(decoder, cache) => decoder.forward(cache, rows, wanted),
        }
    }

    /// A node at the root from the folder of caches; see [`snapshot::read`].
    pub(super) fn read(&mut self, disk: &DiskCache, model: &[u8; 32], tokens: &[u32]) -> Option<NodeId> {
        match self {
            Self::Processor(_, cache) => snapshot::read(cache, disk, &snapshot::key(model, tokens), tokens.len()),
            Self::Device(..) => None,
        }
    }

    /// Keeps a node at the root in the folder of caches; see [`snapshot::write`].
    pub(super) fn keep(&self, disk: &DiskCache, model: &[u8; 32], tokens: &[u32], node: NodeId) -> Result<()> {
        match self {
            Self::Processor(_, cache) => snapshot::write(cache, disk, &snapshot::key(model, tokens), node),
            // A device reads the instructions faster than a disk could hand them over.
            Self::Device(..) => Ok(()),
        }
    }
}
