//! Seeds of a development server: an organization's content as a file in TOML or JSON, which `dev --print-seed` writes and
//! `dev --seed` reads (docs/dev-server.md#seeds).

mod check;
mod check_creation;
mod check_lists;
mod check_rights;
mod check_settings;
mod content;
mod convert;
mod document_path;
mod forms;
mod mistake;
mod near_name;
mod plain_words;
mod read;
mod sample;

pub use content::SeedDocument;
pub use read::{SEED_BODY_BYTES_MAX, SEED_BYTES_MAX, SeedError};

#[cfg(test)]
mod entry_tests;
#[cfg(test)]
mod rights_tests;
#[cfg(test)]
mod tests;
