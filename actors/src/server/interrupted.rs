//! Organizations that were being made or reset when the server ended. A start makes each whole, or does not serve it: what the journal
//! has of it decides, because the mark may be older or newer than that, as in a backup.

use super::Server;
use crate::error::DomainError;
use crate::seed_frames::{begins_organization, is_last_of_seed, read_seed, reset_frames};
use model::{Fact, RealmId};
use std::fmt;
use std::path::Path;
use storage::log::{RealmLog, bounds};
use storage::{StoreError, Unfinished, UnfinishedState};

/// The file that marks the data folder of a development server.
const DEVELOPMENT: &str = "development";

/// An organization that is not served because it is only a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnfinishedRealm {
    pub realm: RealmId,
    pub subdomain: String,
    remedy: Remedy,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    MadeAgain,
    Removed,
    ResetAgain,
}

/// What the journal has of an organization that is being made or reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Nothing,
    /// The beginning of an organization that was not there before.
    Part,
    /// The beginning of an organization that was whole before.
    PartOfReset,
    Whole,
}

impl Written {
    /// After a frame that creates the organization.
    fn begun(self) -> Self {
        match self {
            Self::Nothing | Self::Part => Self::Part,
            Self::PartOfReset | Self::Whole => Self::PartOfReset,
        }
    }
}

impl fmt::Display for UnfinishedRealm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subdomain.as_str() {
            "" => write!(f, "the organization without a subdomain")?,
            subdomain => write!(f, "the organization with the subdomain {subdomain}")?,
        }
        match self.remedy {
            Remedy::MadeAgain => write!(
                f,
                " may not be complete, because making it was interrupted; it is not served, and `millstream dev` makes it again from its seed unless the journal has all of it"
            ),
            Remedy::Removed => write!(
                f,
                " may not be complete, because making it was interrupted; it is not served, and the next start removes it unless the journal has all of it"
            ),
            Remedy::ResetAgain => write!(
                f,
                " may not be complete, because resetting it was interrupted; it is not served, and the next start resets it again unless the journal has all of it"
            ),
        }
    }
}

impl UnfinishedRealm {
    /// None for one that was removed.
    fn new(realm: RealmId, found: &Unfinished, data: &Path) -> Option<Self> {
        let remedy = match found.state {
            UnfinishedState::Making if is_remade(found, data) => Remedy::MadeAgain,
            UnfinishedState::Making => Remedy::Removed,
            UnfinishedState::Resetting => Remedy::ResetAgain,
            UnfinishedState::Removed => return None,
        };
        Some(Self { realm, subdomain: found.subdomain.clone(), remedy })
    }
}

/// Whether a development server makes it again: its main organization. Who asked for another one never got an answer.
fn is_remade(found: &Unfinished, data: &Path) -> bool {
    found.subdomain.is_empty() && data.join(DEVELOPMENT).exists()
}

impl Server {
    /// The organizations of this server that are not served because they are only parts.
    pub fn unfinished_realms(&self) -> Vec<UnfinishedRealm> {
        let all = self.folder.marks().left().into_iter().filter(|(realm, _)| self.realm(*realm).is_none());
        all.filter_map(|(realm, found)| UnfinishedRealm::new(realm, &found, self.folder.path())).collect()
    }

    /// The same for a data folder, which is not opened. A running server may just be making or resetting them.
    ///
    /// # Errors
    /// `Storage` when a file cannot be read.
    pub fn unfinished_realms_in(data: &Path) -> Result<Vec<UnfinishedRealm>, DomainError> {
        let all = storage::unfinished::read(data)?;
        Ok(all.iter().filter_map(|(realm, found)| UnfinishedRealm::new(*realm, found, data)).collect())
    }

    /// Ends what an earlier process has left: whole organizations are started, those that were being reset are reset again, those that
    /// were being made are removed, but for the one that a development server makes again. One for which that fails is not
    /// served; the others are.
    pub(super) async fn end_interrupted(&self) {
        for (realm, found) in self.folder.marks().all() {
            let subdomain = found.subdomain.clone();
            if let Err(error) = self.end_one(realm, found).await {
                tracing::error!(
                    realm = realm.0, subdomain, %error,
                    "an organization is not served: the server ended while it was being made or reset, and it cannot be completed or removed"
                );
            }
        }
    }

    async fn end_one(&self, realm: RealmId, found: Unfinished) -> Result<(), DomainError> {
        let is_making = match found.state {
            UnfinishedState::Making => true,
            UnfinishedState::Resetting => false,
            UnfinishedState::Removed => return Ok(()),
        };
        let written = written(&*self.log_of(realm), realm, &found)?;
        if is_making && written == Written::Nothing {
            return self.start_whole(realm).await;
        }
        // Another one was made after the call for this one had ended without an answer.
        if self.realm_by_subdomain(&found.subdomain).is_some() {
            return self.remove(realm, found);
        }
        match written {
            Written::Nothing | Written::Whole => self.start_whole(realm).await,
            Written::Part if is_making => self.remove_or_keep(realm, found),
            Written::Part | Written::PartOfReset => self.reset_again(realm, &found.subdomain).await,
        }
    }

    /// Starts an organization that is whole, if there is one.
    async fn start_whole(&self, realm: RealmId) -> Result<(), DomainError> {
        self.folder.marks().forget(realm)?;
        if let Some(started) = self.load_realm(realm)? {
            self.start_realm(started.view, started.opened.epoch).await?;
        }
        Ok(())
    }

    /// Removes an organization of which there is only a part, unless a development server makes it again.
    fn remove_or_keep(&self, realm: RealmId, found: Unfinished) -> Result<(), DomainError> {
        let subdomain = &found.subdomain;
        if is_remade(&found, self.folder.path()) {
            tracing::warn!(
                realm = realm.0,
                subdomain,
                "an organization is not complete: the server ended while it was being made; `millstream dev` makes it again from its seed"
            );
            return Ok(());
        }
        self.remove(realm, found)
    }

    fn remove(&self, realm: RealmId, found: Unfinished) -> Result<(), DomainError> {
        let subdomain = found.subdomain.clone();
        self.folder.marks().note(realm, Unfinished { state: UnfinishedState::Removed, ..found })?;
        tracing::warn!(
            realm = realm.0,
            subdomain,
            "an organization was removed: the server ended while it was being made or reset"
        );
        Ok(())
    }

    /// Goes back to the seed, as the interrupted call would have done.
    async fn reset_again(&self, realm: RealmId, subdomain: &str) -> Result<(), DomainError> {
        let frames = reset_frames(&*self.log_of(realm), realm, self.options.clock.now())?;
        let Some(started) = self.load_realm(realm)? else { return Ok(()) };
        let mark = self.mark_unfinished(realm, UnfinishedState::Resetting, (u64::MAX, subdomain))?;
        let mut writer = self.first_frames(realm, started.opened.epoch, Some(started.view));
        for facts in frames {
            writer.write(facts).await?;
        }
        writer.start(mark).await?;
        tracing::warn!(
            realm = realm.0,
            subdomain,
            "an organization was reset again: the server ended while it was being reset"
        );
        Ok(())
    }
}

/// What the journal has of what a mark is about. The last creation counts: an organization may have been made or reset several times.
fn written(log: &dyn RealmLog, realm: RealmId, found: &Unfinished) -> Result<Written, DomainError> {
    let (oldest, last) = bounds(log, realm.0).map_err(StoreError::from)?;
    // While a part of a reset was served, other frames may have been written after it.
    let seed_frames = match found.state {
        UnfinishedState::Resetting => count_seed_frames(log, realm),
        UnfinishedState::Making | UnfinishedState::Removed => None,
    };
    let (mut written, mut count) = (Written::Nothing, 0);
    let from = found.first.max(oldest).max(1);
    if from > last {
        return Ok(written);
    }
    for frame in log.read(realm.0, from).map_err(StoreError::from)? {
        let facts = storage::decode_frame(&frame.map_err(StoreError::from)?.payload)?.facts;
        count += 1;
        if begins_organization(&facts) {
            count = 1;
            written = written.begun();
        }
        // Every other way to make an organization is recorded in the audit log.
        let is_end = match seed_frames {
            Some(frames) => count == frames && is_last_of_seed(&facts),
            None => is_last_of_seed(&facts) || facts.iter().any(|fact| matches!(fact, Fact::Audit(_))),
        };
        if is_end && written != Written::Nothing {
            written = Written::Whole;
        }
    }
    Ok(written)
}

/// The frames of a seed; none where the journal does not have them any more.
fn count_seed_frames(log: &dyn RealmLog, realm: RealmId) -> Option<usize> {
    let mut count = 0;
    let read = read_seed(log, realm, |facts| count = if begins_organization(&facts) { 1 } else { count + 1 });
    read.ok().map(|()| count)
}

#[cfg(test)]
mod tests;
