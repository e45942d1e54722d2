//! The certificates for HTTPS and for mail in: whether they can be used, and for how long.

use super::finding::Finding;
use crate::certificates::{CertificateFiles, Usable, Validity};
use crate::config::Config;
use crate::units::readable_time;
use jiff::Timestamp;

/// Whether the files of `[tls]`, and those of mail in if there are any, can be used now and in two weeks.
pub fn check(config: &Config) -> Vec<Finding> {
    let what = "TLS";
    let https = match config.tls.is_on() {
        true => check_files(what, &config.tls.files()),
        false => Finding::off(what, "the server speaks plain HTTP; a proxy does TLS, or set [tls]"),
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
        Usable::Ended => {
            Finding::problem(what, format!("{file} ended at {end}; renew it, the server reads it by itself"))
        }
        Usable::EndsSoon => Finding::warning(what, format!("{file} ends at {end}; renew it")),
        Usable::ForDays(days) => Finding::good(what, format!("{file} is valid for {days} days")),
    }
}
