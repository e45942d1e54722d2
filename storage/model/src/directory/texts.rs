//! Texts that users store: saved snippets, drafts, scheduled messages and reminders.

use super::Directory;
use super::records::Texts;
use crate::ids::{DraftId, SavedSnippetId, ScheduledMessageId, UserId};
use crate::texts::{SavedDraft, SavedSnippet, ScheduledMessage, TextKind};
use crate::time::Timestamp;
use std::sync::Arc;

/// All texts of a user, by id.
fn of_user<I: Copy + Ord + Default, T>(
    texts: &Texts<I, T>,
    user: UserId,
) -> impl Iterator<Item = (I, &Arc<T>)> {
    let own = texts.range((user, I::default())..).take_while(move |((owner, _), _)| *owner == user);
    own.map(|((_, id), text)| (*id, text))
}

fn put<I: Clone + Ord, T>(texts: &mut Texts<I, T>, key: (UserId, I), text: Option<T>) {
    match text {
        Some(text) => texts.insert(key, Arc::new(text)),
        None => texts.remove(&key),
    };
}

impl Directory {
    /// The newest id of a kind of texts, deleted ones included; 0 before the first.
    pub fn last_text_id(&self, kind: TextKind) -> u32 {
        self.personal.last_text_ids.get(&kind.number()).copied().unwrap_or(0)
    }

    /// Sets the newest id of the kind of texts with a number.
    pub fn put_last_text_id(&mut self, kind: u32, id: u32) {
        self.personal.last_text_ids.insert(kind, id);
    }

    /// A saved snippet of a user.
    pub fn saved_snippet(&self, user: UserId, id: SavedSnippetId) -> Option<&Arc<SavedSnippet>> {
        self.personal.saved_snippets.get(&(user, id))
    }

    /// All saved snippets of a user, by id.
    pub fn saved_snippets(&self, user: UserId) -> impl Iterator<Item = (SavedSnippetId, &Arc<SavedSnippet>)> {
        of_user(&self.personal.saved_snippets, user)
    }

    /// Sets a saved snippet; `None` removes it.
    pub fn put_saved_snippet(&mut self, user: UserId, id: SavedSnippetId, snippet: Option<SavedSnippet>) {
        put(&mut self.personal.saved_snippets, (user, id), snippet);
    }

    /// A draft of a user.
    pub fn draft(&self, user: UserId, id: DraftId) -> Option<&Arc<SavedDraft>> {
        self.personal.drafts.get(&(user, id))
    }

    /// All drafts of a user, by id.
    pub fn drafts(&self, user: UserId) -> impl Iterator<Item = (DraftId, &Arc<SavedDraft>)> {
        of_user(&self.personal.drafts, user)
    }

    /// Sets a draft; `None` removes it.
    pub fn put_draft(&mut self, user: UserId, id: DraftId, draft: Option<SavedDraft>) {
        put(&mut self.personal.drafts, (user, id), draft);
    }

    /// A scheduled message or a reminder of a user.
    pub fn scheduled_message(&self, user: UserId, id: ScheduledMessageId) -> Option<&Arc<ScheduledMessage>> {
        self.personal.scheduled.get(&(user, id))
    }

    /// All scheduled messages and reminders of a user, by id.
    pub fn scheduled_messages(
        &self,
        user: UserId,
    ) -> impl Iterator<Item = (ScheduledMessageId, &Arc<ScheduledMessage>)> {
        of_user(&self.personal.scheduled, user)
    }

    /// All scheduled messages and reminders of a user, in the order in which they are due.
    pub fn scheduled_in_order(&self, user: UserId) -> Vec<(ScheduledMessageId, &Arc<ScheduledMessage>)> {
        let mut all: Vec<_> = self.scheduled_messages(user).collect();
        all.sort_by_key(|(id, message)| (message.due, *id));
        all
    }

    /// Scheduled messages and reminders of all users that are due by a time and did not fail, the earliest first.
    pub fn scheduled_due(&self, now: Timestamp) -> impl Iterator<Item = (UserId, ScheduledMessageId)> {
        let due = self.personal.scheduled_by_due.iter().take_while(move |(due, ..)| *due <= now);
        due.map(|(_, user, id)| (*user, *id))
    }

    /// Sets a scheduled message or a reminder; `None` removes it.
    pub fn put_scheduled_message(
        &mut self,
        user: UserId,
        id: ScheduledMessageId,
        message: Option<ScheduledMessage>,
    ) {
        if let Some(due) = self.personal.scheduled.get(&(user, id)).map(|before| before.due) {
            self.personal.scheduled_by_due.remove(&(due, user, id));
        }
        if let Some(message) = message.as_ref().filter(|message| message.failure.is_none()) {
            self.personal.scheduled_by_due.insert((message.due, user, id));
        }
        put(&mut self.personal.scheduled, (user, id), message);
    }
}
