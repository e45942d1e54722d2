//! Formulas: TeX as the HTML and MathML of KaTeX, which clients have the styles for.
//!
//! KaTeX itself (`formulas/katex.min.js`, version 0.16.22, unchanged) runs in a JavaScript engine. The engine is created by
//! the first formula, and one formula is rendered at a time. Steps, stack and memory of the engine have bounds, and so have
//! the steps and the HTML of all formulas of a message: whatever exceeds one is shown as typed, like a formula with an error.
//! Commands that make links, load pictures or set classes are not trusted, and are shown by their names.

mod check;
mod engine;

#[cfg(test)]
mod tests;

use engine::Engine;
use std::sync::{Mutex, PoisonError};

/// Steps for the formulas of one message, in units of ten thousand of the engine: about a tenth of a second in all, and
/// two units for a formula of usual size.
const MESSAGE_STEPS_MAX: u32 = 64;
/// HTML of the formulas of one message, in bytes; a short formula has about 800.
const MESSAGE_HTML_BYTES_MAX: usize = 256 * 1024;

/// The engine, once there was a formula.
static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

/// How a formula is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Display {
    /// Within a line.
    Inline,
    /// As a block of its own, larger.
    Block,
}

/// What the formulas of one message may still use.
#[derive(Debug)]
pub struct FormulaBudget {
    steps: u32,
    html_bytes: usize,
}

impl FormulaBudget {
    /// The budget of one message.
    pub fn of_message() -> Self {
        Self { steps: MESSAGE_STEPS_MAX, html_bytes: MESSAGE_HTML_BYTES_MAX }
    }

    /// The HTML of a formula; `None` if it has an error, or needs more than is left.
    pub fn render(&mut self, tex: &str, display: Display) -> Option<String> {
        if self.steps == 0 {
            return None;
        }
        let mut slot = ENGINE.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that an engine that panics is not used again.
        let engine = slot.take().or_else(Engine::new)?;
        let (html, steps) = engine.render(tex, display == Display::Block, self.steps);
        *slot = Some(engine);
        drop(slot);
        self.steps = self.steps.saturating_sub(steps);
        let html = html.filter(|html| html.len() <= self.html_bytes && check::is_safe(html))?;
        self.html_bytes -= html.len();
        Some(html)
    }
}
