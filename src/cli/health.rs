//! `millstream health`: whether the server answers, for health checks of containers.

use super::data::DataArgs;
use super::error::CliError;
use super::offline::{check_socket_path, no_answer};
use crate::admin::{Answer, ServerAddress, ask_address, reachable};
use crate::config::{Config, parse_listen};
use crate::local_health::{Security, fetch};
use actors::folder_access::check_access;
use serde_json::Value;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

/// How long the server may take to answer.
const TIME_MAX: Duration = Duration::from_secs(5);
/// Characters that are shown of an answer of another program.
const SHOWN_CHARS_MAX: usize = 100;

/// Check whether the server answers and accepts changes
///
/// Requests `/health` from the server that runs on the data folder or, if there is none and --data is not given, from the
/// configured address. The exit code is 0 if the server accepts changes, otherwise 1.
#[derive(Debug, clap::Args)]
pub struct HealthArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Address and port of the server, instead of those found in the data folder or the configuration
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen)]
    address: Option<SocketAddr>,
}

/// Asks, and prints the answer.
pub fn run(args: &HealthArgs) -> Result<(), CliError> {
    let config = args.data.load()?;
    let Target { address, security } = find(args, &config)?;
    let refused = |reason: std::io::Error| {
        CliError::Refused(format!("the server on {address} does not answer: {reason}"))
    };
    let (status, text) = fetch(address, &security, TIME_MAX).map_err(refused)?;
    let Ok(body) = serde_json::from_str::<Value>(&text) else {
        return Err(CliError::Refused(foreign(address, status, &text, &security)));
    };
    let storage = body["storage"]["status"].as_str().unwrap_or("unknown").to_owned();
    if status != 200 {
        let code = body["code"].as_str().unwrap_or("unknown").to_owned();
        return Err(CliError::Refused(format!(
            "the server on {address} answers {status} {code}, storage: {storage}"
        )));
    }
    let files = match body["files"]["status"].as_str() {
        Some("failing") => "; uploaded files cannot be stored or read",
        Some(_) | None => "",
    };
    let line = format!("The server on {address} is healthy; storage: {storage}{files}.");
    args.data.print(&Answer::of(line, body))
}

/// What is said of an answer that is not JSON, such as that of a port with HTTPS.
fn foreign(address: SocketAddr, status: u16, text: &str, security: &Security) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(SHOWN_CHARS_MAX).collect();
    let hint = match security {
        Security::Plain if line.contains("HTTPS") => "; name the configuration of the server with --config",
        Security::Plain | Security::AnyCertificate | Security::OwnCertificate(_) => "",
    };
    format!("the server on {address} answers {status}, and not as Millstream does: {line:?}{hint}")
}

/// Where to ask, and how.
struct Target {
    address: SocketAddr,
    security: Security,
}

/// The address that was given, that of the server that runs on the data folder, or the configured one.
fn find(args: &HealthArgs, config: &Config) -> Result<Target, CliError> {
    let configured = |address| Target {
        address,
        security: match config.tls.is_on() {
            true => Security::OwnCertificate(Box::new(config.tls.clone())),
            false => Security::Plain,
        },
    };
    if let Some(address) = args.address {
        return Ok(configured(address));
    }
    if args.data.names_folder() {
        check_socket_path(&config.data, "name its address with --address")?;
    }
    let data = config.data.display();
    match ask_address(&config.data, TIME_MAX) {
        Ok(Some(Ok(ServerAddress { address, is_encrypted }))) => {
            Ok(Target { address: reachable(address), security: Security::of_listener(is_encrypted) })
        }
        Ok(None) if args.data.names_folder() => {
            check_access(&config.data)?;
            let why = format!(
                "no server runs on the data folder {data}; start it, or name another folder with --data"
            );
            Err(CliError::Refused(why))
        }
        Err(reason)
            if args.data.names_folder()
                || matches!(reason.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
        {
            Err(no_answer(&config.data, reason))
        }
        // None runs, it is another version, or this user may not ask it.
        Ok(Some(Err(_)) | None) | Err(_) => Ok(configured(reachable(config.listen))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: HealthArgs,
    }

    #[test]
    fn address_may_have_a_name() {
        let parse = |address: &str| Program::try_parse_from(["health", "--address", address]);
        let found = parse("localhost:9991").map(|program| program.args.address).expect("an address");
        assert_eq!(found.map(|address| address.port()), Some(9991));
        let refused = parse("localhost").map(|_| ()).expect_err("no port").to_string();
        assert!(refused.contains("such as 127.0.0.1:9991"), "{refused}");
    }

    #[test]
    fn port_with_https_is_named_as_one() {
        let address = SocketAddr::from(([127, 0, 0, 1], 443));
        let text = "This port speaks HTTPS: use https:// instead of http://.\r\n";
        let said = foreign(address, 400, text, &Security::Plain);
        assert!(said.contains("answers 400") && said.contains("This port speaks HTTPS"), "{said}");
        assert!(said.ends_with("; name the configuration of the server with --config"), "{said}");
        let said = foreign(address, 200, "<html>\nHTTPS", &Security::Plain);
        assert_eq!(said, "the server on 127.0.0.1:443 answers 200, and not as Millstream does: \"<html>\"");
    }
}
