//! Commands that change a data folder while no server uses it: they open it as a server would, without
//! the network.

use super::config::environment;
use super::error::CliError;
use crate::config::{Config, Overrides};
use crate::server::options;
use actors::{RealmHandle, Server};
use std::io::BufRead;
use std::path::Path;
use std::sync::Arc;

/// Shortest password, in characters (conventions, section 5).
const PASSWORD_CHARS_MIN: usize = 6;
/// Longest password, in characters.
const PASSWORD_CHARS_MAX: usize = 100;

/// Opens a data folder, does the work and closes it again. A folder that a server uses is refused.
pub fn with_data<T>(
    data: &Path,
    creates: bool,
    work: impl AsyncFnOnce(Arc<Server>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    if !creates && !Server::has_data(data) {
        return Err(CliError::Refused(format!(
            "{} is not a data folder; `millstream realm create` makes one",
            data.display()
        )));
    }
    let flags = Overrides::default().set("data", "--data", Some(data.display()));
    let config = Config::load(None, environment(), flags)?;
    actix_rt::System::new().block_on(async {
        let server = Server::start(options(&config, true)).await?;
        let done = work(server.clone()).await;
        server.stop().await?;
        done
    })
}

/// The organization with a subdomain.
pub fn find_realm(server: &Server, subdomain: &str) -> Result<RealmHandle, CliError> {
    server.realm_by_subdomain(subdomain).ok_or_else(|| {
        let which =
            if subdomain.is_empty() { "without a subdomain".into() } else { format!("`{subdomain}`") };
        CliError::Refused(format!("there is no organization {which}; `millstream realm list` shows them"))
    })
}

/// A password for a new account.
pub enum Password {
    /// Typed by whoever runs the command.
    Given(String),
    /// Made up here, to be printed.
    Generated(String),
}

impl Password {
    /// Reads a line from standard input, or makes one up.
    pub fn get(from_stdin: bool) -> Result<Self, CliError> {
        if !from_stdin {
            return Ok(Self::Generated(actors::login::random_name()?));
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.map_err(|reason| CliError::System { what: "cannot read the password", reason })?;
        let password = line.trim_end_matches(['\n', '\r']);
        check_length(password)?;
        Ok(Self::Given(password.to_owned()))
    }

    /// What to store.
    pub fn hash(&self) -> Result<String, CliError> {
        let (Self::Given(password) | Self::Generated(password)) = self;
        Ok(actors::login::hash_password(password)?)
    }

    /// Prints one that nobody knows yet.
    pub fn print(&self) {
        if let Self::Generated(password) = self {
            println!("Password: {password}");
        }
    }
}

fn check_length(password: &str) -> Result<(), CliError> {
    let chars = password.chars().count();
    if (PASSWORD_CHARS_MIN..=PASSWORD_CHARS_MAX).contains(&chars) {
        return Ok(());
    }
    Err(CliError::Refused(format!(
        "a password has {PASSWORD_CHARS_MIN} to {PASSWORD_CHARS_MAX} characters, not {chars}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_have_a_length() {
        assert!(check_length("12345").is_err() && check_length("123456").is_ok());
        assert!(check_length(&"é".repeat(100)).is_ok() && check_length(&"é".repeat(101)).is_err());
    }
}
