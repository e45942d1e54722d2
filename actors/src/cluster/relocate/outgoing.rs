//! From a data folder to the cluster.

use super::copy::Copying;
use super::{ClusterAccess, Folder, Progress, RelocateError, Relocated, Step, new_token, refused, shown};
use crate::cluster::options::ClusterOptions;
use crate::options::Options;
use model::RealmId;
use postgres::{Arrival, Known, ServingState};
use storage::log::bounds;
use storage::{Relocation, RelocationState};

/// An organization that the cluster has completely, but does not serve yet.
pub struct Outgoing {
    folder: Folder,
    remote: ClusterAccess,
    subdomain: String,
    relocated: Relocated,
    epoch: u64,
    is_taken: bool,
}

impl Outgoing {
    /// Copies the organization with a subdomain and compares both copies. Blocks.
    ///
    /// # Errors
    /// Those of folder and database, and reasons against it. What was copied is used by the next attempt.
    pub fn begin(
        options: &Options,
        cluster: &ClusterOptions,
        subdomain: &str,
        progress: Progress<'_>,
    ) -> Result<Self, RelocateError> {
        let (folder, remote) = (Folder::open(options)?, ClusterAccess::connect(cluster)?);
        let (realm, is_not_served) = find(&folder, remote.control.name(), subdomain)?;
        let log = folder.log_of(realm).0.clone();
        let (first, last) = bounds(&*log, realm.0)?;
        if first > 1 || last == 0 {
            return Err(refused(format!("the journal has no whole history of organization {realm}")));
        }
        let is_taken = reserve(&folder, &remote, (realm, subdomain), is_not_served)?;
        let mut outgoing = Self {
            folder,
            remote,
            subdomain: subdomain.to_owned(),
            relocated: Relocated { realm, frames: last, digest: String::new() },
            epoch: 0,
            is_taken,
        };
        if !is_taken {
            let copied = Copying::new(realm, &*log, &outgoing.remote.log).copy(last, progress)?;
            (outgoing.relocated.digest, outgoing.epoch) = (copied.0, copied.1.epoch);
        }
        Ok(outgoing)
    }

    /// Its number, the same on both sides.
    pub fn realm(&self) -> RealmId {
        self.relocated.realm
    }

    /// Whether the cluster serves it already, by an earlier command.
    pub fn is_taken(&self) -> bool {
        self.is_taken
    }

    /// Lets the cluster serve it, once its files are there. The folder never serves it again by itself. Blocks.
    ///
    /// # Errors
    /// Those of folder and database. Repeating the command continues the move.
    pub fn finish(mut self, progress: Progress<'_>) -> Result<Relocated, RelocateError> {
        if self.is_taken {
            return Ok(self.relocated);
        }
        self.folder.close();
        let realm = self.relocated.realm;
        let known = self.folder.data.relocations().get(&realm);
        let relocation = Relocation {
            state: RelocationState::Away,
            cluster: self.remote.control.name().to_owned(),
            token: new_token()?,
            subdomain: self.subdomain.clone(),
            secret: known.and_then(|known| known.secret),
        };
        self.folder.data.relocate(realm, Some(relocation))?;
        progress(Step::HandedOver);
        let is_activated = self.remote.control.activate(realm.0, self.epoch, self.relocated.frames)?;
        // An answer that was lost: the statement was repeated.
        let is_served = || self.remote.row(realm, &self.subdomain).map(|row| row.is_some_and(is_here));
        if !is_activated && !is_served()? {
            return Err(refused("another process works on this organization; run the command again"));
        }
        progress(Step::Taken);
        Ok(self.relocated)
    }
}

fn is_here(known: Known) -> bool {
    known.place == ServingState::Here
}

/// The organization, and whether the folder has recorded that it is in this cluster.
fn find(folder: &Folder, cluster: &str, subdomain: &str) -> Result<(RealmId, bool), RelocateError> {
    if let Some(realm) = folder.served(subdomain)? {
        return Ok((realm, false));
    }
    let name = shown(subdomain);
    match folder.find_not_served(subdomain) {
        None => Err(refused(format!("the data folder has no organization {name:?}"))),
        Some((_, found)) if found.state == RelocationState::Arriving => Err(refused(format!(
            "organization {name:?} is not completely here; `millstream realm move-from-cluster {name}` goes on with it"
        ))),
        Some((_, found)) if found.cluster != cluster => {
            Err(refused(format!("organization {name:?} was moved to another cluster, {}", found.cluster)))
        }
        Some((realm, _)) => Ok((realm, true)),
    }
}

/// Enters the organization in the directory of the cluster. True if it is served there already.
fn reserve(
    folder: &Folder,
    remote: &ClusterAccess,
    (realm, subdomain): (RealmId, &str),
    is_not_served: bool,
) -> Result<bool, RelocateError> {
    let (name, secret) = (shown(subdomain), folder.data.secret_of(realm));
    remote.control.reserve(Arrival { realm: realm.0, subdomain, secret })?;
    let all = remote.control.known(realm.0, subdomain)?;
    if let Some(other) = all.iter().find(|known| known.realm != realm.0) {
        return Err(refused(format!(
            "the cluster has another organization with the subdomain {name:?} (number {}); nothing was changed",
            other.realm
        )));
    }
    let taken = || {
        refused(format!(
            "the cluster has another organization with the number {realm}, and numbers are part of links and keys; nothing was \
             changed. Use `millstream export` and `import` for this one"
        ))
    };
    let known = all.into_iter().next().ok_or_else(taken)?;
    if known.subdomain != subdomain || remote.secret_of(&known)? != *secret {
        return Err(taken());
    }
    match known.place {
        ServingState::Arriving => Ok(false),
        ServingState::Here if is_not_served => Ok(true),
        ServingState::Here | ServingState::Leaving => Err(refused(format!(
            "the cluster serves organization {name:?} with the same keys already, so this data folder is an older copy of it; \
             nothing was changed"
        ))),
        ServingState::Away if remote.control.reserve_again(realm.0)? => Ok(false),
        ServingState::Away => {
            Err(refused("another process works on this organization; run the command again"))
        }
    }
}

/// Takes an organization back that the cluster does not serve yet: the folder serves it again. Blocks.
///
/// # Errors
/// Those of folder and database; refused if the cluster serves it.
pub fn cancel_move_to_cluster(
    options: &Options,
    cluster: &ClusterOptions,
    subdomain: &str,
) -> Result<RealmId, RelocateError> {
    let (mut folder, remote) = (Folder::open(options)?, ClusterAccess::connect(cluster)?);
    let (realm, is_not_served) = find(&folder, remote.control.name(), subdomain)?;
    // Ours: the cluster may have another organization under this name.
    let secret = *folder.data.secret_of(realm);
    let row = remote.row(realm, subdomain)?;
    let own = match row {
        Some(known) if remote.secret_of(&known)? == secret => Some(known.place),
        _ => None,
    };
    match own {
        Some(ServingState::Here | ServingState::Leaving) => {
            let name = shown(subdomain);
            return Err(refused(format!(
                "the cluster serves organization {name:?}; `millstream realm move-from-cluster {name}` brings it back"
            )));
        }
        Some(ServingState::Away) => return Err(refused("it is in the data folder that brought it back")),
        Some(ServingState::Arriving) => _ = remote.control.withdraw(realm.0)?,
        None => {}
    }
    if is_not_served {
        folder.close();
        let known = folder.data.relocations().get(&realm).cloned();
        let here = known.map(|known| Relocation { state: RelocationState::Here, ..known });
        folder.data.relocate(realm, here.filter(|here| here.secret.is_some()))?;
    }
    Ok(realm)
}
