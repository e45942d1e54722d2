//! The problems of a configuration: all of them at once, each with the place where the option was set.

use crate::text_file::TextFileError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The source of an option's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    /// A file and line, counted from 1.
    File(Arc<str>, usize),
    Variable(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(name, line) => write!(f, "{name}:{line}"),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// One problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place; none for a problem of the file as a whole.
    pub origin: Option<Origin>,
    pub option: Option<String>,
    /// The problem, to be read after the option's name. Never contains a value, which may be a password.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        if let Some(option) = &self.option {
            write!(f, "`{option}` ")?;
        }
        f.write_str(&self.text)
    }
}

/// A configuration with problems.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ConfigError(Vec<Problem>);

impl ConfigError {
    /// All problems; an error if there are any.
    pub(super) fn of(problems: Vec<Problem>) -> Option<Self> {
        (!problems.is_empty()).then_some(Self(problems))
    }

    /// A file that cannot be read.
    pub(super) fn unreadable(path: &Path, reason: &TextFileError) -> Self {
        let text = match reason {
            TextFileError::NotText { .. } => format!("{}: {reason}", path.display()),
            TextFileError::System(_) | TextFileError::TooLarge(_) => {
                format!("cannot read {}: {reason}", path.display())
            }
        };
        Self(vec![Problem { origin: None, option: None, text }])
    }

    /// An option that cannot be used on this machine, found when it was used.
    pub fn unusable(option: &str, text: String) -> Self {
        Self(vec![Problem { origin: None, option: Some(option.to_owned()), text }])
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = self.0.as_slice() {
            return write!(f, "{problem}");
        }
        write!(f, "the configuration has {} problems:", self.0.len())?;
        self.0.iter().try_for_each(|problem| write!(f, "\n  {problem}"))
    }
}
