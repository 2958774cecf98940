//! How far the work is: bars on a terminal, an occasional line elsewhere, JSON Lines for programs.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mingti::ingest::Progress;
use serde::Serialize;

use super::output::{self, Out, printable};

/// Time between two lines where there is no terminal.
const EVERY: Duration = Duration::from_secs(20);

/// Shows the events of one indexing run.
pub(crate) struct Reporter {
    face: Face,
    started: Instant,
    told: Option<Instant>,
    stage: Stage,
    verbose: bool,
    failed: Vec<NotIndexed>,
}

/// A file that is not in the index, and why.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct NotIndexed {
    path: String,
    error: String,
}

enum Face {
    Bar(ProgressBar),
    Lines,
    /// `None` once nobody reads any more; the work goes on.
    Json(Option<Out>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Files,
    Sections,
    Units,
    Build,
}

impl Reporter {
    /// For people on stderr, or for programs on stdout.
    pub(crate) fn new(json: bool) -> Self {
        let face = if json {
            Face::Json(Some(Out::stdout()))
        } else if io::stderr().is_terminal() {
            Face::Bar(ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()))
        } else {
            Face::Lines
        };
        Self { face, started: Instant::now(), told: None, stage: Stage::Files, verbose: false, failed: Vec::new() }
    }

    /// Tells of every file how it was read.
    pub(crate) fn verbose(self, verbose: bool) -> Self {
        Self { verbose, ..self }
    }

    /// Shows one event.
    pub(crate) fn show(&mut self, event: &Progress) {
        if let Progress::Failed { path, error } = event {
            self.failed.push(NotIndexed { path: path.clone(), error: error.clone() });
        }
        if let Face::Json(out) = &mut self.face {
            if out.as_mut().is_some_and(|out| out.json(event).is_err()) {
                *out = None;
            }
            return;
        }
        match event {
            Progress::Failed { path, error } => self.say(|| output::complain(about(path, error))),
            Progress::Warning { path, message } => self.say(|| output::warn(about(path, message))),
            Progress::Section { done, total, .. } => self.advance(Stage::Sections, *done, *total),
            Progress::Embedding { done, total } => self.advance(Stage::Units, *done, *total),
            Progress::Building { vectors } => self.advance(Stage::Build, 0, *vectors),
            Progress::Read { path, encoding, confidence, pages, chars } if self.verbose => {
                let encoding = if encoding.is_empty() {
                    String::new()
                } else {
                    format!("{encoding} (confidence {confidence:.2}), ")
                };
                let pages = if *pages == 0 { String::new() } else { format!("{pages} pages, ") };
                self.say(|| output::note(&printable(&format!("{path}: {encoding}{pages}{chars} characters"))));
            }
            Progress::Read { .. } | Progress::Started { .. } | Progress::File { .. } | Progress::Published { .. } => {}
        }
    }

    /// Removes the bar, and gives what could not be indexed.
    pub(crate) fn finish(self) -> Vec<NotIndexed> {
        if let Face::Bar(bar) = self.face {
            bar.finish_and_clear();
        }
        self.failed
    }

    fn say(&self, speak: impl FnOnce()) {
        match &self.face {
            Face::Bar(bar) => bar.suspend(speak),
            _ => speak(),
        }
    }

    fn advance(&mut self, stage: Stage, done: usize, total: usize) {
        if stage != self.stage {
            self.stage = stage;
            self.started = Instant::now();
            self.told = None;
        }
        let text = describe(stage, done, total, self.started.elapsed());
        match &self.face {
            Face::Bar(bar) => {
                bar.set_style(style(stage));
                bar.set_length(total as u64);
                bar.set_position(done as u64);
                bar.set_message(text);
            }
            Face::Lines if self.told.is_none_or(|told| told.elapsed() >= EVERY) || done == total => {
                self.told = Some(Instant::now());
                output::note(&text);
            }
            _ => {}
        }
    }
}

/// Names the files that are not in the index once more: what was said of them may have scrolled away.
pub(crate) fn remind(failed: &[NotIndexed]) {
    if failed.is_empty() {
        return;
    }
    output::note("not in the index:");
    for NotIndexed { path, error } in failed {
        let reason = error.lines().next().unwrap_or_default();
        output::note(&format!("  {}", about(path, reason)));
    }
}

fn about(path: &str, text: &str) -> String {
    // A library error mostly names its place itself.
    if path.is_empty() || text.contains(path) { printable(text) } else { printable(&format!("{path}: {text}")) }
}

fn style(stage: Stage) -> ProgressStyle {
    let template = if stage == Stage::Build { "{spinner} {msg}" } else { "{bar:30.cyan} {msg}" };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// `extracting: section 12 of 80, 6.1 sections a minute, 11 min left`
fn describe(stage: Stage, done: usize, total: usize, elapsed: Duration) -> String {
    let (verb, one, many) = match stage {
        Stage::Files => return format!("reading: {done} of {total} files"),
        Stage::Build => return format!("building the index of {total} vectors"),
        Stage::Sections => ("extracting", "section", "sections"),
        Stage::Units => ("embedding", "unit", "units"),
    };
    let mut text = format!("{verb}: {one} {done} of {total}");
    let minutes = elapsed.as_secs_f64() / 60.0;
    // The first items come too fast or too slow to tell a rate from them.
    if done > 0 && elapsed > Duration::from_millis(500) {
        let rate = done as f64 / minutes;
        let digits = usize::from(rate < 10.0);
        text += &format!(", {rate:.digits$} {many} a minute");
        if done < total {
            let left = Duration::from_secs_f64(minutes * 60.0 * (total - done) as f64 / done as f64);
            text += &format!(", {} left", duration(left));
        }
    }
    text
}

/// A time that was measured: `8.1 s`, `42 s`, `2 min 05 s`.
pub(crate) fn measured(time: Duration) -> String {
    match time.as_secs() {
        0..=9 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..=59 => format!("{seconds} s"),
        seconds @ 60..=3599 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => duration(time),
    }
}

/// A time that was estimated: `8 s`, `11 min`, `2 h 05 min`.
fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=89 => format!("{seconds} s"),
        90..=5399 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1.1 GB`, `940 kB` (powers of ten, as disks and downloads are sold)
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.0} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.0} MB", count as f64 / 1e6),
        _ => format!("{:.2} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_time_left_are_told() {
        let text = describe(Stage::Sections, 12, 80, Duration::from_secs(120));
        assert_eq!(text, "extracting: section 12 of 80, 6.0 sections a minute, 11 min left");
        assert_eq!(describe(Stage::Units, 0, 9, Duration::ZERO), "embedding: unit 0 of 9");
        assert_eq!(describe(Stage::Units, 9, 9, Duration::from_secs(1)), "embedding: unit 9 of 9, 540 units a minute");
    }

    #[test]
    fn sizes_and_times_read_well() {
        assert_eq!(duration(Duration::from_secs(7500)), "2 h 05 min");
        assert_eq!(measured(Duration::from_millis(1540)), "1.5 s");
        assert_eq!(measured(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(bytes(1_117_320_768), "1.12 GB");
        assert_eq!(bytes(999), "999 B");
    }
}
