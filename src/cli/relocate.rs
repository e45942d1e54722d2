//! `millstream realm move-to-cluster` and `move-from-cluster`: an organization with its whole history and its files.

use super::data::{DataArgs, subdomain};
use super::error::CliError;
use super::print::print_note;
use super::progress::Bar;
use crate::admin::Answer;
use crate::config::{BlobKind, BlobSettings, Config, Overrides};
use crate::integrations::blobs::Blobs;
use crate::integrations::blobs::copy::{CopiedFiles, copy_files};
use crate::server::{cluster_options, options};
use actors::cluster::{
    ClusterOptions, Incoming, Outgoing, RelocateError, Relocated, Step, cancel_move_to_cluster,
};
use actors::folder_access::{check_access, check_owner};
use model::RealmId;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Move an organization to a cluster
///
/// The server of the data folder must be stopped. All frames of the journal and all files are copied and compared; then the nodes
/// serve the organization, with the same ids and API keys, and the folder refuses to. Its data stays there. The command can be
/// repeated after it was interrupted.
#[derive(Debug, clap::Args)]
pub struct MoveToArgs {
    #[command(flatten)]
    both: RelocationArgs,
    /// Undo a move that was interrupted: the data folder serves the organization again. Refused if the cluster serves it
    #[arg(long)]
    cancel: bool,
}

/// Move an organization from a cluster
///
/// The server of the data folder must be stopped; a missing folder is created. The cluster serves the organization while most of
/// it is copied, stops for the rest, and serves it again if the command is interrupted before everything is compared.
#[derive(Debug, clap::Args)]
pub struct MoveFromArgs {
    #[command(flatten)]
    both: RelocationArgs,
}

/// The organization, the data folder and the cluster.
#[derive(Debug, clap::Args)]
struct RelocationArgs {
    /// Subdomain of the organization; - for the one without
    #[arg(value_name = "SUBDOMAIN", value_parser = subdomain)]
    subdomain: String,
    #[command(flatten)]
    data: DataArgs,
    /// Configuration file of a node: where database and files of the cluster are. The environment is not used for it
    #[arg(long, value_name = "FILE")]
    cluster_config: PathBuf,
}

/// Both sides, as configured.
struct Sides {
    subdomain: String,
    own: Config,
    node: Config,
    cluster: ClusterOptions,
}

impl RelocationArgs {
    fn load(&self) -> Result<Sides, CliError> {
        let own = self.data.load()?;
        let node = Config::load(Some(&self.cluster_config), [], Overrides::default())?;
        let Some(cluster) = cluster_options(&node) else {
            let file = self.cluster_config.display();
            return Err(CliError::Refused(format!("{file}: cluster.database is not set")));
        };
        if is_same_folder(&own.data, &node.data) {
            let data = own.data.display();
            return Err(CliError::Refused(format!(
                "{data} is the data folder of both; a node has a folder of its own"
            )));
        }
        Ok(Sides { subdomain: self.subdomain.clone(), own, node, cluster })
    }

    fn print(&self, text: String, moved: &Relocated, files: CopiedFiles) -> Result<(), CliError> {
        let text = match moved.digest.as_str() {
            "" => format!("{text} It had been copied before."),
            digest => format!(
                "{text} {} frames (SHA-256 {digest}) and {} files are the same on both sides.",
                moved.frames, files.files
            ),
        };
        let value = json!({
            "subdomain": self.subdomain, "realm": moved.realm, "frames": moved.frames, "digest": moved.digest,
            "files": files.files, "new_files": files.new_files, "new_bytes": files.new_bytes,
        });
        self.data.print(&Answer::of(text, value))
    }
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    real(one) == real(other)
}

fn refused(error: RelocateError) -> CliError {
    CliError::Refused(error.to_string())
}

/// Runs `realm move-to-cluster`.
pub fn to_cluster(args: &MoveToArgs) -> Result<(), CliError> {
    let sides = args.both.load()?;
    let own = options(&sides.own, true);
    require_folder(&sides.own.data)?;
    if args.cancel {
        let realm = cancel_move_to_cluster(&own, &sides.cluster, &sides.subdomain).map_err(refused)?;
        let line =
            "The data folder serves the organization, and nothing of it is left in the cluster.".to_owned();
        let value = json!({"subdomain": args.both.subdomain, "realm": realm});
        return args.both.data.print(&Answer::of(line, value));
    }
    let mut shown = PrintedProgress::default();
    let outgoing = Outgoing::begin(&own, &sides.cluster, &sides.subdomain, &mut |step| shown.step(step));
    let outgoing = outgoing.map_err(refused)?;
    let files = match outgoing.is_taken() {
        true => CopiedFiles::default(),
        false => copy_between_sides(&sides, true, outgoing.realm())?,
    };
    let moved = outgoing.finish(&mut |step| shown.step(step)).map_err(refused)?;
    let text = "The cluster serves the organization, and the data folder does not any more.".to_owned();
    args.both.print(text, &moved, files)
}

/// Runs `realm move-from-cluster`.
pub fn from_cluster(args: &MoveFromArgs) -> Result<(), CliError> {
    let sides = args.both.load()?;
    let own = options(&sides.own, true);
    let mut shown = PrintedProgress::default();
    let incoming = Incoming::begin(&own, &sides.cluster, &sides.subdomain, &mut |step| shown.step(step));
    let mut incoming = incoming.map_err(refused)?;
    let mut files = CopiedFiles::default();
    if !incoming.is_taken() {
        copy_between_sides(&sides, false, incoming.realm())?;
        incoming.stop(&mut |step| shown.step(step)).map_err(refused)?;
        // What was uploaded meanwhile.
        files = copy_between_sides(&sides, false, incoming.realm())?;
    }
    let moved = incoming.finish(&mut |step| shown.step(step)).map_err(refused)?;
    let text = "The data folder serves the organization, and the cluster does not any more.".to_owned();
    args.both.print(text, &moved, files)
}

fn require_folder(data: &Path) -> Result<(), CliError> {
    check_owner(data)?;
    match actors::Server::has_data(data) {
        true => Ok(()),
        false => {
            check_access(data)?;
            Err(CliError::Refused(format!("{} is not a data folder", data.display())))
        }
    }
}

/// Copies the files, unless both sides have them in one bucket.
fn copy_between_sides(sides: &Sides, is_outgoing: bool, realm: RealmId) -> Result<CopiedFiles, CliError> {
    if is_same_bucket(&sides.own.blobs, &sides.node.blobs) {
        return Ok(CopiedFiles::default());
    }
    let shared = sides.node.data.join("blobs");
    if sides.node.blobs.kind == BlobKind::Local && !shared.is_dir() {
        return Err(CliError::Refused(format!(
            "the nodes have files in {}, which is not on this machine; mount the folder that they share, or use S3 for it",
            shared.display()
        )));
    }
    let open = |config: &Config| Blobs::open(&config.blobs, config.files(), true);
    let failed = |error: crate::integrations::blobs::BlobError| CliError::Refused(error.to_string());
    let (own, node) = (open(&sides.own).map_err(failed)?, open(&sides.node).map_err(failed)?);
    let (from, to) = if is_outgoing { (own, node) } else { (node, own) };
    let mut bar = Bar::new("copying files", "files");
    let copied = actix_rt::System::new()
        .block_on(async { copy_files(&from, &to, realm, &mut |done, all| bar.set(done, all)).await });
    bar.finish();
    copied.map_err(failed)
}

fn is_same_bucket(one: &BlobSettings, other: &BlobSettings) -> bool {
    let name = |blobs: &BlobSettings| (blobs.endpoint.clone(), blobs.bucket.clone(), blobs.region.clone());
    one.kind == BlobKind::S3 && other.kind == BlobKind::S3 && name(one) == name(other)
}

/// The progress on standard error.
#[derive(Default)]
struct PrintedProgress {
    bar: Option<(&'static str, Bar)>,
}

impl PrintedProgress {
    fn step(&mut self, step: Step) {
        match step {
            Step::Copying(done, all) => self.bar("copying", done, all),
            Step::Comparing(done, all) => self.bar("comparing", done, all),
            Step::Stopped => self.line("The cluster does not serve the organization for the time being."),
            Step::HandedOver => self.line("Everything is copied and compared."),
            Step::Taken => self.line("Done."),
        }
    }

    fn bar(&mut self, what: &'static str, done: u64, all: u64) {
        let is_other = self.bar.as_ref().is_none_or(|(before, _)| *before != what);
        if is_other {
            self.finish();
            self.bar = Some((what, Bar::new(what, "frames")));
        }
        if let Some((_, bar)) = &mut self.bar {
            bar.set(done, all);
        }
    }

    fn line(&mut self, text: &str) {
        self.finish();
        print_note(format_args!("{text}"));
    }

    fn finish(&mut self) {
        if let Some((_, mut bar)) = self.bar.take() {
            bar.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_node_is_named_by_its_configuration() {
        let args: MoveToArgs = parse(&["acme", "--cluster-config", "node.toml", "--cancel"]).unwrap();
        assert!(args.cancel && args.both.subdomain == "acme");
        assert!(parse::<MoveFromArgs>(&["acme"]).is_err());
        assert!(parse::<MoveFromArgs>(&["acme", "--cluster-config", "node.toml", "--cancel"]).is_err());
    }

    #[test]
    fn node_with_the_same_folder_or_without_database_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("node.toml").display().to_string();
        let load = |text: &str| {
            std::fs::write(&file, text).unwrap();
            let data = folder.path().join("data").display().to_string();
            let args: MoveFromArgs = parse(&["-", "--cluster-config", &file, "--data", &data]).unwrap();
            args.both.load().map(|sides| sides.subdomain).map_err(|error| error.to_string())
        };
        let cluster = "[cluster]\ndatabase = \"postgres://a/b\"\nnode = \"n1\"\nadvertise = \"http://a:1\"\n";
        assert!(load("").unwrap_err().contains("cluster.database is not set"));
        let same = format!("data = \"{}\"\n{cluster}", folder.path().join("data").display());
        assert!(load(&same).unwrap_err().contains("folder of its own"));
        assert_eq!(load(&format!("data = \"/srv/n1\"\n{cluster}")).unwrap(), "");
    }
}
