//! Names of programming languages: the words typed after a fence, and the names that clients show.

use std::sync::LazyLock;

/// One line for each word: the word in lower case, a tab, and the canonical name of its lexer in Pygments 2.21, which
/// clients use. Sorted by word.
const LANGUAGES_TSV: &str = include_str!("languages.tsv");

/// The words with their names, sorted.
static LANGUAGES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| LANGUAGES_TSV.lines().filter_map(|line| line.split_once('\t')).collect());

/// The canonical name of a language; the word itself if it is not known.
pub(super) fn language_name(word: &str) -> &str {
    let lowercase = word.to_ascii_lowercase();
    match LANGUAGES.binary_search_by(|(known, _)| (*known).cmp(lowercase.as_str())) {
        Ok(at) => LANGUAGES[at].1,
        Err(_) => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found() {
        assert_eq!(LANGUAGES.len(), LANGUAGES_TSV.lines().count());
        for (word, name) in LANGUAGES.iter() {
            assert_eq!(language_name(word), *name);
        }
    }

    #[test]
    fn names_are_those_of_the_lexers() {
        for (word, name) in [
            ("PY", "Python"),
            ("css+php", "CSS+PHP"),
            ("ts", "TypeScript"),
            ("rs", "Rust"),
            ("c++", "C++"),
            ("text", "Text only"),
            ("latex", "TeX"),
            ("vim", "VimL"),
            ("shell-session", "Bash Session"),
            ("postgres", "PostgreSQL SQL dialect"),
            ("Klingon", "Klingon"),
        ] {
            assert_eq!(language_name(word), name);
        }
    }
}
