//! Foreign texts in messages of this server: those of libraries, of other services and of the system. They may
//! quote anything that was read.

use std::fmt::{Display, Write};

/// Characters that are kept of a text.
const CHARS_MAX: usize = 300;

/// A text in one line of bounded length, without characters that change how a terminal shows it.
pub fn one_line(text: impl Display) -> String {
    let mut line = Line { text: String::new(), chars: 0, is_spaced: false };
    // Fails beyond the bound, so that no more is formatted than is kept.
    if write!(line, "{text}").is_err() {
        line.text.push('…');
    }
    line.text
}

/// A text that is being shortened.
struct Line {
    text: String,
    chars: usize,
    /// Whether a space comes before the next character.
    is_spaced: bool,
}

impl Write for Line {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        for c in piece.chars() {
            if c.is_whitespace() || !is_shown(c) {
                self.is_spaced = self.chars > 0;
                continue;
            }
            let count = 1 + usize::from(self.is_spaced);
            if self.chars + count > CHARS_MAX {
                return Err(std::fmt::Error);
            }
            if std::mem::take(&mut self.is_spaced) {
                self.text.push(' ');
            }
            self.text.push(c);
            self.chars += count;
        }
        Ok(())
    }
}

/// Whether a character is one that is seen: no control character, none that changes the direction of a text, and not the sign for
/// bytes that are no text.
fn is_shown(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_one_bounded_line() {
        for (text, line) in [
            ("no route to host", "no route to host"),
            (" is\nnot\r\n  a\ttar\n", "is not a tar"),
            ("\u{1b}[31mred\u{7}\u{202e}\u{fffd}\u{fffd} tea", "[31mred tea"),
            ("", ""),
        ] {
            assert_eq!(one_line(text), line);
        }
        assert_eq!(one_line("ä".repeat(CHARS_MAX)), "ä".repeat(CHARS_MAX));
        let long = one_line("tea ".repeat(CHARS_MAX));
        assert!(long.chars().count() <= CHARS_MAX + 1 && long.ends_with("tea…"), "{long}");
    }
}
