//! The folders that the configuration names: of further integrations, and of the web app.

use super::finding::Finding;
use crate::config::Config;
use crate::integrations::incoming::Catalog;
use crate::web_app::load_current;

/// Whether the files of further integrations can be used: the server does not start with a mistake in them.
pub fn integrations(config: &Config) -> Finding {
    let what = "integrations";
    let Some(folder) = config.incoming_webhooks.catalog_dir() else {
        let text = "only the built-in ones; incoming_webhooks.catalog_dir names a folder with more";
        return Finding::off(what, text);
    };
    match Catalog::load(Some(folder)) {
        Ok(_) => Finding::good(what, format!("those in {} can be used", folder.display())),
        Err(error) => {
            let text = format!("{error}; correct it, or incoming_webhooks.catalog_dir");
            Finding::problem(what, text)
        }
    }
}

/// Whether a web app is installed where the configuration says. The server starts without it.
pub fn web_app(config: &Config) -> Finding {
    let (what, folder) = ("web app", config.web_app_folder());
    match load_current(&folder) {
        Ok(Some(bundle)) => {
            let text = format!("version {} is installed in {}", bundle.release().version, folder.display());
            Finding::good(what, text)
        }
        Ok(None) if config.names_web_app() => {
            let text = format!(
                "none is installed in {}, which web_app.dir names; correct it, or run `millstream web-app install`",
                folder.display()
            );
            Finding::warning(what, text)
        }
        Ok(None) => Finding::off(what, "none; `millstream web-app install` installs one"),
        Err(error) => Finding::problem(what, error.to_string()),
    }
}
