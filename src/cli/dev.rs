//! `millstream dev`: a server with the sample organization, for developers of clients.

use super::config::environment;
use super::error::CliError;
use super::run::{print_greeting, run_until_stopped};
use crate::config::{Config, ConfigError, Overrides, Sources};
use crate::dev::{SAMPLE_NAME, TemporaryFolder, exposure_warning};
use crate::routes::development_table;
use crate::server::{Running, Setup};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The user of the example call, in the sample organization.
const EXAMPLE_CALLER: &str = "iago@zulip.com";

/// The default log filter: no line for every request, in the output of test runs.
const LOG_FILTER: &str = "warn";

/// Run a development server: sample organization, no rate limits, every password is the user's e-mail address
///
/// Without --data, the data is temporary: it is deleted on exit, and writes are not synced to disk, so that tests do
/// not wait for it. With --data, every acknowledged change is on disk, as with `serve`.
#[derive(Debug, clap::Args)]
pub struct DevArgs {
    /// Keep the data in this folder [default: a temporary folder, deleted on exit]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file; its option `data` is ignored
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Address and port to listen on; port 0 takes any free port [default: 127.0.0.1:9991]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Write the address and API keys to this file, as JSON, once the server accepts requests
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// What to print at the start: text for people, or one line of JSON
    #[arg(long, value_enum, default_value_t = Output::Text)]
    output: Output,
}

/// The form of the greeting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    #[default]
    Text,
    Json,
}

impl DevArgs {
    /// The configuration: that of `serve`, with rate limits off and fewer log lines unless a file or the environment
    /// sets them.
    pub fn load(&self) -> Result<Config, ConfigError> {
        self.load_with(environment().collect())
    }

    fn load_with(&self, environment: Vec<(String, String)>) -> Result<Config, ConfigError> {
        let presets = Overrides::default().set("log.filter", "dev", Some(LOG_FILTER)).set(
            "limits.enabled",
            "dev",
            Some(false),
        );
        let flags = Overrides::default()
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", self.listen.as_ref());
        let file = self.config.as_deref();
        Config::from_sources(&Sources { presets, file, environment, flags })
    }
}

/// Runs until a signal stops it.
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
    let data = config.data.clone();
    let load = || args.load().map(|config| config.with_data(data.clone()));
    let setup = Setup { config, routes: development_table(), is_development: true, is_durable };
    run_until_stopped(setup, load, |running| {
        match args.output {
            Output::Text => greet(running, is_durable),
            Output::Json => print_greeting(&readiness(running)),
        }
        if let Some(file) = &args.ready_file {
            let what = "cannot write the file of --ready-file";
            write_whole(file, &readiness(running)).map_err(|reason| CliError::System { what, reason })?;
        }
        Ok(())
    })
}

/// What programs need to know of a running server, as one line of JSON.
fn readiness(running: &Running) -> String {
    let app = running.app();
    let users: Vec<_> = match app.server.realm_by_subdomain("") {
        None => Vec::new(),
        Some(realm) => {
            let directory = realm.directory();
            let active = directory.users().filter(|user| user.is_active);
            let described = active.map(|user| {
                json!({"email": &*user.delivery_email, "user_id": user.id.0, "api_key": realm.api_key(user)})
            });
            described.collect()
        }
    };
    let (url, port) = (running.url(), running.address().port());
    json!({"url": url, "port": port, "pid": std::process::id(), "users": users}).to_string()
}

/// Writes a file that is complete as soon as it exists.
fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(file, "{text}")?;
    file.persist(path)?;
    Ok(())
}

/// Prints the URL and an example call.
fn greet(running: &Running, is_durable: bool) {
    let app = running.app();
    let until = if is_durable { "kept" } else { "deleted on exit, writes are not synced to disk" };
    let mut text = format!("Millstream {}, a development server", env!("CARGO_PKG_VERSION"));
    text.push_str(&format!(
        "\n\n  URL   {}\n  Data  {} ({until})\n",
        running.url(),
        app.config.data.display()
    ));
    if let Some(warning) = exposure_warning(running.address()) {
        text.push_str(&format!("\n{warning}\n"));
    }
    if let Some(realm) = app.server.realm_by_subdomain("")
        && let Some(user) = realm.directory().user_by_email(EXAMPLE_CALLER)
    {
        let url = running.url();
        let key = realm.api_key(user);
        let name = realm.directory().realm().name.clone();
        let name = if name == SAMPLE_NAME { "the sample organization" } else { &name };
        text.push_str(&format!(
            "\nTry {name} as {EXAMPLE_CALLER} (every password is the e-mail address):\n\n"
        ));
        text.push_str(&format!("  curl -u {EXAMPLE_CALLER}:{key} {url}/api/v1/users/me\n"));
    }
    print_greeting(&text);
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn development_servers_have_no_rate_limits() {
        let args: DevArgs = parse(&[]).unwrap();
        let config = args.load().unwrap();
        assert!(!config.limits.enabled && args.data.is_none());
        assert_eq!(config.listen.to_string(), "127.0.0.1:9991");
        let args: DevArgs = parse(&["--listen", "0.0.0.0:0", "--data", "/tmp/d"]).unwrap();
        assert_eq!(args.load().unwrap().data, PathBuf::from("/tmp/d"));
    }

    #[test]
    fn file_and_environment_win_over_the_presets() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("millstream.toml");
        std::fs::write(&file, "[log]\nfilter = \"debug\"").unwrap();
        let args: DevArgs = parse(&["--config", &file.display().to_string()]).unwrap();
        let variable = ("MILLSTREAM_LIMITS_ENABLED".to_owned(), "true".to_owned());
        let config = args.load_with(vec![variable]).unwrap();
        assert_eq!((config.log.filter.as_str(), config.limits.enabled), ("debug", true));
    }
}
