//! HTTP/1.1 over one kept-alive TCP connection, with buffers that are used again for every request.
//! It exists because client and server share the machine: a general client costs more than the server it measures.
//! What the bytes mean (Zulip's envelope) is left to `client`.

mod connection;
mod parse;
mod request;

pub use connection::{Connection, Target};
pub use request::{NumberedGet, Template, basic_authorization, bodiless_request, encode_form};

/// Why an exchange gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The socket failed.
    #[error("connection failed: {0}")]
    Io(#[from] std::io::Error),
    /// The server ended the connection before the reply was whole.
    #[error("the server closed the connection")]
    Closed,
    /// The bytes are not HTTP/1.1 as this client reads it.
    #[error("malformed reply: {0}")]
    Malformed(String),
    /// The reply is larger than any reply this client asks for.
    #[error("reply of more than {0} bytes")]
    TooLarge(usize),
}

impl HttpError {
    /// A short name to count failures by.
    pub fn code(&self) -> String {
        match self {
            HttpError::Io(error) => format!("io {:?}", error.kind()),
            HttpError::Closed => "closed".to_owned(),
            HttpError::Malformed(_) => "malformed".to_owned(),
            HttpError::TooLarge(_) => "too large".to_owned(),
        }
    }
}
