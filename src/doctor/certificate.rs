//! The certificates for HTTPS and for mail in: whether they can be used, and for how long.

use super::finding::Finding;
use super::running::RunningServer;
use crate::certificates::{CertificateFiles, Usable, Validity, is_authority};
use crate::config::Config;
use crate::units::readable_time;
use jiff::Timestamp;

/// Whether the files of `[tls]`, and those of mail in if there are any, can be used now and in two weeks.
pub fn check(config: &Config, running: RunningServer) -> Vec<Finding> {
    let what = "TLS";
    let serving = match running {
        RunningServer::Answering(Some(at)) => Some(at),
        RunningServer::Answering(None) | RunningServer::None | RunningServer::Silent => None,
    };
    let https = match (config.tls.is_on(), serving.filter(|at| at.is_encrypted)) {
        (true, _) => check_files(what, &config.tls.files()),
        (false, Some(at)) => {
            let text = format!(
                "the server on {} speaks HTTPS, but here [tls] is not set, so its certificate is not examined; give --config as for \
                 the server",
                at.address
            );
            Finding::warning(what, text)
        }
        (false, None) => Finding::off(what, "the server speaks plain HTTP; a proxy does TLS, or set [tls]"),
    };
    let mail = config.mail.incoming.files().map(|files| check_files("TLS of mail in", &files));
    std::iter::once(https).chain(mail).collect()
}

fn check_files(what: &'static str, files: &CertificateFiles) -> Finding {
    let certificates = match files.read().and_then(|_| files.certificates()) {
        Ok(certificates) => certificates,
        Err(problem) => return Finding::problem(what, problem.to_string()),
    };
    let file = files.cert_file.display();
    let Some(validity) = certificates.first().and_then(|first| Validity::of(first)) else {
        return Finding::warning(what, format!("{file} is used; how long it is valid cannot be read"));
    };
    let [start, end] = [validity.start, validity.end].map(|time| readable_time(&time.to_string()));
    match validity.at(Timestamp::now()) {
        Usable::NotYet => {
            Finding::problem(what, format!("{file} is valid only from {start} on; check the clock"))
        }
        Usable::Ended => Finding::problem(
            what,
            format!("{file} expired at {end}; renew it (the server reads the new one by itself)"),
        ),
        Usable::EndsSoon => Finding::warning(what, format!("{file} expires at {end}; renew it")),
        Usable::ForDays(_) if certificates.first().is_some_and(|own| is_authority(own)) => {
            let text = format!(
                "{file} is the certificate of an authority itself, as a self-signed one may be, and some clients refuse it; use one \
                 that an authority has signed"
            );
            Finding::warning(what, text)
        }
        Usable::ForDays(days) => Finding::good(what, format!("{file} is valid for {days} days")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};

    #[test]
    fn certificate_of_an_authority_itself_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let files = CertificateFiles {
            cert_file: folder.path().join("cert.pem"),
            key_file: folder.path().join("key.pem"),
            cert_option: "tls.cert_file",
            key_option: "tls.key_file",
        };
        let key = KeyPair::generate().unwrap();
        std::fs::write(&files.key_file, key.serialize_pem()).unwrap();
        let mut params = CertificateParams::new(vec!["chat.example".to_owned()]).unwrap();
        for (kind, state) in
            [(IsCa::NoCa, State::Good), (IsCa::Ca(BasicConstraints::Unconstrained), State::Warning)]
        {
            params.is_ca = kind;
            std::fs::write(&files.cert_file, params.self_signed(&key).unwrap().pem()).unwrap();
            let found = check_files("TLS", &files);
            assert_eq!(found.state, state, "{found:?}");
            assert_eq!(found.text.contains("certificate of an authority itself"), state == State::Warning);
        }
    }
}
