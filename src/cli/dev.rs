//! `millstream dev`: a server with the sample organization, for developers of clients.

mod ready_file;

use super::config::environment;
use super::data::Output;
use super::error::CliError;
use super::print::print_text;
use super::run::{print_greeting, run_until_stopped};
use crate::config::{Config, ConfigError, Overrides, Sources};
use crate::dev::accounts::accounts;
use crate::dev::seed::{SEED_BYTES_MAX, SeedDocument, SeedError};
use crate::dev::{SAMPLE_NAME, TemporaryFolder, exposure_warning};
use crate::routes::development_table;
use crate::server::{Running, Setup};
use crate::text_file::read_text;
use model::{Directory, User};
use ready_file::ReadyFile;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

/// The user of the example call, in the sample organization.
const EXAMPLE_CALLER: &str = "iago@zulip.com";

/// The default log filter: no line for every request, in the output of test runs.
const LOG_FILTER: &str = "warn";

/// The limits of invitations, which are off as other rate limits are.
const INVITATION_LIMITS: [&str; 3] =
    ["invitations.daily_max", "invitations.member_daily_max", "invitations.resends_hourly_max"];

/// Run a development server: a sample organization, no rate limits, and users' e-mail addresses as passwords unless the seed has others
///
/// Without --data, the data is temporary: it is deleted on exit, and writes are not synced to disk, so that tests do
/// not wait for it. With --data, every acknowledged change is on disk, as with `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  millstream dev --print-seed > seed.toml && millstream dev --seed seed.toml
  millstream dev --listen 127.0.0.1:0 --ready-file ready.json --output json    # in a test run")]
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
    /// Begin with the organization of this file, in TOML or JSON, instead of the sample. A data folder that has an organization
    /// already is used only if it was made from the same seed
    #[arg(long, value_name = "FILE", conflicts_with = "empty")]
    seed: Option<PathBuf>,
    /// Begin with an organization that has only an owner, desdemona@zulip.com, instead of the sample
    #[arg(long)]
    empty: bool,
    /// Write the sample organization (with --empty or --seed: theirs) as a seed file to standard output, and exit: in TOML, or
    /// with --output json in JSON
    #[arg(long)]
    print_seed: bool,
    /// Apply the rate limits of a production server
    #[arg(long)]
    rate_limits: bool,
    /// Write the address and API keys to this file, as JSON, once the server accepts requests. An older file is removed at the
    /// start, and this one when the server stops
    #[arg(long, value_name = "FILE")]
    ready_file: Option<PathBuf>,
    /// What to print at the start: text for people, or one line of JSON
    #[arg(long, value_enum, default_value_t)]
    output: Output,
}

impl DevArgs {
    /// The configuration: that of `serve`, with rate limits and those of invitations off, and fewer log lines unless a file
    /// or the environment sets them.
    pub fn load(&self) -> Result<Config, ConfigError> {
        self.load_with(environment().collect())
    }

    /// The organization to begin with, if one was asked for.
    fn read_seed(&self) -> Result<Option<SeedDocument>, CliError> {
        let Some(path) = &self.seed else {
            return Ok(self.empty.then(SeedDocument::empty));
        };
        let text = read_text(path, SEED_BYTES_MAX).map_err(|reason| {
            CliError::Refused(format!("cannot read the seed {}: {reason}", path.display()))
        })?;
        let wrong = |error: SeedError| CliError::Refused(format!("{}: {error}", path.display()));
        SeedDocument::read(&text).map(Some).map_err(wrong)
    }

    fn load_with(&self, environment: Vec<(String, String)>) -> Result<Config, ConfigError> {
        let presets = Overrides::default().set("log.filter", "dev", Some(LOG_FILTER)).set(
            "limits.enabled",
            "dev",
            Some(self.rate_limits),
        );
        let no_limit = (!self.rate_limits).then_some(0);
        let presets = INVITATION_LIMITS
            .into_iter()
            .fold(presets, |presets, option| presets.set(option, "dev", no_limit));
        let flags = Overrides::default()
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", self.listen.as_ref());
        let file = self.config.as_deref();
        Config::of_server(&Sources { presets, file, environment, flags })
    }
}

/// Runs until a signal stops it.
pub fn run(args: &DevArgs) -> Result<(), CliError> {
    // First, so that no program finds the address of an earlier server.
    let ready_file = args.ready_file.as_deref().filter(|_| !args.print_seed);
    let ready_file = ready_file.map(ReadyFile::prepare).transpose()?;
    let seed = args.read_seed()?;
    if args.print_seed {
        let seed = seed.unwrap_or_else(SeedDocument::sample);
        let text = match args.output {
            Output::Text => seed.to_toml(),
            Output::Json => seed.to_json(),
        };
        return print_text(&text);
    }
    let mut config = args.load()?;
    let mut temporary = None;
    if args.data.is_none() {
        let folder = TemporaryFolder::choose().map_err(CliError::Data)?;
        config.data = folder.data();
        temporary = Some(folder);
    }
    let is_durable = temporary.is_none();
    let data = config.data.clone();
    let load = || args.load().map(|config| config.with_data(data.clone()));
    let seed = seed.map(Arc::new);
    let setup = Setup { config, routes: development_table(), is_development: true, is_durable, seed };
    run_until_stopped(setup, load, |running| {
        // Before the greeting, which says that the server runs.
        if let Some(file) = &ready_file {
            file.write(&readiness(running))?;
        }
        match args.output {
            Output::Text => greet(running, is_durable),
            Output::Json => print_greeting(&readiness(running)),
        }
        Ok(())
    })
}

/// The user of the example call: Iago, or the first person.
fn example_caller(directory: &Directory) -> Option<&Arc<User>> {
    let person = || directory.users().find(|user| user.is_active && !user.is_bot());
    directory.user_by_email(EXAMPLE_CALLER).or_else(person)
}

/// What programs need to know of a running server, as one line of JSON.
fn readiness(running: &Running) -> String {
    let app = running.app();
    let users = app.server.realm_by_subdomain("").map(|realm| accounts(&realm)).unwrap_or_default();
    let (url, port) = (running.url(), running.address().port());
    json!({"url": url, "port": port, "pid": std::process::id(), "users": users}).to_string()
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
        && let Some(user) = example_caller(&realm.directory())
    {
        let url = running.url();
        let key = realm.api_key(user);
        let name = realm.directory().realm().name.clone();
        let name = if name == SAMPLE_NAME { "the sample organization" } else { &name };
        text.push_str(&format!(
            "\nTry {name} as {} (a password is the e-mail address, unless the seed has another):\n\n",
            user.delivery_email
        ));
        text.push_str(&format!("  curl -u {}:{key} {url}/api/v1/users/me\n", user.delivery_email));
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
        assert_eq!(config.invitations.limits(), Default::default());
        let args: DevArgs = parse(&["--rate-limits"]).unwrap();
        let limits = args.load().unwrap().invitations.limits();
        assert_eq!([limits.daily_max, limits.member_daily_max, limits.resends_hourly_max], [1000, 100, 3]);
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
