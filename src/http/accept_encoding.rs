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
    header.split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|named| named.eq_ignore_ascii_case(coding));
        is_named && parts.all(leaves_accepted)
    })
}

/// Whether a parameter of a coding leaves it accepted: a weight above 0 and up to 1, or any other parameter.
fn leaves_accepted(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let is_weight = name.trim().eq_ignore_ascii_case("q");
    !is_weight || value.trim().parse::<f32>().is_ok_and(|weight| weight > 0.0 && weight <= 1.0)
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
}
