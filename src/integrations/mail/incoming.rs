//! Mail in: a listener for SMTP and LMTP, behind a mail server of the operator, and what becomes of the e-mails: messages in
//! channels, and replies to e-mails about missed messages.

pub mod address;
mod data;
mod duplicates;
mod files;
mod heads;
mod html;
mod listener;
mod nested;
mod parse;
mod post;
mod quotes;
mod session;
mod wire;

pub use listener::run_incoming;

use crate::http::App;
use address::AddressPattern;
use duplicates::Duplicates;

/// What all connections share.
pub struct Incoming {
    pub app: App,
    pub pattern: AddressPattern,
    /// Largest e-mail in bytes.
    pub bytes_max: usize,
    duplicates: Duplicates,
}
