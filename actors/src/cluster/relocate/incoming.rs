//! From the cluster to a data folder. The cluster serves the organization while most of it is copied, and stops for the rest.

use super::copy::Copying;
use super::{ClusterAccess, Folder, Progress, RelocateError, Relocated, Step, new_token, refused, shown};
use crate::cluster::options::ClusterOptions;
use crate::options::Options;
use model::RealmId;
use postgres::{Control, Known, PgError, ServingState};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use storage::folder::SECRET_BYTES;
use storage::log::bounds;
use storage::{Relocation, RelocationState};

/// How long the owner may take to stop it: a lease, and requests in progress.
const CLOSE_MAX: Duration = Duration::from_secs(20);
const CLOSE_TICK: Duration = Duration::from_millis(20);
/// How often the cluster is asked not to serve it for 30 seconds more.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// An organization that is being copied to a data folder.
pub struct Incoming {
    folder: Folder,
    remote: ClusterAccess,
    realm: RealmId,
    relocation: Relocation,
    is_taken: bool,
    /// While the cluster does not serve it.
    stopped: Option<StopGuard>,
    done: Option<(Relocated, u64)>,
}

impl Incoming {
    /// Copies what the cluster has of the organization with a subdomain, which continues to serve it. Blocks.
    ///
    /// # Errors
    /// Those of folder and database, and reasons against it. What was copied is used by the next attempt.
    pub fn begin(
        options: &Options,
        cluster: &ClusterOptions,
        subdomain: &str,
        progress: Progress<'_>,
    ) -> Result<Self, RelocateError> {
        let remote = ClusterAccess::connect(cluster)?;
        let known = remote.control.known(0, subdomain)?.into_iter().next();
        let known = known.ok_or_else(|| {
            refused(format!("the cluster has no organization {:?}; nothing was changed", shown(subdomain)))
        })?;
        let mut folder = Folder::open(options)?;
        let realm = RealmId(known.realm);
        let relocation = arriving(&folder, &remote, &known)?;
        let is_taken = check_place(&folder, &known, &relocation)?;
        if !is_taken && folder.data.relocations().get(&realm) != Some(&relocation) {
            folder.data.relocate(realm, Some(relocation.clone()))?;
        }
        let incoming = Self { folder, remote, realm, relocation, is_taken, stopped: None, done: None };
        if !is_taken {
            let last = incoming.check_history()?;
            let (source, target) = (&*incoming.remote.log.0, incoming.folder.log_of(realm));
            Copying::new(realm, source, target).copy(last, progress)?;
        }
        Ok(incoming)
    }

    /// Its number, the same on both sides.
    pub fn realm(&self) -> RealmId {
        self.realm
    }

    /// Whether the folder has all of it, by an earlier command that was killed in the last moment.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// The newest frame in the cluster, if that has all of them.
    fn check_history(&self) -> Result<u64, RelocateError> {
        match bounds(&*self.remote.log.0, self.realm.0)? {
            (1, last @ 1..) => Ok(last),
            (first, _) => Err(refused(format!(
                "the database has the history of organization {} only from frame {first} on, so it cannot be carried; use \
                 `millstream export` and `import`",
                self.realm
            ))),
        }
    }

    /// Makes the cluster stop serving it, and copies the rest. The cluster serves it again if this process ends before
    /// [`Self::finish`]. Blocks.
    ///
    /// # Errors
    /// Those of folder and database.
    pub fn stop(&mut self, progress: Progress<'_>) -> Result<(), RelocateError> {
        if self.is_taken {
            return Ok(());
        }
        let (realm, token) = (self.realm, self.relocation.token.clone());
        self.stopped = Some(StopGuard::begin(&self.remote.control, realm, token)?);
        // No owner writes any more.
        let opened = self.remote.log.0.open(realm.0, 0)?;
        progress(Step::Stopped);
        let (source, target) = (&*self.remote.log.0, self.folder.log_of(realm));
        let (digest, _) = Copying::new(realm, source, target).copy(opened.last_sequence, progress)?;
        let relocated = Relocated { realm, frames: opened.last_sequence, digest };
        self.done = Some((relocated, opened.epoch));
        Ok(())
    }

    /// Lets the folder serve it, once its files are there. Blocks.
    ///
    /// # Errors
    /// Those of folder and database. Repeating the command continues the move.
    pub fn finish(mut self, progress: Progress<'_>) -> Result<Relocated, RelocateError> {
        let relocated = match self.done.take() {
            Some((relocated, epoch)) => {
                self.folder.close();
                let (token, end) = (&self.relocation.token, (epoch, relocated.frames));
                let has_left = self.remote.control.complete_departure(self.realm.0, end, token)?;
                // An answer that was lost: the statement was repeated.
                if !has_left && !self.is_ours()? {
                    return Err(refused(
                        "the cluster serves the organization again, because copying took too long; run the command again",
                    ));
                }
                relocated
            }
            None if self.is_taken => {
                let last = bounds(&*self.folder.log_of(self.realm).0, self.realm.0)?.1;
                Relocated { realm: self.realm, frames: last, digest: String::new() }
            }
            None => return Err(refused("the cluster still serves the organization")),
        };
        if let Some(stopped) = self.stopped.take() {
            stopped.end(false);
        }
        progress(Step::HandedOver);
        let here = Relocation { state: RelocationState::Here, ..self.relocation.clone() };
        self.folder.data.relocate(self.realm, Some(here).filter(|here| here.secret.is_some()))?;
        progress(Step::Taken);
        Ok(relocated)
    }

    fn is_ours(&self) -> Result<bool, RelocateError> {
        let row = self.remote.row(self.realm, &self.relocation.subdomain)?;
        Ok(row.is_some_and(|known| is_in(&known, &self.relocation)))
    }
}

/// Whether an organization left the cluster for this folder.
fn is_in(known: &Known, relocation: &Relocation) -> bool {
    known.place == ServingState::Away && known.home.as_ref() == Some(&relocation.token)
}

/// What the folder records about the organization while it is copied.
fn arriving(folder: &Folder, remote: &ClusterAccess, known: &Known) -> Result<Relocation, RelocateError> {
    let (realm, cluster, name) = (RealmId(known.realm), remote.control.name(), shown(&known.subdomain));
    if folder.served(&known.subdomain)?.is_some_and(|other| other != realm) {
        return Err(refused(format!(
            "the data folder has another organization with the subdomain {name:?}; nothing was changed"
        )));
    }
    let before = folder.data.relocations().get(&realm).filter(|before| before.cluster == cluster);
    let has_frames = bounds(&*folder.log_of(realm).0, realm.0)?.1 > 0;
    if before.is_none_or(|before| before.subdomain != known.subdomain) && has_frames {
        return Err(refused(format!(
            "the data folder has organization number {realm} already, and numbers are part of links and keys; nothing was changed. \
             If it is an older copy of this one, use another folder"
        )));
    }
    let secret = remote.secret_of(known)?;
    let is_own: bool = secret == *folder.data.secret();
    let of_folder = |secret: [u8; SECRET_BYTES]| (!is_own).then_some(secret);
    let token = match before {
        Some(before) if before.state == RelocationState::Arriving => before.token.clone(),
        _ => new_token()?,
    };
    Ok(Relocation {
        state: RelocationState::Arriving,
        cluster: cluster.to_owned(),
        token,
        subdomain: known.subdomain.clone(),
        secret: of_folder(secret),
    })
}

/// Refuses what is not in the cluster. True if it left the cluster for this folder, which has all of it.
fn check_place(folder: &Folder, known: &Known, relocation: &Relocation) -> Result<bool, RelocateError> {
    let name = shown(&known.subdomain);
    let is_served = !folder.data.is_not_served(RealmId(known.realm))
        && bounds(&*folder.log_of(RealmId(known.realm)).0, known.realm)?.1 > 0;
    match known.place {
        _ if is_served => Err(refused(format!("the data folder serves organization {name:?} already"))),
        ServingState::Here | ServingState::Leaving => Ok(false),
        ServingState::Away if is_in(known, relocation) => Ok(true),
        ServingState::Away => Err(refused(format!("organization {name:?} is in another data folder"))),
        ServingState::Arriving => Err(refused(format!(
            "organization {name:?} is not completely in the cluster; `millstream realm move-to-cluster {name}` goes on with it"
        ))),
    }
}

/// Keeps the cluster from serving an organization, until it is dropped.
struct StopGuard {
    control: Arc<Control>,
    realm: RealmId,
    ended: Sender<()>,
    thread: Option<JoinHandle<()>>,
    stays: bool,
}

impl StopGuard {
    /// Stops it, and waits until no node answers for it.
    fn begin(control: &Arc<Control>, realm: RealmId, token: String) -> Result<Self, RelocateError> {
        if !control.depart(realm.0, &token)? {
            return Err(refused(
                "the cluster does not serve the organization any more; run the command again",
            ));
        }
        let (ended, has_ended) = channel();
        let keeper = control.clone();
        let renewing = std::thread::Builder::new().name("departure".to_owned()).spawn(move || {
            while has_ended.recv_timeout(RENEW_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = keeper.depart(realm.0, &token) {
                    tracing::warn!(%error, "the cluster may serve the organization again");
                }
            }
        });
        let thread = Some(renewing.map_err(PgError::from)?);
        let stopped = Self { control: control.clone(), realm, ended, thread, stays: true };
        let start = Instant::now();
        while control.is_closed(realm.0)? != Some(true) {
            if start.elapsed() > CLOSE_MAX {
                return Err(refused(
                    "the node that owns the organization does not stop it; it goes on serving it",
                ));
            }
            std::thread::sleep(CLOSE_TICK);
        }
        Ok(stopped)
    }

    /// Ends keeping. With `stays`, the cluster serves it again at once.
    fn end(mut self, stays: bool) {
        self.stays = stays;
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        let _ = self.ended.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if self.stays
            && let Err(error) = self.control.stay(self.realm.0)
        {
            tracing::warn!(%error, "the organization could not be given back to the cluster at once; the cluster serves it again within half a minute");
        }
    }
}
