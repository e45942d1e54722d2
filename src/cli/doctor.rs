//! `millstream doctor`: examines what a server needs from its machine and from other services, and says what to do.

use super::data::{DataArgs, Output};
use super::error::CliError;
use super::print::print_text;
use crate::admin::{Answer, Table, check_address, row_text};
use crate::doctor::{Finding, OptionalChecks, State, examine};
use serde_json::json;

/// Check what the server needs: folder, disk, limits, ports, clock, TLS, mail, push, LDAP, files, proxy
///
/// Examines this machine and the configured services, and says what to do about each problem. The server may be running or
/// stopped; run the command as the server's user. Nothing is changed: a test file is written to the disk and to S3 and deleted
/// again, and no e-mail is sent without --send-test-to. Another service has ten seconds for an answer. The exit code is 1 if
/// something keeps the server from working.
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

/// The names of the columns.
const COLUMNS: [&str; 3] = ["what", "state", "finding"];
/// Width of the columns before the last one, in characters: of the longest name of a check, and of a state.
const WIDTHS: [usize; 2] = [16, 8];

/// Makes all checks. For people, each row is printed when it is known: another service may take a while.
pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    if let Some(address) = &args.send_test_to {
        check_address(address)?;
    }
    let config = args.data.load()?;
    let wanted =
        OptionalChecks { test_mail_to: args.send_test_to.clone(), time_server: args.time_server.clone() };
    let is_text = args.data.output == Output::Text;
    let mut printed = Ok(());
    let mut print = |cells: [&str; 3]| {
        let cells = cells.map(|cell| cell.replace(char::is_control, " "));
        if is_text && printed.is_ok() {
            printed = print_text(&row_text(&cells, &WIDTHS));
        }
    };
    print(COLUMNS.map(str::to_uppercase).each_ref().map(String::as_str));
    let show = |finding: &Finding| print([finding.what, finding.state.name(), &finding.text]);
    let findings = actix_rt::System::new().block_on(examine(&config, &wanted, show));
    printed?;
    if !is_text {
        let mut table = Table::new(&COLUMNS);
        for Finding { what, state, text } in &findings {
            table.push(vec![json!(what), json!(state.name()), json!(text)]);
        }
        args.data.print(&Answer::list(table))?;
    }
    match findings.iter().filter(|finding| finding.state == State::Problem).count() {
        0 => Ok(()),
        1 => Err(CliError::Refused("there is 1 problem".to_owned())),
        number => Err(CliError::Refused(format!("there are {number} problems"))),
    }
}
