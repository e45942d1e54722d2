//! `millstream dev`: a server with the sample organization, for those who write clients.

use super::config::environment;
use super::error::CliError;
use super::run::run_until_stopped;
use crate::config::{Config, ConfigError, Overrides};
use crate::dev::{SAMPLE_NAME, TemporaryFolder};
use crate::http::routes::table;
use crate::server::{Running, Setup};
use std::io::Write;
use std::path::PathBuf;

/// Who the example call is made by, where there is the sample organization.
const EXAMPLE_CALLER: &str = "iago@zulip.com";

/// What is logged unless the environment says otherwise: not every answer, in the output of somebody's tests.
const LOG_FILTER: &str = "warn";

/// Run a development server: a sample organization, no rate limits, every password is the user's address.
#[derive(Debug, clap::Args)]
pub struct DevArgs {
    /// Keep the data in this folder; without it, everything is gone when the server stops
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// IP address and port to listen on; port 0 takes any free one
    #[arg(long, value_name = "IP:PORT", env = "MILLSTREAM_LISTEN", default_value = "127.0.0.1:9991")]
    listen: String,
}

impl DevArgs {
    /// The configuration to run with: that of `serve`, without limits and with fewer log lines. The
    /// environment still counts.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let is_filtered = environment().any(|(name, _)| name == "MILLSTREAM_LOG_FILTER");
        let filter = (!is_filtered).then_some(LOG_FILTER);
        let flags = Overrides::default()
            .set("log.filter", "dev", filter)
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", Some(&self.listen))
            .set("limits.enabled", "dev", Some(false));
        Config::load(None, environment(), flags)
    }
}

/// Runs until it is told to stop.
pub fn run(args: &DevArgs) -> Result<(), CliError> {
    let mut config = args.load()?;
    let mut temporary = None;
    if args.data.is_none() {
        let what = "cannot create a temporary folder";
        let folder = TemporaryFolder::create().map_err(|reason| CliError::System { what, reason })?;
        config.data = folder.data();
        temporary = Some(folder);
    }
    let is_durable = temporary.is_none();
    let setup = Setup { config, routes: table(), is_development: true, is_durable };
    run_until_stopped(setup, |running| greet(running, is_durable))
}

/// Says where it is and how to call it. Whoever closed our output does not want to know.
fn greet(running: &Running, is_durable: bool) {
    let app = running.app();
    let until = if is_durable { "kept" } else { "gone when the server stops" };
    let mut text = format!("Millstream {}, a development server", env!("CARGO_PKG_VERSION"));
    text.push_str(&format!(
        "\n\n  URL   {}\n  Data  {} ({until})\n",
        running.url(),
        app.config.data.display()
    ));
    if let Some(realm) = app.server.realm_by_subdomain("")
        && let Some(user) = realm.directory().user_by_email(EXAMPLE_CALLER)
    {
        let url = running.url();
        let key = realm.api_key(user);
        let name = realm.read(|view| view.directory.realm().name.clone());
        let name = if name == SAMPLE_NAME { "the sample organization" } else { &name };
        text.push_str(&format!("\nTry {name} as {EXAMPLE_CALLER} (every password is the address):\n\n"));
        text.push_str(&format!("  curl -u {EXAMPLE_CALLER}:{key} {url}/api/v1/users/me\n"));
    }
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn development_has_no_limits() {
        let args: DevArgs = parse(&[]).unwrap();
        let config = args.load().unwrap();
        assert!(!config.limits.enabled && args.data.is_none());
        assert_eq!(config.listen.to_string(), "127.0.0.1:9991");
        let args: DevArgs = parse(&["--listen", "0.0.0.0:0", "--data", "/tmp/d"]).unwrap();
        assert_eq!(args.load().unwrap().data, PathBuf::from("/tmp/d"));
    }
}
