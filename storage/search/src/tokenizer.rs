//! The words of a plain text: where they begin and end. Runs of characters of scripts that are written without spaces are
//! one token each; they are indexed as pairs of characters.

use std::ops::Range;

/// A word longer than this is indexed and searched by its beginning.
const WORD_CHARS_MAX: usize = 64;

/// A part of a text that can be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// Whether it is a run of a script without spaces.
    pub is_run: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Run,
    Other,
}

/// A character of a text.
struct Char {
    kind: Kind,
    is_mark: bool,
    bytes: usize,
}

impl Char {
    /// The one that begins at a byte of a text.
    #[inline]
    fn at(text: &str, at: usize) -> Option<Self> {
        let byte = *text.as_bytes().get(at)?;
        if let Some(kind) = KINDS[usize::from(byte)] {
            return Some(Self { kind, is_mark: false, bytes: 1 });
        }
        let c = text[at..].chars().next()?;
        Some(Self { kind: kind_of(c), is_mark: is_mark(c), bytes: c.len_utf8() })
    }
}

/// The kind of each byte of ASCII; none for the others.
const KINDS: [Option<Kind>; 256] = {
    let mut kinds = [None; 256];
    let mut byte: u8 = 0;
    while byte.is_ascii() {
        kinds[byte as usize] = Some(if byte.is_ascii_alphanumeric() { Kind::Word } else { Kind::Other });
        byte += 1;
    }
    kinds
};

/// How many bytes of a kind a text has at the beginning.
#[inline]
fn length_of(kind: Kind, text: &[u8]) -> usize {
    text.iter().position(|byte| KINDS[usize::from(*byte)] != Some(kind)).unwrap_or(text.len())
}

/// The words and runs of a text, in order.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    std::iter::from_fn(move || {
        loop {
            at += length_of(Kind::Other, &bytes[at..]);
            let start = at;
            // Most words have only ASCII.
            at += length_of(Kind::Word, &bytes[at..]);
            let kind = if at > start {
                Kind::Word
            } else {
                let first = Char::at(text, at)?;
                at += first.bytes;
                if first.kind == Kind::Other || first.is_mark {
                    continue;
                }
                first.kind
            };
            while let Some(next) = Char::at(text, at).filter(|next| next.kind == kind || next.is_mark) {
                at += next.bytes;
            }
            return Some(Token { range: start..at, is_run: kind == Kind::Run });
        }
    })
}

fn kind_of(c: char) -> Kind {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Kind::Word } else { Kind::Other };
    }
    match c {
        _ if is_without_spaces(c) => Kind::Run,
        _ if c.is_alphanumeric() => Kind::Word,
        _ => Kind::Other,
    }
}

/// Whether a word that is at a place of a text begins there.
pub(crate) fn begins_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().rev().find(|c| !is_mark(*c));
    before.is_none_or(|c| kind_of(c) != Kind::Word)
}

/// Combining marks, which continue a word.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{200c}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{94d}' | '\u{9cd}')
        || matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

/// Letters of scripts that are written without spaces between words: Chinese, Japanese and Thai, for example; and Korean, in
/// which words have many endings.
fn is_without_spaces(c: char) -> bool {
    matches!(c,
        '\u{e00}'..='\u{eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1100}'..='\u{11ff}' // Hangul letters
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{3100}'..='\u{318f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' // Hangul syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{323af}'
    ) && c.is_alphanumeric()
        || is_mark(c)
}

/// A word in lower case and not too long, into a buffer.
pub(crate) fn fold<'b>(word: &str, buffer: &'b mut String) -> &'b str {
    buffer.clear();
    if word.is_ascii() {
        buffer.push_str(&word[..word.len().min(WORD_CHARS_MAX)]);
        buffer.make_ascii_lowercase();
    } else {
        buffer.extend(word.chars().flat_map(char::to_lowercase).take(WORD_CHARS_MAX));
    }
    buffer
}

/// The terms of a run: each pair of neighbours, and the last character.
pub(crate) fn run_terms(run: &str) -> impl Iterator<Item = &str> {
    let starts = run.char_indices().map(|(start, _)| start);
    starts.map(move |start| {
        let rest = &run[start..];
        let end = rest.char_indices().nth(2).map_or(rest.len(), |(end, _)| end);
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Character by character, without a shorter way for ASCII.
    fn plain_tokens(text: &str) -> Vec<Token> {
        let mut found: Vec<Token> = Vec::new();
        let mut open: Option<Kind> = None;
        for (start, c) in text.char_indices() {
            let end = start + c.len_utf8();
            match (open, found.last_mut()) {
                (Some(kind), Some(last)) if kind_of(c) == kind || is_mark(c) => last.range.end = end,
                _ if kind_of(c) == Kind::Other || is_mark(c) => open = None,
                _ => {
                    open = Some(kind_of(c));
                    found.push(Token { range: start..end, is_run: kind_of(c) == Kind::Run });
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn pieces_are_those_of_the_characters(text in "([a-zA-Z0-9]{0,4}|[ -/]|[äßÉσ東京한ก]|[\u{300}\u{200d}]|\\PC){0,30}") {
            prop_assert_eq!(tokens(&text).collect::<Vec<_>>(), plain_tokens(&text));
        }
    }
}
