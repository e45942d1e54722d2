//! The API as a document and as pages: declarations of the operations, and what tests recorded of their answers.
//!
//! `operations` declares parameters and events, `recorded` has answers, errors and examples, `document` makes an OpenAPI document
//! of both and of the table of routes, and `pages::reference` shows it to people.

pub mod access;
pub mod curl;
#[cfg(debug_assertions)]
pub mod declared;
pub mod document;
pub mod fields;
mod items;
pub mod meanings;
mod member_texts;
pub mod operation;
pub mod operations;
pub mod path_parameters;
mod permissions;
pub mod recorded;
pub mod schemas;
