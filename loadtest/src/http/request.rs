//! Writes requests. The constant parts of a caller's requests are written once, as a template.

use std::io::Write;

use base64::Engine;

const USER_AGENT: &str = concat!("millstream-loadtest/", env!("CARGO_PKG_VERSION"));

/// The `Authorization` value of an account: email address and API key.
pub fn basic_authorization(email: &str, api_key: &str) -> String {
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{email}:{api_key}"));
    format!("Basic {pair}")
}

/// Form-encodes names and values.
pub fn encode_form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

/// A whole request without a body.
pub fn bodiless_request(method: &str, host: &str, path: &str, authorization: Option<&str>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    push_head(&mut bytes, method, host, path, authorization);
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn push_head(bytes: &mut Vec<u8>, method: &str, host: &str, path: &str, authorization: Option<&str>) {
    bytes.extend_from_slice(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n").as_bytes());
    bytes.extend_from_slice(format!("User-Agent: {USER_AGENT}\r\n").as_bytes());
    if let Some(authorization) = authorization {
        bytes.extend_from_slice(format!("Authorization: {authorization}\r\n").as_bytes());
    }
}

/// A request with a form body, without the body.
#[derive(Debug, Clone)]
pub struct Template {
    head: Vec<u8>,
}

impl Template {
    /// All bytes up to the value of `Content-Length`.
    pub fn new(method: &str, host: &str, path: &str, authorization: Option<&str>) -> Self {
        let mut head = Vec::with_capacity(320);
        push_head(&mut head, method, host, path, authorization);
        head.extend_from_slice(b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ");
        Self { head }
    }

    /// Writes the complete request with this body to `request`.
    pub fn fill(&self, request: &mut Vec<u8>, body: &[u8]) {
        request.clear();
        request.extend_from_slice(&self.head);
        write!(request, "{}\r\n\r\n", body.len()).expect("writing to a vector does not fail");
        request.extend_from_slice(body);
    }
}

/// A request without a body whose path ends in a variable number: an anchor, or the last event id.
#[derive(Debug, Clone)]
pub struct NumberedGet {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl NumberedGet {
    /// All bytes except the number, which follows `path`.
    pub fn new(host: &str, path: &str, authorization: Option<&str>) -> Self {
        let whole = bodiless_request("GET", host, path, authorization);
        let (before, after) = whole.split_at("GET ".len() + path.len());
        Self { before: before.to_vec(), after: after.to_vec() }
    }

    /// Writes the complete request with this number to `request`.
    pub fn fill(&self, request: &mut Vec<u8>, number: i64) {
        request.clear();
        request.extend_from_slice(&self.before);
        write!(request, "{number}").expect("writing to a vector does not fail");
        request.extend_from_slice(&self.after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_template_is_a_whole_request() {
        let template = Template::new("POST", "127.0.0.1:1", "/api/v1/messages", Some("Basic eA=="));
        let mut request = b"left over".to_vec();
        template.fill(&mut request, encode_form(&[("to", "a b"), ("content", "ü&=")]).as_bytes());
        let text = String::from_utf8(request).unwrap();
        assert!(text.starts_with("POST /api/v1/messages HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 27\r\n\r\nto=a+b&content=%C3%BC%26%3D"), "{text}");
        assert!(text.contains("\r\nAuthorization: Basic eA==\r\n"), "{text}");
    }

    #[test]
    fn number_is_inserted_into_the_path() {
        let get = NumberedGet::new("h", "/events?last_event_id=", None);
        let mut request = Vec::new();
        get.fill(&mut request, -1);
        let text = String::from_utf8(request).unwrap();
        assert!(text.starts_with("GET /events?last_event_id=-1 HTTP/1.1\r\nHost: h\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }

    #[test]
    fn basic_authorization_is_address_and_key() {
        assert_eq!(basic_authorization("a@b", "key"), "Basic YUBiOmtleQ==");
    }
}
