//! Commands that work on a running server, or on a data folder while the server is stopped: then they open it as the server
//! would, without the network.

use super::data::DataArgs;
use super::error::CliError;
use super::signal::fail_beyond_size_limit;
use crate::admin::{self, AdminRequest, Answer};
use crate::config::Config;
use crate::server::options;
use actors::folder_access::{check_access, not_allowed};
use actors::{Options, Server};
use rules::passwords::{PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, is_strong_password};
use std::io::{self, BufRead, ErrorKind};
use std::path::Path;
use std::sync::Arc;

/// Executes a request on the server that runs on the data folder, or on the folder itself if none does.
pub fn execute(data: &DataArgs, creates: bool, request: AdminRequest) -> Result<Answer, CliError> {
    let config = data.load()?;
    if let Some(answer) = ask(&config, &request)? {
        return Ok(answer);
    }
    if matches!(request, AdminRequest::LogLevel { .. } | AdminRequest::Reload | AdminRequest::Probe) {
        check_access(&config.data)?;
        check_socket_path(&config.data, "change its configuration and send it SIGHUP")?;
        let data = config.data.display();
        return Err(CliError::Refused(format!(
            "no server is running on {data}: start one with `millstream serve`, or name the data folder of the one that \
             runs with --data"
        )));
    }
    with_folder(&config, creates, async |server| admin::execute(&server, request).await)
}

/// Refuses a data folder whose server has no socket, because its path is too long for one. `instead` is what can be done with such a
/// server.
pub fn check_socket_path(data: &Path, instead: &str) -> Result<(), CliError> {
    if admin::can_have_socket(data) {
        return Ok(());
    }
    Err(CliError::Refused(format!(
        "the path {} is too long for the socket of a server, so one that runs on it cannot be found; {instead}, or use a shorter path \
         to the folder",
        data.display()
    )))
}

/// The answer of the server that runs on a data folder; none if no server does.
///
/// # Errors
/// `Refused` by the server, `System` when it cannot be reached.
pub fn ask(config: &Config, request: &AdminRequest) -> Result<Option<Answer>, CliError> {
    let asked = admin::ask(&config.data, request).map_err(|reason| no_answer(&config.data, reason))?;
    asked.transpose().map_err(CliError::Refused)
}

/// Why the server that runs on a data folder gave no answer.
pub fn no_answer(data: &Path, reason: io::Error) -> CliError {
    let shown = data.display();
    match reason.kind() {
        ErrorKind::PermissionDenied => not_allowed(data).into(),
        ErrorKind::TimedOut | ErrorKind::WouldBlock => CliError::Refused(format!(
            "the server{} on the data folder {shown} does not answer; it is suspended or hangs, and its log may say why",
            process_in(data)
        )),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            CliError::Refused(format!(
                "the server on the data folder {shown} ended the connection before its answer was complete; it stopped meanwhile, or \
             refuses this user"
            ))
        }
        _ => CliError::System { what: "cannot reach the running server", reason },
    }
}

/// The process that uses a data folder, in words.
fn process_in(data: &Path) -> String {
    let id = std::fs::read_to_string(data.join("lock")).ok().and_then(|text| text.trim().parse::<u32>().ok());
    id.map(|id| format!(" (process {id})")).unwrap_or_default()
}

/// Opens a data folder, does the work and closes it again. Fails if a server uses the folder.
pub fn with_folder<T>(
    config: &Config,
    creates: bool,
    work: impl AsyncFnOnce(Arc<Server>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    if config.cluster.is_on() {
        return Err(CliError::Refused(
            "this is a node of a cluster, and not running: run the command on a node that is".to_owned(),
        ));
    }
    if !creates && !Server::has_data(&config.data) {
        check_access(&config.data)?;
        return Err(CliError::Refused(format!(
            "{} is not a data folder; `millstream realm create` creates one",
            config.data.display()
        )));
    }
    actix_rt::System::new().block_on(async {
        fail_beyond_size_limit()
            .map_err(|reason| CliError::System { what: "cannot listen for signals", reason })?;
        // What changes here is added to the search index when the server runs.
        let options = Options { search_write_after: None, ..options(config, true) };
        let server = Server::start(options).await?;
        let done = work(server.clone()).await;
        server.stop().await?;
        done
    })
}

/// Executes a request and prints its answer.
pub fn execute_and_print(data: &DataArgs, request: AdminRequest) -> Result<(), CliError> {
    let answer = execute(data, false, request)?;
    data.print(&answer)
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

    /// Adds a generated password to the answer.
    pub fn add_to(&self, answer: &mut Answer) {
        if let Self::Generated(password) = self {
            answer.lines.push(format!("Password: {password}"));
            if let Some(fields) = answer.value.as_object_mut() {
                fields.insert("password".to_owned(), password.as_str().into());
            }
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
