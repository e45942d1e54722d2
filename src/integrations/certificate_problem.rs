//! What is wrong with the certificate of another server, as operators read it: the TLS library says it with names of its own.

use rustls::{CertificateError, Error as TlsError};
use std::error::Error;
use std::io;

/// Why the certificate was refused and what to do, if that is what an error is about.
pub fn certificate_problem(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(TlsError::InvalidCertificate(problem)) = error.downcast_ref() {
            return Some(sentence(problem));
        }
        // The source of an I/O error is not the error that it was made from, but the source of that one.
        cause = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

fn sentence(problem: &CertificateError) -> String {
    let sentence = match problem {
        CertificateError::UnknownIssuer => {
            "its certificate is not from an authority that this machine trusts; use one of a public authority, or add the \
             authority's certificate to those of this machine (`update-ca-certificates`)"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired; renew it"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; check the clocks of both machines"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name; use the name that is in the certificate, or a certificate for this name"
        }
        CertificateError::Revoked => "its certificate was revoked; get another one",
        // Only its debug text says which error of the verifier it is.
        CertificateError::Other(inner) if format!("{inner:?}").contains("CaUsedAsEndEntity") => {
            "its certificate is that of an authority itself, as a self-signed one may be; use one that an authority has signed"
        }
        _ => "its certificate cannot be verified; check it with `openssl s_client -connect HOST:PORT`",
    };
    sentence.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the request failed")]
    struct Outer(#[source] io::Error);

    #[test]
    fn certificate_errors_are_found_below_others() {
        let wrapped =
            |problem| Outer(io::Error::other(io::Error::other(TlsError::InvalidCertificate(problem))));
        for (problem, expected) in [
            (CertificateError::UnknownIssuer, "not from an authority that this machine trusts"),
            (CertificateError::Expired, "has expired; renew it"),
            (CertificateError::NotValidForName, "is for another name"),
            (CertificateError::BadEncoding, "cannot be verified"),
        ] {
            let found = certificate_problem(&wrapped(problem)).unwrap();
            assert!(found.contains(expected), "{found}");
        }
        assert_eq!(certificate_problem(&Outer(io::Error::other("no route to host"))), None);
    }
}
