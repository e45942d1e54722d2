//! `millstream serve`: runs the server.

use super::config::environment;
use super::error::CliError;
use super::print::print_text;
use super::run::{print_greeting, run_until_stopped};
use crate::config::{Config, ConfigError, DEFAULT_TOML, LogFormat, Overrides, Sources};
use crate::routes::table;
use crate::server::{Running, Setup};
use actors::{IMPORT_REMEDY, UnfinishedImport};
use std::path::{Path, PathBuf};

/// Run the server; the first start creates the data folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  millstream serve --data /var/lib/millstream --listen 0.0.0.0:9991
  millstream config > millstream.toml && millstream serve --config millstream.toml")]
pub struct ServeArgs {
    /// Configuration file; `millstream config` prints one with every option explained
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data folder; overrides the configuration
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port to listen on; overrides the configuration
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// Print the commented default configuration and exit
    #[arg(long)]
    print_config: bool,
}

impl ServeArgs {
    /// The configuration to run with.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let flags = Overrides::default()
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", self.listen.as_ref());
        let environment = environment().collect();
        Config::of_server(&Sources { file: self.config.as_deref(), environment, flags, ..Sources::default() })
    }
}

/// Runs until a signal stops it.
pub fn run(args: &ServeArgs) -> Result<(), CliError> {
    if args.print_config {
        return print_text(DEFAULT_TOML);
    }
    let setup =
        Setup { config: args.load()?, routes: table(), is_development: false, is_durable: true, seed: None };
    run_until_stopped(
        setup,
        || args.load(),
        |running| {
            greet(running);
            Ok(())
        },
    )
}

/// Prints the URL. Not beside a log of JSON, which programs read together with it: the event `ready` has the same.
fn greet(running: &Running) {
    let app = running.app();
    if app.config.log.format == LogFormat::Json {
        if app.server.realms().is_empty() && !app.config.cluster.is_on() {
            tracing::warn!("there is no organization yet; `millstream realm create` creates one");
        }
        return;
    }
    let mut text = format!("Millstream {}\n\n", env!("CARGO_PKG_VERSION"));
    text.push_str(&format!("  URL   {}\n  Data  {}\n", running.url(), app.config.data.display()));
    if let Ok(Some(import)) = app.server.unfinished_import() {
        text.push_str(&unfinished_import(&import));
    } else if !app.server.unfinished_realms().is_empty() {
        text.extend(app.server.unfinished_realms().iter().map(|realm| format!("\n{realm}.\n")));
    } else if app.server.realms().is_empty() && !app.config.cluster.is_on() {
        text.push_str(&no_organization(&app.config.data));
    }
    print_greeting(&text);
}

/// What to do about an organization that is not served.
fn unfinished_import(import: &UnfinishedImport) -> String {
    format!(
        "\n{import} is not finished, and its organization is not served.\nStop the server, and {IMPORT_REMEDY}.\n"
    )
}

/// What to do on a server without an organization, which keeps running.
fn no_organization(data: &Path) -> String {
    format!(
        "\nThere is no organization yet. Create one from another terminal, while the server runs:\n\n  \
         millstream realm create NAME --owner-email ADDRESS --owner-name OWNER --data {}\n",
        data.display()
    )
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn flags_reach_the_configuration() {
        let args: ServeArgs = parse(&["--data", "/tmp/x", "--listen", "127.0.0.1:0"]).unwrap();
        let config = args.load().unwrap();
        assert_eq!((config.data, config.listen.port()), (PathBuf::from("/tmp/x"), 0));
        assert!(!args.print_config);

        let args: ServeArgs = parse(&["--listen", "nowhere"]).unwrap();
        let error = args.load().unwrap_err().to_string();
        assert!(error.starts_with("--listen: `listen` must be an address and a port"), "{error}");
        assert!(parse::<ServeArgs>(&["--port", "1"]).is_err());
    }
}
