//! The arguments of commands that work on a data folder.

use super::config::environment;
use crate::config::{Config, ConfigError, Overrides};
use std::path::PathBuf;

/// The data folder and the configuration of the server that uses it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DataArgs {
    /// Data folder, instead of the configured one; the server must be stopped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Configuration file of the server
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl DataArgs {
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
