//! The arguments of commands that work on a data folder.

use super::config::environment;
use super::error::CliError;
use super::print::print_text;
use crate::admin::Answer;
use crate::config::{Config, ConfigError, Overrides};
use std::path::PathBuf;

/// The place in the help of arguments that many commands have: after a command's own, before `--help` (999).
pub const SHARED_ARGUMENTS: usize = 900;

/// The data folder and the configuration of the server that uses it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DataArgs {
    /// Data folder (default: `data` of the configuration, which is `millstream-data` unless it is set)
    #[arg(long, value_name = "DIR", display_order = SHARED_ARGUMENTS)]
    data: Option<PathBuf>,
    /// Configuration file of the server; environment variables such as MILLSTREAM_DATA override it
    #[arg(long, value_name = "FILE", display_order = SHARED_ARGUMENTS)]
    config: Option<PathBuf>,
    /// How to print the result: for people, or one line of JSON
    #[arg(long, value_enum, default_value_t, display_order = SHARED_ARGUMENTS)]
    pub output: Output,
}

/// Reads the subdomain of an organization; empty for `-`, the organization without one. An empty argument is refused: a script may
/// give the value of a variable that is not set.
///
/// # Errors
/// What is wrong with an empty argument.
pub fn subdomain(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty; `-` is the organization without a subdomain".to_owned()),
        "-" => Ok(String::new()),
        named => Ok(named.to_owned()),
    }
}

/// The form of a command's output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// Sentences and tables
    #[default]
    Text,
    /// One line of JSON
    Json,
}

impl Output {
    /// Prints an answer in this form.
    ///
    /// # Errors
    /// `System` when it cannot be written.
    pub fn print(self, answer: &Answer) -> Result<(), CliError> {
        print_text(&match self {
            Self::Text => answer.text(),
            Self::Json => answer.json(),
        })
    }
}

impl DataArgs {
    /// Prints an answer.
    ///
    /// # Errors
    /// `System` when it cannot be written.
    pub fn print(&self, answer: &Answer) -> Result<(), CliError> {
        self.output.print(answer)
    }

    /// Whether the data folder was named, and not only configured.
    pub fn names_folder(&self) -> bool {
        self.data.is_some()
    }

    /// The configuration of a single server. `instead` says what to do on a node of a cluster, for which the command is not.
    pub fn load_single(&self, instead: &str) -> Result<Config, CliError> {
        let config = self.load()?;
        match config.cluster.is_on() {
            false => Ok(config),
            true => Err(CliError::Refused(format!("this is a node of a cluster: {instead}"))),
        }
    }

    /// The configuration, read as `serve` reads it: file, environment (MILLSTREAM_DATA too), flags.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let flags = Overrides::default().set("data", "--data", self.data.as_ref().map(|path| path.display()));
        Config::load(self.config.as_deref(), environment(), flags)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn commands_for_single_servers_are_refused_on_a_node() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("node.toml");
        let text = "[cluster]\ndatabase = \"postgres://a/b\"\nnode = \"n1\"\nadvertise = \"http://a:1\"\n";
        std::fs::write(&file, text).unwrap();
        let args: DataArgs = parse(&["--config", &file.display().to_string()]).unwrap();
        let refused = args.load_single("back up the database").map(drop).unwrap_err().to_string();
        assert_eq!(refused, "this is a node of a cluster: back up the database");
        std::fs::write(&file, format!("{text}[journal]\nkeep = \"30 days\"\n")).unwrap();
        let refused = args.load().map(drop).unwrap_err().to_string();
        assert!(refused.contains("must be \"all\" on a node of a cluster"), "{refused}");
        std::fs::write(&file, "").unwrap();
        assert!(args.load_single("").is_ok());
    }

    #[test]
    fn flag_overrides_folder_of_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("millstream.toml");
        std::fs::write(&file, "data = \"/srv/chat\"").unwrap();
        let file = file.display().to_string();
        let args: DataArgs = parse(&["--config", &file]).unwrap();
        assert_eq!(args.load().unwrap().data, PathBuf::from("/srv/chat"));
        let args: DataArgs = parse(&["--config", &file, "--data", "/tmp/x"]).unwrap();
        assert_eq!(args.load().unwrap().data, PathBuf::from("/tmp/x"));
    }
}
