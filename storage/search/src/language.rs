//! The language of an organization: its stemmer and its stop words.

use crate::stop_words::ENGLISH;
use frostem::Algorithm;
use tantivy::tokenizer::{Language as Listed, StopWordFilter};

/// A language that texts are stemmed for. Texts of languages without a stemmer are found by their exact words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language(Option<Algorithm>);

impl Language {
    /// The language of a code such as `en` or `pt-br`.
    pub fn of(code: &str) -> Self {
        let main = code.split(['-', '_']).next().unwrap_or(code);
        Self(match main {
            "ar" => Some(Algorithm::Arabic),
            "ca" => Some(Algorithm::Catalan),
            "da" => Some(Algorithm::Danish),
            "de" => Some(Algorithm::German),
            "el" => Some(Algorithm::Greek),
            "en" => Some(Algorithm::English),
            "es" => Some(Algorithm::Spanish),
            "fi" => Some(Algorithm::Finnish),
            "fr" => Some(Algorithm::French),
            "hu" => Some(Algorithm::Hungarian),
            "id" => Some(Algorithm::Indonesian),
            "it" => Some(Algorithm::Italian),
            "lt" => Some(Algorithm::Lithuanian),
            "nl" => Some(Algorithm::Dutch),
            "no" | "nb" | "nn" => Some(Algorithm::Norwegian),
            "pt" => Some(Algorithm::Portuguese),
            "ro" => Some(Algorithm::Romanian),
            "ru" => Some(Algorithm::Russian),
            "sv" => Some(Algorithm::Swedish),
            "ta" => Some(Algorithm::Tamil),
            "tr" => Some(Algorithm::Turkish),
            _ => None,
        })
    }

    /// The name of the stemmer; `none` for languages without one.
    pub fn name(self) -> &'static str {
        self.0.map_or("none", Algorithm::name)
    }

    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        self.0
    }

    /// Whether words keep their first letter when they are stemmed, if it is an ASCII letter.
    pub(crate) fn keeps_first_letter(self) -> bool {
        use Algorithm::{
            Danish, English, Finnish, French, German, Italian, Norwegian, Portuguese, Spanish, Swedish,
        };
        let keeps =
            [Danish, English, Finnish, French, German, Italian, Norwegian, Portuguese, Spanish, Swedish];
        self.0.is_none_or(|algorithm| keeps.contains(&algorithm))
    }

    /// Whether a word in lower case is known to be its own stem: the endings that English words lose have no digits.
    pub(crate) fn keeps(self, word: &str) -> bool {
        self.0 == Some(Algorithm::English) && word.as_bytes().last().is_some_and(u8::is_ascii_digit)
    }

    /// A filter of the words that are too common to be found.
    pub(crate) fn stop_words(self) -> StopWordFilter {
        let listed = match self.0 {
            Some(Algorithm::English) => None,
            Some(Algorithm::Danish) => Some(Listed::Danish),
            Some(Algorithm::Dutch) => Some(Listed::Dutch),
            Some(Algorithm::Finnish) => Some(Listed::Finnish),
            Some(Algorithm::French) => Some(Listed::French),
            Some(Algorithm::German) => Some(Listed::German),
            Some(Algorithm::Hungarian) => Some(Listed::Hungarian),
            Some(Algorithm::Italian) => Some(Listed::Italian),
            Some(Algorithm::Norwegian) => Some(Listed::Norwegian),
            Some(Algorithm::Portuguese) => Some(Listed::Portuguese),
            Some(Algorithm::Russian) => Some(Listed::Russian),
            Some(Algorithm::Spanish) => Some(Listed::Spanish),
            Some(Algorithm::Swedish) => Some(Listed::Swedish),
            _ => return StopWordFilter::remove(Vec::new()),
        };
        let listed = listed.and_then(StopWordFilter::new);
        listed.unwrap_or_else(|| StopWordFilter::remove(ENGLISH.iter().map(|word| (*word).to_owned())))
    }
}
