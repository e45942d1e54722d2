//! Creates organizations with their first facts.

use super::content::Seed;
use super::seeding::Seeding;
use crate::bootstrap::{NewRealm, first_user};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::realm::NewUser;
use crate::server::Server;
use model::{Directory, Fact, Timestamp};
use std::collections::{BTreeMap, HashMap};

/// Messages in one frame, to stay well below its largest size.
const FRAME_MESSAGES_MAX: usize = 128;

impl Server {
    /// Creates an organization with its first user. It is durable when this returns.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`].
    pub async fn create_owned_realm(
        &self,
        new: NewRealm,
        owner: &NewUser,
    ) -> Result<RealmHandle, DomainError> {
        self.create_realm(new, |directory| vec![first_user(directory, owner)]).await
    }

    /// Creates an organization with the content of a seed. It is durable when this returns.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`].
    pub async fn create_seeded_realm(&self, new: NewRealm, seed: &Seed) -> Result<RealmHandle, DomainError> {
        let realm = self.create_realm(new, |directory| frames(directory, seed)).await?;
        let (directory, now) = (realm.directory(), realm.now());
        let mut presence = realm.shared.presence.lock();
        for (email, report, secs_ago) in &seed.seen {
            if let Some(user) = directory.user_by_email(email) {
                presence.report(user.id, *report, Timestamp(now.0.saturating_sub(secs_ago * 1000)));
            }
        }
        drop(presence);
        Ok(realm)
    }
}

/// The facts of a seed, frame by frame. `directory` has the system groups and the server's own bots already.
fn frames(directory: &Directory, seed: &Seed) -> Vec<Vec<Fact>> {
    let mut seeding = Seeding {
        seed,
        now: directory.realm().created,
        directory: directory.clone(),
        linkifiers: Vec::new(),
        newest: HashMap::new(),
        received: BTreeMap::new(),
        threads: Vec::new(),
    };
    let mut first = seeding.users();
    first.extend(seeding.groups());
    first.extend(seeding.lists());
    first.extend(seeding.channels());
    first.push(seeding.realm());
    let mut frames = vec![first];
    let messages = seeding.messages();
    frames.extend(messages.chunks(FRAME_MESSAGES_MAX).map(<[Fact]>::to_vec));
    frames.push(seeding.reads());
    frames
}
