//! The forms in which a file of the web app is stored, and which of them a request accepts.

use crate::http::accept_encoding::AcceptEncoding;

/// The encodings in which a file can be stored beside itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Brotli,
    Gzip,
    Plain,
}

impl Encoding {
    /// The name in `Content-Encoding`; none for the file itself.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Brotli => Some("br"),
            Self::Gzip => Some("gzip"),
            Self::Plain => None,
        }
    }

    /// What the name of the stored file ends in.
    pub fn file_ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Plain => "",
        }
    }

    /// What the ETag ends in, which differs for each encoding.
    pub fn tag_ending(self) -> &'static str {
        match self {
            Self::Brotli => "-br",
            Self::Gzip => "-gz",
            Self::Plain => "",
        }
    }
}

/// The encodings to look for, the best one first. A part of a file is one of the file itself.
pub fn wanted(accepted: &AcceptEncoding, is_part: bool) -> Vec<Encoding> {
    let stored = [Encoding::Brotli, Encoding::Gzip];
    let is_accepted = |encoding: &Encoding| encoding.name().is_some_and(|name| accepted.accepts(name));
    let mut found: Vec<Encoding> = stored.into_iter().filter(|one| !is_part && is_accepted(one)).collect();
    found.push(Encoding::Plain);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_accepted_encoding_is_first() {
        use Encoding::{Brotli, Gzip, Plain};
        let accepting = |header: &str| wanted(&AcceptEncoding::from(header), false);
        assert_eq!(accepting("gzip, deflate, br"), [Brotli, Gzip, Plain]);
        assert_eq!(accepting("br;q=0, GZIP;q=0.5"), [Gzip, Plain]);
        assert_eq!(accepting("identity"), [Plain]);
        assert_eq!(wanted(&AcceptEncoding::default(), false), [Plain]);
        assert_eq!(wanted(&AcceptEncoding::from("br"), true), [Plain]);
    }
}
