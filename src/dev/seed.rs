//! Seeds of a development server: an organization's content as a file in TOML or JSON, which `dev --print-seed` writes and
//! `dev --seed` reads (docs/dev-server.md#seeds).

mod check;
mod check_lists;
mod check_rights;
mod content;
mod convert;
mod document_path;
mod mistake;
mod plain_words;
mod read;
mod sample;

pub use content::SeedDocument;
pub use read::{SEED_BODY_BYTES_MAX, SEED_BYTES_MAX, SeedError};

#[cfg(test)]
mod tests;
