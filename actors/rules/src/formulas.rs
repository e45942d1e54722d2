//! Formulas: TeX as the HTML and MathML of KaTeX, which clients have the styles for.
//!
//! KaTeX itself (`formulas/katex.min.js`, version 0.16.22, unchanged) runs in a JavaScript engine. The engine is created by
//! the first formula, and one formula is rendered at a time; formulas that were rendered lately are not rendered again. Steps,
//! stack and memory of the engine have bounds, and so have the steps and the HTML of all formulas of a message: whatever
//! exceeds one is shown as typed, like a formula with an error.
//! Commands that make links, load pictures or set classes are not trusted, and are shown by their names.

mod check;
mod engine;
mod known;

#[cfg(test)]
mod tests;

use engine::Engine;
use known::{Formula, KnownFormulas};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Steps for the formulas of one message, in units of ten thousand of the engine: about a tenth of a second in all, and
/// two units for a formula of usual size.
const MESSAGE_STEPS_MAX: u32 = 64;
/// HTML of the formulas of one message, in bytes; a short formula has about 800.
const MESSAGE_HTML_BYTES_MAX: usize = 256 * 1024;

/// The engine, once there was a formula.
static ENGINE: Mutex<Option<Engine>> = Mutex::new(None);

/// The formulas that were rendered lately.
static KNOWN: Mutex<KnownFormulas> = Mutex::new(KnownFormulas::new());

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
    /// Formulas that are not known are shown as typed.
    is_of_known: bool,
}

impl FormulaBudget {
    /// The budget of one message.
    pub fn of_message() -> Self {
        Self { steps: MESSAGE_STEPS_MAX, html_bytes: MESSAGE_HTML_BYTES_MAX, is_of_known: false }
    }

    /// The budget of a message that is rendered where others wait: the engine is not used.
    pub fn of_known_formulas() -> Self {
        Self { is_of_known: true, ..Self::of_message() }
    }

    /// Whether a formula was rendered lately.
    #[cfg(test)]
    pub fn is_known(tex: &str, display: Display) -> bool {
        lock(&KNOWN).get(tex, display == Display::Block).is_some()
    }

    /// The HTML of a formula; `None` if it has an error, needs more than is left, or is not known where it has to be. A formula that is known takes as much of
    /// the budget as when it was rendered, so that a text always has the same HTML.
    pub fn render(&mut self, tex: &str, display: Display) -> Option<String> {
        if self.steps == 0 {
            return None;
        }
        let is_block = display == Display::Block;
        let known = lock(&KNOWN).get(tex, is_block);
        let Formula { html, steps } = match known {
            Some(known) => known,
            None if self.is_of_known => return None,
            None => render_anew(tex, is_block, self.steps)?,
        };
        if steps > self.steps {
            self.steps = 0;
            return None;
        }
        self.steps -= steps;
        let html = html.filter(|html| html.len() <= self.html_bytes)?;
        self.html_bytes -= html.len();
        Some(String::from(&*html))
    }
}

/// Makes a formula known with the HTML and the steps that the engine would give: for texts of the program itself, which
/// then do not start it.
pub fn make_known(tex: &str, display: Display, html: &str, steps: u32) {
    lock(&KNOWN).add(tex, display == Display::Block, Formula { html: Some(html.into()), steps });
}

/// The HTML of a formula by the engine, also if it is known, and the steps it took; `None` if it has an error.
pub fn render_with_engine(tex: &str, display: Display) -> Option<(Arc<str>, u32)> {
    let Formula { html, steps } = render_anew(tex, display == Display::Block, MESSAGE_STEPS_MAX)?;
    Some((html?, steps))
}

/// Renders a formula with the engine, within a number of steps; `None` without memory for the engine.
fn render_anew(tex: &str, is_block: bool, steps_max: u32) -> Option<Formula> {
    let mut slot = lock(&ENGINE);
    // Taken out, so that an engine that panics is not used again.
    let engine = slot.take().or_else(Engine::new)?;
    let (html, steps) = engine.render(tex, is_block, steps_max);
    *slot = Some(engine);
    drop(slot);
    let html = html.filter(|html| check::is_safe(html)).map(Into::into);
    let formula = Formula { html, steps };
    // One that was ended for want of steps may be rendered by a message that has more of them.
    let is_ended = formula.html.is_none() && steps >= steps_max;
    if !is_ended || steps_max == MESSAGE_STEPS_MAX {
        lock(&KNOWN).add(tex, is_block, formula.clone());
    }
    Some(formula)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
