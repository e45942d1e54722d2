//! Applies facts about notifications to the directory and its rows.

use super::record::Record;
use super::{Rows, View, records};
use crate::error::StoreError;
use model::push::PushFact;
use model::{MessageId, Timestamp, UserId};
use serde::Serialize;

impl View {
    /// Push devices, shown notifications, pending e-mails and the notification cursor.
    pub(super) fn apply_push_fact(&mut self, fact: &PushFact, rows: &mut Rows) -> Result<(), StoreError> {
        let mut shared = Vec::new();
        if let PushFact::MissedDecided { users } = fact {
            shared = self.directory.shared_missed_of(users);
        }
        self.directory.put_push(fact.clone());
        match fact {
            PushFact::TokensSet { user, tokens } => {
                self.put_list::<records::LegacyPushTokens, _>(rows, *user, tokens)
            }
            PushFact::DevicesSet { user, devices, .. } => {
                self.put_list::<records::PushDevices, _>(rows, *user, devices)
            }
            PushFact::Shown { users, .. } => users.iter().try_for_each(|user| self.put_shown(*user, rows)),
            PushFact::Unshown { user, .. } => self.put_shown(*user, rows),
            PushFact::NotificationCursorMoved(message) => {
                rows.put::<records::NotificationCursor>(self.realm(), &(), message)
            }
            PushFact::MissedNoted { users, .. } | PushFact::MissedDecided { users } => {
                shared.into_iter().try_for_each(|key| self.put_missed_by_many(key, rows))?;
                users.iter().try_for_each(|user| self.put_missed(*user, rows))
            }
            PushFact::MissedNotedByMany { message, due, .. } => {
                self.put_missed_by_many((*due, *message), rows)
            }
        }
    }

    fn put_shown(&self, user: UserId, rows: &mut Rows) -> Result<(), StoreError> {
        self.put_list::<records::PushShown, _>(rows, user, self.directory.push_shown(user))
    }

    fn put_missed(&self, user: UserId, rows: &mut Rows) -> Result<(), StoreError> {
        let mail = self.directory.own_pending_mail(user);
        self.put_row::<records::PendingMails>(rows, user, mail.map(|mail| &**mail))
    }

    fn put_missed_by_many(&self, key: (Timestamp, MessageId), rows: &mut Rows) -> Result<(), StoreError> {
        let users = self.directory.missed_at(key.0, key.1);
        self.put_row::<records::MissedByMany>(rows, key, users.map(|users| &**users))
    }

    /// Writes a list that memory has already; there is no row for an empty one.
    fn put_list<R, T>(&self, rows: &mut Rows, user: UserId, list: &[T]) -> Result<(), StoreError>
    where
        R: Record<Key = UserId, Value = Vec<T>>,
        T: Clone + Serialize,
    {
        let list = Some(list.to_vec()).filter(|list| !list.is_empty());
        self.put_row::<R>(rows, user, list.as_ref())
    }
}
