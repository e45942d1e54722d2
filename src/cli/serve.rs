//! `millstream serve`: its arguments, and the configuration they make.

use super::config::environment;
use crate::config::{Config, ConfigError, Overrides};
use std::path::PathBuf;

/// Run the server. The first start creates the data folder.
#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// Configuration file; `millstream config` prints one with every option explained
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Data folder, instead of the configured one
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port to listen on, instead of the configured one
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Print the commented default configuration and exit
    #[arg(long)]
    print_config: bool,
}

impl ServeArgs {
    /// Whether only the defaults are wanted.
    pub fn print_config(&self) -> bool {
        self.print_config
    }

    /// The configuration to run with.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let flags = Overrides::default()
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", self.listen.as_ref());
        Config::load(self.config.as_deref(), environment(), flags)
    }
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
        assert!(!args.print_config());

        let args: ServeArgs = parse(&["--listen", "nowhere"]).unwrap();
        let error = args.load().unwrap_err().to_string();
        assert!(error.starts_with("--listen: `listen` invalid socket address"), "{error}");
        assert!(parse::<ServeArgs>(&["--port", "1"]).is_err());
    }
}
