//! Says in words why no TLS connection was made, and what to do about it.

use rustls::CertificateError;

use super::HttpError;
use crate::text::one_line;

/// Characters of a reason, which may have names of the server's certificate.
const REASON_CHARS_MAX: usize = 300;

/// The error of a connection attempt: that of TLS in words, if it is one.
pub fn explain(error: std::io::Error) -> HttpError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(reason)) => HttpError::Tls(explain_certificate(reason)),
        Some(rustls::Error::InvalidMessage(_)) => HttpError::Tls(
            "the server did not answer with TLS: perhaps its address begins with http://".to_owned(),
        ),
        Some(other) => HttpError::Tls(one_line(&other.to_string(), REASON_CHARS_MAX)),
        None => HttpError::Io(error),
    }
}

fn explain_certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::UnknownIssuer => {
            "the server's certificate is of no trusted authority: give the certificate of its authority (PEM) with --ca FILE"
                .to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the server's certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the server's certificate is for other host names than that of the URL".to_owned()
        }
        // The library gives no name to this one.
        CertificateError::Other(other) if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "the server's certificate is that of an authority, which cannot be used for a server: let the authority sign one \
             for the server (without CA:TRUE), and give the authority's with --ca FILE"
                .to_owned()
        }
        other => {
            let reason = one_line(&other.to_string(), REASON_CHARS_MAX);
            format!("the server's certificate was refused ({reason}); --ca FILE gives the authority to trust")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Debug)]
    struct CaUsedAsEndEntity;

    impl std::fmt::Display for CaUsedAsEndEntity {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(formatter, "{self:?}")
        }
    }

    impl std::error::Error for CaUsedAsEndEntity {}

    #[test]
    fn errors_of_certificates_are_sentences() {
        let other = rustls::OtherError(Arc::new(CaUsedAsEndEntity));
        for (reason, part) in [
            (CertificateError::UnknownIssuer, "with --ca FILE"),
            (CertificateError::Other(other), "is that of an authority"),
            (CertificateError::NotValidForName, "other host names"),
            (CertificateError::Expired, "has expired"),
            (CertificateError::BadSignature, "--ca FILE"),
        ] {
            let error = rustls::Error::InvalidCertificate(reason);
            let error = explain(std::io::Error::new(std::io::ErrorKind::InvalidData, error));
            let text = error.to_string();
            assert!(text.contains(part) && !text.contains("Other"), "{text}");
            assert_eq!(error.code(), "TLS");
        }
        assert!(matches!(explain(std::io::ErrorKind::ConnectionRefused.into()), HttpError::Io(_)));
    }
}
