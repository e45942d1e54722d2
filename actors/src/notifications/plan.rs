//! The notifications for the next messages: decided from the view, committed by the reader.

use super::candidates::{among, candidates, has_few_candidates};
use super::mentions::mention_of;
use super::missed;
use super::pending_facts::PendingFacts;
use super::receipt::is_unread_at;
use super::recipients::{EnabledKinds, PlanContext, Recipients, RecordedMissed};
use crate::error::DomainError;
use crate::outbox::job;
use crate::shared::RealmShared;
use model::job::{PushTask, Task};
use model::push::PushFact;
use model::{Directory, Fact, Flag, Message, MessageId, Timestamp, UserId, UserRanges};
use roaring::RoaringBitmap;
use rules::notifications::Trigger;
use std::collections::{BTreeMap, HashMap};
use storage::View;
use storage::view::Location;

/// Maximum number of messages that are processed for one plan.
const MESSAGES_MAX: usize = 200;
/// Maximum number of messages, and of users considered for each, of a plan that is made on the thread of the shard.
const INLINE_PLAN_MAX: usize = 32;
/// Maximum number of users in the jobs of one plan, because frames are bounded.
const NAMES_MAX: usize = 20_000;
/// Maximum number of users in one push job.
const PHONES_PER_JOB: usize = 100;
/// Number of users whose shown messages are compared with the view at once: commits wait meanwhile.
const USERS_PER_READING: usize = 16;
/// From this number of recipients on, they share the record of a missed message.
const MANY: usize = 64;
/// Seconds after which a message is too old to be notified.
const NEWS_SECS_MAX: u64 = 24 * 3600;

/// The number of edits with which messages were processed: earlier edits are not notified again.
#[derive(Debug, Default)]
pub(super) struct SeenEdits(BTreeMap<MessageId, u32>);

/// Maximum number of remembered edited messages; beyond it, the oldest is dropped.
const EDITS_MAX: usize = 1000;

impl SeenEdits {
    /// Records that a message was processed; false if it was processed with the same edits before.
    fn note(&mut self, message: &Message) -> bool {
        let count = message.version;
        if self.0.len() >= EDITS_MAX {
            self.0.pop_first();
        }
        self.0.insert(message.id, count) != Some(count)
    }
}

#[derive(Debug, Default)]
pub(super) struct Plan {
    pub facts: Vec<Fact>,
    /// The newest message that was processed.
    pub upto: MessageId,
    /// Whether no message is left to process.
    pub is_done: bool,
    names: usize,
    /// The missed messages that this plan records.
    noted: RecordedMissed,
}

impl Plan {
    /// Processes the messages after `upto`.
    pub fn make(
        realm: &RealmShared,
        wanted: EnabledKinds,
        upto: MessageId,
        pending_facts: &PendingFacts,
        edits: &mut SeenEdits,
    ) -> Result<Self, DomainError> {
        let mut plan = Self { upto, ..Self::default() };
        let ids: Vec<u32> = {
            let view = realm.view.read();
            view.messages.all.range(upto.0.saturating_add(1)..).take(MESSAGES_MAX).collect()
        };
        plan.is_done = ids.len() < MESSAGES_MAX;
        let now = realm.clock.now();
        for id in ids.into_iter().map(MessageId) {
            if plan.names >= NAMES_MAX {
                plan.is_done = false;
                break;
            }
            if let Some(message) = realm.message(id)? {
                plan.add_message(realm, wanted, &message, now, edits);
            }
            plan.upto = id;
        }
        for id in &pending_facts.edited {
            if let Some(message) = realm.message(*id)?.filter(|message| message.id <= plan.upto) {
                plan.add_edit(realm, wanted, &message, now, edits);
            }
        }
        plan.remove_shown(realm, pending_facts);
        if wanted.mail {
            let decided = missed::decide_due(realm)?;
            plan.is_done &= decided.is_empty();
            plan.facts.extend(decided);
        }
        Ok(plan)
    }

    /// Whether a plan would be made from memory and in microseconds, so that waking another thread for it costs more.
    pub fn is_small(
        realm: &RealmShared,
        wanted: EnabledKinds,
        upto: MessageId,
        pending_facts: &PendingFacts,
    ) -> bool {
        let PendingFacts { readers, affects_all, edited, deleted, .. } = pending_facts;
        if *affects_all
            || !deleted.is_empty()
            || !edited.is_empty()
            || readers.len() > INLINE_PLAN_MAX
            || wanted.mail && missed::is_any_due(realm)
        {
            return false;
        }
        let view = realm.view.read();
        let mut ids = view.messages.all.range(upto.0.saturating_add(1)..).map(MessageId);
        let has_few = |id| {
            view.recent
                .get(id)
                .is_some_and(|message| has_few_candidates(&view.directory, message, INLINE_PLAN_MAX))
        };
        let are_small = ids.by_ref().take(INLINE_PLAN_MAX).all(has_few);
        are_small && ids.next().is_none()
    }

    fn add_message(
        &mut self,
        realm: &RealmShared,
        wanted: EnabledKinds,
        message: &Message,
        now: Timestamp,
        edits: &mut SeenEdits,
    ) {
        if now.millis_since(message.sent) > NEWS_SECS_MAX * 1000 {
            return;
        }
        if message.version > 0 {
            edits.note(message);
        }
        let view = realm.view.read();
        let candidates = candidates(&view.directory, message);
        if candidates.is_empty() {
            return;
        }
        let context = PlanContext { realm, view: &view, wanted, now, noted: &self.noted };
        let recipients = context.recipients(message, candidates, |_| true);
        drop(view);
        self.add(message, recipients, now);
    }

    /// Adds the users who are mentioned by an edit, by name or through a group, and were not mentioned before.
    fn add_edit(
        &mut self,
        realm: &RealmShared,
        wanted: EnabledKinds,
        message: &Message,
        now: Timestamp,
        edits: &mut SeenEdits,
    ) {
        if !edits.note(message) {
            return;
        }
        let before = message.edits.iter().find_map(|edit| edit.prev_rendered.as_deref()).unwrap_or_default();
        let view = realm.view.read();
        let mentioned = message.user_flags.iter().filter(|(_, flags)| flags.contains(Flag::Mentioned));
        let new = mentioned.map(|(user, _)| *user);
        let new = new.filter(|user| mention_of(&view.directory, before, *user).is_none());
        let new = among(&view.directory, message, new);
        let context = PlanContext { realm, view: &view, wanted, now, noted: &self.noted };
        let recipients = context.recipients(message, new, |trigger| trigger == Trigger::Mention);
        drop(view);
        self.add(message, recipients, now);
    }

    fn add(&mut self, message: &Message, recipients: Recipients, now: Timestamp) {
        self.names += recipients.phones.len() + recipients.mails.len();
        for users in recipients.phones.chunks(PHONES_PER_JOB) {
            let task = PushTask::Show { message: message.id, users: users.to_vec() };
            self.facts.push(job(now, Task::Push(task)));
        }
        let mut by_period: BTreeMap<u64, Vec<UserId>> = BTreeMap::new();
        for (user, period_secs) in recipients.mails {
            by_period.entry(period_secs).or_default().push(user);
        }
        for (period_secs, users) in by_period {
            let (message, due) = (message.id, now.plus_secs(period_secs));
            let noted = match users.len() < MANY {
                true => {
                    users.iter().for_each(|user| *self.noted.by_user.entry(*user).or_default() += 1);
                    PushFact::MissedNoted { message, users, due }
                }
                false => {
                    let users = UserRanges::from_sorted(users);
                    self.noted.by_many.push(users.clone());
                    PushFact::MissedNotedByMany { message, users, due }
                }
            };
            self.facts.push(Fact::Push(Box::new(noted)));
        }
    }

    /// Removes notifications of read or deleted messages from phones. Reads the view for some users at a time.
    fn remove_shown(&mut self, realm: &RealmShared, pending_facts: &PendingFacts) {
        let directory = realm.directory();
        let users: Vec<UserId> = match pending_facts.affects_all {
            true => directory.push_shown_to().collect(),
            false => {
                let PendingFacts { readers, deleted, .. } = pending_facts;
                let mut users = readers.clone();
                users.extend(shown_to(&directory, deleted));
                users.into_iter().collect()
            }
        };
        for users in users.chunks(USERS_PER_READING) {
            let all_gone = gone_from(&realm.view.read(), users);
            for (user, gone) in all_gone {
                let unshown = PushFact::Unshown { user, messages: gone.clone() };
                self.facts.push(Fact::Push(Box::new(unshown)));
                if directory.has_phone(user) {
                    let task = PushTask::Remove { user, messages: gone };
                    self.facts.push(job(realm.clock.now(), Task::Push(task)));
                }
            }
        }
    }
}

/// The users whose devices show one of some messages.
fn shown_to<'d>(directory: &'d Directory, messages: &'d RoaringBitmap) -> impl Iterator<Item = UserId> + 'd {
    let users = directory.push_shown_to().filter(|_| !messages.is_empty());
    users.filter(|user| directory.push_shown(*user).iter().any(|id| messages.contains(id.0)))
}

/// The messages that devices of some users show and that are not unread by them any more. Each message is located once.
fn gone_from(view: &View, users: &[UserId]) -> Vec<(UserId, Vec<MessageId>)> {
    let mut places: HashMap<MessageId, Option<Location>> = HashMap::new();
    let mut all = Vec::new();
    for user in users {
        let shown = view.directory.push_shown(*user).iter().copied();
        let gone = shown.filter(|id| {
            let place = places.entry(*id).or_insert_with(|| view.place_of(*id));
            !is_unread_at(view, *user, *id, place.as_ref())
        });
        let gone: Vec<MessageId> = gone.collect();
        if !gone.is_empty() {
            all.push((*user, gone));
        }
    }
    all
}

/// The facts for phones that have shown a message.
pub fn shown(directory: &Directory, message: MessageId, users: &[UserId]) -> Vec<Fact> {
    let users: Vec<UserId> = users.iter().copied().filter(|user| directory.has_phone(*user)).collect();
    if users.is_empty() {
        return Vec::new();
    }
    vec![Fact::Push(Box::new(PushFact::Shown { message, users }))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{HAMLET, IAGO, VERONA, apply, sent, view};
    use model::fact::DeletedFrom;
    use model::{MessageFact, MessageRanges};

    #[test]
    fn a_deletion_concerns_those_whose_devices_show_the_messages() {
        let mut view = view();
        let facts = (1..=3).map(|id| sent(&view, VERONA, id)).collect();
        apply(&mut view, facts);
        view.directory.put_push_shown(IAGO, vec![MessageId(1), MessageId(3)]);
        view.directory.put_push_shown(HAMLET, vec![MessageId(1), MessageId(2)]);
        let deleted = RoaringBitmap::from_iter([2, 7]);
        assert_eq!(shown_to(&view.directory, &deleted).collect::<Vec<_>>(), [HAMLET]);
        assert_eq!(shown_to(&view.directory, &RoaringBitmap::new()).count(), 0);
        let from = DeletedFrom::Topic { channel: VERONA, topic: "lunch".into() };
        let messages = MessageRanges::from_sorted([MessageId(2)]);
        apply(&mut view, vec![Fact::Message(MessageFact::Deleted { from, messages, by: None })]);
        let read = MessageFact::read(IAGO, MessageRanges::from_sorted([MessageId(3)]));
        apply(&mut view, vec![Fact::Message(read)]);
        let gone = gone_from(&view, &[IAGO, HAMLET]);
        assert_eq!(gone, [(IAGO, vec![MessageId(3)]), (HAMLET, vec![MessageId(2)])]);
    }
}
