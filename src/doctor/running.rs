//! The server that runs on the data folder: it says over its control socket where it listens, and is asked there for its health.

use super::finding::Finding;
use crate::admin::{ServerAddress, ask_address, reachable};
use crate::config::Config;
use crate::integrations::http_client;
use crate::local_health::{Security, fetch};
use crate::probe::PROBE_HEADER;
use reqwest::Client;
use serde_json::Value;
use std::io::ErrorKind;
use std::time::Duration;

/// How long the server may take for an answer, in seconds.
const ANSWER_SECS_MAX: u64 = 5;
/// The same as a duration.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(ANSWER_SECS_MAX);
/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// What uses the data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunningServer {
    /// No server with a control socket, or none that this user may ask.
    None,
    /// A server that does not answer over its control socket.
    Silent,
    /// A server that answers, with its address if its version says it.
    Answering(Option<ServerAddress>),
}

/// Asks the server that runs on the data folder where it listens. Blocks for a bounded time.
pub fn find(config: &Config) -> RunningServer {
    match ask_address(&config.data, ANSWER_TIME_MAX) {
        Ok(None) => RunningServer::None,
        Ok(Some(answer)) => RunningServer::Answering(answer.ok()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => RunningServer::None,
        Err(_) => RunningServer::Silent,
    }
}

/// Whether the server answers at its own address. Blocks for a bounded time.
pub fn check(running: RunningServer) -> Finding {
    let what = "server";
    let at = match running {
        RunningServer::None => {
            return Finding::off(what, "no server with a control socket runs on the data folder");
        }
        RunningServer::Silent => {
            let text = format!(
                "a server uses the data folder, but does not answer within {ANSWER_SECS_MAX} s; see its log, or restart it"
            );
            return Finding::problem(what, text);
        }
        RunningServer::Answering(None) => {
            return Finding::good(what, "a server of another version answers over its control socket");
        }
        RunningServer::Answering(Some(at)) => at,
    };
    let address = at.address;
    match fetch(reachable(address), &Security::of_listener(at.is_encrypted), ANSWER_TIME_MAX) {
        Err(error) => {
            let text =
                format!("the server on {address} does not answer: {error}; see its log, or restart it");
            Finding::problem(what, text)
        }
        Ok((status, body)) => {
            let health: Value = serde_json::from_str(&body).unwrap_or_default();
            let storage = health["storage"]["status"].as_str().unwrap_or("unknown");
            let text = format!("the server on {address} answers {status}, storage: {storage}");
            match (status, storage) {
                (200, "ok") => Finding::good(what, text),
                (200, _) => Finding::warning(what, text),
                _ => Finding::problem(what, format!("{text}; see its log")),
            }
        }
    }
}

/// Status and content of `GET /health` below a URL; a request with the word of the server also shows what arrives there.
pub async fn health(client: &Client, url: &str, word: &str) -> Result<(u16, Value), reqwest::Error> {
    let response = client.get(format!("{url}/health")).header(PROBE_HEADER, word).send().await?;
    let status = response.status().as_u16();
    let body = http_client::read_at_most(response, ANSWER_BYTES_MAX).await?.unwrap_or_default();
    Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
}
