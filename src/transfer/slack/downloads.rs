//! Downloading the files of messages, where the operator asks for it: only from Slack, within limits.

use crate::integrations::http_client::builder;
use crate::transfer::problem::TransferError;
use reqwest::{Client, Url};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use tokio::runtime::Runtime;

/// Bytes of one file.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of all files.
const TOTAL_BYTES_MAX: u64 = 64 << 30;
/// Seconds that one file may take.
const FILE_SECS_MAX: u64 = 120;
/// Files that fail one after the other before no further one is tried: the links have expired, or there is no network.
const FAILURES_MAX: usize = 20;

/// Downloads one file after the other. Blocks.
pub struct Downloads {
    client: Client,
    runtime: Runtime,
    bytes_left: u64,
    failures: usize,
}

impl Downloads {
    /// Nothing is downloaded yet.
    ///
    /// # Errors
    /// `System` when the system gives no resources for it.
    pub fn new() -> Result<Self, TransferError> {
        let failed = |reason| TransferError::system(Path::new("downloads"), reason);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let client = builder(FILE_SECS_MAX).build().map_err(|error| failed(std::io::Error::other(error)))?;
        Ok(Self { client, runtime, bytes_left: TOTAL_BYTES_MAX, failures: 0 })
    }

    /// Downloads a file to a new file; returns its size, or why the link is kept instead.
    pub fn fetch(&mut self, url: &str, to: &Path) -> Result<u64, &'static str> {
        let url = Url::parse(url).ok().filter(is_at_slack).ok_or("whose address is not one of Slack")?;
        if self.failures >= FAILURES_MAX {
            return Err("that were not tried, because many before could not be downloaded");
        }
        let fetched =
            self.runtime.block_on(fetch(&self.client, url, to, FILE_BYTES_MAX.min(self.bytes_left)));
        match fetched {
            Ok(bytes) => {
                (self.failures, self.bytes_left) = (0, self.bytes_left - bytes);
                Ok(bytes)
            }
            Err(why) => {
                self.failures += 1;
                let _ = std::fs::remove_file(to);
                Err(why)
            }
        }
    }
}

fn is_at_slack(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    url.scheme() == "https" && (host == "slack.com" || host.ends_with(".slack.com"))
}

async fn fetch(client: &Client, url: Url, to: &Path, bytes_max: u64) -> Result<u64, &'static str> {
    let unreachable = "that could not be downloaded";
    let mut response = client.get(url).send().await.map_err(|_| unreachable)?;
    let is_page =
        response.headers().get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    // An expired link leads to a page where one can log in.
    if response.status() != reqwest::StatusCode::OK || is_page {
        return Err(unreachable);
    }
    let full = "that are too large, or for which there is no room";
    let folder = to.parent().unwrap_or(to);
    std::fs::create_dir_all(folder).map_err(|_| full)?;
    let mut file = File::create(to).map_err(|_| full)?;
    let mut bytes = 0;
    while let Some(piece) = response.chunk().await.map_err(|_| unreachable)? {
        bytes += piece.len() as u64;
        if bytes > bytes_max {
            return Err(full);
        }
        file.write_all(&piece).map_err(|_| full)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_slack_are_asked() {
        let is_ours = |url: &str| Url::parse(url).is_ok_and(|url| is_at_slack(&url));
        assert!(is_ours("https://files.slack.com/files-pri/T1-F1/cat.png?t=xoxe-1"));
        for url in [
            "http://files.slack.com/x",
            "https://slack.com.evil.example/x",
            "https://127.0.0.1/x",
            "https://evilslack.com/x",
            "file:///etc/passwd",
        ] {
            assert!(!is_ours(url), "{url}");
        }
    }
}
