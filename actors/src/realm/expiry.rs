//! Expiry as a fact: expired records stay expired when the wall clock is set back.
//!
//! Once a minute, and at once when the wall clock changed, expired invitations are recorded as such and expired web
//! sessions end. Confirmation links
//! have no record; when the wall clock is set back, those that had expired by then are recorded with the organization.

use super::actor::RealmActor;
use super::serialized::{DecisionContext, Serialized, SerializedChange};
use super::web_sessions::expired_sessions;
use crate::error::DomainError;
use actix::prelude::*;
use model::{Directory, Fact, InvitationFact, InvitationId, Realm, RealmFact, Timestamp};
use tokio::sync::oneshot;

impl RealmActor {
    /// Detects a changed wall clock, which the server reports (`clock_watch`), and records what has expired.
    pub(super) fn tick_expiry(&mut self, ctx: &mut Context<Self>) {
        let read = self.wall.read(&*self.realm.clock);
        if read.instead_of.is_none() && !read.is_due {
            return;
        }
        let command = Expire { until: read.instead_of.map_or(read.now, |expected| expected.max(read.now)) };
        let directory = self.realm.directory();
        let has_work = command.links(&directory, read.now).is_some()
            || !command.invitations(&directory).is_empty()
            || !expired_sessions(&directory, &self.realm.web_session_limits, command.until).is_empty();
        if !has_work {
            return;
        }
        let (answer, answered) = oneshot::channel();
        ctx.notify(Serialized { command, answer });
        actix::spawn(async move {
            if let Ok(Err(error)) = answered.await {
                tracing::warn!(%error, "expired invitations and web sessions were not recorded");
            }
        });
    }
}

/// Records what has expired by a point in time that the wall clock showed or would show if it had not been set.
struct Expire {
    until: Timestamp,
}

impl Expire {
    /// Open invitations that have expired and are not recorded as such.
    fn invitations(&self, directory: &Directory) -> Vec<InvitationId> {
        let expired = directory.unexpired_invitations().filter(|one| one.is_expired(self.until));
        expired.map(|invitation| invitation.id).collect()
    }

    /// The organization with the confirmation links that had expired before the wall clock was set back.
    fn links(&self, directory: &Directory, now: Timestamp) -> Option<Realm> {
        (self.until > now).then(|| directory.realm().after_clock_was_set_back(self.until, now))
    }
}

impl SerializedChange for Expire {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let mut facts = Vec::new();
        let invitations = self.invitations(&context.directory);
        if !invitations.is_empty() {
            facts.push(Fact::Invitation(Box::new(InvitationFact::Expired(invitations))));
        }
        facts.extend(expired_sessions(&context.directory, &context.realm.web_session_limits, self.until));
        facts.extend(
            self.links(&context.directory, context.now)
                .map(|realm| Fact::Realm(RealmFact::Changed(Box::new(realm)))),
        );
        Ok(facts)
    }
}
