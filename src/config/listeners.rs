//! The settings of HTTPS, and of the listener of metrics.

use super::texts::parse_listen;
use crate::certificates::CertificateFiles;
use model::redacted::Redacted;
use serde::Deserialize;
use std::net::SocketAddr;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

/// The option that names the certificate for HTTPS.
pub const CERT_OPTION: &str = "tls.cert_file";
/// The option that names its key.
pub const KEY_OPTION: &str = "tls.key_file";

/// The section `[tls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The certificate chain; empty for plain HTTP.
    pub cert_file: PathBuf,
    /// The key of the first certificate.
    pub key_file: PathBuf,
    /// Seconds until a handshake must be complete.
    pub handshake_secs_max: NonZeroU64,
    /// Handshakes at a time.
    pub handshakes_max: NonZeroUsize,
}

impl TlsSettings {
    /// Whether the server speaks HTTPS.
    pub fn is_on(&self) -> bool {
        !self.cert_file.as_os_str().is_empty()
    }

    /// Whether both files of the certificate are named.
    pub fn has_files(&self) -> bool {
        self.is_on() && !self.key_file.as_os_str().is_empty()
    }

    /// The files of the certificate.
    pub fn files(&self) -> CertificateFiles {
        CertificateFiles {
            cert_file: self.cert_file.clone(),
            key_file: self.key_file.clone(),
            cert_option: CERT_OPTION,
            key_option: KEY_OPTION,
        }
    }
}

/// The section `[metrics]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metrics {
    /// Address and port of a listener of their own; empty for the server's.
    pub listen: String,
    /// What a client must send as `Authorization: Bearer`; empty for none.
    pub token: Redacted<String>,
}

impl Metrics {
    /// The address of their own listener.
    pub fn address(&self) -> Option<SocketAddr> {
        parse_listen(&self.listen).ok()
    }
}
