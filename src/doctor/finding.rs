//! The outcome of one check.

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Good,
    /// What the check is about is not configured.
    Off,
    /// Works, but not as well as it could, or not for long.
    Warning,
    /// Keeps the server, or a part of it, from working.
    Problem,
}

impl State {
    /// The word for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Off => "not used",
            Self::Warning => "warning",
            Self::Problem => "problem",
        }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The name of the check.
    pub what: &'static str,
    pub state: State,
    /// What is there, and what to do about it.
    pub text: String,
}

impl Finding {
    /// All is well.
    pub fn good(what: &'static str, text: impl Into<String>) -> Self {
        Self { what, state: State::Good, text: text.into() }
    }

    /// The check is about something that is not configured.
    pub fn off(what: &'static str, text: impl Into<String>) -> Self {
        Self { what, state: State::Off, text: text.into() }
    }

    /// Something could be better.
    pub fn warning(what: &'static str, text: impl Into<String>) -> Self {
        Self { what, state: State::Warning, text: text.into() }
    }

    /// Something does not work.
    pub fn problem(what: &'static str, text: impl Into<String>) -> Self {
        Self { what, state: State::Problem, text: text.into() }
    }
}
