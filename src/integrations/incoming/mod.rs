//! Incoming webhooks: what another service sends becomes a message (docs/webhooks.md).
//!
//! Each service is one file of data, with its events and their templates: `catalog/NAME.toml` here, or in the folder of
//! `incoming_webhooks.catalog_dir`. `definition` reads such a file, `engine` renders within limits, `markdown` makes
//! untrusted text safe, and `payload` reads the body of a request.

mod catalog;
mod definition;
mod engine;
mod filters;
mod markdown;
mod patterns;
mod payload;
mod program_files;
mod slack;
mod templates;

pub use catalog::{Catalog, CatalogError, Integration};
pub use patterns::{EventFilter, PATTERN_CHARS_MAX, PATTERNS_MAX};
pub use payload::{PayloadError, parse_payload, value_count};

use minijinja::Value;
use std::collections::BTreeMap;

/// A request of a service, without its credentials.
pub struct Delivery<'r> {
    /// The event as the service names it in a header; empty for services that do not.
    pub event: &'r str,
    pub payload: &'r Value,
    /// The parameters in the URL.
    pub parameters: &'r BTreeMap<String, String>,
    /// The topic in the URL: then the message has the title that the topic would have had.
    pub topic: Option<&'r str>,
    pub filter: &'r EventFilter,
    pub ignores_private: bool,
}

/// What becomes of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A message, not yet truncated.
    Message { event: String, topic: String, content: String },
    /// Accepted without a message: filtered, of a private repository, or nothing to say.
    Ignored,
    /// An event that the integration does not know.
    Unsupported { event: String },
    /// The payload is not what the service sends for this event; the reason is for the log.
    Anomalous { event: String, reason: String },
}
