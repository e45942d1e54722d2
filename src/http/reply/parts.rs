//! Responses that are made from others, or are parts of them.

use super::{Body, ByteStream, Envelope, OPENING, Other, Reply};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use bytes::Bytes;

impl Reply {
    /// Status 206 with these headers and a part of a file, as a stream of known size.
    pub fn partial(headers: Vec<(HeaderName, HeaderValue)>, size: u64, bytes: ByteStream) -> Self {
        Body::Other(Other { status: StatusCode::PARTIAL_CONTENT, headers, body: Some((size, bytes)) }).into()
    }
}

impl Envelope {
    /// Fields that are to be a part of other envelopes; `bytes` is their expected size. Shared parts up to `copied_bytes_max` are copied.
    pub fn part(bytes: usize, copied_bytes_max: usize) -> Self {
        let own = Vec::with_capacity(bytes);
        Self { own, spliced: Vec::new(), counts_spliced: false, copied_bytes_max }
    }

    /// The bytes of a part, and the shared bytes that were not copied, each with the length at which it is inserted.
    pub fn into_spliced(self) -> (Vec<u8>, Vec<(usize, Bytes)>) {
        (self.own, self.spliced)
    }

    /// The fields as one JSON object, without `result` and `msg`.
    pub fn into_object(mut self) -> Vec<Bytes> {
        self.own.push(b'}');
        // The fields follow the opening, each with a comma before it.
        let has_fields = self.own.len() > OPENING.len() + 1 || !self.spliced.is_empty();
        let skipped = OPENING.len() + usize::from(has_fields);
        let mut parts = self.into_parts();
        if let Some(first) = parts.first_mut() {
            let _ = first.split_to(skipped.min(first.len()));
        }
        parts.insert(0, Bytes::from_static(b"{"));
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_has_the_fields_alone() {
        let shared = Bytes::from(format!("\"{}\"", "x".repeat(500)));
        let mut envelope = Envelope::with_capacity(0).field("a", &1).unwrap();
        envelope.open_field("b");
        envelope.splice(shared.clone());
        let object = envelope.into_object().concat();
        let expected = [b"{\"a\":1,\"b\":", shared.as_ref(), b"}"].concat();
        assert_eq!(object, expected);
        assert_eq!(Envelope::with_capacity(0).into_object().concat(), b"{}");
    }
}
