//! The common parts of HTTP requests to other servers.

use super::certificate_problem::certificate_problem;
use crate::foreign_text::one_line;
use reqwest::{Client, ClientBuilder, redirect};
use std::time::Duration;

/// A builder of clients that follow no redirects, store no cookies, have a timeout, and trust the system's certificates.
pub fn builder(secs_max: u64) -> ClientBuilder {
    use_ring();
    let timeout = Duration::from_secs(secs_max);
    Client::builder()
        .user_agent(concat!("Millstream/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(timeout.min(Duration::from_secs(10)))
        .timeout(timeout)
        // Few idle connections, to save memory.
        .pool_max_idle_per_host(4)
}

/// What is wrong with a certificate, or else the innermost cause: "error sending request" alone does not help. Without the URL.
pub fn reason(error: &reqwest::Error) -> String {
    if let Some(problem) = certificate_problem(error) {
        return problem;
    }
    let mut innermost: &dyn std::error::Error = error;
    while let Some(inner) = innermost.source() {
        innermost = inner;
    }
    one_line(innermost)
}

/// Installs ring as the TLS provider of the process. May be called more than once.
pub fn use_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Reads a response of at most `bytes_max` bytes; none if it is longer.
pub async fn read_at_most(
    mut response: reqwest::Response,
    bytes_max: usize,
) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > bytes_max {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}
