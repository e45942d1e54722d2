//! The arguments of commands that work on a data folder.

use super::config::environment;
use crate::admin::Answer;
use crate::config::{Config, ConfigError, Overrides};
use std::io::Write;
use std::path::PathBuf;

/// The data folder and the configuration of the server that uses it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DataArgs {
    /// Data folder, instead of the configured one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file of the server
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How to print the result: for people, or one line of JSON
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
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

impl DataArgs {
    /// Prints an answer. A closed standard output is not an error.
    pub fn print(&self, answer: &Answer) {
        let text = match self.output {
            Output::Text => answer.text(),
            Output::Json => answer.json(),
        };
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
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
