//! Creates organizations with their first facts.

use super::builder::SeedBuilder;
use super::content::Seed;
use crate::bootstrap::{NewRealm, first_user};
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::presence::Report;
use crate::realm::NewUser;
use crate::seed_frames::{read_seed, reset_frames};
use crate::server::Server;
use model::push::PushFact;
use model::{ActionKind, Directory, EventNumber, Fact, Frame, MessageId, RealmId, RequestOrigin, Timestamp};
use storage::UnfinishedState;

/// Bytes of the facts of one frame, well below its largest size.
const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Facts of one frame.
const FRAME_FACTS_MAX: usize = 1024;

/// Who was seen, in which way, and how many seconds ago.
pub type Seen<'s> = (&'s str, Report, u64);

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
        let entry = crate::audit::of_organization(ActionKind::Created, RequestOrigin::CommandLine);
        let more = |directory: &Directory| {
            let mut facts = first_user(directory, owner);
            facts.push(entry);
            vec![facts]
        };
        self.create_realm(new, more).await
    }

    /// Replaces everything in an organization by what its first frames created, up to the end of its seed. Its event queues
    /// end; ids and keys are those of the beginning. For development servers.
    ///
    /// # Errors
    /// Those of every command, `Storage`, and `NotSeeded`.
    pub async fn reset_realm(&self, realm: &RealmHandle, seen: &[Seen<'_>]) -> Result<(), DomainError> {
        let (log, id, now) = (self.log_of(realm.id()), realm.id(), realm.now());
        let read = tokio::task::spawn_blocking(move || reset_frames(&*log, id, now));
        let frames = read.await.map_err(|error| DomainError::Storage(error.to_string()))??;
        let (first, subdomain) = {
            let view = realm.shared.view.read();
            (view.progress.sequence.next().0, view.directory.realm().subdomain.clone())
        };
        let mark = self.mark_unfinished(id, UnfinishedState::Resetting, (first, &subdomain))?;
        realm.reset(frames).await?;
        if let Some(mark) = mark {
            mark.end();
        }
        report_seen(realm, seen);
        Ok(())
    }

    /// Creates an organization with the content of a seed. It is durable when this returns. `prepare` stores before what is not in
    /// the journal, such as files.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`], and that of `prepare`.
    pub async fn create_seeded_realm<E: From<DomainError>>(
        &self,
        new: NewRealm,
        seed: &Seed<'_>,
        prepare: impl AsyncFnOnce(RealmId) -> Result<(), E>,
    ) -> Result<RealmHandle, E> {
        let realm = self.create_prepared_realm(new, prepare, |directory| frames(directory, seed)).await?;
        report_seen(&realm, &seed.seen);
        Ok(realm)
    }
}

impl Server {
    /// The last frame of what a development server is reset to; 0 on other servers.
    pub(crate) fn seed_end(&self, realm: &RealmHandle) -> Result<u64, DomainError> {
        if !self.folder.path().join("development").exists() {
            return Ok(0);
        }
        // An organization that was not made from a seed cannot be reset.
        let mut count = 0;
        let read = read_seed(&*self.log_of(realm.id()), realm.id(), |_| count += 1);
        Ok(read.map_or(0, |()| count))
    }
}

/// Presence is in memory only.
fn report_seen(realm: &RealmHandle, seen: &[Seen<'_>]) {
    let (directory, now) = (realm.directory(), realm.now());
    let mut presence = realm.shared.presence.lock();
    for (email, report, secs_ago) in seen {
        if let Some(user) = directory.user_by_email(email) {
            presence.report(user.id, *report, Timestamp(now.0.saturating_sub(secs_ago * 1000)));
        }
    }
}

/// The facts of a seed, frame by frame. `directory` has the system groups and the server's own bots already. What people have read is
/// found frame by frame: together it may be as large as people times messages.
fn frames<'s>(directory: &Directory, seed: &'s Seed<'s>) -> impl Iterator<Item = Vec<Fact>> + use<'s> {
    let mut builder = SeedBuilder::new(directory, seed);
    let mut first = builder.users();
    first.extend(builder.groups());
    first.extend(builder.lists());
    first.extend(builder.channels());
    first.push(builder.realm());
    let messages = builder.messages();
    let end = Fact::Push(Box::new(PushFact::NotificationCursorMoved(MessageId(builder.sent_count()))));
    split(first).chain(split(messages)).chain(split(builder.reads().chain([end])))
}

/// Divides facts into frames that are well below their largest size.
fn split(facts: impl IntoIterator<Item = Fact>) -> impl Iterator<Item = Vec<Fact>> {
    let mut facts = facts.into_iter().map(|fact| (fact_bytes(&fact), fact)).peekable();
    std::iter::from_fn(move || {
        let (mut bytes, first) = facts.next()?;
        let mut frame = vec![first];
        while let Some((added, fact)) =
            facts.next_if(|(added, _)| bytes + added <= FRAME_BYTES_MAX && frame.len() < FRAME_FACTS_MAX)
        {
            bytes += added;
            frame.push(fact);
        }
        Some(frame)
    })
}

/// Not compressed: thousands of similar texts take few bytes then, and the bound of a frame is that of what it decompresses to.
fn fact_bytes(fact: &Fact) -> usize {
    let frame =
        Frame { at: Timestamp::default(), first_event: EventNumber::default(), facts: vec![fact.clone()] };
    usize::try_from(storage::frame_bytes(&frame)).unwrap_or(usize::MAX)
}
