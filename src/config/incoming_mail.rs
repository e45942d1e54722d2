//! The settings of mail in.

use super::texts::parse_listen;
use crate::integrations::mail::incoming::address::AddressPattern;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The section `[mail.incoming]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncomingMail {
    /// Address and port for SMTP and LMTP; empty for none.
    pub listen: String,
    /// Addresses of channels and replies, with `%s`.
    pub address_pattern: String,
    /// Largest e-mail in bytes.
    pub bytes_max: u64,
    /// Certificates for STARTTLS; empty for none.
    pub tls_cert_file: PathBuf,
    /// The key of the first certificate.
    pub tls_key_file: PathBuf,
}

impl IncomingMail {
    /// The address to listen on, if mail is received.
    pub fn address(&self) -> Option<SocketAddr> {
        parse_listen(&self.listen).ok()
    }

    /// The pattern of addresses, if mail is received.
    pub fn pattern(&self) -> Option<AddressPattern> {
        self.address().and_then(|_| AddressPattern::new(&self.address_pattern))
    }
}
