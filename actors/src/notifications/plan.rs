//! The notifications for the next messages: decided from the view, committed by the reader.

use super::candidates::{among, candidates, has_few_candidates};
use super::mentions::mention_of;
use super::missed;
use super::pending_facts::PendingFacts;
use super::receipt::is_still_unread;
use super::recipients::{EnabledKinds, PlanContext, Recipients, RecordedMissed};
use crate::error::DomainError;
use crate::outbox::job;
use crate::shared::RealmShared;
use model::job::{PushTask, Task};
use model::push::PushFact;
use model::{Directory, Fact, Flag, Message, MessageId, Timestamp, UserId, UserRanges};
use rules::notifications::Trigger;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of messages that are processed for one plan.
const MESSAGES_MAX: usize = 200;
/// Maximum number of messages, and of users considered for each, of a plan that is made on the thread of the shard.
const INLINE_PLAN_MAX: usize = 32;
/// Maximum number of users in the jobs of one plan, because frames are bounded.
const NAMES_MAX: usize = 20_000;
/// Maximum number of users in one push job.
const PHONES_PER_JOB: usize = 100;
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
        let PendingFacts { readers, affects_all, edited, .. } = pending_facts;
        if *affects_all
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

    /// Removes notifications of read or deleted messages from phones.
    fn remove_shown(&mut self, realm: &RealmShared, pending_facts: &PendingFacts) {
        let view = realm.view.read();
        let directory = &view.directory;
        let users: BTreeSet<UserId> = match pending_facts.affects_all {
            true => directory.push_shown_to().collect(),
            false => pending_facts.readers.clone(),
        };
        for user in users {
            let shown = directory.push_shown(user).iter();
            let gone: Vec<MessageId> =
                shown.copied().filter(|id| !is_still_unread(&view, user, *id)).collect();
            if gone.is_empty() {
                continue;
            }
            let unshown = PushFact::Unshown { user, messages: gone.clone() };
            self.facts.push(Fact::Push(Box::new(unshown)));
            if directory.has_phone(user) {
                let task = PushTask::Remove { user, messages: gone };
                self.facts.push(job(realm.clock.now(), Task::Push(task)));
            }
        }
    }
}

/// The facts for phones that have shown a message.
pub fn shown(directory: &Directory, message: MessageId, users: &[UserId]) -> Vec<Fact> {
    let users: Vec<UserId> = users.iter().copied().filter(|user| directory.has_phone(*user)).collect();
    if users.is_empty() {
        return Vec::new();
    }
    vec![Fact::Push(Box::new(PushFact::Shown { message, users }))]
}
