//! Commands that work on a data folder while the server is stopped: they open it as the server would, without the
//! network.

use super::data::DataArgs;
use super::error::CliError;
use crate::server::options;
use actors::{Options, RealmHandle, Server};
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use std::io::BufRead;
use std::sync::Arc;

/// Opens a data folder, does the work and closes it again. Fails if a server uses the folder.
pub fn with_data<T>(
    data: &DataArgs,
    creates: bool,
    work: impl AsyncFnOnce(Arc<Server>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let config = data.load()?;
    if !creates && !Server::has_data(&config.data) {
        return Err(CliError::Refused(format!(
            "{} is not a data folder; `millstream realm create` creates one",
            config.data.display()
        )));
    }
    actix_rt::System::new().block_on(async {
        // What changes here is added to the search index when the server runs.
        let options = Options { search_write_after: None, ..options(&config, true) };
        let server = Server::start(options).await?;
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
        CliError::Refused(format!("there is no organization {which}; see `millstream realm list`"))
    })
}

/// A password for a new account.
pub enum Password {
    Given(String),
    Generated(String),
}

impl Password {
    /// Reads a line from standard input and checks it as the web page for joining does, or generates a password.
    /// `known` are the guesses of an attacker: the account's e-mail address and name.
    pub fn get(from_stdin: bool, known: &[&str]) -> Result<Self, CliError> {
        if !from_stdin {
            return Ok(Self::Generated(actors::login::random_name()?));
        }
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.map_err(|reason| CliError::System { what: "cannot read the password", reason })?;
        let password = line.trim_end_matches(['\n', '\r']);
        check_password(password, known)?;
        Ok(Self::Given(password.to_owned()))
    }

    /// The hash to be stored.
    pub fn hash(&self) -> Result<String, CliError> {
        let (Self::Given(password) | Self::Generated(password)) = self;
        Ok(actors::login::hash_password(password)?)
    }

    /// Prints a generated password.
    pub fn print(&self) {
        if let Self::Generated(password) = self {
            println!("Password: {password}");
        }
    }
}

fn check_password(password: &str, known: &[&str]) -> Result<(), CliError> {
    let chars = password.chars().count();
    if !(PASSWORD_LENGTH_MIN..=PASSWORD_LENGTH_MAX).contains(&chars) {
        return Err(CliError::Refused(format!(
            "a password has {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters, not {chars}"
        )));
    }
    if !is_strong_password(password, known) {
        return Err(CliError::Refused(
            "this password is too easy to guess; add another word or two".to_owned(),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_as_on_the_page() {
        let check = |password: &str| check_password(password, &["olga@acme.example", "Olga"]);
        for refused in ["x7!kq", "123456", "olga@acme.example", &"é!7 x".repeat(21)] {
            assert!(check(refused).is_err(), "{refused}");
        }
        assert!(check("correct horse battery").is_ok());
    }
}
