//! Names of several words, such as `example.com`, in a text: found in time in proportion to the text for each name, whatever the
//! names and the text repeat.

use crate::query::{Word, WordMask, bit};
use crate::tokenizer::begins_word;
use memchr::memmem::Finder;
use std::borrow::Cow;
use std::ops::Range;

/// The names of a query, each with its number there.
#[derive(Debug)]
pub(crate) struct Names(Vec<(usize, Finder<'static>)>);

impl Names {
    /// Those among the words of a query.
    pub fn of(words: &[Word]) -> Self {
        let names = words.iter().enumerate().filter_map(|(number, word)| match word {
            Word::Name(name, _) => Some((number, Finder::new(&**name).into_owned())),
            Word::Stem(_) | Word::Run(_) => None,
        });
        Self(names.collect())
    }

    /// Calls `found` with the number and the place of each name in a text that is not known to be there.
    pub fn each(&self, text: &str, known: impl Fn() -> WordMask, mut found: impl FnMut(usize, Range<usize>)) {
        if self.0.iter().all(|(number, _)| known() & bit(*number) != 0) {
            return;
        }
        let lowered = Lowered::of(text);
        for (number, finder) in &self.0 {
            let mut from = 0;
            while known() & bit(*number) == 0
                && let Some(at) = finder.find(&lowered.text.as_bytes()[from..])
            {
                let (start, end) = (from + at, from + at + finder.needle().len());
                match place(text, lowered.original(start)..lowered.original(end)) {
                    Some(range) => {
                        found(*number, range);
                        from = end;
                    }
                    None => from = start + 1,
                }
            }
        }
    }
}

/// A place in a text, if it begins with a word and ends with one there.
fn place(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let after = text.get(range.end..)?.chars().next();
    let is_whole = after.is_none_or(|c| !c.is_alphanumeric());
    (is_whole && text.is_char_boundary(range.start) && begins_word(text, range.start)).then_some(range)
}

/// A text in lower case, character by character.
struct Lowered<'t> {
    text: Cow<'t, str>,
    /// Places behind characters that have another length in lower case: here, and in the text.
    shifts: Vec<(usize, usize)>,
}

impl<'t> Lowered<'t> {
    fn of(text: &'t str) -> Self {
        let is_upper = |byte: &u8| byte.is_ascii_uppercase();
        match text.is_ascii() {
            true if !text.as_bytes().iter().any(is_upper) => {
                Self { text: Cow::Borrowed(text), shifts: Vec::new() }
            }
            true => Self { text: text.to_ascii_lowercase().into(), shifts: Vec::new() },
            false => Self::of_characters(text),
        }
    }

    fn of_characters(text: &str) -> Self {
        let (mut lowered, mut shifts) = (String::with_capacity(text.len()), Vec::new());
        for (at, c) in text.char_indices() {
            let start = lowered.len();
            lowered.extend(c.to_lowercase());
            if lowered.len() - start != c.len_utf8() {
                shifts.push((lowered.len(), at + c.len_utf8()));
            }
        }
        Self { text: lowered.into(), shifts }
    }

    /// The place in the text. Inside of a character for one inside of what that character is in lower case.
    fn original(&self, at: usize) -> usize {
        let behind = self.shifts.partition_point(|(lowered, _)| *lowered <= at);
        match behind.checked_sub(1) {
            Some(last) => self.shifts[last].1 + (at - self.shifts[last].0),
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::tokens;
    use proptest::prelude::*;

    /// The length of a name at the beginning of a text, character by character.
    fn starts_with(text: &str, name: &str) -> Option<usize> {
        let mut wanted = name.chars();
        let mut next = wanted.next();
        let mut length = 0;
        for c in text.chars() {
            if next.is_none() {
                return (!c.is_alphanumeric()).then_some(length);
            }
            for lower in c.to_lowercase() {
                if next != Some(lower) {
                    return None;
                }
                next = wanted.next();
            }
            length += c.len_utf8();
        }
        next.is_none().then_some(length)
    }

    proptest! {
        #[test]
        fn a_name_is_found_where_a_word_begins_with_it(
            text in "([abA][.]?|[İiKkΣσß]|[./ ]|東|\u{301}|[ab]\\.[ab]){0,24}",
            name in "([ab]|i|k|σ)(\\.([ab]|i|k|σ|ß)){1,3}",
        ) {
            let mut expected: Vec<Range<usize>> = Vec::new();
            for token in tokens(&text).filter(|token| !token.is_run) {
                let start = token.range.start;
                if let Some(length) = starts_with(&text[start..], &name)
                    && expected.last().is_none_or(|last| last.end <= start)
                {
                    expected.push(start..start + length);
                }
            }
            let names = Names::of(&[Word::Name(name.as_str().into(), Vec::new())]);
            let mut found = Vec::new();
            names.each(&text, || 0, |_, range| found.push(range));
            prop_assert_eq!(found, expected);
        }
    }
}
