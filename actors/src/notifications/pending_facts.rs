//! The facts of published frames that the reader needs in addition to the view.

use model::fact::Movement;
use model::push::PushFact;
use model::{Fact, Flag, FlagOp, MessageFact, MessageId, SubscriptionFact, UserId};
use parking_lot::Mutex;
use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Maximum number of recorded users and messages; beyond it, all are checked.
const PENDING_MAX: usize = 10_000;

/// Changes since the last run of the reader that the view does not show.
#[derive(Default)]
pub(super) struct PendingFacts {
    /// Users who read messages that their phones may show.
    pub readers: BTreeSet<UserId>,
    /// Whether any user may have lost access to a message that their phones show.
    pub affects_all: bool,
    /// Deleted messages, which phones may show.
    pub deleted: RoaringBitmap,
    pub edited: BTreeSet<MessageId>,
    /// Whether the organization was created again, so that the position of the reader is another one.
    pub was_reset: bool,
}

/// The state that threads share.
#[derive(Default)]
pub(crate) struct Notifications {
    is_running: AtomicBool,
    is_stopping: AtomicBool,
    pending_facts: Mutex<PendingFacts>,
    pub(super) woken: Notify,
}

impl Notifications {
    /// Records the facts of a published frame that matter for notifications.
    pub fn note(&self, facts: &[Fact]) {
        if !self.is_running.load(Ordering::Relaxed) {
            return;
        }
        let mut has_work = false;
        for fact in facts {
            has_work |= match fact {
                Fact::Message(fact) => self.note_message(fact),
                Fact::Subscription(SubscriptionFact::Removed { .. }) => {
                    self.add(|pending_facts| pending_facts.affects_all = true)
                }
                // Messages that were read while the notification was being delivered.
                Fact::Push(fact) => match &**fact {
                    PushFact::Shown { users, .. } => {
                        self.add(|pending_facts| pending_facts.readers.extend(users))
                    }
                    PushFact::TokensSet { .. }
                    | PushFact::DevicesSet { .. }
                    | PushFact::Unshown { .. }
                    | PushFact::NotificationCursorMoved(_)
                    | PushFact::MissedNoted { .. }
                    | PushFact::MissedDecided { .. }
                    | PushFact::MissedNotedByMany { .. } => false,
                },
                Fact::Subscription(
                    SubscriptionFact::Added { .. }
                    | SubscriptionFact::Changed { .. }
                    | SubscriptionFact::Restated { .. }
                    | SubscriptionFact::TopicPolicySet { .. }
                    | SubscriptionFact::TopicPoliciesImported { .. },
                )
                | Fact::Realm(_)
                | Fact::User(_)
                | Fact::Group(_)
                | Fact::Channel(_)
                | Fact::Personal(_)
                | Fact::Queue(_)
                | Fact::Job(_)
                | Fact::Invitation(_)
                | Fact::Picture(_)
                | Fact::Attachment(_)
                | Fact::PreImages(_)
                | Fact::Audit(_) => false,
            };
        }
        if has_work {
            self.woken.notify_one();
        }
    }

    fn note_message(&self, fact: &MessageFact) -> bool {
        match fact {
            MessageFact::Sent { .. } => true,
            MessageFact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, .. } => {
                self.add(|pending_facts| {
                    pending_facts.readers.insert(*user);
                })
            }
            MessageFact::Deleted { messages, .. } => self.add(|pending_facts| {
                pending_facts.deleted.extend(messages.iter().map(|id| id.0));
            }),
            MessageFact::Updated(update) => self.add(|pending_facts| {
                let leaves = |movement: &Movement| movement.new_channel.is_some();
                pending_facts.affects_all |= update.movement.as_ref().is_some_and(leaves);
                if update.edited.is_some() && pending_facts.edited.len() < PENDING_MAX {
                    pending_facts.edited.insert(update.target);
                }
            }),
            MessageFact::FlagsChanged { .. }
            | MessageFact::ReactionAdded { .. }
            | MessageFact::ReactionRemoved { .. }
            | MessageFact::SubmessageAdded { .. }
            | MessageFact::HistoryErased { .. }
            | MessageFact::ConversationCreated(_) => false,
        }
    }

    fn add(&self, note: impl FnOnce(&mut PendingFacts)) -> bool {
        let mut pending_facts = self.pending_facts.lock();
        note(&mut pending_facts);
        if pending_facts.readers.len() > PENDING_MAX || pending_facts.deleted.len() > PENDING_MAX as u64 {
            pending_facts.readers.clear();
            pending_facts.deleted.clear();
            pending_facts.affects_all = true;
        }
        true
    }

    /// Lets the reader continue from the position in the view, because the organization was created again.
    pub fn reset(&self) {
        self.add(|pending_facts| {
            *pending_facts = PendingFacts { was_reset: true, ..PendingFacts::default() }
        });
        self.woken.notify_one();
    }

    /// Stops the reader after its current run.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.woken.notify_one();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }

    /// Starts recording. At first all messages that phones show are checked.
    pub(super) fn begin(&self) {
        self.is_running.store(true, Ordering::Relaxed);
        self.check_all();
    }

    /// Lets the reader check all messages that phones show.
    pub(super) fn check_all(&self) {
        self.pending_facts.lock().affects_all = true;
    }

    /// The facts recorded since the last call.
    pub(super) fn take(&self) -> PendingFacts {
        std::mem::take(&mut *self.pending_facts.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::fact::DeletedFrom;
    use model::{MessageRanges, RecipientId};

    #[test]
    fn only_very_many_deleted_messages_affect_all() {
        let notifications = Notifications::default();
        notifications.is_running.store(true, Ordering::Relaxed);
        let delete = |ids: std::ops::RangeInclusive<u32>| {
            let messages = MessageRanges::from_sorted(ids.map(MessageId));
            let from = DeletedFrom::Direct(RecipientId(1));
            notifications.note(&[Fact::Message(MessageFact::Deleted { from, messages, by: None })]);
        };
        delete(3..=5);
        delete(9..=9);
        let pending = notifications.take();
        assert_eq!(pending.deleted.iter().collect::<Vec<_>>(), [3, 4, 5, 9]);
        assert!(!pending.affects_all);
        delete(1..=9_000);
        delete(10_001..=19_000);
        let pending = notifications.take();
        assert!(pending.affects_all && pending.deleted.is_empty());
    }
}
