//! Pending e-mails about missed messages: of each user a record of their own, and one for each message that many missed.

use super::Directory;
use crate::ids::{MessageId, UserId};
use crate::push::{MISSED_MESSAGES_MAX, PendingMail};
use crate::ranges::UserRanges;
use crate::time::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Directory {
    /// The e-mail about missed messages that is pending for a user. It is due when the first of its messages is.
    pub fn pending_mail(&self, user: UserId) -> Option<PendingMail> {
        let mut mail = self.own_pending_mail(user).map(|own| PendingMail::clone(own));
        for ((due, message), users) in &self.push.missed_by_many {
            if !users.contains(user) {
                continue;
            }
            let mail = mail.get_or_insert(PendingMail { due: *due, messages: Vec::new() });
            mail.due = mail.due.min(*due);
            if let Err(position) = mail.messages.binary_search(message) {
                mail.messages.insert(position, *message);
            }
        }
        mail
    }

    /// The part of a user's pending e-mail that is recorded for the user alone.
    pub fn own_pending_mail(&self, user: UserId) -> Option<&Arc<PendingMail>> {
        self.push.missed.get(&user)
    }

    /// Users with a pending e-mail, by due time; users may be in it several times, first with the time that counts.
    pub fn pending_mails(&self) -> impl Iterator<Item = (Timestamp, UserId)> {
        let mut own = self.push.missed_by_due.iter().copied().peekable();
        let many = self.push.missed_by_many.iter();
        let mut many =
            many.flat_map(|((due, _), users)| users.iter().map(move |user| (*due, user))).peekable();
        std::iter::from_fn(move || match (own.peek(), many.peek()) {
            (Some((first, _)), Some((due, _))) if first > due => many.next(),
            (Some(_), _) => own.next(),
            (None, _) => many.next(),
        })
    }

    /// Messages that many missed, by due time.
    pub fn missed_by_many(&self) -> impl Iterator<Item = ((Timestamp, MessageId), &Arc<UserRanges>)> {
        self.push.missed_by_many.iter().map(|(key, users)| (*key, users))
    }

    /// The users who share the record of a message that many missed.
    pub fn missed_at(&self, due: Timestamp, message: MessageId) -> Option<&Arc<UserRanges>> {
        self.push.missed_by_many.get(&(due, message))
    }

    /// Replaces what is recorded of a user's pending e-mail for the user alone; none removes it.
    pub fn put_pending_mail(&mut self, user: UserId, mail: Option<PendingMail>) {
        let added = mail.as_ref().map(|mail| (mail.due, user));
        let before = match mail {
            Some(mail) => self.push.missed.insert(user, Arc::new(mail)),
            None => self.push.missed.remove(&user),
        };
        if let Some(before) = before {
            self.push.missed_by_due.remove(&(before.due, user));
        }
        if let Some(added) = added {
            self.push.missed_by_due.insert(added);
        }
    }

    /// Replaces the users who share the record of a message; none removes it.
    pub fn put_missed_by_many(&mut self, due: Timestamp, message: MessageId, users: Option<UserRanges>) {
        match users.filter(|users| !users.is_empty()) {
            Some(users) => self.push.missed_by_many.insert((due, message), Arc::new(users)),
            None => self.push.missed_by_many.remove(&(due, message)),
        };
    }

    pub(super) fn note_missed(&mut self, user: UserId, message: MessageId, due: Timestamp) {
        let new = || PendingMail { due, messages: Vec::new() };
        let mut mail = self.own_pending_mail(user).map_or_else(new, |mail| PendingMail::clone(mail));
        if let Err(position) = mail.messages.binary_search(&message)
            && mail.messages.len() < MISSED_MESSAGES_MAX
        {
            mail.messages.insert(position, message);
        }
        self.put_pending_mail(user, Some(mail));
    }

    /// Removes the pending e-mails of users.
    pub(super) fn end_pending_mails(&mut self, users: &[UserId]) {
        users.iter().for_each(|user| self.put_pending_mail(*user, None));
        let ended: BTreeSet<UserId> = users.iter().copied().collect();
        for (due, message) in self.shared_missed_of(users) {
            let rest = self.missed_at(due, message);
            let rest = rest.map(|all| all.filtered(|user| !ended.contains(&user)));
            self.put_missed_by_many(due, message, rest);
        }
    }

    /// The shared records that have any of these users.
    pub fn shared_missed_of(&self, users: &[UserId]) -> Vec<(Timestamp, MessageId)> {
        let has_any = |all: &UserRanges| users.iter().any(|user| all.contains(*user));
        self.missed_by_many().filter(|(_, all)| has_any(all)).map(|(key, _)| key).collect()
    }
}
