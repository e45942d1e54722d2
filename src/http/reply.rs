//! The success envelope: `{"result":"success","msg":"",…}`, written in one pass around a handler's fields.
//!
//! A handler gives a struct, or writes pre-encoded fields itself; what it did not read of its parameters is
//! added at the end. Answers that are not JSON envelopes (metrics, static files) go through [`Reply::plain`].

use super::error::{ApiError, JSON};
use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use serde::Serialize;
use tracing::error;

const OPENING: &[u8] = br#"{"result":"success","msg":"""#;
const NEVER_CACHED: HeaderValue =
    HeaderValue::from_static("max-age=0, no-cache, no-store, must-revalidate, private");

/// Pages have a style of their own and a form, and load nothing.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// What a handler answers: a reply, or the error that says why not.
pub type Answer = Result<Reply, ApiError>;

/// An answer: status 200, but for pages.
#[derive(Debug)]
pub struct Reply(Body);

#[derive(Debug)]
enum Body {
    /// An envelope still open at its end.
    Envelope(Vec<u8>),
    /// The same, with names of parameters that the handler did not read.
    Ignoring(Vec<u8>, Vec<String>),
    /// Whatever else there is.
    Other(Other),
    Plain {
        content_type: &'static str,
        cache_control: &'static str,
        bytes: Bytes,
    },
    Page {
        status: StatusCode,
        html: String,
    },
}

/// Bytes as they come. What breaks off ends the connection.
pub type ByteStream = BoxStream<'static, Result<Bytes, Box<dyn std::error::Error>>>;

/// An answer of any form.
struct Other {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Option<(u64, ByteStream)>,
}

impl std::fmt::Debug for Other {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?}", self.status, self.headers)
    }
}

impl Other {
    fn into_response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for header in self.headers {
            response.insert_header(header);
        }
        match self.body {
            Some((size, bytes)) => response.body(SizedStream::new(size, bytes)),
            None => response.finish(),
        }
    }
}

/// Answers with the fields of a struct, in its order. A struct without fields is the bare success.
pub fn reply(fields: &impl Serialize) -> Answer {
    Envelope::with_capacity(256).fields(fields)?.reply()
}

/// Answers the bare success: `{"result":"success","msg":""}`.
pub fn reply_ok() -> Answer {
    Envelope::with_capacity(0).reply()
}

/// An envelope in the making, for answers that hold pre-encoded JSON.
#[derive(Debug)]
pub struct Envelope(Vec<u8>);

impl Envelope {
    /// An envelope without fields yet; `bytes` is how much they are expected to take.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut body = Vec::with_capacity(OPENING.len() + bytes + 64);
        body.extend_from_slice(OPENING);
        Self(body)
    }

    /// Adds one field.
    pub fn field(mut self, name: &str, value: &impl Serialize) -> Result<Self, ApiError> {
        let body = self.open_field(name);
        serde_json::to_writer(body, value).map_err(not_encoded)?;
        Ok(self)
    }

    /// Adds every field of a struct.
    pub fn fields(mut self, fields: &impl Serialize) -> Result<Self, ApiError> {
        let start = self.0.len();
        serde_json::to_writer(&mut self.0, fields).map_err(not_encoded)?;
        match &self.0[start..] {
            b"{}" => self.0.truncate(start),
            [b'{', .., b'}'] => {
                self.0[start] = b',';
                self.0.pop();
            }
            _ => return Err(not_encoded("the fields of an answer must be a struct or a map")),
        }
        Ok(self)
    }

    /// Starts a field, and lends the buffer for its value: exactly one JSON value has to be written to it.
    pub fn open_field(&mut self, name: &str) -> &mut Vec<u8> {
        self.0.extend_from_slice(b",\"");
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
        &mut self.0
    }

    /// Adds a field whose value is already encoded.
    pub fn raw_field(mut self, name: &str, json: &[u8]) -> Self {
        self.open_field(name).extend_from_slice(json);
        self
    }

    /// The finished answer.
    pub fn reply(self) -> Answer {
        Ok(Reply(Body::Envelope(self.0)))
    }
}

impl Reply {
    /// An answer outside the envelope. An empty `cache_control` sends no such header.
    pub fn plain(content_type: &'static str, cache_control: &'static str, bytes: impl Into<Bytes>) -> Self {
        Self(Body::Plain { content_type, cache_control, bytes: bytes.into() })
    }

    /// A page for people, of which nobody keeps a copy, and whose address no other site is told: it may be a secret.
    pub fn page(status: StatusCode, html: String) -> Self {
        Self(Body::Page { status, html })
    }

    /// An answer of these headers, without a body.
    pub fn bare(status: StatusCode, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        Self(Body::Other(Other { status, headers, body: None }))
    }

    /// Status 200 with these headers, and so many bytes as they come.
    pub fn stream(headers: Vec<(HeaderName, HeaderValue)>, size: u64, bytes: ByteStream) -> Self {
        Self(Body::Other(Other { status: StatusCode::OK, headers, body: Some((size, bytes)) }))
    }

    /// Says which parameters were not read, for handlers that read their body themselves.
    pub fn ignoring(self, names: Vec<String>) -> Self {
        match self.0 {
            Body::Envelope(body) => Self(Body::Ignoring(body, names)),
            other => Self(other),
        }
    }

    /// Closes the envelope and makes the response. `ignored` are the sorted names of parameters nobody read.
    pub fn into_response(self, ignored: &[String]) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        match self.0 {
            Body::Envelope(body) => close_envelope(body, ignored),
            Body::Ignoring(body, names) => close_envelope(body, &names),
            Body::Other(other) => other.into_response(),
            Body::Plain { content_type, cache_control, bytes } => {
                response.insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)));
                if !cache_control.is_empty() {
                    response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static(cache_control)));
                }
                response.body(bytes)
            }
            Body::Page { status, html } => {
                response.status(status);
                response.insert_header((
                    header::CONTENT_TYPE,
                    HeaderValue::from_static("text/html; charset=utf-8"),
                ));
                response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")));
                response.insert_header((header::CONTENT_SECURITY_POLICY, PAGE_POLICY));
                response.insert_header((header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")));
                response.insert_header((header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")));
                response.insert_header((header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")));
                response.body(html)
            }
        }
    }
}

fn close_envelope(mut body: Vec<u8>, ignored: &[String]) -> HttpResponse {
    if !ignored.is_empty() {
        body.extend_from_slice(b",\"ignored_parameters_unsupported\":");
        // Writing a list of strings to memory cannot fail.
        let _ = serde_json::to_writer(&mut body, ignored);
    }
    body.extend_from_slice(b"}\n");
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, JSON));
    response.insert_header((header::CACHE_CONTROL, NEVER_CACHED));
    response.body(body)
}

fn not_encoded(reason: impl std::fmt::Display) -> ApiError {
    error!(%reason, "an answer could not be encoded");
    ApiError::internal()
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::body::to_bytes;

    async fn body_of(answer: Answer, ignored: &[&str]) -> String {
        let ignored: Vec<String> = ignored.iter().map(|name| (*name).to_owned()).collect();
        let body = to_bytes(answer.unwrap().into_response(&ignored).into_body()).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[derive(Serialize)]
    struct Sent {
        id: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        policy: Option<u8>,
    }

    #[derive(Serialize)]
    struct Nothing {}

    #[actix_web::test]
    async fn envelopes() {
        let bare = "{\"result\":\"success\",\"msg\":\"\"}\n";
        assert_eq!(body_of(reply_ok(), &[]).await, bare);
        assert_eq!(body_of(reply(&Nothing {}), &[]).await, bare);
        assert_eq!(
            body_of(reply(&Sent { id: 42, policy: None }), &[]).await,
            "{\"result\":\"success\",\"msg\":\"\",\"id\":42}\n"
        );
        assert_eq!(
            body_of(reply(&Sent { id: 42, policy: Some(3) }), &["a", "q\"t"]).await,
            "{\"result\":\"success\",\"msg\":\"\",\"id\":42,\"policy\":3,\
             \"ignored_parameters_unsupported\":[\"a\",\"q\\\"t\"]}\n"
        );
        let page = Envelope::with_capacity(10).raw_field("messages", b"[{}]").field("anchor", &7);
        assert_eq!(
            body_of(page.unwrap().reply(), &["z"]).await,
            "{\"result\":\"success\",\"msg\":\"\",\"messages\":[{}],\"anchor\":7,\
             \"ignored_parameters_unsupported\":[\"z\"]}\n"
        );
    }

    #[test]
    fn fields_that_are_no_object_are_our_fault() {
        assert_eq!(reply(&[1, 2]).unwrap_err(), ApiError::internal());
    }

    #[actix_web::test]
    async fn headers() {
        let response = reply_ok().unwrap().into_response(&[]);
        assert_eq!(response.headers().get("Content-Type").unwrap(), "application/json");
        assert_eq!(
            response.headers().get("Cache-Control").unwrap(),
            "max-age=0, no-cache, no-store, must-revalidate, private"
        );
        let plain = Reply::plain("text/plain", "", "hello").into_response(&["a".to_owned()]);
        assert!(plain.headers().get("Cache-Control").is_none());
        assert_eq!(to_bytes(plain.into_body()).await.unwrap(), "hello");
    }
}
