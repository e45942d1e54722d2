//! The progress of long commands on standard error: a bar on terminals, otherwise a line every few seconds.

use super::print::print_note;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often a line is printed.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// The progress of one step.
pub struct Bar {
    what: &'static str,
    unit: &'static str,
    /// None if standard error is no terminal.
    bar: Option<ProgressBar>,
    printed: Instant,
}

impl Bar {
    /// A step, such as `checking`, of things such as `files`.
    pub fn new(what: &'static str, unit: &'static str) -> Self {
        Self { what, unit, bar: None, printed: Instant::now() }
    }

    /// So many of all are done.
    pub fn set(&mut self, done: u64, all: u64) {
        if std::io::stderr().is_terminal() {
            let bar = self.bar.get_or_insert_with(|| self::bar(self.what, self.unit));
            bar.set_length(all);
            bar.set_position(done);
        } else if self.printed.elapsed() >= LINE_EVERY {
            self.printed = Instant::now();
            print_note(format_args!("{}: {done} of {all} {}", self.what, self.unit));
        }
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, unit: &'static str) -> ProgressBar {
    let shown = format!("{{msg}} {{wide_bar}} {{human_pos}} of {{human_len}} {unit}, {{eta}}");
    let style = ProgressStyle::with_template(&shown).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style).with_message(what)
}
