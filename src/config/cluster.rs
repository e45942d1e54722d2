//! The section `[cluster]`.

use super::journal;
use model::redacted::Redacted;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The section `[cluster]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterSettings {
    /// URL of the database; empty for a server alone.
    pub database: Redacted<String>,
    pub node: String,
    /// The URL at which other nodes reach this one.
    pub advertise: String,
    pub allow_single_copy: bool,
    /// A folder that all nodes share; empty if there is none.
    pub shared_folder: PathBuf,
    /// How long the database keeps frames that are archived; none: always.
    #[serde(deserialize_with = "journal::time")]
    pub log_keep: Option<Duration>,
    /// How many other nodes follow each organization.
    pub standbys: usize,
}

impl ClusterSettings {
    /// Whether the server is a node of a cluster.
    pub fn is_on(&self) -> bool {
        !self.database.0.is_empty()
    }

    /// The folder that all nodes share, if there is one.
    pub fn shared_folder(&self) -> Option<&Path> {
        let folder = self.shared_folder.as_path();
        (self.is_on() && !folder.as_os_str().is_empty()).then_some(folder)
    }
}

/// Refuses what is not the name of a node.
pub fn check_node(text: &str) -> Result<(), String> {
    let is_name_byte = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if text.len() <= 100 && text.bytes().all(is_name_byte) {
        return Ok(());
    }
    Err("must be a name of up to 100 letters, digits, dots, hyphens and underscores".to_owned())
}

/// Refuses what is not the URL of a node.
pub fn check_advertise(text: &str) -> Result<(), String> {
    let is_http =
        |url: &url::Url| matches!(url.scheme(), "http" | "https") && url.has_host() && url.path() == "/";
    if text.is_empty() || url::Url::parse(text).is_ok_and(|url| is_http(&url)) {
        return Ok(());
    }
    Err("must be the address of this node for the others, such as \"http://10.0.0.5:9991\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_of_nodes() {
        assert!(check_node("n1.east-2_b").is_ok() && check_node("").is_ok());
        assert!(check_node("n 1").is_err() && check_node("é").is_err());
        for good in ["", "http://10.0.0.5:9991", "https://node-1.internal/", "http://[::1]:80"] {
            assert!(check_advertise(good).is_ok(), "{good}");
        }
        for bad in ["10.0.0.5:9991", "ftp://a", "http://a/path", "a"] {
            assert!(check_advertise(bad).is_err(), "{bad}");
        }
    }
}
