//! What every response of the protocol has, and the response to OPTIONS.

use super::finish::file_bytes_max;
use super::headers::{EXPOSED, MAX_SIZE, REQUEST_HEADERS, RESUMABLE, TUS_VERSION, VERSION};
use crate::http::App;
use crate::http::route::Protocol;
use actix_web::http::header::{self, HeaderName, HeaderValue};

/// What the responses of the paths below `/tus/` have in addition.
pub static PROTOCOL: Protocol = Protocol {
    always: &[
        ("tus-resumable", TUS_VERSION),
        ("tus-version", TUS_VERSION),
        ("access-control-expose-headers", EXPOSED),
    ],
    options,
};

fn options(app: &App) -> Vec<(HeaderName, HeaderValue)> {
    const EXTENSION: HeaderName = HeaderName::from_static("tus-extension");
    let extensions = HeaderValue::from_static("creation,creation-with-upload,expiration,termination");
    vec![
        (RESUMABLE, HeaderValue::from_static(TUS_VERSION)),
        (VERSION, HeaderValue::from_static(TUS_VERSION)),
        (EXTENSION, extensions),
        (MAX_SIZE, HeaderValue::from(file_bytes_max(app))),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS)),
    ]
}
