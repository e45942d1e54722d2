//! The settings of mail in.

use super::texts::parse_listen;
use crate::certificates::CertificateFiles;
use crate::integrations::mail::incoming::address::AddressPattern;
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The option that names the certificate for STARTTLS.
pub const MAIL_CERT_OPTION: &str = "mail.incoming.tls_cert_file";
/// The option that names its key.
pub const MAIL_KEY_OPTION: &str = "mail.incoming.tls_key_file";

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

    /// Whether both files of the certificate are named.
    pub fn has_files(&self) -> bool {
        !self.tls_cert_file.as_os_str().is_empty() && !self.tls_key_file.as_os_str().is_empty()
    }

    /// The files of the certificate for STARTTLS; none if it is not offered.
    pub fn files(&self) -> Option<CertificateFiles> {
        let is_on = !self.tls_cert_file.as_os_str().is_empty();
        is_on.then(|| CertificateFiles {
            cert_file: self.tls_cert_file.clone(),
            key_file: self.tls_key_file.clone(),
            cert_option: MAIL_CERT_OPTION,
            key_option: MAIL_KEY_OPTION,
        })
    }
}
