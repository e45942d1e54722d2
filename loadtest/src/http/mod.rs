//! HTTP/1.1 over a persistent TCP connection, with buffers that are reused for every request. It exists because client
//! and server share the machine: a general-purpose client uses more CPU than the server it measures. The content of
//! replies is parsed by `client`.

mod connection;
mod parse;
mod redirect;
mod request;
mod retry_after;
mod stream;
mod target;
mod tls_error;

pub use connection::{Connection, Reply};
pub use redirect::{is_redirect, refuse as refuse_redirect, without_parameters};
pub use request::{NumberedGet, Template, basic_authorization, bodiless_request, encode_form};
pub use retry_after::of_secs as retry_after_secs;
pub use target::{Target, TargetPolicy};

/// The reason why an exchange gave no reply.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("connection failed: {0}")]
    Io(#[from] std::io::Error),
    /// The handshake failed, for the reason that the sentence says.
    #[error("{0}")]
    Tls(String),
    /// The server closed the connection before the reply was complete.
    #[error("the server closed the connection")]
    Closed,
    /// The server did not answer in time.
    #[error("no reply within {} s", .0.as_secs_f64())]
    NoReply(std::time::Duration),
    /// The bytes are not HTTP/1.1 as this client parses it.
    #[error("malformed reply: {0}")]
    Malformed(String),
    /// The reply is larger than the maximum of this client.
    #[error("reply of more than {0} bytes")]
    TooLarge(usize),
}

impl HttpError {
    /// A short name to count failures by.
    pub fn code(&self) -> String {
        match self {
            HttpError::Io(error) => format!("io {:?}", error.kind()),
            HttpError::Tls(_) => "TLS".to_owned(),
            HttpError::Closed => "closed".to_owned(),
            HttpError::NoReply(_) => "no reply".to_owned(),
            HttpError::Malformed(_) => "malformed".to_owned(),
            HttpError::TooLarge(_) => "too large".to_owned(),
        }
    }
}
