//! Reading messages for an export: piece by piece, with the view locked for a moment each time, so that sending never waits for
//! an export. What may be exported is decided by the caller, from the messages themselves.

use super::bodies::MessageSnapshot;
use super::history::HistorySnapshot;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use model::{AttachmentId, ChannelId, Flags, Message, MessageId, UserId};
use roaring::RoaringBitmap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Users whose flags are read under one lock.
const USERS_AT_ONCE: usize = 64;

/// Messages at one point in time.
#[derive(Debug)]
pub struct ExportPiece {
    pub messages: Vec<Arc<Message>>,
    /// Which uploaded files the messages name.
    pub claims: Vec<(MessageId, AttachmentId)>,
    /// The last message that was examined.
    pub last: MessageId,
}

impl RealmHandle {
    /// The newest message, and the number of messages.
    pub fn export_bounds(&self) -> (MessageId, u64) {
        self.read(|view| (view.messages.last, view.messages.all.len()))
    }

    /// The next `count` messages after one, up to `until`, as they are now; none when there are no more.
    /// Blocks: call it from a blocking thread.
    ///
    /// # Errors
    /// `Storage`.
    pub fn export_piece(
        &self,
        after: MessageId,
        until: MessageId,
        count: usize,
    ) -> Result<Option<ExportPiece>, DomainError> {
        if after >= until {
            return Ok(None);
        }
        let (ids, claims, snapshot) = self.read(|view| {
            let ids: Vec<MessageId> =
                view.messages.all.range(after.0 + 1..=until.0).take(count).map(MessageId).collect();
            let files = |id: &MessageId| {
                let id = *id;
                view.claims.of_message(id).iter().map(move |file| (id, *file)).collect::<Vec<_>>()
            };
            let claims: Vec<_> = ids.iter().flat_map(files).collect();
            let snapshot = MessageSnapshot::take(view, None, &ids);
            (ids, claims, snapshot)
        });
        let Some(last) = ids.last().copied() else { return Ok(None) };
        let messages = snapshot.read_once(&self.shared)?.into_iter().map(|fetched| fetched.message).collect();
        Ok(Some(ExportPiece { messages, claims, last }))
    }

    /// A message with its whole history, whose texts a page does not carry. Blocks, as [`Self::export_piece`] does.
    ///
    /// # Errors
    /// `Storage`.
    pub fn export_history(&self, id: MessageId) -> Result<Option<Message>, DomainError> {
        self.read(|view| HistorySnapshot::of(view, id)).read(self)
    }

    /// Those of some messages of a channel that any of some users has in their own history.
    pub fn export_own(
        &self,
        channel: ChannelId,
        ids: &[MessageId],
        users: &BTreeSet<UserId>,
    ) -> BTreeSet<MessageId> {
        let wanted: RoaringBitmap = ids.iter().map(|id| id.0).collect();
        let mut found = RoaringBitmap::new();
        let users: Vec<UserId> = users.iter().copied().collect();
        for part in users.chunks(USERS_AT_ONCE) {
            self.read(|view| {
                for user in part {
                    found |= view.accessible_in_channel(*user, channel, &wanted);
                }
            });
        }
        found.iter().map(MessageId).collect()
    }

    /// Gives `take` the flags of each user for those of some messages that are in the user's own history.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn export_flags<E>(
        &self,
        users: &[UserId],
        ids: &[MessageId],
        mut take: impl FnMut(UserId, MessageId, Flags) -> Result<(), E>,
    ) -> Result<(), E> {
        let wanted: RoaringBitmap = ids.iter().map(|id| id.0).collect();
        for part in users.chunks(USERS_AT_ONCE) {
            let mut found: Vec<(UserId, MessageId, Flags)> = Vec::new();
            self.read(|view| {
                for user in part {
                    let own = view.accessible_among(*user, &wanted);
                    let own: Vec<MessageId> = own.iter().map(MessageId).collect();
                    let flags = view.flags_among(*user, &own, |_| None);
                    found.extend(own.into_iter().zip(flags).map(|(id, flags)| (*user, id, flags)));
                }
            });
            found.into_iter().try_for_each(|(user, id, flags)| take(user, id, flags))?;
        }
        Ok(())
    }
}
