//! Reads one emoji written as Unicode characters, of one or more code points: the end of the sequence and its code. The
//! table of standard emoji decides whether it exists.

use std::fmt::Write as _;

use super::canonical_name;

const EMOJI_VARIATION: char = '\u{fe0f}';
const TEXT_VARIATION: char = '\u{fe0e}';
const JOINER: char = '\u{200d}';
const KEYCAP: char = '\u{20e3}';

/// The beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Literal {
    /// An emoji of the table, `bytes` long.
    Emoji { bytes: usize, code: String, name: &'static str },
    /// Not an emoji, or a sequence that is not in the table. Its parts are not read again: they may be in the
    /// table, but were not meant alone.
    Text { bytes: usize },
}

/// Reads the emoji sequence at the start of `text`, which must not be empty.
pub(crate) fn scan_literal(text: &str) -> Literal {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return Literal::Text { bytes: 0 } };
    if first.is_ascii() {
        return scan_keycap(text, first);
    }
    if !may_be_emoji(first) {
        return Literal::Text { bytes: first.len_utf8() };
    }
    let sequence = Sequence::read(text, first);
    match canonical_name(&sequence.code).filter(|_| !sequence.is_text) {
        Some(name) => Literal::Emoji { bytes: sequence.bytes, code: sequence.code, name },
        None => Literal::Text { bytes: sequence.bytes },
    }
}

fn scan_keycap(text: &str, first: char) -> Literal {
    let rest = text[1..].strip_prefix(EMOJI_VARIATION).unwrap_or(&text[1..]);
    let code = format!("{:04x}-20e3", u32::from(first));
    match (rest.strip_prefix(KEYCAP), canonical_name(&code)) {
        (Some(after), Some(name)) => Literal::Emoji { bytes: text.len() - after.len(), code, name },
        _ => Literal::Text { bytes: 1 },
    }
}

/// One sequence: an element, and further elements joined to it.
struct Sequence {
    bytes: usize,
    /// Without variation selectors, as in the table.
    code: String,
    is_text: bool,
}

impl Sequence {
    fn read(text: &str, first: char) -> Self {
        let mut sequence = Self { bytes: 0, code: String::new(), is_text: false };
        sequence.push(first);
        if is_regional(first) {
            if let Some(second) = text[sequence.bytes..].chars().next().filter(|next| is_regional(*next)) {
                sequence.push(second);
            }
            return sequence;
        }
        let mut is_qualified = false;
        let mut is_joined = false;
        loop {
            let mut rest = text[sequence.bytes..].chars();
            match rest.next() {
                Some(EMOJI_VARIATION) => {
                    is_qualified = true;
                    sequence.bytes += EMOJI_VARIATION.len_utf8();
                }
                Some(TEXT_VARIATION) => {
                    sequence.is_text = true;
                    sequence.bytes += TEXT_VARIATION.len_utf8();
                    return sequence;
                }
                Some(modifier) if is_modifier(modifier) => {
                    is_qualified = true;
                    sequence.push(modifier);
                }
                Some(JOINER) => {
                    let Some(next) = rest.next().filter(|next| may_be_emoji(*next)) else { break };
                    is_joined = true;
                    sequence.push(JOINER);
                    sequence.push(next);
                }
                _ => break,
            }
        }
        sequence.is_text = !is_qualified && !is_joined && is_text_by_default(first);
        sequence
    }

    fn push(&mut self, point: char) {
        if !self.code.is_empty() {
            self.code.push('-');
        }
        write!(self.code, "{:04x}", u32::from(point)).expect("writing to a String cannot fail");
        self.bytes += point.len_utf8();
    }
}

fn may_be_emoji(point: char) -> bool {
    matches!(u32::from(point),
        0xa9 | 0xae | 0x203c..=0x2bff | 0x3030 | 0x303d | 0x3297 | 0x3299 | 0x1f000..=0x1faff)
}

fn is_regional(point: char) -> bool {
    matches!(u32::from(point), 0x1f1e6..=0x1f1ff)
}

/// Skin tones, and the tag characters of regional flags.
fn is_modifier(point: char) -> bool {
    matches!(u32::from(point), 0x1f3fb..=0x1f3ff | 0xe0020..=0xe007f)
}

/// Characters older than emoji, such as ↔ and ©, are text unless a selector follows.
fn is_text_by_default(point: char) -> bool {
    u32::from(point) < 0x1_0000
        && !matches!(u32::from(point),
            0x231a..=0x231b | 0x23e9..=0x23ec | 0x23f0 | 0x23f3 | 0x25fd..=0x25fe | 0x2614..=0x2615
            | 0x2648..=0x2653 | 0x267f | 0x2693 | 0x26a1 | 0x26aa..=0x26ab | 0x26bd..=0x26be
            | 0x26c4..=0x26c5 | 0x26ce | 0x26d4 | 0x26ea | 0x26f2..=0x26f3 | 0x26f5 | 0x26fa | 0x26fd
            | 0x2705 | 0x270a..=0x270b | 0x2728 | 0x274c | 0x274e | 0x2753..=0x2755 | 0x2757
            | 0x2795..=0x2797 | 0x27b0 | 0x27bf | 0x2b1b..=0x2b1c | 0x2b50 | 0x2b55)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &str) {
        match scan_literal(text) {
            Literal::Emoji { bytes, code: found, .. } => {
                assert_eq!((bytes, found.as_str()), (text.len(), code))
            }
            Literal::Text { .. } => panic!("{text} is not read as an emoji"),
        }
    }

    #[test]
    fn a_sequence_is_read_whole() {
        check("🎉", "1f389");
        check("❤️", "2764");
        check("🇺🇸", "1f1fa-1f1f8");
        check("1️⃣", "0031-20e3");
        check("👨‍👩‍👧", "1f468-200d-1f469-200d-1f467");
        check("🏴󠁧󠁢󠁳󠁣󠁴󠁿", "1f3f4-e0067-e0062-e0073-e0063-e0074-e007f");
    }

    #[test]
    fn text_presentation_and_unknown_sequences_stay_text() {
        for text in ["↔", "©", "✔", "🎉\u{fe0e}", "🐱\u{200d}👤", "я", "1"] {
            assert_eq!(scan_literal(text), Literal::Text { bytes: text.len() }, "{text}");
        }
        assert_eq!(scan_literal(""), Literal::Text { bytes: 0 });
    }
}
