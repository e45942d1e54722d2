//! `millstream dev`: its arguments, and the configuration they make.

use super::config::environment;
use crate::config::{Config, ConfigError, Overrides};
use std::path::PathBuf;

/// Run a development server with a sample organization: no rate limits, every password the user's address.
#[derive(Debug, clap::Args)]
pub struct DevArgs {
    /// Keep the data in this folder; without it everything is gone when the server stops
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Address and port to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:9991")]
    listen: String,
}

impl DevArgs {
    /// The folder to keep, if any.
    pub fn data(&self) -> Option<&PathBuf> {
        self.data.as_ref()
    }

    /// The configuration to run with: that of `serve`, without limits. The environment still counts.
    pub fn load(&self) -> Result<Config, ConfigError> {
        let flags = Overrides::default()
            .set("data", "--data", self.data.as_ref().map(|path| path.display()))
            .set("listen", "--listen", Some(&self.listen))
            .set("limits.enabled", "dev", Some(false));
        Config::load(None, environment(), flags)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn development_has_no_limits() {
        let args: DevArgs = parse(&[]).unwrap();
        let config = args.load().unwrap();
        assert!(!config.limits.enabled && args.data().is_none());
        assert_eq!(config.listen.to_string(), "127.0.0.1:9991");
        let args: DevArgs = parse(&["--listen", "0.0.0.0:0", "--data", "/tmp/d"]).unwrap();
        assert_eq!(args.load().unwrap().data, PathBuf::from("/tmp/d"));
    }
}
