//! The reader of an organization: it follows the durable messages, and commits the notifications decided for them.

use super::missed::is_any_due;
use super::plan::{Plan, SeenEdits};
use super::recipients::EnabledKinds;
use crate::error::DomainError;
use crate::shard::Committer;
use crate::shared::RealmShared;
use model::job::TaskKind;
use model::push::PushFact;
use model::{Fact, MessageId};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Interval at which the reader runs without being woken.
const TICK: Duration = Duration::from_secs(5);
/// Interval of the check for due e-mails. Due times are data: a late check only delays an e-mail.
const DUE_TICK: Duration = Duration::from_millis(500);
/// Delay before committing a refused frame again.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The position of the reader.
struct Cursor {
    upto: MessageId,
    edits: SeenEdits,
}

/// The reader of one organization. Runs on its shard, with what may be slow on a blocking thread.
pub(crate) struct Reader {
    realm: Arc<RealmShared>,
    committer: Rc<Committer>,
    wanted: EnabledKinds,
}

impl Reader {
    /// Starts the reader on this thread, where push notifications or e-mail are configured.
    pub fn start(realm: &Arc<RealmShared>, committer: &Rc<Committer>) {
        let supports = |kind| realm.supports(kind);
        let wanted = EnabledKinds { push: supports(TaskKind::Push), mail: supports(TaskKind::Mail) };
        if !wanted.push && !wanted.mail {
            return;
        }
        realm.notifications.begin();
        let reader = Self { realm: realm.clone(), committer: committer.clone(), wanted };
        actix::spawn(reader.run());
    }

    async fn run(self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut due_tick = tokio::time::interval(DUE_TICK);
        due_tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (stored, last) = {
            let view = self.realm.view.read();
            (view.directory.notification_cursor(), view.messages.last)
        };
        let mut cursor = Cursor { upto: stored.unwrap_or(last), edits: SeenEdits::default() };
        // The first run: earlier messages are not notified, later ones are, also after a restart.
        if stored.is_none() && self.commit(Vec::new(), cursor.upto).await.is_err() {
            return;
        }
        loop {
            let is_tick = tokio::select! {
                () = self.realm.notifications.woken.notified() => false,
                _ = tick.tick() => true,
                _ = due_tick.tick(), if self.wanted.mail => {
                    if !is_any_due(&self.realm) {
                        continue;
                    }
                    false
                }
            };
            match self.catch_up(cursor, is_tick).await {
                Some(after) => cursor = after,
                None => return,
            }
        }
    }

    /// Processes everything that is pending. `None` if nothing can be decided any more.
    async fn catch_up(&self, mut cursor: Cursor, is_tick: bool) -> Option<Cursor> {
        loop {
            if self.realm.notifications.is_stopping() {
                return None;
            }
            let pending_facts = self.realm.notifications.take();
            if pending_facts.was_reset {
                let stored = self.realm.view.read().directory.notification_cursor();
                cursor = Cursor { upto: stored.unwrap_or(MessageId::ZERO), edits: SeenEdits::default() };
            }
            let (realm, wanted) = (self.realm.clone(), self.wanted);
            let is_small = Plan::is_small(&realm, wanted, cursor.upto, &pending_facts);
            let make = move || {
                let plan = Plan::make(&realm, wanted, cursor.upto, &pending_facts, &mut cursor.edits);
                (plan, cursor)
            };
            let (plan, after) =
                if is_small { make() } else { tokio::task::spawn_blocking(make).await.ok()? };
            cursor = after;
            let Ok(plan) = plan else {
                // The trees cannot be read at the moment.
                self.realm.notifications.check_all();
                tokio::time::sleep(RETRY_DELAY).await;
                continue;
            };
            cursor.upto = plan.upto;
            let is_stored = self.realm.view.read().directory.notification_cursor() == Some(plan.upto);
            if !plan.facts.is_empty() || is_tick && !is_stored {
                self.commit(plan.facts, plan.upto).await.ok()?;
            }
            if plan.is_done {
                return Some(cursor);
            }
        }
    }

    /// Commits the facts and the cursor, however long that takes.
    async fn commit(&self, mut facts: Vec<Fact>, upto: MessageId) -> Result<(), DomainError> {
        facts.push(Fact::Push(Box::new(PushFact::NotificationCursorMoved(upto))));
        loop {
            match self.committer.commit_essential(&self.realm, facts.clone()).await {
                Err(DomainError::Overloaded) => tokio::time::sleep(RETRY_DELAY).await,
                Err(DomainError::Paused(_)) if !self.realm.notifications.is_stopping() => {
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                result => return result,
            }
        }
    }
}
