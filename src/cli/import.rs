//! `millstream import`: an organization from another server.

use super::data::{DataArgs, Output, subdomain};
use super::error::CliError;
use super::offline::with_folder;
use super::print::print_text;
use super::progress::Bar;
use crate::admin::Answer;
use crate::config::Config;
use crate::integrations::blobs::{BlobError, Blobs};
use crate::transfer::slack::{SlackRequest, prepare};
use crate::transfer::unpack;
use crate::transfer::zulip::{ImportRequest, Imported, Progress, Source, import};
use crate::units::counted;
use actors::folder_access::{check_access, check_owner};
use actors::{ImportOrigin, Server};
use model::Timestamp;
use rules::addresses::parse_domain;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Commands that import organizations.
#[derive(Debug, clap::Subcommand)]
pub enum ImportCommand {
    /// Import the export of a Zulip server, of any version, or of this server
    ///
    /// Reads the archive, or the folder that it was unpacked to. Everything is read and checked before anything is written.
    /// Repeat the command to continue an import that was interrupted. The server must be stopped.
    Zulip(ImportZulipArgs),
    /// Import the export of a Slack workspace
    ///
    /// Reads the zip file. Channels, people, messages with their threads as topics, reactions and conversations are carried over.
    /// Repeat the command to continue an import that was interrupted. The server must be stopped.
    Slack(ImportSlackArgs),
    /// Give up an import that was interrupted, for example because its archive is gone
    ///
    /// What it has written stays in the data folder, and is never served. Then another import can begin, also of the same archive.
    /// The server must be stopped.
    Abandon(AbandonArgs),
}

/// The arguments of `import abandon`.
#[derive(Debug, clap::Args)]
pub struct AbandonArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Give it up; required, because an import that was given up cannot go on
    #[arg(long)]
    yes: bool,
}

/// Where an organization is imported.
#[derive(Debug, clap::Args)]
pub struct TargetArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Subdomain of the organization (default: none)
    #[arg(long, value_name = "SUBDOMAIN", default_value = "-", hide_default_value = true, value_parser = subdomain)]
    subdomain: String,
    /// Name of the organization (default: that of the export)
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Domain of the addresses of its bots, and of the addresses shown for hidden ones (default: that of the export)
    #[arg(long, value_name = "DOMAIN")]
    email_domain: Option<String>,
    /// Folder for the unpacked archive, deleted at the end (default: beside the data folder, with `.import` in its name)
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,
}

/// The arguments of `import zulip`.
#[derive(Debug, clap::Args)]
pub struct ImportZulipArgs {
    /// The archive (.tar.gz), or the folder that it was unpacked to
    #[arg(value_name = "FILE|DIR")]
    source: PathBuf,
    #[command(flatten)]
    target: TargetArgs,
    /// The URL that the organization had, such as https://chat.example.com; links to it in messages become relative
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    former_url: String,
}

/// The arguments of `import slack`.
#[derive(Debug, clap::Args)]
pub struct ImportSlackArgs {
    /// The export (.zip)
    #[arg(value_name = "FILE")]
    source: PathBuf,
    #[command(flatten)]
    target: TargetArgs,
    /// Download the files of messages from Slack while their links are valid; otherwise messages keep the links
    #[arg(long)]
    fetch_files: bool,
}

/// Runs the command.
pub fn run(command: ImportCommand) -> Result<(), CliError> {
    match command {
        ImportCommand::Zulip(args) => run_zulip(&args),
        ImportCommand::Slack(args) => run_slack(&args),
        ImportCommand::Abandon(args) => abandon(&args),
    }
}

fn run_zulip(args: &ImportZulipArgs) -> Result<(), CliError> {
    let (config, mut request) = args.target.load(&args.source)?;
    request.former_url.clone_from(&args.former_url);
    let started = Instant::now();
    let work = args.target.work_folder(&config);
    let source = open_source(&args.source, &work)?;
    let is_archive = args.source.is_file();
    let imported = import_into(&config, &source, &request, is_archive.then_some(&*work))?;
    print_report(&args.target.data, &imported, started)
}

fn run_slack(args: &ImportSlackArgs) -> Result<(), CliError> {
    let (config, request) = args.target.load(&args.source)?;
    let started = Instant::now();
    let work = args.target.work_folder(&config);
    let slack = SlackRequest {
        name: request.name.clone(),
        email_domain: request.email_domain.clone(),
        fetches_files: args.fetch_files,
    };
    let mut bar = Bar::new("converting", "days");
    let report = prepare(&args.source, &work, &slack, &mut |done, all| bar.set(done, all));
    bar.finish();
    let report = report?;
    let source = Source::open(&work)?;
    let mut imported = import_into(&config, &source, &request, Some(&*work))?;
    imported.report.add(&report);
    print_report(&args.target.data, &imported, started)
}

fn abandon(args: &AbandonArgs) -> Result<(), CliError> {
    let config = args.data.load_single("organizations are imported into data folders")?;
    if !args.yes {
        let why = "an import that was given up cannot go on; add --yes to do it";
        return Err(CliError::Refused(why.to_owned()));
    }
    let Some(import) = Server::abandon_import(&config.data)? else {
        return Err(CliError::Refused("no import into this data folder is unfinished".to_owned()));
    };
    let work = work_folder(&config.data);
    if unpack::is_ours(&work) {
        unpack::remove(&work)?;
    }
    let line = format!("Gave up {import}. What it has written is not served, and another import can begin.");
    let origin = import.origin.as_ref();
    let value = json!({
        "organization": import.realm.0, "archive": origin.map(|origin| &origin.archive),
        "subdomain": origin.map(|origin| &origin.subdomain),
    });
    args.data.print(&Answer::of(line, value))
}

impl TargetArgs {
    fn load(&self, archive: &Path) -> Result<(Config, ImportRequest), CliError> {
        let config = self.data.load()?;
        // Before the archive is unpacked.
        check_access(&config.data)?;
        check_owner(&config.data)?;
        let email_domain = self.email_domain.as_deref().map(parse_domain).transpose();
        let request = ImportRequest {
            origin: ImportOrigin {
                archive: std::path::absolute(archive).as_deref().unwrap_or(archive).display().to_string(),
                subdomain: self.subdomain.clone(),
            },
            name: self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned),
            email_domain: email_domain
                .map_err(|error| CliError::Refused(format!("--email-domain: {error}")))?,
            former_url: String::new(),
            now: now(),
        };
        super::realm::check_subdomain(&self.subdomain)?;
        Ok((config, request))
    }

    fn work_folder(&self, config: &Config) -> PathBuf {
        self.work.clone().unwrap_or_else(|| work_folder(&config.data))
    }
}

/// Imports an unpacked export; `work` is deleted once the import is finished.
fn import_into(
    config: &Config,
    source: &Source,
    request: &ImportRequest,
    work: Option<&Path>,
) -> Result<Imported, CliError> {
    let imported = with_folder(config, true, async |server| {
        let blobs = Blobs::open_owned(config, server.cluster_name(), true)
            .map_err(|error| CliError::Refused(error.to_string()))?;
        // Before anything is written.
        if blobs.is_of_another().await.map_err(|error| CliError::Refused(error.to_string()))? {
            return Err(CliError::Refused(BlobError::Owned.to_string()));
        }
        run_import(&server, &blobs, source, request).await
    });
    // What an interrupted import needs is kept.
    if let Some(work) = work.filter(|_| !Server::has_unfinished_import(&config.data)) {
        unpack::remove(work)?;
    }
    imported
}

/// The folder of the unpacked archive, beside the data folder.
fn work_folder(data: &Path) -> PathBuf {
    let mut name = data.file_name().unwrap_or_default().to_os_string();
    name.push(".import");
    data.with_file_name(name)
}

fn open_source(source: &Path, work: &Path) -> Result<Source, CliError> {
    if !source.is_file() {
        return Ok(Source::open(source)?);
    }
    let mut bar = Bar::new("unpacking", "bytes");
    let folder = unpack::unpack(source, work, &mut |read, all| bar.set(read, all));
    bar.finish();
    let opened = folder.and_then(|folder| Source::open(&folder));
    if opened.is_err() {
        unpack::remove(work)?;
    }
    Ok(opened?)
}

async fn run_import(
    server: &Arc<Server>,
    blobs: &Blobs,
    source: &Source,
    request: &ImportRequest,
) -> Result<Imported, CliError> {
    let mut checking = Bar::new("checking", "files");
    let mut writing = Bar::new("importing", "messages");
    let imported = import(server, blobs, source, request, &mut |progress| match progress {
        Progress::Checked(done, all) => checking.set(done as u64, all as u64),
        Progress::Organization => checking.finish(),
        Progress::Messages(done, all) => writing.set(done, all),
    })
    .await;
    writing.finish();
    Ok(imported?)
}

fn print_report(data: &DataArgs, imported: &Imported, started: Instant) -> Result<(), CliError> {
    let directory = imported.realm.directory();
    let Imported { report, messages, .. } = imported;
    let secs = started.elapsed().as_secs_f64();
    let owners = directory.users().filter(|user| user.is_active && !user.is_bot());
    let owner = owners.min_by_key(|user| (user.role, user.id)).map(|user| user.delivery_email.clone());
    let realm = directory.realm();
    if data.output == Output::Json {
        let mut answer = report.to_json();
        answer["realm"] = json!({"id": realm.id.0, "name": realm.name, "subdomain": realm.subdomain});
        answer["messages"] = json!(messages);
        answer["seconds"] = json!(secs);
        answer["first_owner"] = json!(owner);
        return print_text(&format!("{answer}\n"));
    }
    let mut text = format!(
        "{report}\n\nImported {} with {} in {secs:.1} s.\nExports have no passwords: people choose a new one with `Forgot \
         your password?` once mail is configured.\n",
        realm.name,
        counted(*messages, "message")
    );
    if let Some(owner) = owner {
        let realm =
            if realm.subdomain.is_empty() { String::new() } else { format!(" --realm {}", realm.subdomain) };
        text.push_str(&format!(
            "The first owner gets one with `millstream user set-password --email {owner}{realm}`.\n"
        ));
    }
    print_text(&text)
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(now.as_millis()).unwrap_or_default())
}
