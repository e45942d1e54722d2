//! Carrying an organization with its whole history between a data folder, whose server is stopped, and a cluster.
//!
//! The frames are copied and compared by digest first. Which copy is served is decided by two records, each changed in one step:
//! `relocated` in the folder and `place` in the directory of the cluster. The one that stops serving is changed first, so
//! both copies are never served, whenever the process is killed; a repeated command continues where it stopped.
//! Ids stay, because texts of messages and API keys contain them.

mod copy;
mod incoming;
mod outgoing;

pub use incoming::Incoming;
pub use outgoing::{Outgoing, cancel_move_to_cluster};

use super::options::ClusterOptions;
use super::{database, requirements};
use crate::error::DomainError;
use crate::opening::{OpenLog, open_logs};
use crate::options::Options;
use crate::placement::Placement;
use crate::server::Server;
use crate::shard::{Durability, DurableSink};
use model::fact::RealmFact;
use model::{Fact, RealmId};
use postgres::{Control, Known, PgError, PgLog, PgLogOptions};
use std::cmp::Ordering;
use std::sync::Arc;
use storage::codec::RECORDS;
use storage::folder::SECRET_BYTES;
use storage::log::{LogError, RealmLog, bounds};
use storage::{DataFolder, Relocation, RelocationState, StoreError, decode_frame};

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many frames of all are copied.
    Copying(u64, u64),
    /// So many frames of all are compared.
    Comparing(u64, u64),
    /// The cluster does not serve the organization for the time being.
    Stopped,
    /// What stops serving has it recorded. Nothing serves the organization until the next step.
    HandedOver,
    /// What begins to serve may do so.
    Taken,
}

/// Receives the steps.
pub type Progress<'p> = &'p mut dyn FnMut(Step);

/// An organization that was moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocated {
    pub realm: RealmId,
    pub frames: u64,
    /// SHA-256 of the frames, equal on both sides.
    pub digest: String,
}

/// Why an organization was not moved.
#[derive(Debug, thiserror::Error)]
pub enum RelocateError {
    /// It cannot be as things are. Nothing was changed.
    #[error("{0}")]
    Refused(String),
    #[error(transparent)]
    Database(#[from] PgError),
    #[error(transparent)]
    Folder(#[from] StoreError),
    #[error(transparent)]
    Log(#[from] LogError),
}

impl From<DomainError> for RelocateError {
    fn from(error: DomainError) -> Self {
        Self::Refused(error.to_string())
    }
}

fn refused(why: impl Into<String>) -> RelocateError {
    RelocateError::Refused(why.into())
}

/// How a subdomain is shown.
fn shown(subdomain: &str) -> &str {
    if subdomain.is_empty() { "-" } else { subdomain }
}

/// A data folder without a server, with its journals.
struct Folder {
    data: DataFolder,
    logs: Vec<OpenLog>,
}

impl Folder {
    /// Opens a folder, or makes one.
    fn open(options: &Options) -> Result<Self, RelocateError> {
        if Server::has_unfinished_import(&options.data) {
            return Err(refused(
                "an import into the data folder is unfinished; finish it first, or give it up with `millstream import abandon --yes`",
            ));
        }
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| refused(error.to_string()))?;
        let data = DataFolder::open(&options.data, options.shards, secret)?;
        data.check_journals()?;
        if data.is_live_copy() {
            return Err(StoreError::LiveCopy { path: data.path().to_path_buf() }.into());
        }
        let logs = open_logs(&data, options, false)?;
        Ok(Self { data, logs })
    }

    fn log_of(&self, realm: RealmId) -> &OpenLog {
        &self.logs[Placement::new(self.logs.len()).shard(realm)]
    }

    /// The organization with a subdomain that is served from the folder.
    fn served(&self, subdomain: &str) -> Result<Option<RealmId>, RelocateError> {
        let mut nameless = None;
        for (log, _) in &self.logs {
            for realm in log.realms().into_iter().filter(|realm| !self.data.is_not_served(RealmId(*realm))) {
                match subdomain_of(&**log, realm)? {
                    Some(name) if name == subdomain => return Ok(Some(RealmId(realm))),
                    Some(_) => {}
                    None => nameless = Some(realm),
                }
            }
        }
        match nameless {
            Some(realm) => Err(refused(format!(
                "`journal.keep` has dropped the first frames of organization {realm}, so this data folder can give no organization \
                 to a cluster and take none; use `millstream export` and `import`"
            ))),
            None => Ok(None),
        }
    }

    /// The organization with a subdomain that the folder is not to serve.
    fn find_not_served(&self, subdomain: &str) -> Option<(RealmId, Relocation)> {
        let all = self.data.relocations().iter();
        let mut all = all.filter(|(_, found)| found.state != RelocationState::Abandoned);
        let found =
            all.find(|(realm, found)| self.data.is_not_served(**realm) && found.subdomain == subdomain);
        found.map(|(realm, found)| (*realm, found.clone()))
    }

    /// Closes the journals. What follows only changes the record.
    fn close(&self) {
        self.logs.iter().for_each(|(log, _)| log.close());
    }
}

/// The subdomain of an organization, by its first frame; none if that was dropped.
fn subdomain_of(log: &dyn RealmLog, realm: u32) -> Result<Option<String>, RelocateError> {
    if bounds(log, realm)?.0 > 1 {
        return Ok(None);
    }
    let Some(first) = log.read(realm, 1)?.next() else { return Ok(Some(String::new())) };
    match decode_frame(&first?.payload)?.facts.into_iter().next() {
        Some(Fact::Realm(RealmFact::Created(realm))) => Ok(Some(realm.subdomain)),
        _ => Err(refused(format!("the first frame of organization {realm} does not create it"))),
    }
}

/// The tables and the log of a cluster, without being a node.
struct ClusterAccess {
    control: Arc<Control>,
    log: OpenLog,
}

impl ClusterAccess {
    fn connect(options: &ClusterOptions) -> Result<Self, RelocateError> {
        let requirements = requirements(options);
        let control = Arc::new(Control::open(database(options)?, requirements)?);
        check_records(control.records()?)?;
        let durability = Arc::new(Durability::default());
        let sink = Box::new(DurableSink(durability.clone()));
        let log =
            PgLog::open(database(options)?, &PgLogOptions { requirements, ..PgLogOptions::default() }, sink)?;
        Ok(Self { control, log: (Arc::new(log), durability) })
    }

    /// The row of an organization in the directory.
    fn row(&self, realm: RealmId, subdomain: &str) -> Result<Option<Known>, RelocateError> {
        let all = self.control.known(realm.0, subdomain)?;
        Ok(all.into_iter().find(|known| known.realm == realm.0 && known.subdomain == subdomain))
    }

    /// What the keys of an organization are derived from.
    fn secret_of(&self, known: &Known) -> Result<[u8; SECRET_BYTES], RelocateError> {
        let secret = known.secret.as_ref().map_or(self.control.secret(), |secret| &secret.0);
        secret.try_into().map_err(|_| refused("the secret of the organization has another length"))
    }
}

/// Frames are copied as they are, so both sides must read the same.
fn check_records(cluster: i32) -> Result<(), RelocateError> {
    match cluster.cmp(&RECORDS) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(refused(format!(
            "this program writes records of version {RECORDS}, and the nodes of the cluster up to {cluster} only; run \
             `millstream cluster upgrade` first"
        ))),
        Ordering::Greater => Err(PgError::TooOld { found: cluster, known: RECORDS }.into()),
    }
}

/// A random name of a folder.
fn new_token() -> Result<String, RelocateError> {
    let mut bytes = [0u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| refused(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
