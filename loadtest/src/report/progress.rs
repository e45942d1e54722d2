//! Progress during a run: a live line on a terminal, or a plain line every few seconds otherwise.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::note;
use crate::recorder::Progress;
use crate::units::{as_float, format_whole};

const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// How far a preparation has come: a bar on a terminal, or a plain line every few seconds otherwise.
#[derive(Debug, Clone)]
pub struct CountingLine {
    what: String,
    bar: ProgressBar,
    /// When the last plain line was due; none on a terminal.
    last_plain: Option<Arc<Mutex<Instant>>>,
}

impl CountingLine {
    /// A line that counts to `length`.
    pub fn new(length: u64, what: &str) -> Self {
        Self::with(length, what, std::io::stderr().is_terminal())
    }

    fn with(length: u64, what: &str, is_terminal: bool) -> Self {
        let bar = ProgressBar::new(length);
        if let Ok(style) = ProgressStyle::with_template("{msg:>12} {bar:30} {pos}/{len} {per_sec} eta {eta}")
        {
            bar.set_style(style);
        }
        bar.set_message(what.to_owned());
        let last_plain = (!is_terminal).then(|| Arc::new(Mutex::new(Instant::now())));
        Self { what: what.to_owned(), bar, last_plain }
    }

    /// Counts one more.
    pub fn add_one(&self) {
        self.bar.inc(1);
        self.show();
    }

    /// Sets the count.
    pub fn set(&self, count: u64) {
        self.bar.set_position(count);
        self.show();
    }

    fn show(&self) {
        if let Some(line) = self.plain_line(Instant::now()) {
            note(line);
        }
    }

    /// The plain line, if one is due.
    fn plain_line(&self, now: Instant) -> Option<String> {
        let mut last = self.last_plain.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        if now.saturating_duration_since(*last) < PLAIN_EVERY {
            return None;
        }
        *last = now;
        let count = |count: u64| format_whole(as_float(count));
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        Some(format!("preparing: {} of {} {}", count(done), count(all), self.what))
    }

    /// Removes the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// The line of a running phase.
#[derive(Debug)]
pub struct PhaseLine {
    label: String,
    bar: ProgressBar,
    begun: Instant,
    last: (Instant, u64),
    last_plain: Instant,
    plain: bool,
}

impl PhaseLine {
    /// A line for a phase that takes about `length`.
    pub fn new(label: &str, length: Duration) -> Self {
        let bar = ProgressBar::new(u64::try_from(length.as_millis()).unwrap_or(u64::MAX));
        if let Ok(style) = ProgressStyle::with_template("{prefix:>28} {bar:20} {msg}") {
            bar.set_style(style);
        }
        bar.set_prefix(label.to_owned());
        let now = Instant::now();
        let plain = !std::io::stderr().is_terminal();
        Self { label: label.to_owned(), bar, begun: now, last: (now, 0), last_plain: now, plain }
    }

    /// Updates the line.
    pub fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        let text = self.text(now, progress);
        if self.plain {
            if now.duration_since(self.last_plain) < PLAIN_EVERY {
                return;
            }
            self.last_plain = now;
            note(format!("{}: {text}", self.label));
        }
        self.last = (now, progress.total);
        self.bar.set_position(u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        self.bar.set_message(text);
    }

    fn text(&self, now: Instant, progress: Progress) -> String {
        let secs = now.duration_since(self.last.0).as_secs_f64().max(1e-3);
        let millis = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
        let rate = as_float(progress.total.saturating_sub(self.last.1)) / secs;
        format!(
            "now {rate:.0}/s, {} errors, p50 {} ms, p99 {} ms so far",
            progress.failed,
            millis(progress.p50_ms),
            millis(progress.p99_ms)
        )
    }

    /// Removes the line.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_rate_since_the_last_one() {
        let line = PhaseLine::new("send", Duration::from_secs(1));
        let progress = Progress { total: 500, failed: 2, p50_ms: Some(1.5), p99_ms: None };
        let text = line.text(line.begun + Duration::from_millis(500), progress);
        // The final rate is a mean over all of the phase; its line says so.
        assert_eq!(text, "now 1000/s, 2 errors, p50 1.50 ms, p99 – ms so far");
    }

    #[test]
    fn preparation_has_a_plain_line_now_and_then_without_a_terminal() {
        let line = CountingLine::with(10_000, "users", false);
        let begun = Instant::now();
        line.bar.set_position(2_345);
        assert_eq!(line.plain_line(begun), None, "short preparations are silent");
        let text = line.plain_line(begun + PLAIN_EVERY).unwrap();
        assert_eq!(text, "preparing: 2,345 of 10,000 users");
        let worker = line.clone();
        worker.bar.inc(1);
        assert_eq!(worker.plain_line(begun + PLAIN_EVERY), None, "all workers share one line");
        assert!(line.plain_line(begun + 2 * PLAIN_EVERY).unwrap().contains("2,346 of"));
        let bar = CountingLine::with(10_000, "users", true);
        assert_eq!(bar.plain_line(begun + PLAIN_EVERY), None, "a terminal has the bar");
    }
}
