//! The certificate for HTTPS: whether it can be used, and for how long.

use super::finding::Finding;
use crate::config::Config;
use jiff::Timestamp;

/// Days before the end of a certificate from which on it is a warning.
const DAYS_WARN: i64 = 14;
const DAY_SECS: i64 = 24 * 60 * 60;

/// Tags of ASN.1.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// Whether the files of `[tls]` can be used now and next week.
pub fn check(config: &Config) -> Finding {
    let what = "TLS";
    if !config.tls.is_on() {
        return Finding::off(what, "the server speaks plain HTTP; a proxy does TLS, or set [tls]");
    }
    let files = config.tls.files();
    let certificates = match files.read().and_then(|_| files.certificates()) {
        Ok(certificates) => certificates,
        Err(problem) => return Finding::problem(what, problem.to_string()),
    };
    let file = files.cert_file.display();
    let Some((start, end)) = certificates.first().and_then(|first| validity(first)) else {
        return Finding::warning(what, format!("{file} is used; how long it is valid cannot be read"));
    };
    let now = Timestamp::now();
    let days = (end.as_second() - now.as_second()) / DAY_SECS;
    if now < start {
        return Finding::problem(what, format!("{file} is valid only from {start} on; check the clock"));
    }
    match days {
        _ if end <= now => {
            Finding::problem(what, format!("{file} ended at {end}; renew it, the server reads it by itself"))
        }
        days if days < DAYS_WARN => Finding::warning(what, format!("{file} ends at {end}; renew it")),
        days => Finding::good(what, format!("{file} is valid for {days} days")),
    }
}

/// From when until when a certificate is valid (RFC 5280, 4.1.2.5).
fn validity(der: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (_, certificate, _) = element(der)?;
    let (_, mut fields, _) = element(certificate)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, algorithm and issuer come first.
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (SEQUENCE, times, _) = element(fields)? else { return None };
    let (start_tag, start, rest) = element(times)?;
    let (end_tag, end, _) = element(rest)?;
    Some((time(start_tag, start)?, time(end_tag, end)?))
}

/// Tag and content of the first element, and what follows it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short @ 0..=0x7f => (usize::from(*short), rest),
        long => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            if digits.len() > 4 {
                return None;
            }
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

/// `YYMMDDhhmmssZ`, or the same with four digits of the year.
fn time(tag: u8, bytes: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = match tag {
        UTC_TIME if text.get(..2)?.parse::<u8>().ok()? < 50 => format!("20{text}"),
        UTC_TIME => format!("19{text}"),
        GENERALIZED_TIME => text.to_owned(),
        _ => return None,
    };
    let date = jiff::civil::DateTime::strptime("%Y%m%d%H%M%SZ", &text).ok()?;
    date.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    #[test]
    fn validity_is_read() {
        let mut params = CertificateParams::new(vec!["chat.example".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2026, 2, 3);
        params.not_after = date_time_ymd(2061, 12, 31);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let (start, end) = validity(certificate.der()).unwrap();
        assert_eq!(
            (start.to_string(), end.to_string()),
            ("2026-02-03T00:00:00Z".into(), "2061-12-31T00:00:00Z".into())
        );
        for broken in [&[][..], &[0x30], &[0x30, 0x85, 1, 2, 3, 4, 5], &[0x30, 0x03, 0x30, 0x7f, 0]] {
            assert_eq!(validity(broken), None);
        }
    }
}
