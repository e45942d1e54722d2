//! Log filters: levels, and targets with levels.

use thiserror::Error;
use tracing_subscriber::filter::{Directive, LevelFilter};

/// Why a text is not a log filter.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LogFilterError {
    #[error("it is empty; `off` logs nothing")]
    Empty,
    /// The entry is at this position, from 1.
    #[error(
        "`{text}` is neither a level (off, error, warn, info, debug or trace) nor `target=level`, such as `access=off`"
    )]
    Entry { position: usize, text: String },
}

/// The entries of a log filter, without spaces between them.
///
/// # Errors
/// A filter without entries, or one with an entry that is neither a level nor a target with its level. The library takes
/// a word that is no level for a target, so that a misspelled level would end all logging.
pub fn check_log_filter(filter: &str) -> Result<String, LogFilterError> {
    let entries: Vec<&str> = filter.split(',').map(str::trim).collect();
    let wrong = entries.iter().position(|entry| !entry.is_empty() && !is_entry(entry));
    if let Some(at) = wrong {
        return Err(LogFilterError::Entry { position: at + 1, text: entries[at].to_owned() });
    }
    let entries: Vec<&str> = entries.into_iter().filter(|entry| !entry.is_empty()).collect();
    if entries.is_empty() { Err(LogFilterError::Empty) } else { Ok(entries.join(",")) }
}

fn is_entry(entry: &str) -> bool {
    if is_level(entry) {
        return true;
    }
    let Some((target, level)) = entry.rsplit_once('=') else { return false };
    // A span of a target is in brackets and may have spaces.
    let has_space = target.contains(char::is_whitespace) && !target.contains('[');
    !target.is_empty() && !has_space && is_level(level) && entry.parse::<Directive>().is_ok()
}

fn is_level(word: &str) -> bool {
    // The library takes no word for a level, too.
    !word.is_empty() && word.parse::<LevelFilter>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_and_targets_with_levels_are_accepted() {
        for (filter, expected) in [
            ("info", "info"),
            ("WARN", "WARN"),
            ("3", "3"),
            ("off,access=info", "off,access=info"),
            (" warn , millstream=debug,", "warn,millstream=debug"),
            ("info,[request{path=x}]=trace", "info,[request{path=x}]=trace"),
            ("actix_http::h1::dispatcher=off", "actix_http::h1::dispatcher=off"),
        ] {
            assert_eq!(check_log_filter(filter).as_deref(), Ok(expected), "{filter}");
        }
    }

    #[test]
    fn misspelled_levels_and_targets_alone_are_refused() {
        for (filter, position) in [
            ("inof", 1),
            ("nonsense,foo", 1),
            ("info,access", 2),
            ("9", 1),
            ("a=b=c", 1),
            ("a=b=info", 1),
            ("info,access=", 2),
            ("=info", 1),
            ("info warn", 1),
            ("a b=info", 1),
            ("[request]", 1),
        ] {
            match check_log_filter(filter) {
                Err(LogFilterError::Entry { position: at, .. }) => assert_eq!(at, position, "{filter}"),
                other => panic!("{filter}: {other:?}"),
            }
        }
        for filter in ["", " ", ","] {
            assert_eq!(check_log_filter(filter), Err(LogFilterError::Empty), "{filter:?}");
        }
        let said = check_log_filter("inof").unwrap_err().to_string();
        assert!(
            said.contains("`inof` is neither a level (off, error, warn, info, debug or trace)"),
            "{said}"
        );
    }
}
