//! `millstream web-app`: installs Zulip's web app from a release archive, and removes it.

use super::config::environment;
use super::data::{Output, SHARED_ARGUMENTS};
use super::error::CliError;
use super::print::replace_line;
use crate::admin::{self, Answer};
use crate::config::{Config, Overrides};
use crate::units::{counted, size};
use crate::web_app::install::{Installed, Record, install, record, remove};
use crate::web_app::load_current;
use actors::Server;
use actors::folder_access::{check_access, check_owner};
use model::Timestamp;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Commands for Zulip's web app.
#[derive(Debug, clap::Subcommand)]
pub enum WebAppCommand {
    /// Install the web app of a release of the Zulip server
    ///
    /// Reads the release archive zulip-server-11.x.tar.gz from https://download.zulip.com/server/, or the folder that it
    /// was unpacked to. Everything is checked before it is used. The server may be running: it uses the new web app after
    /// `millstream reload` or a restart.
    Install(InstallArgs),
    /// Show which web app is installed, and whether it is complete
    Status(WebAppArgs),
    /// Remove the web app; without it, / is a page that says how to connect
    Remove(WebAppArgs),
}

/// The configuration of the server that serves the web app.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WebAppArgs {
    /// Data folder (default: `data` of the configuration, which is `millstream-data` unless it is set)
    #[arg(long, value_name = "DIR", display_order = SHARED_ARGUMENTS)]
    data: Option<PathBuf>,
    /// Configuration file of the server; environment variables such as MILLSTREAM_DATA override it
    #[arg(long, value_name = "FILE", display_order = SHARED_ARGUMENTS)]
    config: Option<PathBuf>,
    /// How to print the result: for people, or one line of JSON
    #[arg(long, value_enum, default_value_t, display_order = SHARED_ARGUMENTS)]
    output: Output,
}

/// The arguments of `web-app install`.
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// The release archive, or the folder that it was unpacked to
    #[arg(value_name = "FILE|DIR")]
    source: PathBuf,
    #[command(flatten)]
    server: WebAppArgs,
}

impl WebAppArgs {
    /// The folder of the web app. Without an own folder, there must be a data folder, in which nothing `changes` as root if it
    /// belongs to another user.
    fn folder(&self, changes: bool) -> Result<PathBuf, CliError> {
        let flags = Overrides::default().set("data", "--data", self.data.as_ref().map(|path| path.display()));
        let config = Config::load(self.config.as_deref(), environment(), flags)?;
        if config.names_web_app() {
            return Ok(config.web_app_folder());
        }
        if !Server::has_data(&config.data) {
            check_access(&config.data)?;
            return Err(CliError::Refused(format!(
                "{} is not a data folder; `millstream realm create` creates one, and --data names another",
                config.data.display()
            )));
        }
        if changes {
            check_owner(&config.data)?;
        }
        Ok(config.web_app_folder())
    }
}

/// Runs the command.
pub fn run(command: WebAppCommand) -> Result<(), CliError> {
    match command {
        WebAppCommand::Install(args) => run_install(&args),
        WebAppCommand::Status(args) => run_status(&args),
        WebAppCommand::Remove(args) => run_remove(&args),
    }
}

fn run_install(args: &InstallArgs) -> Result<(), CliError> {
    let folder = args.server.folder(true)?;
    let is_watched = std::io::stderr().is_terminal();
    let mut shown = None;
    let done = install(&folder, &args.source, &mut |share| {
        let percent = (share.clamp(0.0, 1.0) * 100.0) as u32;
        if is_watched && shown.replace(percent) != Some(percent) {
            replace_line(format_args!("{percent} % of {}", args.source.display()));
        }
    });
    if is_watched {
        replace_line(format_args!(""));
    }
    let Installed { record, links, template_problem } = done?;
    let mut lines = vec![format!("Installed the web app of {} in {}.", describe(&record), folder.display())];
    match links {
        0 => {}
        1 => lines.push("1 link in it was left out.".into()),
        links => lines.push(format!("{links} links in it were left out.")),
    }
    if let Some(problem) = &template_problem {
        lines.push(format!(
            "The page is Millstream's own, because the template of the release was not usable: {problem}."
        ));
    }
    lines.push("A running server uses it after SIGHUP or a restart.".into());
    let installation = json!({"links_left_out": links, "template_problem": template_problem});
    let value = with(fields(&record, &folder), installation);
    args.server.output.print(&Answer { lines, value, table: None })
}

fn run_status(args: &WebAppArgs) -> Result<(), CliError> {
    let folder = args.folder(false)?;
    let answer = match record(&folder)? {
        None => Answer::of(
            "No web app is installed. `millstream web-app install --help` says how to install it.".into(),
            json!({"installed": null}),
        ),
        Some(record) => status(&record, &folder)?,
    };
    args.output.print(&answer)
}

fn status(record: &Record, folder: &Path) -> Result<Answer, CliError> {
    let mut answer =
        Answer::of(format!("{} in {}.", describe(record), folder.display()), fields(record, folder));
    if let Some(bundle) = load_current(folder)? {
        let (files, languages) = (bundle.file_count(), bundle.languages().list().len());
        let is_own = bundle.template_problem().is_some();
        let page = if is_own { "Millstream's own" } else { "the release's template" };
        answer.lines.push(format!("It is complete: {files} scripts and style sheets."));
        answer.lines.push(format!("The page is {page}, in {}.", counted(languages as u64, "language")));
        let page = json!({
            "scripts_and_style_sheets": files, "languages": languages,
            "template_problem": bundle.template_problem(),
        });
        answer.value = with(answer.value, page);
    }
    Ok(answer)
}

fn run_remove(args: &WebAppArgs) -> Result<(), CliError> {
    let folder = args.folder(true)?;
    let is_removed = remove(&folder)?;
    let line = match is_removed {
        true => "The web app was removed. A running server stops serving it after SIGHUP or a restart.",
        false => "No web app is installed.",
    };
    args.output.print(&Answer::of(line.into(), json!({"removed": is_removed})))
}

/// What is recorded of an installation, for programs.
fn fields(record: &Record, folder: &Path) -> Value {
    json!({
        "version": record.release.version, "feature_level": record.release.feature_level, "folder": folder,
        "files": record.files, "bytes": record.bytes,
        "installed": admin::time(Timestamp(record.installed.saturating_mul(1000))),
    })
}

/// An object with the members of another one.
fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(object), Value::Object(more)) = (&mut object, more) {
        object.extend(more);
    }
    object
}

/// The release, its files, and when it was installed.
fn describe(record: &Record) -> String {
    let installed = i64::try_from(record.installed).unwrap_or_default();
    let date = jiff::Timestamp::from_second(installed).map(|time| time.strftime("%Y-%m-%d").to_string());
    format!(
        "{}, {} with {}, installed {}",
        record.release,
        counted(record.files, "file"),
        size(record.bytes),
        date.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn source_is_required() {
        let args: InstallArgs = parse(&["zulip-server-11.4.tar.gz", "--data", "/tmp/x"]).unwrap();
        assert_eq!(args.source, PathBuf::from("zulip-server-11.4.tar.gz"));
        assert!(parse::<InstallArgs>(&["--data", "/tmp/x"]).is_err());
        let missing = args.server.folder(true).unwrap_err().to_string();
        assert!(missing.contains("/tmp/x is not a data folder"), "{missing}");
    }
}
