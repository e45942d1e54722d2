//! The words of a plain text: where they begin and end. Runs of characters of scripts that are written without spaces are
//! one piece each; they are indexed as pairs of characters.

use std::ops::Range;

/// A word longer than this is indexed and searched by its beginning.
const WORD_CHARS_MAX: usize = 64;

/// A part of a text that can be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
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

/// The words and runs of a text, in order.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (start, first) = chars.next()?;
            let kind = kind_of(first);
            if kind == Kind::Other || is_mark(first) {
                continue;
            }
            let mut end = start + first.len_utf8();
            while let Some((at, next)) = chars.next_if(|(_, next)| kind_of(*next) == kind || is_mark(*next)) {
                end = at + next.len_utf8();
            }
            return Some(Piece { range: start..end, is_run: kind == Kind::Run });
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
