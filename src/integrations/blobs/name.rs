//! The names of files.

use super::error::BlobError;
use object_store::path::Path as StorePath;

/// Random bytes in the name of a file.
const NAME_BYTES: usize = 16;

/// The name of a file: folders and a last part, of letters, digits, `-`, `_` and dots, without `..`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BlobName(String);

impl BlobName {
    /// Parses a name; none if it is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain);
        (text.len() <= 512 && text.split('/').all(is_part)).then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as the store has it.
    pub(super) fn path(&self) -> StorePath {
        StorePath::from(self.0.as_str())
    }
}

/// A random name for a new file.
pub fn random_name() -> Result<String, BlobError> {
    let mut bytes = [0; NAME_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| BlobError::Store(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
