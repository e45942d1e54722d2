//! Texts with formulas: rendering one takes up to a tenth of a second and waits for the one engine, so it is prepared where that
//! holds up nothing else.

use super::context::NoNames;
use super::render;
use memchr::memchr3;

/// The language word of a block that is a formula.
const BLOCK_WORD: &[u8] = b"math";

/// Whether a text may have formulas. False for a text that has none of their marks.
pub fn has_formulas(text: &str) -> bool {
    // Hardly any message has one of these characters, and they are found in one pass.
    if memchr3(b'$', b'`', b'~', text.as_bytes()).is_none() {
        return false;
    }
    let has_fence = || text.contains("```") || text.contains("~~~");
    let has_word =
        || text.as_bytes().windows(BLOCK_WORD.len()).any(|word| word.eq_ignore_ascii_case(BLOCK_WORD));
    text.contains("$$") || has_fence() && has_word()
}

/// Renders the formulas of a text, so that rendering the text soon afterwards, in any context, finds them rendered.
pub fn prepare_formulas(text: &str) {
    // What the formulas are is in the HTML, and stays known without it.
    drop(render(text, &NoNames));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formulas::{Display, FormulaBudget};

    #[test]
    fn texts_with_marks_of_formulas() {
        for text in ["$$x$$", "a $$x", "```math\nx\n```", "~~~ Math\nx\n~~~", "> ```math\n> x\n> ```"] {
            assert!(has_formulas(text), "{text}");
        }
        for text in ["", "math", "$5 and $6", "```rust\nx\n```", "~~~\nx\n~~~", "`math`"] {
            assert!(!has_formulas(text), "{text}");
        }
    }

    /// Every formula that is rendered is in a text that is said to have some.
    #[test]
    fn texts_without_marks_are_rendered_without_formulas() {
        for text in ["$x$", "``math``", "math\n    x", "$ $x$ $"] {
            assert!(!has_formulas(text));
            assert!(!render(text, &NoNames).unwrap().html.contains("katex"), "{text}");
        }
    }

    #[test]
    fn prepared_formulas_are_known() {
        let text = "one $$prepared_1$$\n\n```math\nprepared_2\n```\n\n> quoted $$prepared_3$$";
        let formulas = [
            ("prepared_1", Display::Inline),
            ("prepared_2", Display::Block),
            ("prepared_3", Display::Inline),
        ];
        assert!(formulas.iter().all(|(tex, display)| !FormulaBudget::is_known(tex, *display)));
        prepare_formulas(text);
        for (tex, display) in formulas {
            assert!(FormulaBudget::is_known(tex, display), "{tex}");
        }
    }
}
