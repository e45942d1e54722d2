//! Which compressed forms of an answer a client reads: `Accept-Encoding` (RFC 9110, section 12.5.3).

use super::call::{Call, FromCall};
use super::error::ApiError;
use actix_web::http::header::ACCEPT_ENCODING;

/// The content codings of a request's `Accept-Encoding`. Without the header, none but the plain form is accepted.
#[derive(Clone, Debug, Default)]
pub struct AcceptEncoding(Option<String>);

impl FromCall for AcceptEncoding {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        Ok(Self(call.header(ACCEPT_ENCODING).map(str::to_owned)))
    }
}

impl AcceptEncoding {
    /// Whether a coding such as `gzip` is named, and not with the weight 0 or one that is no weight.
    pub fn accepts(&self, coding: &str) -> bool {
        accepts(self.0.as_deref().unwrap_or_default(), coding)
    }
}

/// Whether a header names a coding such as `gzip`, and not with the weight 0 or one that is no weight.
pub(super) fn accepts(header: &str, coding: &str) -> bool {
    weight(header, coding).is_some()
}

/// The largest weight, above 0 and up to 1, with which a header names a coding.
pub(super) fn weight(header: &str, coding: &str) -> Option<f32> {
    let weights = header.split(',').filter_map(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next().filter(|named| named.eq_ignore_ascii_case(coding))?;
        parts.try_fold(1.0, |weight, parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            if !name.trim().eq_ignore_ascii_case("q") {
                return Some(weight);
            }
            value.trim().parse::<f32>().ok().filter(|weight| *weight > 0.0 && *weight <= 1.0)
        })
    });
    weights.reduce(f32::max)
}

/// A header without the entries of a coding.
pub(super) fn without(header: &str, coding: &str) -> String {
    let is_other =
        |one: &&str| !one.split(';').next().is_some_and(|named| named.trim().eq_ignore_ascii_case(coding));
    header.split(',').filter(is_other).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
impl From<&str> for AcceptEncoding {
    fn from(header: &str) -> Self {
        Self(Some(header.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codings_without_weight_zero_are_accepted() {
        let accepted = AcceptEncoding::from("br;q=0, GZIP;q=0.5 , deflate; q=0.000, zstd");
        for (coding, is_accepted) in
            [("br", false), ("gzip", true), ("deflate", false), ("zstd", true), ("identity", false)]
        {
            assert_eq!(accepted.accepts(coding), is_accepted, "{coding}");
        }
        assert!(!AcceptEncoding::default().accepts("gzip"));
    }

    #[test]
    fn weights_are_read_in_any_case_and_refused_where_they_are_none() {
        for (header, is_accepted) in [
            ("gzip; Q=0", false),
            ("gzip;Q=0.5", true),
            ("gzip; q = 0", false),
            ("gzip;q=1.000", true),
            ("gzip;q=abc", false),
            ("gzip;q=", false),
            ("gzip;q", false),
            ("gzip;q=2", false),
            ("gzip;q=NaN", false),
            ("gzip;q=-1", false),
            ("gzip;level=9", true),
            ("gzip;", true),
            ("gzip;q=0, gzip", true),
        ] {
            assert_eq!(accepts(header, "gzip"), is_accepted, "{header}");
        }
    }

    #[test]
    fn weights_are_the_largest_of_a_coding() {
        let header = "br;q=0.2, gzip, BR ;q=0.5, deflate;q=0";
        for (coding, expected) in [("br", Some(0.5)), ("gzip", Some(1.0)), ("deflate", None), ("zstd", None)]
        {
            assert_eq!(weight(header, coding), expected, "{coding}");
        }
        assert_eq!(without(header, "br").trim(), "gzip, deflate;q=0");
        assert_eq!(without("br", "br"), "");
    }
}
