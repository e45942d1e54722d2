//! The reader of an organization: it follows the durable messages, and commits what is decided about them.

use super::missed::is_any_due;
use super::plan::{Plan, SeenEdits, Wanted};
use crate::error::DomainError;
use crate::shard::Committer;
use crate::shared::RealmShared;
use model::job::TaskKind;
use model::push::PushFact;
use model::{Fact, MessageId};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How often the reader looks even if no one wakes it.
const TICK: Duration = Duration::from_secs(5);
/// How often it is looked whether an e-mail is due. Due times are data: a late look only makes it late.
const DUE_TICK: Duration = Duration::from_millis(500);
/// How long to wait before a refused frame is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// How far the reader has come.
struct Cursor {
    /// The newest message that it looked at.
    upto: MessageId,
    edits: SeenEdits,
}

/// The reader of one organization. Lives on its shard; what takes long happens on a blocking thread.
pub(crate) struct Reader {
    realm: Arc<RealmShared>,
    committer: Rc<Committer>,
    wanted: Wanted,
}

impl Reader {
    /// Starts the reader on this thread, where push notifications or e-mail are configured.
    pub fn start(realm: &Arc<RealmShared>, committer: &Rc<Committer>) {
        let supports = |kind| realm.supports(kind);
        let wanted = Wanted { push: supports(TaskKind::Push), mail: supports(TaskKind::Mail) };
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

    /// Looks at everything that there is. None: nothing can be decided any more.
    async fn catch_up(&self, mut cursor: Cursor, is_tick: bool) -> Option<Cursor> {
        loop {
            if self.realm.notifications.is_stopping() {
                return None;
            }
            let pending_facts = self.realm.notifications.take();
            let (realm, wanted) = (self.realm.clone(), self.wanted);
            let planned = tokio::task::spawn_blocking(move || {
                let plan = Plan::make(&realm, wanted, cursor.upto, &pending_facts, &mut cursor.edits);
                (plan, cursor)
            });
            let (plan, after) = planned.await.ok()?;
            cursor = after;
            let Ok(plan) = plan else {
                // What is read from the trees cannot be read just now.
                self.realm.notifications.look_at_everything();
                tokio::time::sleep(AGAIN).await;
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

    /// Makes it durable, however long that takes.
    async fn commit(&self, mut facts: Vec<Fact>, upto: MessageId) -> Result<(), DomainError> {
        facts.push(Fact::Push(Box::new(PushFact::NotificationCursorMoved(upto))));
        loop {
            let (done, is_done) = oneshot::channel();
            let result = match self.committer.upkeep_ids(self.realm.id) {
                Ok(ids) => {
                    let done = Box::new(move |result| drop(done.send(result)));
                    self.committer.commit(&self.realm, ids, facts.clone(), done);
                    is_done.await.unwrap_or(Err(DomainError::Stopping))
                }
                Err(error) => Err(error),
            };
            match result {
                Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                Err(DomainError::Paused(_)) if !self.realm.notifications.is_stopping() => {
                    tokio::time::sleep(AGAIN).await;
                }
                result => return result,
            }
        }
    }
}
