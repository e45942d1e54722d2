//! Reading a seed file, in TOML or JSON. Errors have the line and column.

use super::check::check;
use super::content::SeedDocument;
use super::document_path::DocumentPath;
use super::plain_words::in_plain_words;
use super::sample::known_hash;
use crate::foreign_text::one_line;
use actors::DomainError;
use thiserror::Error;

/// The largest seed file, in bytes.
pub const SEED_BYTES_MAX: usize = 16 << 20;

/// The largest body of a call with such a seed: a form has up to three bytes for each of the text.
pub const SEED_BODY_BYTES_MAX: usize = 3 * SEED_BYTES_MAX + (64 << 10);

/// Why a seed cannot be used.
#[derive(Debug, Error)]
pub enum SeedError {
    #[error("the seed is larger than {SEED_BYTES_MAX} bytes")]
    TooLarge,
    #[error("it is empty; `millstream dev --print-seed` writes one to begin with")]
    Empty,
    #[error("line {line}, column {column}: {why}")]
    At { line: usize, column: usize, why: String },
    #[error(transparent)]
    System(#[from] DomainError),
}

impl SeedDocument {
    /// Reads a seed: JSON if it begins with a brace, otherwise TOML.
    ///
    /// # Errors
    /// The first mistake, with line and column.
    pub fn read(text: &str) -> Result<Self, SeedError> {
        if text.len() > SEED_BYTES_MAX {
            return Err(SeedError::TooLarge);
        }
        if text.trim().is_empty() {
            return Err(SeedError::Empty);
        }
        let document = Self::parse(text)?;
        check(&document).map_err(|mistake| {
            let (line, column) = position(text, mistake.path.find(text));
            SeedError::At { line, column, why: mistake.why }
        })?;
        document.with_passwords()
    }

    /// Reads a seed that an organization was made from, perhaps by an earlier version, which checked less.
    ///
    /// # Errors
    /// `At` for what is not a seed, `System`.
    pub fn read_used(text: &str) -> Result<Self, SeedError> {
        Self::parse(text)?.with_passwords()
    }

    fn parse(text: &str) -> Result<Self, SeedError> {
        match text.trim_start().starts_with('{') {
            true => parse_json(text),
            false => toml::from_str(text).map_err(|error| {
                let (line, column) = position(text, error.span().map_or(0, |span| span.start));
                SeedError::At { line, column, why: one_line(in_plain_words(error.message(), "a table")) }
            }),
        }
    }

    /// The seed with the hashes of its passwords.
    fn with_passwords(mut self) -> Result<Self, SeedError> {
        for user in &mut self.users {
            user.password_hash = match (&user.password, known_hash(&user.email)) {
                (None, Some(hash)) => hash.to_owned(),
                (password, _) => actors::login::hash_test_password(password.as_ref().unwrap_or(&user.email))?,
            };
        }
        Ok(self)
    }

    /// The seed as a TOML file.
    pub fn to_toml(&self) -> String {
        // Texts, numbers and lists only, so it can be written.
        toml::to_string_pretty(self).unwrap_or_default()
    }

    /// The seed as a JSON file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// A seed in JSON. The library says how far it had read when it found a mistake, which may be behind the entry, so that the way to
/// the entry gives the position. Where the text is no JSON, how far it was read is right.
fn parse_json(text: &str) -> Result<SeedDocument, SeedError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let at = |(line, column), error: &serde_json::Error| {
        let why = one_line(in_plain_words(without_position(&error.to_string()), "an object"));
        SeedError::At { line, column, why }
    };
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let (path, error) = (error.path(), error.inner());
        match error.is_data() {
            true => {
                let is_name = error.to_string().starts_with("unknown field ");
                at(position(text, DocumentPath::read(path, is_name).find(text)), error)
            }
            false => at((error.line(), error.column()), error),
        }
    })?;
    json.end().map_err(|error| at((error.line(), error.column()), &error))?;
    Ok(read)
}

/// An error of the JSON library without its own ending ` at line 1 column 2`.
fn without_position(text: &str) -> &str {
    text.rsplit_once(" at line ").map_or(text, |(why, _)| why)
}

/// Line and column of a byte, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
