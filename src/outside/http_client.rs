//! What everything has in common that this server asks of other servers over HTTP.

use reqwest::{Client, ClientBuilder, redirect};
use std::time::Duration;

/// A client that follows no redirects, keeps no cookies and gives up after so many seconds. It takes certificates that this
/// machine trusts.
///
/// # Errors
/// When the system's certificates cannot be read.
pub fn client(secs_max: u64) -> Result<Client, reqwest::Error> {
    builder(secs_max).build()
}

/// As [`client`], for those who want something else besides.
pub fn builder(secs_max: u64) -> ClientBuilder {
    use_ring();
    let timeout = Duration::from_secs(secs_max);
    Client::builder()
        .user_agent(concat!("Millstream/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(timeout.min(Duration::from_secs(10)))
        .timeout(timeout)
        // Idle connections are not worth more memory than that.
        .pool_max_idle_per_host(4)
}

/// Lets TLS in this process use ring, which every client of HTTP needs. More than once is as well.
pub fn use_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Reads at most so many bytes of an answer.
///
/// # Errors
/// When the connection breaks; a longer answer gives none.
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
