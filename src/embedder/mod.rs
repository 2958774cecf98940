//! Text to unit vectors: encoders of the BERT family, from GGUF files and from safetensors folders.

mod bert;
mod classifier;
mod ops;
mod packed_bert;
mod prepared;
mod settings;
mod table;
mod weights;

use std::sync::Arc;

use candle_core::Device;
use rayon::prelude::*;

use self::bert::{Bert, BertConfig};
use self::packed_bert::PackedBert;
use self::table::{Input, Table};
use self::weights::Weights;
use crate::error::{Error, Kind as ErrorKind, Result};
use crate::model::{
    BlockFile, DeviceChoice, DiskCache, GgufFile, ModelFiles, SafetensorsFile, TextTokenizer, tokenizer,
};

pub use classifier::{Classifier, Precision};
pub use settings::Pooling;

/// Texts that run together at most.
const BATCH_TEXTS: usize = 32;
/// Tokens that run together at most, padding included; bounds the memory of activations.
const BATCH_TOKENS: usize = 2048;
/// Counts changes of this code that change vectors, so that stored ones are not mixed with new ones.
const REVISION: u32 = 2;

/// Which side of a search a text is on. Models with prefixes embed the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What a person asks.
    Query,
    /// What is searched.
    Passage,
}

/// Vectors of a list of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// Components of each vector.
    pub dim: usize,
    /// One unit vector after the other, in the order of the texts.
    pub vectors: Vec<f32>,
    /// Indices, ascending, of texts that were longer than the model's limit: their ends are not in their vectors.
    pub truncated: Vec<usize>,
}

impl Embeddings {
    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.vectors.len().checked_div(self.dim).unwrap_or(0)
    }

    /// True when there is no vector.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// The vectors one by one.
    pub fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.vectors.chunks_exact(self.dim.max(1))
    }
}

/// Where an encoder runs.
enum Encoder {
    /// On the processor, with 8-bit arithmetic.
    Packed(PackedBert),
    /// On a GPU, or on the processor for shapes that the kernels do not take.
    Candle(Bert),
}

impl Encoder {
    fn load(config: BertConfig, weights: Weights, device: &Device, kept: Option<&BlockFile>) -> Result<Self> {
        Self::load_as(config, weights, device, kept, true)
    }

    /// [`Self::load`]; `packed` allows arithmetic in 8 bits.
    fn load_as(
        config: BertConfig,
        weights: Weights,
        device: &Device,
        kept: Option<&BlockFile>,
        packed: bool,
    ) -> Result<Self> {
        if config.heads == 0 || !config.hidden.is_multiple_of(config.heads) || config.layers == 0 {
            return Err(Error::new(ErrorKind::Model, "impossible model settings").found(format!("{config:?}")));
        }
        let table = Table::load(&config, weights)?;
        if packed && device.is_cpu() && PackedBert::takes(&config) {
            return Ok(Self::Packed(PackedBert::load(config, table, kept)?));
        }
        Ok(Self::Candle(Bert::load(config, table, device)?))
    }

    fn config(&self) -> &BertConfig {
        match self {
            Self::Packed(bert) => bert.config(),
            Self::Candle(bert) => bert.config(),
        }
    }

    /// Last hidden states of `texts`, one after another: `Σ tokens × hidden`, row-major.
    fn forward(&self, texts: &[Input<'_>]) -> Result<Vec<f32>> {
        match self {
            Self::Packed(bert) => bert.forward(texts),
            Self::Candle(bert) => bert.forward(texts),
        }
    }

    /// Whether batches may run side by side.
    fn is_parallel(&self) -> bool {
        match self {
            Self::Packed(_) => true,
            Self::Candle(bert) => bert.device().is_cpu(),
        }
    }
}

/// Builds a tokenizer.
type Tokenizing = Box<dyn FnOnce(Option<&BlockFile>) -> Result<TextTokenizer> + Send>;

/// A loaded embedding model. Shared by reference between threads.
pub struct Embedder {
    name: String,
    tokenizer: TextTokenizer,
    encoder: Encoder,
    pooling: Pooling,
    max_tokens: usize,
    query_prefix: String,
    passage_prefix: String,
    fingerprint: String,
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Embedder {
    /// Loads the model.
    ///
    /// # Errors
    /// When a file is missing, damaged or of an unsupported kind, or the device cannot be opened.
    pub fn load(files: &ModelFiles, device: DeviceChoice) -> Result<Self> {
        Self::load_on(files, device, None)
    }

    /// [`Self::load`] with a place for what is computed from the model once a machine, which makes later starts faster.
    ///
    /// # Errors
    /// As for [`Self::load`]. A cache that cannot be read or written is none.
    pub fn load_on(files: &ModelFiles, device: DeviceChoice, cache: Option<&DiskCache>) -> Result<Self> {
        let device = device.open()?;
        let (settings, weights, tokenizer): (_, _, Tokenizing) = if files.is_gguf() {
            let file = Arc::new(GgufFile::open(&files.main)?);
            let settings = settings::from_gguf(&file)?;
            (settings, Weights::Gguf(Arc::clone(&file)), Box::new(move |kept| prepared::tokenizer(&file, kept)))
        } else {
            let settings = settings::from_folder(files.dir())?;
            let weights = Weights::from_safetensors(SafetensorsFile::open(&files.main)?);
            let path = files.dir().join("tokenizer.json");
            let tokenizer =
                move |_: Option<&BlockFile>| Ok(TextTokenizer::General(Box::new(tokenizer::from_json(&path)?)));
            (settings, weights.map_err(|e| e.at(&files.main))?, Box::new(tokenizer))
        };
        let max_tokens = settings.max_tokens;
        if max_tokens < 8 {
            return Err(Error::new(ErrorKind::Model, "impossible model settings")
                .at(&files.main)
                .expected("room for at least 8 tokens")
                .found(max_tokens.to_string()));
        }
        let fingerprint = format!(
            "sha256={};pooling={};query={:?};passage={:?};tokens={max_tokens};revision={REVISION}",
            files.checksum, settings.pooling, files.query_prefix, files.passage_prefix,
        );
        let kept = cache.filter(|_| device.is_cpu() && PackedBert::takes(&settings.bert));
        let kept = kept.and_then(|cache| prepared::open(cache, files, &settings.bert, &weights));
        let kept = kept.as_ref();
        // Each takes about as long as the other, and a single question waits for both.
        let (tokenizer, encoder) = std::thread::scope(|scope| {
            let tokenizer = scope.spawn(move || tokenizer(kept));
            let encoder = Encoder::load(settings.bert, weights, &device, kept).map_err(|e| e.at(&files.main));
            (tokenizer.join(), encoder)
        });
        let tokenizer = tokenizer
            .map_err(|_| Error::new(ErrorKind::Internal, "the tokenizer could not be built").at(&files.main))?;
        let (tokenizer, encoder) = (tokenizer?, encoder?);
        Ok(Self {
            name: files.id.clone(),
            tokenizer,
            encoder,
            pooling: settings.pooling,
            max_tokens,
            query_prefix: files.query_prefix.clone(),
            passage_prefix: files.passage_prefix.clone(),
            fingerprint,
        })
    }

    /// The name that finds the same model again: a manifest identifier or a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Components of a vector.
    pub fn dimension(&self) -> usize {
        self.encoder.config().hidden
    }

    /// Tokens of the longest text, prefix and special tokens included.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// How token states become one vector.
    pub fn pooling(&self) -> Pooling {
        self.pooling
    }

    /// Equal for two embedders exactly when their vectors can be compared: checksum of the weights, pooling, prefixes,
    /// limit, and the revision of this code.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Embeds `texts`. A text's vector does not depend on the others beyond rounding.
    ///
    /// # Errors
    /// When the tokenizer or the model fails.
    pub fn embed<T: AsRef<str> + Sync>(&self, texts: &[T], kind: Kind) -> Result<Embeddings> {
        let dim = self.dimension();
        let tokenized =
            texts.par_iter().map(|text| self.tokenize(text.as_ref(), kind)).collect::<Result<Vec<Tokenized>>>()?;
        let batches = batches(&tokenized);
        let run = |batch: &Vec<usize>| -> Result<Vec<(usize, Vec<f32>)>> {
            let ids: Vec<Input<'_>> = batch.iter().map(|index| Input::single(&tokenized[*index].ids)).collect();
            let states = self.encoder.forward(&ids)?;
            let mut rest = states.as_slice();
            let mut vectors = Vec::with_capacity(batch.len());
            for (index, ids) in batch.iter().zip(ids) {
                let (own, after) = rest.split_at(ids.len() * dim);
                vectors.push((*index, unit(self.pool(own))?));
                rest = after;
            }
            Ok(vectors)
        };
        // On the processor, batches side by side keep every core busy also in the steps that use one thread.
        let parts: Vec<Vec<(usize, Vec<f32>)>> = if self.encoder.is_parallel() {
            batches.par_iter().map(run).collect::<Result<_>>()?
        } else {
            batches.iter().map(run).collect::<Result<_>>()?
        };
        let mut vectors = vec![0.0; texts.len() * dim];
        for (index, vector) in parts.into_iter().flatten() {
            vectors[index * dim..(index + 1) * dim].copy_from_slice(&vector);
        }
        let truncated = (0..texts.len()).filter(|index| tokenized[*index].truncated).collect();
        Ok(Embeddings { dim, vectors, truncated })
    }

    fn tokenize(&self, text: &str, kind: Kind) -> Result<Tokenized> {
        let prefix = match kind {
            Kind::Query => &self.query_prefix,
            Kind::Passage => &self.passage_prefix,
        };
        let encoding = self.tokenizer.encode(&format!("{prefix}{text}"))?;
        Ok(cut(encoding.get_ids(), encoding.get_special_tokens_mask(), self.max_tokens))
    }

    /// `states` is `tokens × dim`, without padding.
    fn pool(&self, states: &[f32]) -> Vec<f32> {
        let dim = self.dimension();
        match self.pooling {
            Pooling::Cls => states[..dim].to_vec(),
            Pooling::Mean => {
                let mut sum = vec![0.0; dim];
                for state in states.chunks_exact(dim) {
                    sum.iter_mut().zip(state).for_each(|(s, x)| *s += x);
                }
                let count = (states.len() / dim) as f32;
                sum.iter_mut().for_each(|s| *s /= count);
                sum
            }
        }
    }
}

impl crate::section::TextEmbedder for Embedder {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let embeddings = Embedder::embed(self, texts, Kind::Passage)?;
        Ok(embeddings.iter().map(<[f32]>::to_vec).collect())
    }
}

#[derive(Debug, PartialEq)]
struct Tokenized {
    ids: Vec<u32>,
    truncated: bool,
}

/// Cuts content from the end until `ids` fit, keeping the special tokens around it.
fn cut(ids: &[u32], special: &[u32], max: usize) -> Tokenized {
    if ids.len() <= max {
        return Tokenized { ids: ids.to_vec(), truncated: false };
    }
    let tail = special.iter().rev().take_while(|mask| **mask == 1).count().min(max);
    let mut kept = ids[..max - tail].to_vec();
    kept.extend_from_slice(&ids[ids.len() - tail..]);
    Tokenized { ids: kept, truncated: true }
}

/// Indices of texts that run together: of like length, so that little is padded.
fn batches(texts: &[Tokenized]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..texts.len()).filter(|index| !texts[*index].ids.is_empty()).collect();
    // Longest first, so that the last batches to finish are short ones.
    order.sort_by_key(|index| (std::cmp::Reverse(texts[*index].ids.len()), *index));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut longest = 0;
    for index in order {
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_TEXTS && (batch.len() + 1) * longest <= BATCH_TOKENS => {
                batch.push(index);
            }
            _ => {
                longest = texts[index].ids.len();
                batches.push(vec![index]);
            }
        }
    }
    batches
}

/// `vector` at length one.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() || length < 1e-12 {
        return Err(Error::new(ErrorKind::Model, "the embedding model gave no usable vector")
            .found(format!("a vector of length {length}"))
            .hint("check the model's files with `mingti models verify`"));
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    Ok(vector)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of_length(n: usize) -> Tokenized {
        Tokenized { ids: vec![1; n], truncated: false }
    }

    #[test]
    fn batches_hold_every_text_once_within_their_bounds() {
        let mut state = 7u64;
        let texts: Vec<Tokenized> = (0..300)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                of_length(1 + (state >> 33) as usize % 512)
            })
            .collect();
        let batches = batches(&texts);
        let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..300).collect::<Vec<_>>());
        for batch in batches {
            let longest = batch.iter().map(|i| texts[*i].ids.len()).max().unwrap();
            assert!(batch.len() <= BATCH_TEXTS && batch.len() * longest <= BATCH_TOKENS.max(longest));
        }
    }

    #[test]
    fn a_cut_text_keeps_its_special_tokens() {
        let ids: Vec<u32> = vec![101, 1, 2, 3, 4, 5, 102];
        let special = [1, 0, 0, 0, 0, 0, 1];
        assert_eq!(cut(&ids, &special, 4), Tokenized { ids: vec![101, 1, 2, 102], truncated: true });
        assert_eq!(cut(&ids, &special, 7), Tokenized { ids, truncated: false });
    }

    #[test]
    fn vectors_have_length_one_or_are_refused() {
        let vector = unit(vec![3.0, 4.0]).unwrap();
        assert_eq!(vector, [0.6, 0.8]);
        assert!(unit(vec![0.0, 0.0]).is_err());
        assert!(unit(vec![f32::NAN, 1.0]).is_err());
    }
}
