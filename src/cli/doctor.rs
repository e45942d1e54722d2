//! `millstream doctor`: looks at what a server needs from its machine and from other services, and says what to do.

use super::data::DataArgs;
use super::error::CliError;
use crate::admin::{Answer, Table};
use crate::doctor::{Finding, State, Wanted, examine};
use serde_json::json;

/// Check what the server needs: folder, disk, limits, ports, clock, TLS, mail, push, LDAP, files, proxy
///
/// Examines this machine and the configured services, and says what to do about each problem. The server may be running or
/// stopped; run the command as the server's user. Nothing is changed: a test file is written to the disk and to S3 and deleted
/// again, and no e-mail is sent without --send-test-to. The exit code is 1 if something keeps the server from working.
#[derive(Debug, clap::Args)]
pub struct DoctorArgs {
    /// Send a test e-mail to this address
    #[arg(long, value_name = "ADDRESS")]
    send_test_to: Option<String>,
    /// Compare the clock with this time server (NTP), such as pool.ntp.org
    #[arg(long, value_name = "HOST")]
    time_server: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// Looks at everything, and prints the findings.
pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    let config = args.data.load()?;
    let wanted = Wanted { test_mail_to: args.send_test_to.clone(), time_server: args.time_server.clone() };
    let findings = actix_rt::System::new().block_on(examine(&config, &wanted));
    let mut table = Table::new(&["what", "state", "finding"]);
    for Finding { what, state, text } in &findings {
        table.push(vec![json!(what), json!(state.name()), json!(text)]);
    }
    args.data.print(&Answer::list(table));
    match findings.iter().filter(|finding| finding.state == State::Problem).count() {
        0 => Ok(()),
        1 => Err(CliError::Refused("there is 1 problem".to_owned())),
        number => Err(CliError::Refused(format!("there are {number} problems"))),
    }
}
