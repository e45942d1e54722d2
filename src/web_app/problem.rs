//! Why a web app cannot be installed or loaded. The texts are for operators, and say what to do.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// What can be served.
const WANTED: &str = "Zulip Server 11.x (feature levels 421 to 424)";
/// Where release archives are.
const DOWNLOADS: &str = "https://download.zulip.com/server/";

/// Why a web app cannot be installed, loaded or removed.
#[derive(Debug, Error)]
pub enum WebAppError {
    /// The archive or folder does not exist.
    #[error("{} does not exist; download zulip-server-11.x.tar.gz from {DOWNLOADS} and give its path", .0.display())]
    NoSource(PathBuf),
    /// The archive is damaged, incomplete, or none.
    #[error("{} cannot be read as an archive ({reason}); download it again and compare its checksum", path.display())]
    Archive { path: PathBuf, reason: String },
    /// The source lacks something that every release has.
    #[error(
        "this is not a built release of the Zulip server: {0}; give the archive zulip-server-11.x.tar.gz from {DOWNLOADS}, or the folder that it unpacks to, not a checkout of the source"
    )]
    NotARelease(String),
    /// A release of another version.
    #[error(
        "{found}, but this server speaks the protocol of {WANTED}; the app checks all data strictly and would not start; download zulip-server-11.x.tar.gz from {DOWNLOADS}"
    )]
    WrongRelease { found: String },
    /// A file that the manifest names is missing or unusable.
    #[error("the web app is incomplete: {0}; install it again from a complete archive")]
    Incomplete(String),
    /// The source exceeds a limit.
    #[error("this is not a release of the Zulip server: {0}")]
    TooLarge(String),
    /// A path in the archive leads out of it.
    #[error(
        "the archive has the path {0:?}, which leads out of it: it was not made by Zulip; nothing was installed"
    )]
    Outside(String),
    /// Another process installs or removes at the same time.
    #[error("another `millstream web-app` command works on {}; wait for its end", .0.display())]
    Busy(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {reason}", path.display())]
    System { path: PathBuf, reason: std::io::Error },
}

impl WebAppError {
    /// An error of the file system.
    pub fn system(path: &Path, reason: std::io::Error) -> Self {
        Self::System { path: path.to_owned(), reason }
    }
}
