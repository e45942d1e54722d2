//! The success envelope: `{"result":"success","msg":"",…}`, written in one pass around a handler's fields.
//!
//! A handler gives a struct, or writes pre-encoded fields itself; what it did not read of its parameters is
//! added at the end. Answers that are not JSON envelopes (metrics, static files) go through [`Reply::plain`].

use super::error::{ApiError, JSON};
use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderValue};
use bytes::Bytes;
use serde::Serialize;
use tracing::error;

const OPENING: &[u8] = br#"{"result":"success","msg":"""#;
const NEVER_CACHED: HeaderValue =
    HeaderValue::from_static("max-age=0, no-cache, no-store, must-revalidate, private");

/// What a handler answers: a reply, or the error that says why not.
pub type Answer = Result<Reply, ApiError>;

/// A successful answer, status 200.
#[derive(Debug)]
pub struct Reply(Body);

#[derive(Debug)]
enum Body {
    /// An envelope still open at its end.
    Envelope(Vec<u8>),
    Plain {
        content_type: &'static str,
        cache_control: &'static str,
        bytes: Bytes,
    },
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

    /// Closes the envelope and makes the response. `ignored` are the sorted names of parameters nobody read.
    pub fn into_response(self, ignored: &[String]) -> HttpResponse {
        let mut response = HttpResponse::Ok();
        match self.0 {
            Body::Envelope(mut body) => {
                if !ignored.is_empty() {
                    body.extend_from_slice(b",\"ignored_parameters_unsupported\":");
                    // Writing a list of strings to memory cannot fail.
                    let _ = serde_json::to_writer(&mut body, ignored);
                }
                body.extend_from_slice(b"}\n");
                response.insert_header((header::CONTENT_TYPE, JSON));
                response.insert_header((header::CACHE_CONTROL, NEVER_CACHED));
                response.body(body)
            }
            Body::Plain { content_type, cache_control, bytes } => {
                response.insert_header((header::CONTENT_TYPE, HeaderValue::from_static(content_type)));
                if !cache_control.is_empty() {
                    response.insert_header((header::CACHE_CONTROL, HeaderValue::from_static(cache_control)));
                }
                response.body(bytes)
            }
        }
    }
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
