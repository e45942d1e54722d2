//! Zulip's own web app: an operator brings a release archive of the Zulip server, in which it is built. Here it is
//! checked, kept in a folder, and loaded to be served.
//!
//! None of its files is part of this project. `pages::app` has the page that starts it, `pages::static_files` serves
//! its files.

pub mod bundle;
pub mod install;
pub mod languages;
mod manifest;
pub mod page_variant;
pub mod problem;
pub mod release;
mod selection;
pub mod skeleton;
mod source;
mod staging;
pub mod tarball;
mod template;
#[cfg(test)]
pub(crate) mod tests;

pub use bundle::Bundle;
pub use problem::WebAppError;

use install::current_folder;
use parking_lot::RwLock;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The web app of a running server: the one that was installed at the start or at the last SIGHUP.
#[derive(Debug)]
pub struct WebApp {
    folder: PathBuf,
    /// Whether the configuration names the folder, so that a web app is expected there.
    is_named: bool,
    current: RwLock<Option<Arc<Bundle>>>,
}

impl WebApp {
    /// Loads what is installed in a folder. A damaged installation is logged, and the server runs without it.
    pub fn open(folder: PathBuf, is_named: bool) -> Self {
        let app = Self { folder, is_named, current: RwLock::new(None) };
        app.reload();
        app
    }

    /// The loaded bundle; none if no web app is installed.
    pub fn current(&self) -> Option<Arc<Bundle>> {
        self.current.read().clone()
    }

    /// Loads what is installed now. If that is damaged, the loaded bundle stays in use.
    pub fn reload(&self) {
        match load_current(&self.folder) {
            Ok(found) => {
                let version = found.as_ref().map(|bundle| bundle.release().version.clone());
                *self.current.write() = found.map(Arc::new);
                // Logged once requests are answered from it.
                match version {
                    Some(version) => tracing::info!(version, "web app loaded"),
                    None if self.is_named => tracing::warn!(
                        folder = %self.folder.display(),
                        "no web app is installed in the folder that web_app.dir names; correct it, or run `millstream web-app \
                         install`"
                    ),
                    None => tracing::debug!("no web app is installed"),
                }
            }
            Err(error) => tracing::error!(%error, "the web app was not loaded"),
        }
    }
}

/// The installed bundle of a folder; none if there is none.
pub fn load_current(folder: &Path) -> Result<Option<Bundle>, WebAppError> {
    current_folder(folder)?.map(|root| Bundle::load(&root)).transpose()
}
