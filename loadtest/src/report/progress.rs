//! Progress during a run: a live line on a terminal, or a plain line every few seconds otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::note;
use crate::recorder::Progress;

const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// A bar that counts to `length`.
pub fn counting_bar(length: u64, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg:>12} {bar:30} {pos}/{len} {per_sec} eta {eta}") {
        bar.set_style(style);
    }
    bar.set_message(what.to_owned());
    bar
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
        let rate = crate::units::as_float(progress.total.saturating_sub(self.last.1)) / secs;
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
}
