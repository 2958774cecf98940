//! Encoders with a trained head: whether a text follows another, what class a pair of texts or a token is of.
//!
//! Cross-encoders that rank passages for a question, BERT's next-sentence prediction, and models of section boundaries are all an
//! encoder of the BERT family with one or two small matrices behind it. They are read from Hugging Face folders as published:
//! `BertForNextSentencePrediction`, `BertForSequenceClassification`, `RobertaForSequenceClassification` and XLM-R's,
//! `BertForTokenClassification` (also in the layout of ModelScope's document segmentation).

use std::path::Path;

use candle_core::Device;
use serde_json::Value;
use tokenizers::Tokenizer;

use super::Encoder;
use super::bert::BertConfig;
use super::settings;
use super::table::Input;
use super::weights::{Weights, dequantize};
use crate::error::{Error, Kind, Result};
use crate::model::{SafetensorsFile, checksum, read_json, tokenizer};
use crate::section::{BoundaryScorer, Pair, Window};

/// How the encoder computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// In 32 bits throughout.
    Full,
    /// With weights and activations of 8 bits, which is several times faster.
    Eight,
}

/// `x · Wᵀ + b`.
struct Dense {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

/// What stands behind the encoder.
enum Head {
    /// A layer with tanh over the first token's state, then the classes of the text.
    Text { pooler: Dense, classes: Dense },
    /// The classes of each token.
    Token(Dense),
}

/// Tokens around the texts of an input.
struct Marks {
    first: Vec<u32>,
    between: Vec<u32>,
    last: Vec<u32>,
}

/// A loaded model with its head.
pub struct Classifier {
    encoder: Encoder,
    tokenizer: Tokenizer,
    head: Head,
    marks: Marks,
    /// The end mark of a sentence for models of sequences.
    sentence_end: Option<u32>,
    /// True where the second text has a token type of its own.
    typed: bool,
    max_tokens: usize,
    /// The class that stands for "follows", "is relevant" or "a boundary".
    positive: usize,
}

impl std::fmt::Debug for Classifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Classifier").field("max_tokens", &self.max_tokens).finish_non_exhaustive()
    }
}

impl Classifier {
    /// Loads the folder with `config.json`, `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// When a file is missing or damaged, or the model is of another kind.
    pub fn load(folder: &Path, precision: Precision) -> Result<Self> {
        Self::read(folder, precision).map_err(|e| e.at(folder))
    }

    fn read(folder: &Path, precision: Precision) -> Result<Self> {
        let settings = settings::from_folder(folder)?;
        let config = read_json(&folder.join("config.json"))?;
        let file = SafetensorsFile::open(folder.join("model.safetensors"))?;
        let head = head(&file, &config, &settings.bert)?;
        let typed = config.get("type_vocab_size").and_then(Value::as_u64).is_some_and(|types| types > 1);
        let tokenizer = tokenizer::from_json(&folder.join("tokenizer.json"))?;
        let marks = marks(&tokenizer)?;
        let positive = positive(&config, &head);
        let sentence_end = match head {
            Head::Token(_) => Some(sentence_end(folder, &tokenizer)?),
            Head::Text { .. } => None,
        };
        let weights = Weights::from_safetensors(file)?;
        let encoder = Encoder::load_as(settings.bert, weights, &Device::Cpu, None, precision == Precision::Eight)?;
        let max_tokens = settings.max_tokens;
        Ok(Self { encoder, tokenizer, head, marks, sentence_end, typed, max_tokens, positive })
    }

    /// What tells the model in `folder` from any other, wherever the folder is: a hash over its files.
    ///
    /// # Errors
    /// When a file is missing or cannot be read.
    pub fn fingerprint(folder: &Path) -> Result<String> {
        checksum::of_files(&["config.json", "tokenizer.json", "model.safetensors"].map(|name| folder.join(name)))
    }

    /// Tokens of the longest input, special tokens included.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// How well each of `passages` answers `question`, in [0, 1]. A passage that is too long is judged by its beginning.
    ///
    /// # Errors
    /// When the model fails, or has no head for pairs.
    pub fn relevance(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>> {
        let question = self.tokens(question)?;
        let room = self.max_tokens.saturating_sub(self.pair_marks());
        let question = &question[..question.len().min(room / 2)];
        let passages = passages.iter().map(|passage| self.tokens(passage)).collect::<Result<Vec<_>>>()?;
        let fit = |passage: &Vec<u32>| passage.len().min(room - question.len());
        let pairs: Vec<Pair<'_>> =
            passages.iter().map(|passage| Pair { left: question, right: &passage[..fit(passage)] }).collect();
        let mut scores = Vec::with_capacity(pairs.len());
        for batch in pairs.chunks(super::BATCH_TEXTS) {
            scores.extend(self.pairs(batch)?);
        }
        Ok(scores)
    }

    /// The logits of each pair: `classes` values.
    ///
    /// # Errors
    /// When the model fails, has no head for pairs, or a pair is too long.
    pub fn pair_logits(&self, pairs: &[Pair<'_>]) -> Result<Vec<Vec<f32>>> {
        let Head::Text { pooler, classes } = &self.head else { return Err(wrong_head("pairs of texts")) };
        let Marks { first, between, last } = &self.marks;
        let inputs: Vec<(Vec<u32>, usize)> = pairs
            .iter()
            .map(|pair| {
                let ids = [first.as_slice(), pair.left, between, pair.right, last].concat();
                let second = first.len() + pair.left.len() + between.len();
                let second = if self.typed { second } else { ids.len() };
                (ids, second)
            })
            .collect();
        let states = self.states(&inputs)?;
        let logits = |states: &[f32]| {
            let pooled: Vec<f32> = pooler.apply(&states[..self.hidden()]).into_iter().map(f32::tanh).collect();
            classes.apply(&pooled)
        };
        Ok(states.iter().map(|states| logits(states)).collect())
    }

    /// The logits at the end mark of each sentence of `window`.
    ///
    /// # Errors
    /// When the model fails, has no head for tokens, or the window is too long.
    pub fn sentence_logits(&self, window: &Window<'_>) -> Result<Vec<Vec<f32>>> {
        let (Head::Token(classes), Some(end)) = (&self.head, self.sentence_end) else {
            return Err(wrong_head("sequences of sentences"));
        };
        let mut ids = self.marks.first.clone();
        let mut ends = Vec::with_capacity(window.sentences.len());
        for sentence in &window.sentences {
            ids.extend_from_slice(sentence);
            ends.push(ids.len());
            ids.push(end);
        }
        ids.extend_from_slice(window.rest);
        let length = ids.len();
        let states = self.states(&[(ids, length)])?;
        let hidden = self.hidden();
        Ok(ends.iter().map(|at| classes.apply(&states[0][at * hidden..][..hidden])).collect())
    }

    fn hidden(&self) -> usize {
        self.encoder.config().hidden
    }

    /// The last hidden states of each input.
    fn states(&self, inputs: &[(Vec<u32>, usize)]) -> Result<Vec<Vec<f32>>> {
        if let Some((ids, _)) = inputs.iter().find(|(ids, _)| ids.len() > self.max_tokens) {
            return Err(Error::new(Kind::Model, "an input is too long for the model")
                .expected(format!("at most {} tokens", self.max_tokens))
                .found(ids.len().to_string()));
        }
        let texts: Vec<Input<'_>> = inputs.iter().map(|(ids, second)| Input { ids, second: *second }).collect();
        let all = self.encoder.forward(&texts)?;
        let mut rest = all.as_slice();
        Ok(texts
            .iter()
            .map(|text| {
                let (own, after) = rest.split_at(text.len() * self.hidden());
                rest = after;
                own.to_vec()
            })
            .collect())
    }

    /// The probability of the positive class.
    fn probability(&self, logits: &[f32]) -> f32 {
        match logits {
            [one] => 1.0 / (1.0 + (-one).exp()),
            _ => {
                let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f32 = logits.iter().map(|x| (x - largest).exp()).sum();
                logits.get(self.positive).map_or(0.0, |x| (x - largest).exp() / sum)
            }
        }
    }
}

impl BoundaryScorer for Classifier {
    fn tokens(&self, text: &str) -> Result<Vec<u32>> {
        let failed = |e| Error::new(Kind::Model, "cannot tokenize a text").because(e);
        Ok(self.tokenizer.encode_fast(text, false).map_err(failed)?.get_ids().to_vec())
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn pair_marks(&self) -> usize {
        self.marks.first.len() + self.marks.between.len() + self.marks.last.len()
    }

    fn pairs(&self, pairs: &[Pair<'_>]) -> Result<Vec<f32>> {
        Ok(self.pair_logits(pairs)?.iter().map(|logits| self.probability(logits)).collect())
    }

    fn window(&self, window: &Window<'_>) -> Result<Vec<f32>> {
        Ok(self.sentence_logits(window)?.iter().map(|logits| self.probability(logits)).collect())
    }
}

impl Dense {
    fn read(file: &SafetensorsFile, name: &str, input: usize) -> Result<Self> {
        let read = |suffix: &str| -> Result<Vec<f32>> {
            let view = file.tensor(&format!("{name}.{suffix}"))?;
            let mut out = vec![0.0; view.element_count()];
            dequantize(view.dtype, view.data, &mut out)?;
            Ok(out)
        };
        let (weight, bias) = (read("weight")?, read("bias")?);
        if bias.is_empty() || weight.len() != bias.len() * input {
            return Err(Error::new(Kind::Model, format!("the head `{name}` has the wrong shape"))
                .expected(format!("rows of {input}"))
                .found(format!("{} values for {} rows", weight.len(), bias.len())));
        }
        Ok(Self { weight, bias })
    }

    fn apply(&self, x: &[f32]) -> Vec<f32> {
        let row = |weights: &[f32]| weights.iter().zip(x).map(|(w, x)| w * x).sum::<f32>();
        self.weight.chunks_exact(x.len()).zip(&self.bias).map(|(weights, bias)| row(weights) + bias).collect()
    }
}

fn wrong_head(what: &str) -> Error {
    Error::new(Kind::Model, format!("the model cannot score {what}"))
        .hint("choose the method that the model was trained for")
}

fn head(file: &SafetensorsFile, config: &Value, bert: &BertConfig) -> Result<Head> {
    let hidden = bert.hidden;
    let has = |name: &str| file.has(&format!("{name}.weight"));
    let prefix = ["bert.", "roberta.", ""].into_iter().find(|p| has(&format!("{p}embeddings.word_embeddings")));
    let pooler = format!("{}pooler.dense", prefix.unwrap_or_default());
    let name = config.get("architectures").and_then(|names| names.get(0)).and_then(Value::as_str).unwrap_or_default();
    let is_token = name.ends_with("ForTokenClassification");
    if has("cls.seq_relationship") {
        return Ok(Head::Text {
            pooler: Dense::read(file, &pooler, hidden)?,
            classes: Dense::read(file, "cls.seq_relationship", hidden)?,
        });
    }
    if has("classifier.out_proj") {
        return Ok(Head::Text {
            pooler: Dense::read(file, "classifier.dense", hidden)?,
            classes: Dense::read(file, "classifier.out_proj", hidden)?,
        });
    }
    if has("classifier") {
        let classes = Dense::read(file, "classifier", hidden)?;
        return Ok(match is_token {
            true => Head::Token(classes),
            false => Head::Text { pooler: Dense::read(file, &pooler, hidden)?, classes },
        });
    }
    Err(Error::new(Kind::Model, "the model has no head that is known")
        .expected("cls.seq_relationship, classifier or classifier.out_proj")
        .found(if name.is_empty() { "none of them".to_owned() } else { name.to_owned() }))
}

/// What an input of two empty texts consists of.
fn marks(tokenizer: &Tokenizer) -> Result<Marks> {
    let failed = |e| Error::new(Kind::Model, "cannot tokenize a pair of texts").because(e);
    let both = tokenizer.encode_fast(("", ""), true).map_err(failed)?;
    match both.get_ids() {
        [first, between @ .., last] if !between.is_empty() => {
            Ok(Marks { first: vec![*first], between: between.to_vec(), last: vec![*last] })
        }
        other => Err(Error::new(Kind::Model, "the tokenizer puts no marks around two texts")
            .expected("at least three special tokens")
            .found(other.len().to_string())),
    }
}

/// The class that counts: the first for "follows" and for boundaries of sequence models, as their labels say, else the last.
fn positive(config: &Value, head: &Head) -> usize {
    let labels: Vec<(usize, String)> = config
        .get("id2label")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(id, label)| Some((id.parse().ok()?, label.as_str()?.to_uppercase())))
        .collect();
    let classes = match head {
        Head::Text { classes, .. } | Head::Token(classes) => classes.bias.len(),
    };
    let name = config.get("architectures").and_then(|names| names.get(0)).and_then(Value::as_str).unwrap_or_default();
    if name.ends_with("ForNextSentencePrediction") {
        return 0;
    }
    let is_boundary = |label: &str| label.starts_with("B-") || label.contains("BOUNDARY");
    labels.iter().find(|(_, label)| is_boundary(label)).map_or(classes - 1, |(id, _)| *id)
}

/// The end mark of a sentence: the tokenizer's `eos_token`, as its own settings name it.
fn sentence_end(folder: &Path, tokenizer: &Tokenizer) -> Result<u32> {
    let named = ["special_tokens_map.json", "tokenizer_config.json"].iter().find_map(|file| {
        let settings = read_json(&folder.join(file)).ok()?;
        let token = settings.get("eos_token")?;
        Some(token.as_str().or_else(|| token.get("content")?.as_str())?.to_owned())
    });
    let name = named.unwrap_or_else(|| "[EOS]".to_owned());
    tokenizer
        .token_to_id(&name)
        .ok_or_else(|| Error::new(Kind::Model, "the tokenizer has no mark for the end of a sentence").expected(name))
}

#[cfg(test)]
#[path = "classifier_tests.rs"]
mod tests;
