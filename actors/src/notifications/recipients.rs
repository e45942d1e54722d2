//! The recipients of notifications about one message. A wildcard mention asks every subscriber of a channel, so what is the same
//! for all of them is found once.

use super::candidates::Candidate;
use super::receipt::Reception;
use crate::shared::RealmShared;
use model::push::MISSED_MESSAGES_MAX;
use model::{Directory, Message, Timestamp, UserId, UserRanges};
use rules::notifications::{AWAY_SECS, Receipt, Trigger, mail_delay_secs};
use std::collections::BTreeMap;
use storage::View;

/// Places in a pending e-mail that are reserved for direct messages and mentions.
const KEPT_FOR_DIRECT: usize = 100;

/// The configured kinds of notifications.
#[derive(Clone, Copy, Debug)]
pub(super) struct EnabledKinds {
    pub push: bool,
    pub mail: bool,
}

/// The recipients, by id.
#[derive(Debug, Default)]
pub(super) struct Recipients {
    pub phones: Vec<UserId>,
    /// With the seconds to wait for each.
    pub mails: Vec<(UserId, u64)>,
}

/// Missed messages that a plan records.
#[derive(Debug, Default)]
pub(super) struct RecordedMissed {
    /// Number of messages with few recipients.
    pub by_user: BTreeMap<UserId, usize>,
    /// The recipients of each message with many.
    pub by_many: Vec<UserRanges>,
}

/// The number of messages in the pending e-mail of one user after the other, by id: messages that many missed are not searched for
/// each of them.
struct HeldCounts<'a> {
    directory: &'a Directory,
    noted: &'a RecordedMissed,
    /// The users from whom on there is a message more or less, descending.
    steps: Vec<(u64, isize)>,
    shared: isize,
}

impl<'a> HeldCounts<'a> {
    fn new(directory: &'a Directory, noted: &'a RecordedMissed) -> Self {
        let shared = directory.missed_by_many().map(|(_, users)| &**users).chain(&noted.by_many);
        let ranges = shared.flat_map(|users| users.ranges());
        let mut steps: Vec<(u64, isize)> =
            ranges.flat_map(|(first, last)| [(u64::from(first.0), 1), (u64::from(last.0) + 1, -1)]).collect();
        steps.sort_unstable_by_key(|(from, _)| std::cmp::Reverse(*from));
        Self { directory, noted, steps, shared: 0 }
    }

    /// That of a user, who comes after all that were asked for before.
    fn next(&mut self, user: UserId) -> usize {
        while let Some((_, step)) = self.steps.pop_if(|(from, _)| *from <= u64::from(user.0)) {
            self.shared += step;
        }
        let own = self.directory.own_pending_mail(user).map_or(0, |own| own.messages.len());
        let noted = self.noted.by_user.get(&user).copied().unwrap_or_default();
        own + noted + self.shared.unsigned_abs()
    }
}

/// The state in which a message is processed.
pub(super) struct PlanContext<'a> {
    pub realm: &'a RealmShared,
    pub view: &'a View,
    pub wanted: EnabledKinds,
    pub now: Timestamp,
    /// Those of earlier messages of the same plan.
    pub noted: &'a RecordedMissed,
}

impl PlanContext<'_> {
    /// Those of some candidates (by id) who are notified, for a reason that counts.
    pub fn recipients(
        &self,
        message: &Message,
        candidates: Vec<Candidate<'_>>,
        counts: impl Fn(Trigger) -> bool,
    ) -> Recipients {
        let mut recipients = Recipients::default();
        let directory = &self.view.directory;
        let Some(sender) = directory.user(message.sender) else { return recipients };
        let reception = Reception::of(self.view, sender, message);
        let presence = self.realm.presence.lock();
        let is_present = |user| {
            let active = presence.get(user).and_then(|presence| presence.active);
            active.is_some_and(|at| self.now.millis_since(at) < AWAY_SECS * 1000)
        };
        let mut held_counts = HeldCounts::new(directory, self.noted);
        for candidate in candidates {
            let (user, id) = (candidate.user, candidate.user.id);
            let held = held_counts.next(id);
            let has_phone = self.wanted.push && directory.has_phone(id);
            let room = MISSED_MESSAGES_MAX.saturating_sub(held);
            let gets_mail = self.wanted.mail && room > 0;
            if !has_phone && !gets_mail {
                continue;
            }
            let Some(receipt) = reception.receipt(candidate) else { continue };
            let is_present = is_present(id);
            if has_phone && (Receipt { is_present, ..receipt }).push().is_some_and(&counts) {
                recipients.phones.push(id);
            }
            if gets_mail && mail_reason(receipt, is_present, held).is_some_and(&counts) {
                recipients.mails.push((id, mail_delay_secs(user)));
            }
        }
        recipients
    }
}

/// Why a user with this many messages in a pending e-mail gets one about another message.
fn mail_reason(receipt: Receipt<'_>, is_present: bool, held: usize) -> Option<Trigger> {
    // An e-mail that is pending anyway also includes messages that arrived while the user was present.
    let is_present = is_present && held == 0;
    let room = MISSED_MESSAGES_MAX.saturating_sub(held);
    // Busy topics leave room for direct messages and mentions.
    let has_room = |why: &Trigger| *why <= Trigger::Mention || room > KEPT_FOR_DIRECT;
    (Receipt { is_present, ..receipt }).mail().filter(has_room)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::push::{PendingMail, PushFact};
    use model::{MessageId, Realm, RealmId};

    #[test]
    fn shared_and_own_messages_of_a_pending_email_are_counted() {
        let mut directory = Directory::new(Realm::new(RealmId(1), "", "Tea", "tea.example", Timestamp(0)));
        let users = |ids: &[u32]| UserRanges::from_sorted(ids.iter().copied().map(UserId));
        for (message, ids) in [(1, &[1, 2, 3, 9][..]), (2, &[3, 4]), (3, &[3, u32::MAX])] {
            let due = Timestamp(5 + u64::from(message));
            directory.put_push(PushFact::MissedNotedByMany {
                message: MessageId(message),
                users: users(ids),
                due,
            });
        }
        let own = PendingMail { due: Timestamp(4), messages: vec![MessageId(7), MessageId(8)] };
        directory.put_pending_mail(UserId(4), Some(own));
        let noted =
            RecordedMissed { by_user: BTreeMap::from([(UserId(9), 2)]), by_many: vec![users(&[2, 3])] };
        let mut counts = HeldCounts::new(&directory, &noted);
        let expected = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 3), (5, 0), (9, 3), (10, 0), (u32::MAX, 1)];
        for (user, count) in expected {
            assert_eq!(counts.next(UserId(user)), count, "{user}");
        }
    }
}
