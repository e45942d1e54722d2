//! The headers of tus requests and responses.

use super::errors::with_message;
use crate::http::ApiError;
use crate::http::call::{Call, FromCall};
use crate::integrations::partial_uploads::PartialUpload;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue, HttpDate};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::time::{Duration, UNIX_EPOCH};

/// The only version of the protocol.
pub(super) const TUS_VERSION: &str = "1.0.0";
pub(super) const RESUMABLE: HeaderName = HeaderName::from_static("tus-resumable");
pub(super) const VERSION: HeaderName = HeaderName::from_static("tus-version");
pub(super) const MAX_SIZE: HeaderName = HeaderName::from_static("tus-max-size");
const OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const LENGTH: HeaderName = HeaderName::from_static("upload-length");
const METADATA: HeaderName = HeaderName::from_static("upload-metadata");
const EXPIRES: HeaderName = HeaderName::from_static("upload-expires");
const DEFER_LENGTH: HeaderName = HeaderName::from_static("upload-defer-length");

/// Request headers that pages of other origins may send.
pub(super) const REQUEST_HEADERS: &str = "Authorization, Content-Type, Tus-Resumable, Upload-Length, \
    Upload-Metadata, Upload-Offset, Upload-Defer-Length, X-Requested-With, X-Request-ID";
/// Response headers that pages of other origins may read.
pub(super) const EXPOSED: &str = "Location, Tus-Resumable, Tus-Version, Upload-Offset, Upload-Length, \
    Upload-Metadata, Upload-Expires";

/// Maximum length of `Upload-Metadata` in bytes.
const METADATA_BYTES_MAX: usize = 4096;
const BODY_TYPE: &str = "application/offset+octet-stream";

/// The headers of a tus request. Each is checked where it is needed.
pub struct TusHeaders {
    version: Option<String>,
    length: Option<String>,
    offset: Option<String>,
    metadata: String,
    is_length_deferred: bool,
    content_type: Option<String>,
    content_length: Option<u64>,
}

impl FromCall for TusHeaders {
    fn from_call(call: &mut Call<'_>) -> Result<Self, ApiError> {
        let text = |name: &HeaderName| call.header(name).map(|value| value.trim().to_owned());
        Ok(Self {
            version: text(&RESUMABLE),
            length: text(&LENGTH),
            offset: text(&OFFSET),
            metadata: text(&METADATA).unwrap_or_default(),
            is_length_deferred: call.header(DEFER_LENGTH).is_some(),
            content_type: text(&header::CONTENT_TYPE),
            content_length: text(&header::CONTENT_LENGTH).and_then(|length| length.parse().ok()),
        })
    }
}

impl TusHeaders {
    /// Refuses clients without the protocol, or with another version of it: status 412.
    pub(super) fn check_version(&self) -> Result<(), ApiError> {
        if self.version.as_deref() == Some(TUS_VERSION) {
            return Ok(());
        }
        let msg = "The header Tus-Resumable must be 1.0.0";
        Err(with_message(ApiError::bad_request(msg).status(StatusCode::PRECONDITION_FAILED)))
    }

    /// The length of the complete file. Status 411 if the client does not know it yet.
    pub(super) fn length(&self) -> Result<u64, ApiError> {
        if self.is_length_deferred {
            let error = ApiError::bad_request("SizeIsDeferred is not supported");
            return Err(with_message(error.status(StatusCode::LENGTH_REQUIRED)));
        }
        self.length.as_deref().and_then(parse_number).ok_or_else(|| invalid("Upload-Length"))
    }

    /// The offset at which the body continues.
    pub(super) fn offset(&self) -> Result<u64, ApiError> {
        self.offset.as_deref().and_then(parse_number).ok_or_else(|| invalid("Upload-Offset"))
    }

    /// Whether the body contains bytes of the file.
    pub(super) fn has_bytes(&self) -> bool {
        self.content_type.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case(BODY_TYPE))
    }

    /// Refuses bodies of another type: status 415.
    pub(super) fn check_has_bytes(&self) -> Result<(), ApiError> {
        if self.has_bytes() {
            return Ok(());
        }
        let error = ApiError::bad_request(format!("The Content-Type must be {BODY_TYPE}"));
        Err(with_message(error.status(StatusCode::UNSUPPORTED_MEDIA_TYPE)))
    }

    /// The declared length of the body.
    pub(super) fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// The metadata as sent, and the values that the server knows.
    pub(super) fn metadata(&self) -> Result<Metadata, ApiError> {
        let parsed = parse_metadata(&self.metadata).filter(|_| self.metadata.len() <= METADATA_BYTES_MAX);
        parsed.ok_or_else(|| invalid("Upload-Metadata"))
    }
}

fn invalid(name: &str) -> ApiError {
    with_message(ApiError::bad_request(format!("The header {name} is missing or invalid")))
}

fn parse_number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// The metadata of an upload.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Metadata {
    pub raw: String,
    pub file_name: Option<String>,
    pub content_type: Option<String>,
}

/// Parses `key base64, key base64, key`.
fn parse_metadata(raw: &str) -> Option<Metadata> {
    let mut metadata = Metadata { raw: raw.to_owned(), file_name: None, content_type: None };
    for pair in raw.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once(' ').unwrap_or((pair, ""));
        let value = STANDARD.decode(value.trim()).ok()?;
        let slot = match key {
            "filename" | "name" => &mut metadata.file_name,
            "filetype" | "type" => &mut metadata.content_type,
            _ => continue,
        };
        let value = String::from_utf8(value).ok()?;
        if !value.is_empty() {
            slot.get_or_insert(value);
        }
    }
    Some(metadata)
}

/// The headers that describe the state of an upload.
pub(super) fn state(upload: &PartialUpload, offset: u64) -> Vec<(HeaderName, HeaderValue)> {
    let expires = HttpDate::from(UNIX_EPOCH + Duration::from_millis(upload.expires().0)).to_string();
    let mut headers = vec![
        (OFFSET, HeaderValue::from(offset)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    headers.extend(HeaderValue::from_str(&expires).ok().map(|value| (EXPIRES, value)));
    headers
}

/// The headers that do not change.
pub(super) fn description(upload: &PartialUpload) -> Vec<(HeaderName, HeaderValue)> {
    let metadata = HeaderValue::from_str(&upload.info.metadata).ok().filter(|value| !value.is_empty());
    let length = (LENGTH, HeaderValue::from(upload.info.length));
    std::iter::once(length).chain(metadata.map(|value| (METADATA, value))).collect()
}

/// The `Location` of an upload: a complete URL, because not all clients resolve paths.
pub(super) fn location(realm_url: &str, upload: &PartialUpload) -> Option<(HeaderName, HeaderValue)> {
    let url = format!("{realm_url}/api/v1/tus/{}", upload.id);
    HeaderValue::from_str(&url).ok().map(|value| (header::LOCATION, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_parsed() {
        let found = |raw| parse_metadata(raw).map(|metadata| (metadata.file_name, metadata.content_type));
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            found("filename Y2F0LnBuZw==,filetype aW1hZ2UvcG5n"),
            Some((text("cat.png"), text("image/png")))
        );
        assert_eq!(
            found("name Y2F0LnBuZw== , is_confidential, relativePath bnVsbA=="),
            Some((text("cat.png"), None))
        );
        assert_eq!(found(""), Some((None, None)));
        assert_eq!(found("filename"), Some((None, None)));
        assert_eq!(found("filename %%%"), None);
        assert_eq!(found("filename /w=="), None, "not UTF-8");
    }

    #[test]
    fn numbers_have_digits_only() {
        assert_eq!(parse_number("12"), Some(12));
        for text in ["", "-1", "+1", "1.5", " 1", "99999999999999999999999", "x"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
