//! What is to be done about the next messages: decided from one look at the view, written by the reader.

use super::Notes;
use super::candidates::candidates;
use super::mentions::mention_of;
use crate::error::DomainError;
use crate::outbox::job;
use crate::queries::locate;
use crate::shared::RealmShared;
use model::job::{MailTask, PushTask, Task};
use model::push::PushFact;
use model::{
    Directory, Fact, Flag, JobId, Message, MessageId, Place, Timestamp, TopicKey, User, UserId,
    VisibilityPolicy,
};
use roaring::RoaringBitmap;
use rules::notifications::{AWAY_SECS, Receipt, Trigger};
use rules::settings::{user_setting, user_value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use storage::View;
use storage::view::Location;

/// Messages that are looked at before anything is written.
const MESSAGES_MAX: usize = 200;
/// Names in jobs before anything is written: a frame is bounded.
const NAMES_MAX: usize = 20_000;
/// People in one job for phones.
const PHONES_PER_JOB: usize = 100;
/// People in one job for mails.
const MAILS_PER_JOB: usize = 500;
/// Seconds after which a message is no news any more.
const NEWS_SECS_MAX: u64 = 24 * 3600;

/// What can be done at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub push: bool,
    pub mail: bool,
}

/// For whom a mail is prepared: messages until then belong to it.
#[derive(Debug, Default)]
pub(super) struct Pending {
    mails: BTreeMap<UserId, Timestamp>,
    /// With how many edits a message was looked at: an edit that came before that look is no news.
    edits: BTreeMap<MessageId, usize>,
}

/// Edited messages that are remembered; past it the oldest goes.
const EDITS_MAX: usize = 1000;

impl Pending {
    /// Those of the jobs that wait.
    pub fn of(view: &View) -> Self {
        let mut pending = BTreeMap::new();
        for job in view.jobs.after(JobId(0)) {
            if let Task::Mail(MailTask::Missed { users, until, .. }) = &job.task {
                for user in users {
                    let known: &mut Timestamp = pending.entry(*user).or_default();
                    *known = (*known).max(*until);
                }
            }
        }
        Self { mails: pending, edits: BTreeMap::new() }
    }

    /// Notes a look at a message; false when it was looked at with the same edits before.
    fn note_edits(&mut self, message: &Message) -> bool {
        let count = message.edits.len();
        if self.edits.len() >= EDITS_MAX {
            self.edits.pop_first();
        }
        self.edits.insert(message.id, count) != Some(count)
    }

    fn covers(&self, user: UserId, sent: Timestamp) -> bool {
        self.mails.get(&user).is_some_and(|until| sent <= *until)
    }
}

/// What is to be written.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub facts: Vec<Fact>,
    /// The newest message that was looked at.
    pub upto: MessageId,
    /// There is nothing more to look at.
    pub is_done: bool,
    names: usize,
}

impl Plan {
    /// Looks at the messages behind `upto`.
    ///
    /// # Errors
    /// `Storage`.
    pub fn make(
        realm: &RealmShared,
        wanted: Wanted,
        upto: MessageId,
        notes: &Notes,
        pending: &mut Pending,
    ) -> Result<Self, DomainError> {
        let mut plan = Self { upto, ..Self::default() };
        let ids: Vec<u32> = {
            let view = realm.view.read();
            view.messages.all.range(upto.0.saturating_add(1)..).take(MESSAGES_MAX).collect()
        };
        plan.is_done = ids.len() < MESSAGES_MAX;
        let now = realm.clock.now();
        pending.mails.retain(|_, until| until.plus_secs(AWAY_SECS) > now);
        for id in ids.into_iter().map(MessageId) {
            if plan.names >= NAMES_MAX {
                plan.is_done = false;
                break;
            }
            if let Some(message) = realm.message(id)? {
                plan.add_message(realm, wanted, &message, now, pending);
            }
            plan.upto = id;
        }
        for id in &notes.edited {
            if let Some(message) = realm.message(*id)?.filter(|message| message.id <= plan.upto) {
                plan.add_edit(realm, wanted, &message, now, pending);
            }
        }
        plan.remove_shown(realm, notes);
        Ok(plan)
    }

    fn add_message(
        &mut self,
        realm: &RealmShared,
        wanted: Wanted,
        message: &Message,
        now: Timestamp,
        pending: &mut Pending,
    ) {
        if now.millis_since(message.sent) > NEWS_SECS_MAX * 1000 {
            return;
        }
        if !message.edits.is_empty() {
            pending.note_edits(message);
        }
        let view = realm.view.read();
        let people = candidates(&view.directory, message);
        let told = Told::among(realm, &view, wanted, message, people, now, |_| true);
        drop(view);
        self.add(message, told, now, pending);
    }

    /// Those whom an edit mentions by name or through a group, and nothing did before.
    fn add_edit(
        &mut self,
        realm: &RealmShared,
        wanted: Wanted,
        message: &Message,
        now: Timestamp,
        pending: &mut Pending,
    ) {
        if !pending.note_edits(message) {
            return;
        }
        let before = message.edits.iter().find_map(|edit| edit.prev_rendered.as_deref()).unwrap_or_default();
        let view = realm.view.read();
        let mentioned = message.user_flags.iter().filter(|(_, flags)| flags.contains(Flag::Mentioned));
        let new = mentioned.map(|(user, _)| *user);
        let new = new.filter(|user| mention_of(&view.directory, before, *user).is_none()).collect();
        let told =
            Told::among(realm, &view, wanted, message, new, now, |trigger| trigger == Trigger::Mention);
        drop(view);
        self.add(message, told, now, pending);
    }

    fn add(&mut self, message: &Message, told: Told, now: Timestamp, pending: &mut Pending) {
        self.names += told.phones.len() + told.mails.len();
        for users in told.phones.chunks(PHONES_PER_JOB) {
            let task = PushTask::Show { message: message.id, users: users.to_vec() };
            self.facts.push(job(now, Task::Push(task)));
        }
        // Those with the same period wait together.
        let mut by_period: BTreeMap<u64, Vec<UserId>> = BTreeMap::new();
        for (user, period_secs) in told.mails {
            if !pending.covers(user, message.sent) {
                by_period.entry(period_secs).or_default().push(user);
            }
        }
        for (period_secs, users) in by_period {
            let until = now.plus_secs(period_secs);
            pending.mails.extend(users.iter().map(|user| (*user, until)));
            for users in users.chunks(MAILS_PER_JOB) {
                let task = MailTask::Missed { users: users.to_vec(), from: message.id, until };
                self.facts.push(job(until, Task::Mail(task)));
            }
        }
    }

    /// Phones that show what is no news any more are told so.
    fn remove_shown(&mut self, realm: &RealmShared, notes: &Notes) {
        let view = realm.view.read();
        let directory = &view.directory;
        let users: BTreeSet<UserId> = match notes.is_anybody {
            true => directory.push_shown_to().collect(),
            false => notes.readers.clone(),
        };
        for user in users {
            let shown = directory.push_shown(user).iter();
            let gone: Vec<MessageId> = shown.copied().filter(|id| !still_news(&view, user, *id)).collect();
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

/// Who is told of a message.
#[derive(Debug, Default)]
struct Told {
    /// On their phones.
    phones: Vec<UserId>,
    /// By mail, and after how many seconds.
    mails: Vec<(UserId, u64)>,
}

impl Told {
    fn among(
        realm: &RealmShared,
        view: &View,
        wanted: Wanted,
        message: &Message,
        people: BTreeSet<UserId>,
        now: Timestamp,
        counts: impl Fn(Trigger) -> bool,
    ) -> Self {
        let mut told = Self::default();
        let directory = &view.directory;
        let Some(sender) = directory.user(message.sender) else { return told };
        for id in people {
            let has_phone = wanted.push && directory.has_phone(id);
            let Some(user) = directory.user(id).filter(|_| has_phone || wanted.mail) else { continue };
            let Some(receipt) = receipt_of(view, user, sender, message) else { continue };
            let receipt = Receipt { is_present: is_present(realm, id, now), ..receipt };
            if has_phone && receipt.push().is_some_and(&counts) {
                told.phones.push(id);
            }
            if wanted.mail && receipt.mail().is_some_and(&counts) {
                told.mails.push((id, batching_period_secs(user)));
            }
        }
        told
    }
}

/// A message as somebody has it; none if they do not.
fn receipt_of<'v>(
    view: &'v View,
    user: &'v Arc<User>,
    sender: &'v Arc<User>,
    message: &Message,
) -> Option<Receipt<'v>> {
    if !view.is_delivered(user.id, message) {
        return None;
    }
    let directory = &view.directory;
    let (subscription, policy) = match &message.place {
        Place::Direct => (None, VisibilityPolicy::Inherit),
        Place::Channel { channel, topic } => {
            let policy = directory.topic_policy(user.id, *channel, &TopicKey::new(topic));
            (Some(&**directory.subscription(*channel, user.id)?), policy)
        }
    };
    Some(Receipt {
        user,
        sender,
        subscription,
        policy,
        flags: view.flags_for(user.id, message),
        mutes_sender: directory.muted_since(user.id, sender.id).is_some(),
        is_present: false,
    })
}

fn is_present(realm: &RealmShared, user: UserId, now: Timestamp) -> bool {
    let presence = realm.presence.lock().get(user);
    let active = presence.and_then(|presence| presence.active);
    active.is_some_and(|at| now.millis_since(at) < AWAY_SECS * 1000)
}

fn batching_period_secs(user: &User) -> u64 {
    let row = user_setting("email_notifications_batching_period_seconds");
    match row.map(|row| user_value(user, row)) {
        Some(model::SettingValue::Int(secs)) => u64::try_from(secs).unwrap_or_default(),
        _ => 120,
    }
}

/// Whether somebody has a message that they can read and have not read.
pub fn still_news(view: &View, user: UserId, id: MessageId) -> bool {
    let is_read = view.messages.users.get(&user).is_some_and(|mine| mine.read.contains(id.0));
    let Some(user) = view.directory.user(user).filter(|user| user.is_active && !is_read) else {
        return false;
    };
    let is_delivered = match view.place_of(id) {
        Some(Location::Topic(channel, _)) => view.is_delivered_in(user.id, channel, id),
        Some(Location::Direct(recipient)) => view.is_in_conversation(user.id, recipient),
        None => false,
    };
    is_delivered && locate(view, Some(user), id).is_some()
}

/// Messages of a stretch that a mail should tell somebody of, ascending, with why: still unread, and wanted. Bodies come from
/// memory or the trees.
///
/// # Errors
/// `Storage`.
pub fn missed_messages(
    realm: &crate::RealmHandle,
    user: UserId,
    from: MessageId,
    until: Timestamp,
    messages_max: usize,
) -> Result<Vec<(Arc<Message>, Trigger)>, DomainError> {
    let unread: RoaringBitmap = realm.read(|view| {
        let since: RoaringBitmap = view.messages.all.range(from.0..).collect();
        view.unread_of(user, &view.delivered_among(user, &since))
    });
    let mut missed = Vec::new();
    for id in unread.iter().map(MessageId) {
        if missed.len() >= messages_max {
            break;
        }
        let Some(message) = realm.message(id)? else { continue };
        if message.sent > until {
            break;
        }
        let trigger = realm.read(|view| {
            let (user, sender) = (view.directory.user(user)?, view.directory.user(message.sender)?);
            receipt_of(view, user, sender, &message)?.mail().filter(|_| still_news(view, user.id, id))
        });
        missed.extend(trigger.map(|trigger| (message, trigger)));
    }
    Ok(missed)
}

/// What has to be decided when phones have shown a message.
pub fn shown(directory: &Directory, message: MessageId, users: &[UserId]) -> Vec<Fact> {
    let users: Vec<UserId> = users.iter().copied().filter(|user| directory.has_phone(*user)).collect();
    if users.is_empty() {
        return Vec::new();
    }
    vec![Fact::Push(Box::new(PushFact::Shown { message, users }))]
}
