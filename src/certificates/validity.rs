//! How long a certificate can be used, and whether it is that of an authority: read from its fields.

use jiff::Timestamp;

/// Days before the end of a certificate from which on it should be renewed.
pub const DAYS_WARN: i64 = 14;
const DAY_SECS: i64 = 24 * 60 * 60;

/// Tags of ASN.1.
const SEQUENCE: u8 = 0x30;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BOOLEAN: u8 = 0x01;
const OCTETS: u8 = 0x04;
const EXTENSIONS: u8 = 0xa3;

/// The name of the extension that says whether a certificate is that of an authority (RFC 5280, 4.2.1.9).
const BASIC_CONSTRAINTS: [u8; 3] = [0x55, 0x1d, 0x13];

/// From when until when a certificate can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    pub start: Timestamp,
    pub end: Timestamp,
}

/// Whether a certificate can be used at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usable {
    NotYet,
    /// For more than [`DAYS_WARN`] days.
    ForDays(i64),
    /// Not for long.
    EndsSoon,
    Ended,
}

impl Validity {
    /// The times in a certificate (RFC 5280, 4.1.2.5); none if they cannot be read.
    pub fn of(der: &[u8]) -> Option<Self> {
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
        Some(Self { start: time(start_tag, start)?, end: time(end_tag, end)? })
    }

    /// Whether the certificate can be used at a time.
    pub fn at(self, now: Timestamp) -> Usable {
        let days = (self.end.as_second() - now.as_second()) / DAY_SECS;
        match days {
            _ if now < self.start => Usable::NotYet,
            _ if self.end <= now => Usable::Ended,
            days if days < DAYS_WARN => Usable::EndsSoon,
            days => Usable::ForDays(days),
        }
    }
}

/// The version of a certificate, from 1 on; none if it cannot be read. Version 1 is not written in it, and it has no extensions.
pub fn version(der: &[u8]) -> Option<u8> {
    let (_, certificate, _) = element(der)?;
    let (_, fields, _) = element(certificate)?;
    match element(fields)? {
        (VERSION, number, _) => element(number)?.1.last()?.checked_add(1),
        _ => Some(1),
    }
}

/// Whether a certificate is that of an authority, which signs others: false as well if that cannot be read.
pub fn is_authority(der: &[u8]) -> bool {
    basic_constraints(der).and_then(element).is_some_and(|(tag, value, _)| tag == BOOLEAN && value != [0])
}

/// The content of the extension with that name.
fn basic_constraints(der: &[u8]) -> Option<&[u8]> {
    let (_, certificate, _) = element(der)?;
    let (_, mut fields, _) = element(certificate)?;
    let list = loop {
        let (tag, content, rest) = element(fields)?;
        if tag == EXTENSIONS {
            break content;
        }
        fields = rest;
    };
    let (_, mut extensions, _) = element(list)?;
    loop {
        let (_, extension, rest) = element(extensions)?;
        let (_, name, mut value) = element(extension)?;
        if name == BASIC_CONSTRAINTS {
            if value.first() == Some(&BOOLEAN) {
                value = element(value)?.2;
            }
            let (OCTETS, wrapped, _) = element(value)? else { return None };
            return element(wrapped).map(|(_, content, _)| content);
        }
        extensions = rest;
    }
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
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};

    #[test]
    fn validity_is_read() {
        let mut params = CertificateParams::new(vec!["chat.example".to_owned()]).unwrap();
        params.not_before = date_time_ymd(2026, 2, 3);
        params.not_after = date_time_ymd(2061, 12, 31);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let Validity { start, end } = Validity::of(certificate.der()).unwrap();
        assert_eq!(
            (start.to_string(), end.to_string()),
            ("2026-02-03T00:00:00Z".into(), "2061-12-31T00:00:00Z".into())
        );
        assert_eq!(version(certificate.der()), Some(3));
        assert!(!is_authority(certificate.der()));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        assert!(is_authority(params.self_signed(&KeyPair::generate().unwrap()).unwrap().der()));
        for broken in [&[][..], &[0x30], &[0x30, 0x85, 1, 2, 3, 4, 5], &[0x30, 0x03, 0x30, 0x7f, 0]] {
            assert_eq!((Validity::of(broken), version(broken), is_authority(broken)), (None, None, false));
        }
    }

    #[test]
    fn end_is_announced_two_weeks_before() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let validity = Validity { start: at("2026-02-03T00:00:00Z"), end: at("2026-05-01T00:00:00Z") };
        for (now, usable) in [
            ("2026-02-02T23:59:59Z", Usable::NotYet),
            ("2026-04-16T00:00:00Z", Usable::ForDays(15)),
            ("2026-04-17T00:00:01Z", Usable::EndsSoon),
            ("2026-04-30T23:59:59Z", Usable::EndsSoon),
            ("2026-05-01T00:00:00Z", Usable::Ended),
        ] {
            assert_eq!(validity.at(at(now)), usable, "{now}");
        }
    }
}
