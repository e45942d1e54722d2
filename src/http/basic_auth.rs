//! Parses the `Authorization` header into credentials, or the exact refusal that clients expect. Whether the key
//! belongs to an account is checked by `caller`.

use super::error::{ApiError, Code};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::fmt;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Length of every API key, in characters of `[A-Za-z0-9]`.
pub const API_KEY_CHARS: usize = 32;

/// The credentials of a request. The key is well-formed, but not yet checked.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// As they were sent, with the colon.
    text: String,
    colon: usize,
}

impl Credentials {
    /// The e-mail address.
    pub fn address(&self) -> &str {
        &self.text[..self.colon]
    }

    /// The API key: 32 characters of `[A-Za-z0-9]`.
    pub fn api_key(&self) -> &str {
        self.text[self.colon + 1..].trim()
    }
}

impl fmt::Debug for Credentials {
    /// Omits the key, which must not appear in logs and panics.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// Parses the header's raw value; `None` if the request has no such header.
pub fn parse_authorization(header: Option<&[u8]>) -> Result<Credentials, ApiError> {
    let Some(header) = header else { return Err(ApiError::not_logged_in()) };
    let decoded = match header.strip_prefix(b"Basic ").map(|encoded| BASE64.decode(encoded)) {
        // The usual spelling.
        Some(Ok(decoded)) => decoded,
        Some(Err(_)) | None => decode_words(header)?,
    };
    let text = String::from_utf8(decoded).map_err(|_| invalid_header())?;
    let Some((address, key)) = text.split_once(':') else { return Err(invalid_header()) };
    if key.contains(':') {
        return Err(invalid_header());
    }
    let colon = address.len();
    let credentials = Credentials { text, colon };
    match is_api_key(credentials.api_key()) {
        true => Ok(credentials),
        false => Err(ApiError::new(Code::UNAUTHORIZED, "Malformed API key")),
    }
}

/// Decodes a value with any whitespace and in any case.
fn decode_words(header: &[u8]) -> Result<Vec<u8>, ApiError> {
    // A value that is not text cannot name the scheme either.
    let text = std::str::from_utf8(header).unwrap_or("");
    let mut words = text.split_ascii_whitespace();
    if !words.next().unwrap_or("").eq_ignore_ascii_case("basic") {
        return Err(ApiError::bad_request("This endpoint requires HTTP basic authentication."));
    }
    let (Some(encoded), None) = (words.next(), words.next()) else { return Err(invalid_header()) };
    BASE64.decode(encoded).map_err(|_| invalid_header())
}

/// Whether a text has the form of an API key.
pub fn is_api_key(text: &str) -> bool {
    text.len() == API_KEY_CHARS && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn invalid_header() -> ApiError {
    ApiError::new(Code::UNAUTHORIZED, "Invalid authorization header for basic auth")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "abcdefghijklmnopqrstuvwxyzABCDE9";

    fn header(text: &str) -> String {
        format!("Basic {}", BASE64.encode(text))
    }

    #[test]
    fn valid_header_is_parsed() {
        let spellings =
            [header(&format!("iago@zulip.com:{KEY}")), header(&format!("iago@zulip.com: {KEY} \n"))];
        for spelling in spellings {
            for spelling in [spelling.clone(), spelling.replace("Basic", "bAsIc"), spelling.replace('=', "")]
            {
                let credentials = parse_authorization(Some(spelling.as_bytes())).unwrap();
                assert_eq!((credentials.address(), credentials.api_key()), ("iago@zulip.com", KEY));
            }
        }
    }

    #[test]
    fn invalid_headers_are_refused() {
        let invalid = "Invalid authorization header for basic auth";
        let scheme = "This endpoint requires HTTP basic authentication.";
        let long = header(&format!("a@b:{KEY}0"));
        let odd = header(&format!("a@b:{}", KEY.replace('9', "_")));
        let three = header(&format!("a@b:{KEY}:c"));
        let cases: &[(&str, &str, Code, u16)] = &[
            ("Bearer abc", scheme, Code::BAD_REQUEST, 400),
            ("Bearer", scheme, Code::BAD_REQUEST, 400),
            ("", scheme, Code::BAD_REQUEST, 400),
            ("Basic", invalid, Code::UNAUTHORIZED, 401),
            ("Basic YQ== YQ==", invalid, Code::UNAUTHORIZED, 401),
            ("Basic %%%", invalid, Code::UNAUTHORIZED, 401),
            ("Basic /w==", invalid, Code::UNAUTHORIZED, 401),
            (&header("no colon"), invalid, Code::UNAUTHORIZED, 401),
            (&three, invalid, Code::UNAUTHORIZED, 401),
            (&header("iago@zulip.com:abc"), "Malformed API key", Code::UNAUTHORIZED, 401),
            (&long, "Malformed API key", Code::UNAUTHORIZED, 401),
            (&odd, "Malformed API key", Code::UNAUTHORIZED, 401),
        ];
        for (value, msg, code, status) in cases {
            let error = parse_authorization(Some(value.as_bytes())).unwrap_err();
            assert_eq!(
                (error.msg(), error.code(), error.status_code().as_u16()),
                (*msg, Some(*code), *status),
                "{value}"
            );
        }
        assert_eq!(parse_authorization(None).unwrap_err(), ApiError::not_logged_in());
        assert_eq!(parse_authorization(Some(b"\xff\xfe")).unwrap_err().msg(), scheme);
    }

    #[test]
    fn the_key_is_never_printed() {
        let credentials = parse_authorization(Some(header(&format!("a@b:{KEY}")).as_bytes())).unwrap();
        let printed = format!("{credentials:?}");
        assert!(printed.contains("a@b") && !printed.contains(KEY), "{printed}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse_authorization(Some(&bytes));
        }
    }
}
