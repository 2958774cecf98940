//! Decodes many branches as one batch: a branch that ends makes room for the next, and a new branch's prompt runs in the
//! same forward pass as the others' next tokens.
//!
//! What is written mostly copies the section. Where a step has few rows, its time is that of reading the weights, and more
//! rows cost nothing: then the tokens that follow in the section are computed along as guesses. Those that the model would
//! have chosen itself are kept, the others taken back, so that the text is that of choosing one token at a time (Leviathan
//! et al. 2023, with the text as the draft).

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
    /// Section and sentence, from which guesses are copied.
    source: Vec<u32>,
    /// Tokens chosen so far.
    written: Vec<u32>,
    array: JsonArray,
    /// Log probability and number of the tokens of the string being written.
    string: (f64, u32),
    /// Probabilities of the closed strings.
    probabilities: Vec<f32>,
    tokens_left: usize,
    prompt: String,
    prompt_tokens: usize,
    cached_tokens: usize,
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
            let room = tokens.len() + limit + extractor.limits.guesses;
            let node = extractor.engine.branch(Some(open.prefix.node), room);
            let cached_tokens = extractor.engine.end(open.prefix.node);
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
                started: Instant::now(),
                source: [&open.prefix.tokens, tokens.as_slice()].concat(),
                written: Vec::new(),
                next: tokens,
            });
        }
        Ok(())
    }

    /// One forward pass over all branches, then the choice of each one's next token.
    fn step(&mut self, extractor: &mut LlamaExtractor, finished: &mut dyn FnMut(Finished) -> Result<()>) -> Result<()> {
        let mut rows = Vec::new();
        let mut wanted = Vec::with_capacity(self.running.len());
        let needed: usize = self.running.iter().map(|b| b.next.len()).sum();
        // An even share of the rows that come for nothing.
        let spare = extractor.limits.guesses.saturating_sub(needed) / self.running.len();
        let mut guesses = Vec::with_capacity(self.running.len());
        for branch in &mut self.running {
            let end = extractor.engine.end(branch.node) + branch.next.len();
            let guessed = branch.guess(spare.min(extractor.engine.config().context.saturating_sub(end))).to_vec();
            rows.extend(branch.next.drain(..).map(|token| Row { token, node: branch.node }));
            wanted.push(rows.len() - 1);
            for &token in &guessed {
                rows.push(Row { token, node: branch.node });
                wanted.push(rows.len() - 1);
            }
            guesses.push(guessed);
        }
        let logits = extractor.engine.forward(&rows, &wanted)?;
        extractor.tokens += rows.len() as u64;
        let vocabulary = extractor.engine.config().vocabulary;
        let mut rest = logits.as_slice();
        let mut steps = Vec::with_capacity(self.running.len());
        for (branch, guessed) in self.running.iter_mut().zip(&guesses) {
            let (own, after) = rest.split_at((1 + guessed.len()) * vocabulary);
            steps.push((branch, guessed, own));
            rest = after;
        }
        let results: Vec<(bool, usize)> = steps
            .into_par_iter()
            .map(|(branch, guessed, logits)| {
                branch.take(&extractor.vocabulary, guessed, logits.chunks_exact(vocabulary))
            })
            .collect();
        let mut done = Vec::new();
        for (i, (branch, (ended, wrong))) in self.running.iter().zip(results).enumerate() {
            let len = extractor.engine.end(branch.node) - extractor.engine.start(branch.node);
            extractor.engine.truncate(branch.node, len - wrong)?;
            if ended {
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
        extractor.engine.release(branch.node);
        if let Some(open) = &mut self.open[branch.window] {
            open.running -= 1;
            if open.running == 0 && open.waiting.is_empty() {
                extractor.engine.release(open.prefix.node);
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
                output_tokens: branch.written.len(),
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
            extractor.engine.release(branch.node);
        }
        for open in self.open.drain(..).flatten() {
            extractor.engine.release(open.prefix.node);
        }
    }
}

impl Running {
    /// At most `most` tokens that may come after the next one, copied from where the source has what was written last.
    fn guess(&self, most: usize) -> &[u32] {
        /// Tokens that are compared, at most.
        const CONTEXT: usize = 3;
        let most = most.min(self.tokens_left.saturating_sub(1));
        if most == 0 || self.written.is_empty() {
            return &[];
        }
        for n in (1..=CONTEXT.min(self.written.len())).rev() {
            let tail = &self.written[self.written.len() - n..];
            // The sentence itself stands last.
            if let Some(at) = self.source.windows(n).rposition(|w| w == tail) {
                let rest = &self.source[at + n..];
                return &rest[..most.min(rest.len())];
            }
        }
        &[]
    }

    /// Chooses tokens for as long as the guesses agree. `logits` are those after the last token that was needed and after each
    /// guess. Returns whether the branch has ended, and how many guesses are to be taken back.
    fn take<'l>(
        &mut self,
        vocabulary: &Vocabulary,
        guessed: &[u32],
        logits: impl Iterator<Item = &'l [f32]>,
    ) -> (bool, usize) {
        for (i, logits) in logits.enumerate() {
            let wrong = guessed.len() - i;
            let Some(choice) = self.choose(vocabulary, logits) else { return (true, wrong) };
            if self.advance(vocabulary, choice) {
                return (true, wrong);
            }
            if guessed.get(i) != Some(&choice.token) {
                self.next.push(choice.token);
                return (false, wrong);
            }
        }
        (false, 0)
    }

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
        self.tokens_left -= 1;
        self.written.push(choice.token);
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
