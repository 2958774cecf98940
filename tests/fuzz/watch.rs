//! Reads files on a thread of its own and says what went wrong: panics, files that take too long or too much.

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use mingti::document::{Document, READER_THREAD, ReadOptions};

use crate::invariants::{self, Evidence};
use crate::memory;

/// Longest time that a file may take.
const LONGEST: Duration = Duration::from_secs(5);
/// Most memory that a file may take.
const MOST: usize = 600 << 20;
/// A file that takes longer than this is given up.
const END: Duration = Duration::from_secs(25);

const NAME: &str = "fuzz-worker";

/// The last panic of a thread that reads.
static PANIC: Mutex<Option<String>> = Mutex::new(None);

/// What became of a file.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) signature: u64,
    pub(crate) is_read: bool,
    pub(crate) time: Duration,
    pub(crate) memory: usize,
    /// What went wrong, in words that are the same for the same fault, and in detail.
    pub(crate) faults: Vec<(String, String)>,
    /// The thread never answered.
    pub(crate) is_lost: bool,
}

/// A file to be read.
struct Task {
    name: String,
    bytes: Vec<u8>,
    evidence: Evidence,
    /// Reads it twice and compares.
    twice: bool,
}

/// A thread that reads one file after the other.
pub(crate) struct Worker {
    tasks: Sender<Task>,
    outcomes: Receiver<Outcome>,
}

impl Worker {
    pub(crate) fn start() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                let thread = std::thread::current();
                if matches!(thread.name(), Some(READER_THREAD | NAME)) {
                    *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
                } else {
                    before(info);
                }
            }));
        });
        let (tasks, of_tasks) = channel::<Task>();
        let (to_outcomes, outcomes) = channel();
        let work = move || {
            for task in of_tasks {
                if to_outcomes.send(run(&task)).is_err() {
                    break;
                }
            }
        };
        // Splitters and decoders run here, with the stack of a usual main thread.
        std::thread::Builder::new()
            .name(NAME.to_owned())
            .stack_size(8 << 20)
            .spawn(work)
            .expect("a thread can be started");
        Self { tasks, outcomes }
    }

    /// Reads one file. A worker that is lost is not to be used again.
    pub(crate) fn read(&self, name: &str, bytes: &[u8], evidence: &Evidence, twice: bool) -> Outcome {
        memory::watch();
        let task = Task { name: name.to_owned(), bytes: bytes.to_vec(), evidence: evidence.clone(), twice };
        memory::start();
        let sent = self.tasks.send(task).is_ok();
        let outcome = self.outcomes.recv_timeout(END).ok().filter(|_| sent);
        let memory = memory::peak();
        let Some(mut outcome) = outcome else {
            let fault = if memory::is_exhausted() { "takes all memory" } else { "does not come to an end" };
            let faults = vec![(fault.to_owned(), format!("{} MB", memory >> 20))];
            return Outcome { faults, memory, is_lost: true, ..Outcome::default() };
        };
        if memory > MOST {
            outcome.faults.push(("takes too much memory".to_owned(), format!("{} MB", memory >> 20)));
        }
        outcome.memory = memory;
        outcome
    }
}

fn options() -> ReadOptions {
    ReadOptions { time_limit: Duration::from_secs(10), ..ReadOptions::default() }
}

fn run(task: &Task) -> Outcome {
    let start = Instant::now();
    let mut outcome = caught(task);
    outcome.time = start.elapsed();
    if outcome.time > LONGEST {
        // A busy machine makes any file slow now and then.
        let start = Instant::now();
        let _ = caught(task);
        let again = start.elapsed();
        if again > LONGEST {
            outcome.faults.push(("takes too long".to_owned(), format!("{:?}, then {again:?}", outcome.time)));
        }
        outcome.time = outcome.time.min(again);
    }
    outcome
}

fn caught(task: &Task) -> Outcome {
    let last = || PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    let _ = last();
    let mut outcome = panic::catch_unwind(AssertUnwindSafe(|| judged(task))).unwrap_or_default();
    if let Some(message) = last() {
        // The place is the same for the same fault, the message need not be.
        let place = message.lines().next().unwrap_or_default().to_owned();
        outcome.faults.push((place, message));
    }
    outcome
}

fn judged(task: &Task) -> Outcome {
    let read = || Document::from_bytes(&task.name, task.bytes.clone(), &options());
    let first = read();
    let mut outcome =
        Outcome { signature: invariants::signature(&first), is_read: first.is_ok(), ..Outcome::default() };
    match &first {
        Ok(document) => {
            let broken = invariants::broken(document, &task.evidence);
            outcome.faults.extend(broken.into_iter().map(|(rule, found)| (rule.to_owned(), found)));
            let pairs = |document: &Document| format!("{:?}", (&document.pages, &document.skipped, &document.metadata));
            if task.twice
                && !read().is_ok_and(|again| {
                    again.text.as_str() == document.text.as_str() && pairs(&again) == pairs(document)
                })
            {
                outcome.faults.push(("the same file gives the same text".to_owned(), "another".to_owned()));
            }
        }
        Err(error) => {
            let message = error.to_string();
            if message.contains("does not survive") {
                outcome.faults.push(("does not survive".to_owned(), message));
            }
        }
    }
    outcome
}
