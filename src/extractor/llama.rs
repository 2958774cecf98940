//! An extractor over a model of the Llama family from a GGUF file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use candle_core::Device;
use tokenizers::Tokenizer;

use super::cache::NodeId;
use super::decoder::{Decoder, Row};
use super::engine::Engine;
use super::prompt::{self, Chat, Language};
use super::scheduler::{self, Branch};
use super::trace::Trace;
use super::vocabulary::Vocabulary;
use super::{Extractor, PromptReuse};
use super::{memory, weights};
use crate::document::{Span, Text};
use crate::error::{Error, Kind, Result};
use crate::model::{self, DeviceChoice, DiskCache, GgufFile};
use crate::proposition::{Passage, SentenceKind, SentenceYield};

/// Characters of a section that the model sees around a sentence. Sections are at most 1,500 characters; a longer
/// passage is shown in windows of whole sentences.
const WINDOW: usize = 2_000;
/// Sentences with fewer letters and digits are kept verbatim: there is nothing to rewrite.
const SHORTEST: usize = 8;

/// Bounds on what is written for one sentence, and on what is decoded together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Statements for one sentence.
    pub propositions: usize,
    /// Tokens for one sentence: this many and three times those of the sentence.
    pub tokens: usize,
    /// Branches decoded together.
    pub batch: usize,
    /// Rows up to which a step is filled with guessed tokens; 0 for none. Changes the time, never the text.
    pub guesses: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { propositions: 8, tokens: 64, batch: 32, guesses: 12 }
    }
}

/// What [`LlamaExtractor::pace`] measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Seconds for the whole prompt.
    pub prompt_seconds: f64,
    /// Seconds for a token written.
    pub token_seconds: f64,
}

/// A language model that rewrites sentences.
pub struct LlamaExtractor {
    pub(super) engine: Engine,
    pub(super) vocabulary: Vocabulary,
    pub(super) limits: Limits,
    pub(super) trace: Option<Trace>,
    /// Tokens computed so far.
    pub(super) tokens: u64,
    tokenizer: Tokenizer,
    chat: Chat,
    /// Instructions that are computed, by language.
    instructions: HashMap<Language, Prefix>,
    checksum: String,
    /// Control tokens, which the text of a document must not be able to write.
    control: Vec<String>,
    /// Where weights and prefixes are kept, and the key of the model.
    disk: Option<(DiskCache, [u8; 32])>,
    reuse: PromptReuse,
}

/// A prompt piece whose keys and values are in the cache.
#[derive(Clone)]
pub(super) struct Prefix {
    pub(super) node: NodeId,
    /// The whole prompt up to here.
    pub(super) text: String,
    /// Tokens of the piece itself.
    pub(super) tokens: Arc<[u32]>,
}

impl std::fmt::Debug for LlamaExtractor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LlamaExtractor({:?}, {:?})", self.engine.config(), self.limits)
    }
}

impl LlamaExtractor {
    /// Loads the model file at `path`; `checksum` identifies it in caches.
    ///
    /// Fails when the file is no GGUF file, its architecture is not of the Llama family, its tensors do not fit, or the machine has
    /// not enough memory for it. Where memory is scarce fewer branches are decoded together.
    pub fn load(path: &Path, checksum: &str) -> Result<Self> {
        Self::open(path, checksum, None)
    }

    /// As [`Self::load`], with packed weights kept in `cache`: they are written there the first time, which takes as
    /// much space as the model, and mapped from then on, so that loading reads nothing and processes share the memory. Whatever
    /// cannot be kept costs time, never the result.
    pub fn load_cached(path: &Path, checksum: &str, cache: DiskCache) -> Result<Self> {
        Self::open(path, checksum, Some(cache))
    }

    /// As [`Self::load_cached`], on a device where `choice` means one: then candle's kernels compute, the weights are copied to the
    /// device, and `cache` is not used.
    pub fn load_on(path: &Path, checksum: &str, choice: DeviceChoice, cache: DiskCache) -> Result<Self> {
        match choice.open()? {
            Device::Cpu => Self::open(path, checksum, Some(cache)),
            device => Self::on(
                GgufFile::open(path)?,
                checksum,
                |gguf| Engine::on_device(gguf, &device),
                None,
                Limits::default(),
            ),
        }
    }

    fn open(path: &Path, checksum: &str, disk: Option<DiskCache>) -> Result<Self> {
        let gguf = GgufFile::open(path)?;
        let limits = Limits::default();
        let batch = Decoder::needs(&gguf)?.admit(memory::available(), limits.batch, path)?;
        let disk = disk.map(|disk| (disk, weights::key(&gguf, checksum)));
        let kept = disk.clone();
        let load = move |gguf| Engine::on_processor(gguf, kept.as_ref().map(|(disk, key)| (disk, key)));
        Self::on(gguf, checksum, load, disk, Limits { batch, ..limits })
    }

    fn on(
        gguf: GgufFile,
        checksum: &str,
        load: impl FnOnce(GgufFile) -> Result<Engine>,
        disk: Option<(DiskCache, [u8; 32])>,
        limits: Limits,
    ) -> Result<Self> {
        let tokenizer = model::tokenizer::from_gguf(&gguf)?;
        let vocabulary = Vocabulary::read(&gguf)?;
        let engine = load(gguf)?;
        let chat = Chat::detect(|token| tokenizer.token_to_id(token).is_some());
        let control = tokenizer.get_added_tokens_decoder().into_values().map(|t| t.content).collect();
        Ok(Self {
            engine,
            vocabulary,
            limits,
            trace: None,
            tokens: 0,
            tokenizer,
            chat,
            instructions: HashMap::new(),
            checksum: checksum.to_owned(),
            control,
            disk,
            reuse: PromptReuse::default(),
        })
    }

    /// Replaces the limits.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Records every model call from now on; the earlier trace is given back.
    pub fn set_trace(&mut self, trace: Option<Trace>) -> Option<Trace> {
        std::mem::replace(&mut self.trace, trace)
    }

    /// How fast the model is here: reads `prompt` tokens at once, then writes `steps` tokens one at a time.
    ///
    /// Which tokens they are does not matter. Fails when they do not fit the model's context.
    pub fn pace(&mut self, prompt: usize, steps: usize) -> Result<Pace> {
        let vocabulary = self.engine.config().vocabulary;
        let node = self.engine.branch(None, prompt + steps);
        let mut run = || -> Result<Pace> {
            let rows: Vec<Row> =
                (0..prompt).map(|i| Row { token: (i * 37 % vocabulary.min(1000)) as u32, node }).collect();
            let start = Instant::now();
            self.engine.forward(&rows, &[])?;
            let prompt_seconds = start.elapsed().as_secs_f64();
            let start = Instant::now();
            for i in 0..steps {
                let row = Row { token: (i % vocabulary.min(1000)) as u32, node };
                self.engine.forward(&[row], &[0])?;
            }
            Ok(Pace { prompt_seconds, token_seconds: start.elapsed().as_secs_f64() / steps.max(1) as f64 })
        };
        let pace = run();
        self.engine.release(node);
        pace
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let encoding = self
            .tokenizer
            .encode(text, false)
            .map_err(|e| Error::new(Kind::Model, "the tokenizer failed").because(e.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Text of a document as it may stand in a prompt: what would read as a control token is broken up, and straight
    /// quotes, which would end a JSON string when the model copies them, become typographic ones.
    fn harmless(&self, text: &str) -> String {
        let mut text = prompt::curl_quotes(text);
        for token in self.control.iter().filter(|t| !t.trim().is_empty()) {
            if text.contains(token.as_str()) {
                let mut chars = token.chars();
                let broken: String = chars.next().into_iter().chain(std::iter::once(' ')).chain(chars).collect();
                text = text.replace(token.as_str(), &broken);
            }
        }
        text
    }

    /// Appends the piece `text` to `parent` as a node of its own and computes it.
    fn prefill(&mut self, parent: Option<&Prefix>, text: &str) -> Result<Prefix> {
        let tokens = self.encode(text)?;
        let node = self.engine.branch(parent.map(|p| p.node), tokens.len());
        let rows: Vec<Row> = tokens.iter().map(|&token| Row { token, node }).collect();
        if let Err(error) = self.engine.forward(&rows, &[]) {
            self.engine.release(node);
            return Err(error);
        }
        self.tokens += tokens.len() as u64;
        let text = format!("{}{text}", parent.map_or("", |p| p.text.as_str()));
        Ok(Prefix { node, text, tokens: tokens.into() })
    }

    fn instructions(&mut self, language: Language) -> Result<Prefix> {
        if let Some(prefix) = self.instructions.get(&language).cloned() {
            self.reuse.in_memory += 1;
            self.reuse.tokens += prefix.tokens.len() as u64;
            return Ok(prefix);
        }
        let text = self.chat.instructions(language);
        let prefix = match self.kept(&text)? {
            Some(prefix) => prefix,
            None => {
                let prefix = self.prefill(None, &text)?;
                self.keep(&prefix);
                prefix
            }
        };
        self.instructions.insert(language, prefix.clone());
        Ok(prefix)
    }

    /// The beginning of a prompt from the folder of caches.
    fn kept(&mut self, text: &str) -> Result<Option<Prefix>> {
        let Some((disk, model)) = &self.disk else { return Ok(None) };
        let tokens = self.encode(text)?;
        let node = self.engine.read(disk, model, &tokens);
        if node.is_some() {
            self.reuse.on_disk += 1;
            self.reuse.tokens += tokens.len() as u64;
        }
        Ok(node.map(|node| Prefix { node, text: text.to_owned(), tokens: tokens.into() }))
    }

    fn keep(&self, prefix: &Prefix) {
        if let Some((disk, model)) = &self.disk
            && let Err(error) = self.engine.keep(disk, model, &prefix.tokens, prefix.node)
        {
            tracing::warn!(%error, "the beginning of the prompt is not kept");
        }
    }

    /// Computes the prefix of one window of a passage.
    pub(super) fn section(&mut self, passage: &Passage<'_>, text: &str) -> Result<(Language, Prefix)> {
        let language = Language::of(text);
        let instructions = self.instructions(language)?;
        let headings: Vec<String> = passage.heading_path.iter().map(|h| self.harmless(h)).collect();
        let (title, text) = (self.harmless(passage.title), self.harmless(text));
        let names: Vec<String> = passage.names.iter().map(|n| self.harmless(n)).collect();
        let before = self.harmless(passage.before);
        let passage = Passage { title: &title, heading_path: &headings, names: &names, before: &before, ..*passage };
        let prompt = self.chat.section(language, &passage, &text);
        Ok((language, self.prefill(Some(&instructions), &prompt)?))
    }

    /// The tokens of a branch and the prompt text they stand for.
    pub(super) fn sentence(&self, language: Language, sentence: &str) -> Result<(Vec<u32>, String)> {
        let text = self.chat.sentence(language, &self.harmless(sentence)) + super::json_array::JsonArray::OPENING;
        Ok((self.encode(&text)?, text))
    }
}

impl Extractor for LlamaExtractor {
    fn fingerprint(&self) -> String {
        let Limits { propositions, tokens, .. } = self.limits;
        format!("{} prompt {} limits {propositions} {tokens}", self.checksum, prompt::version())
    }

    fn tokens(&self) -> u64 {
        self.tokens
    }

    fn reuse(&self) -> PromptReuse {
        self.reuse
    }

    fn extract_each(
        &mut self,
        passages: &[Passage<'_>],
        done: &mut dyn FnMut(usize, Vec<Option<SentenceYield>>) -> Result<()>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        let mut windows = Vec::new();
        for (p, passage) in passages.iter().enumerate() {
            let text = Text::new(passage.text.to_owned());
            for (span, sentences) in windows_of(&text, passage) {
                let branches = sentences
                    .into_iter()
                    .map(|s| Branch::new(p, s, text.slice(passage.sentences[s].span).to_owned()))
                    .collect();
                windows.push(scheduler::Window { passage: p, text: text.slice(span).to_owned(), branches });
            }
        }
        let mut yields: Vec<Vec<Option<SentenceYield>>> =
            passages.iter().map(|p| vec![None; p.sentences.len()]).collect();
        let mut open = vec![0usize; passages.len()];
        for window in &windows {
            open[window.passage] += window.branches.len();
        }
        for p in (0..passages.len()).filter(|p| open[*p] == 0) {
            done(p, std::mem::take(&mut yields[p]))?;
        }
        let mut finished = |finished: scheduler::Finished| {
            let (p, mut output) = (finished.passage, finished.output);
            for proposition in &mut output.propositions {
                proposition.statement = prompt::straighten_quotes(&proposition.statement, passages[p].text);
            }
            yields[p][finished.sentence] = Some(output);
            open[p] -= 1;
            if open[p] == 0 { done(p, std::mem::take(&mut yields[p])) } else { Ok(()) }
        };
        scheduler::run(self, passages, windows, &mut finished, stop)
    }
}

/// Whether the model is asked about a sentence, unless the passage keeps it as it stands.
pub(crate) fn is_asked(text: &str, kind: SentenceKind) -> bool {
    matches!(kind, SentenceKind::Prose | SentenceKind::ListItem)
        && text.chars().filter(|c| c.is_alphanumeric()).count() >= SHORTEST
}

/// Stretches of whole sentences of at most [`WINDOW`] characters, with the sentences to ask about.
fn windows_of(text: &Text, passage: &Passage<'_>) -> Vec<(Span, Vec<usize>)> {
    let mut windows: Vec<(Span, Vec<usize>)> = Vec::new();
    for (i, sentence) in passage.sentences.iter().enumerate() {
        let span = sentence.span;
        match windows.last_mut() {
            Some((window, _)) if span.end - window.start <= WINDOW => window.end = span.end,
            _ => windows.push((span, Vec::new())),
        }
        if !passage.keeps(i)
            && is_asked(text.slice(span), sentence.kind)
            && let Some((_, asked)) = windows.last_mut()
        {
            asked.push(i);
        }
    }
    windows.retain(|(_, asked)| !asked.is_empty());
    windows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposition::Sentence;

    #[test]
    fn windows_hold_whole_sentences_and_every_asked_sentence_once() {
        let text = Text::new("油温不得超过九十五摄氏度。".repeat(1000));
        let sentences: Vec<Sentence> =
            (0..1000).map(|i| Sentence { span: Span::new(i * 13, (i + 1) * 13), kind: SentenceKind::Prose }).collect();
        let passage = Passage::new("", &[], text.as_str(), &sentences);
        let windows = windows_of(&text, &passage);
        let asked: Vec<usize> = windows.iter().flat_map(|(_, asked)| asked.clone()).collect();
        assert_eq!(asked, (0..1000).collect::<Vec<_>>());
        let kept: Vec<bool> = (0..1000).map(|i| i % 3 > 0).collect();
        let fewer = windows_of(&text, &Passage { kept: &kept, ..passage });
        let asked: Vec<usize> = fewer.iter().flat_map(|(_, asked)| asked.clone()).collect();
        assert_eq!(asked, (0..1000).step_by(3).collect::<Vec<_>>());
        for (span, asked) in &windows {
            assert!(span.len() <= WINDOW && asked.iter().all(|i| span.contains(sentences[*i].span)));
        }
    }

    #[test]
    fn headings_rows_and_fragments_are_not_asked_about() {
        assert!(is_asked("油温不得超过 95 ℃。", SentenceKind::Prose));
        assert!(is_asked("（二）堵塞消防通道的，", SentenceKind::ListItem));
        assert!(!is_asked("| 1 | 2 |", SentenceKind::TableRow));
        assert!(!is_asked("第一章", SentenceKind::Heading));
        assert!(!is_asked("***", SentenceKind::Prose));
    }
}
