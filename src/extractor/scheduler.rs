//! Decodes many branches as one batch: a branch that ends makes room for the next, and a new branch's prompt runs in the
//! same forward pass as the others' next tokens.

use std::collections::VecDeque;
use std::time::Instant;

use rayon::prelude::*;

use super::cache::NodeId;
use super::decoder::Row;
use super::json_array::JsonArray;
use super::llama::{LlamaExtractor, Prefix};
use super::prompt::Language;
use super::trace::Call;
use super::vocabulary::Vocabulary;
use crate::compute::elementwise::log_sum_exp;
use crate::error::{Error, Kind, Result};
use crate::proposition::{Passage, RawProposition, SentenceYield};

/// A stretch of a passage that the model sees, with the sentences asked about.
pub(super) struct Window {
    pub(super) passage: usize,
    pub(super) text: String,
    pub(super) branches: VecDeque<Branch>,
}

/// A sentence to be asked about.
pub(super) struct Branch {
    passage: usize,
    sentence: usize,
    text: String,
}

impl Branch {
    pub(super) fn new(passage: usize, sentence: usize, text: String) -> Self {
        Self { passage, sentence, text }
    }
}

/// What came of a branch.
pub(super) struct Finished {
    pub(super) passage: usize,
    pub(super) sentence: usize,
    pub(super) output: SentenceYield,
}

/// A window whose prefix is computed.
struct Open {
    language: Language,
    prefix: Prefix,
    waiting: VecDeque<Branch>,
    running: usize,
}

/// A branch in the batch.
struct Running {
    /// Index of its window among the open ones.
    window: usize,
    passage: usize,
    sentence: usize,
    node: NodeId,
    /// Tokens to compute next: the prompt first, then the token just chosen.
    next: Vec<u32>,
    array: JsonArray,
    /// Log probability and number of the tokens of the string being written.
    string: (f64, u32),
    /// Probabilities of the closed strings.
    probabilities: Vec<f32>,
    tokens_left: usize,
    prompt: String,
    prompt_tokens: usize,
    cached_tokens: usize,
    output_tokens: usize,
    started: Instant,
}

/// A token that was chosen.
#[derive(Clone, Copy)]
struct Choice {
    token: u32,
    log_probability: f64,
}

/// Decodes all branches of `windows`, at most `limits.batch` at a time, and hands each to `finished` when it ends.
pub(super) fn run(
    extractor: &mut LlamaExtractor,
    passages: &[Passage<'_>],
    windows: Vec<Window>,
    finished: &mut dyn FnMut(Finished) -> Result<()>,
    stop: &dyn Fn() -> bool,
) -> Result<()> {
    let mut batch = Batch { windows: windows.into(), open: Vec::new(), running: Vec::new() };
    let result = batch.run(extractor, passages, finished, stop);
    batch.release(extractor);
    result
}

struct Batch {
    windows: VecDeque<Window>,
    open: Vec<Option<Open>>,
    running: Vec<Running>,
}

impl Batch {
    fn run(
        &mut self,
        extractor: &mut LlamaExtractor,
        passages: &[Passage<'_>],
        finished: &mut dyn FnMut(Finished) -> Result<()>,
        stop: &dyn Fn() -> bool,
    ) -> Result<()> {
        loop {
            if stop() {
                return Err(Error::new(Kind::Interrupted, "extraction was stopped on request"));
            }
            self.fill(extractor, passages)?;
            if self.running.is_empty() {
                return Ok(());
            }
            self.step(extractor, finished)?;
        }
    }

    /// Takes branches in until the batch is full, opening windows as they are needed.
    fn fill(&mut self, extractor: &mut LlamaExtractor, passages: &[Passage<'_>]) -> Result<()> {
        while self.running.len() < extractor.limits.batch {
            let index = self.open.iter().position(|o| o.as_ref().is_some_and(|o| !o.waiting.is_empty()));
            let Some(index) = index else {
                let Some(window) = self.windows.pop_front() else { return Ok(()) };
                let (language, prefix) = extractor.section(&passages[window.passage], &window.text)?;
                self.open.push(Some(Open { language, prefix, waiting: window.branches, running: 0 }));
                continue;
            };
            let Some(open) = &mut self.open[index] else { continue };
            let Some(branch) = open.waiting.pop_front() else { continue };
            let (tokens, prompt) = extractor.sentence(open.language, &branch.text)?;
            let limit = extractor.limits.tokens + 3 * tokens.len();
            let node = extractor.cache.branch(Some(open.prefix.node), tokens.len() + limit);
            let cached_tokens = extractor.cache.end(open.prefix.node);
            open.running += 1;
            self.running.push(Running {
                window: index,
                passage: branch.passage,
                sentence: branch.sentence,
                node,
                array: JsonArray::new(extractor.limits.propositions),
                string: (0.0, 0),
                probabilities: Vec::new(),
                tokens_left: limit,
                prompt: format!("{}{prompt}", open.prefix.text),
                prompt_tokens: cached_tokens + tokens.len(),
                cached_tokens,
                output_tokens: 0,
                started: Instant::now(),
                next: tokens,
            });
        }
        Ok(())
    }

    /// One forward pass over all branches, then the choice of each one's next token.
    fn step(&mut self, extractor: &mut LlamaExtractor, finished: &mut dyn FnMut(Finished) -> Result<()>) -> Result<()> {
        let mut rows = Vec::new();
        let mut wanted = Vec::with_capacity(self.running.len());
        for branch in &mut self.running {
            rows.extend(branch.next.drain(..).map(|token| Row { token, node: branch.node }));
            wanted.push(rows.len() - 1);
        }
        let logits = extractor.decoder.forward(&mut extractor.cache, &rows, &wanted)?;
        extractor.tokens += rows.len() as u64;
        let vocabulary = extractor.decoder.config().vocabulary;
        let choices: Vec<Option<Choice>> = self
            .running
            .par_iter()
            .zip(logits.par_chunks_exact(vocabulary))
            .map(|(branch, logits)| branch.choose(&extractor.vocabulary, logits))
            .collect();
        let mut done = Vec::new();
        for (i, (branch, choice)) in self.running.iter_mut().zip(choices).enumerate() {
            if choice.is_none_or(|choice| branch.advance(&extractor.vocabulary, choice)) {
                done.push(i);
            }
        }
        for i in done.into_iter().rev() {
            let branch = self.running.swap_remove(i);
            finished(self.finish(extractor, branch)?)?;
        }
        Ok(())
    }

    fn finish(&mut self, extractor: &mut LlamaExtractor, branch: Running) -> Result<Finished> {
        extractor.cache.release(branch.node);
        if let Some(open) = &mut self.open[branch.window] {
            open.running -= 1;
            if open.running == 0 && open.waiting.is_empty() {
                extractor.cache.release(open.prefix.node);
                self.open[branch.window] = None;
            }
        }
        if let Some(trace) = &mut extractor.trace {
            let text = branch.array.text();
            trace.call(&Call {
                prompt: &branch.prompt,
                output: &text[JsonArray::OPENING.len()..],
                prompt_tokens: branch.prompt_tokens,
                cached_tokens: branch.cached_tokens,
                output_tokens: branch.output_tokens,
                seconds: branch.started.elapsed().as_secs_f64(),
            })?;
        }
        let strings = branch.array.strings();
        let truncated = !branch.array.is_done();
        let propositions = strings
            .into_iter()
            .zip(branch.probabilities)
            .filter(|(statement, _)| !statement.trim().is_empty())
            .map(|(statement, probability)| RawProposition { statement: statement.trim().to_owned(), probability })
            .collect();
        let output = SentenceYield { propositions, truncated };
        Ok(Finished { passage: branch.passage, sentence: branch.sentence, output })
    }

    /// Gives back whatever an error or a stop left in the cache.
    fn release(&mut self, extractor: &mut LlamaExtractor) {
        for branch in self.running.drain(..) {
            extractor.cache.release(branch.node);
        }
        for open in self.open.drain(..).flatten() {
            extractor.cache.release(open.prefix.node);
        }
    }
}

impl Running {
    /// The next token: the likeliest that the grammar takes.
    fn choose(&self, vocabulary: &Vocabulary, logits: &[f32]) -> Option<Choice> {
        let token = best(logits, |token| self.array.accepts(vocabulary.bytes(token as u32)))?;
        let log_probability = f64::from(logits[token] - log_sum_exp(logits));
        Some(Choice { token: token as u32, log_probability })
    }

    /// Writes a token; true when the branch has ended.
    fn advance(&mut self, vocabulary: &Vocabulary, choice: Choice) -> bool {
        self.string = (self.string.0 + choice.log_probability, self.string.1 + 1);
        let closed = self.array.write(vocabulary.bytes(choice.token));
        for _ in 0..closed {
            let (sum, count) = std::mem::take(&mut self.string);
            self.probabilities.push((sum / f64::from(count.max(1))).exp() as f32);
        }
        self.output_tokens += 1;
        self.tokens_left -= 1;
        self.next.push(choice.token);
        self.array.is_done() || self.tokens_left == 0 || (closed > 0 && self.repeats())
    }

    /// True when the string just closed was written before: a greedy model would go on for ever.
    fn repeats(&self) -> bool {
        let strings = self.array.strings();
        strings.split_last().is_some_and(|(last, before)| before.contains(last))
    }
}

/// The token with the highest logit among those that `accepts` lets through; of equals the first.
fn best(logits: &[f32], accepts: impl Fn(usize) -> bool) -> Option<usize> {
    let highest = |below: Option<(f32, usize)>| {
        let mut best: Option<(f32, usize)> = None;
        for (i, &logit) in logits.iter().enumerate() {
            let after = below.is_none_or(|(l, at)| logit < l || (logit == l && i > at));
            if after && best.is_none_or(|(l, _)| logit > l) {
                best = Some((logit, i));
            }
        }
        best
    };
    // The grammar nearly always takes the model's first choice; past a few, one pass over all is cheaper.
    let mut tried = None;
    for _ in 0..8 {
        tried = highest(tried);
        let (_, token) = tried?;
        if accepts(token) {
            return Some(token);
        }
    }
    let mut best: Option<(f32, usize)> = None;
    for (i, &logit) in logits.iter().enumerate() {
        if best.is_none_or(|(l, _)| logit > l) && accepts(i) {
            best = Some((logit, i));
        }
    }
    best.map(|(_, token)| token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_accepted_token_is_found_however_far_down_it_is() {
        let logits: Vec<f32> = (0..100).map(|i| ((i * 37) % 100) as f32).collect();
        for limit in [100, 99, 50, 3] {
            let expected =
                (0..100).filter(|i| logits[*i] < limit as f32).max_by(|a, b| logits[*a].total_cmp(&logits[*b]));
            assert_eq!(best(&logits, |i| logits[i] < limit as f32), expected);
        }
        assert_eq!(best(&logits, |_| false), None);
        assert_eq!(best(&[1.0, 1.0], |i| i == 1), Some(1));
    }
}
