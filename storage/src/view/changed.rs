//! Messages whose own record changed: edited, reacted to, with another part of a widget. The record goes into a
//! row of its own, so that chunks hold what was sent and nothing has to be looked up to change it.

use super::flag_blocks::{BLOCK_MESSAGES, FlagBlock};
use super::{Location, MessageIndexRow, Rows, View};
use crate::error::StoreError;
use crate::tables;
use model::{Flag, Flags, Message, MessageId, Sequence, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Flags that follow from the content.
const CONTENT_FLAGS: [Flag; 3] = [Flag::Mentioned, Flag::TopicWildcardMentioned, Flag::HasAlertWord];

/// Whose blocks of which flags have to be written.
pub(super) type TouchedBlocks = BTreeSet<(UserId, Flag, u32)>;

impl View {
    /// A message's own record is now this. What it says of its place is where it was sent, now and ever.
    pub(super) fn apply_own_record(
        &mut self,
        sequence: Sequence,
        message: &Arc<Message>,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let id = message.id;
        if !self.messages.all.contains(id.0) {
            return Ok(());
        }
        debug_assert!(
            self.recent.get(id).is_none_or(|own| own.place == message.place),
            "an own record says where message {id} was sent, not where it was moved"
        );
        let row = MessageIndexRow::from(&**message);
        self.messages.change_traits(id, &row);
        self.changed.insert(id.0);
        rows.put(tables::changed_message(self.realm(), id), message)?;
        rows.put(tables::changed_index(self.realm(), id), &row)?;
        self.recent.put(sequence, message.clone());
        Ok(())
    }

    /// After an edit, users have the flags that follow from the new content. What they did themselves (read, starred)
    /// is left alone, and who does not have the message has no flags of it.
    pub(super) fn apply_content_flags(
        &mut self,
        message: &Message,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let id = message.id;
        let Some(place) = self.place_of(id) else { return Ok(()) };
        let wanted: BTreeMap<UserId, Flags> = message.user_flags.iter().copied().collect();
        let mut touched = TouchedBlocks::new();
        let block = id.0 / BLOCK_MESSAGES;
        for (user, mine) in &mut self.messages.users {
            let flags = wanted.get(user).copied().unwrap_or_default();
            for flag in CONTENT_FLAGS {
                if !flags.contains(flag) && mine.set_mut(flag).is_some_and(|set| set.remove(id.0)) {
                    touched.insert((*user, flag, block));
                }
            }
        }
        for (user, flags) in wanted {
            if !self.has_at(user, &place, id) {
                continue;
            }
            for flag in CONTENT_FLAGS.into_iter().filter(|flag| flags.contains(*flag)) {
                let mine = self.messages.users.entry(user).or_default();
                if mine.set_mut(flag).is_some_and(|set| set.insert(id.0)) {
                    touched.insert((user, flag, block));
                }
            }
        }
        self.put_flag_blocks(&touched, rows)
    }

    /// Reacting to a message that somebody never got makes it part of their own history, as read.
    pub(super) fn apply_reactor(
        &mut self,
        id: MessageId,
        user: UserId,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(place) = self.place_of(id) else { return Ok(()) };
        if self.has_at(user, &place, id) {
            return Ok(());
        }
        let mine = self.messages.users.entry(user).or_default();
        mine.historical.insert(id.0);
        mine.read.insert(id.0);
        let block = id.0 / BLOCK_MESSAGES;
        let touched = TouchedBlocks::from([(user, Flag::Historical, block), (user, Flag::Read, block)]);
        self.put_flag_blocks(&touched, rows)
    }

    /// Whether a user has a message that is at `place`, be it only because they flagged it.
    fn has_at(&self, user: UserId, place: &Location, id: MessageId) -> bool {
        let mine = self.messages.users.get(&user);
        let is_historical = mine.is_some_and(|mine| mine.historical.contains(id.0));
        is_historical
            || match place {
                Location::Topic(channel, _) => self.is_delivered_in(user, *channel, id),
                Location::Direct(recipient) => self.is_in_conversation(user, *recipient),
            }
    }

    /// Writes blocks of flags as they are now, and forgets users who have none left.
    pub(super) fn put_flag_blocks(
        &mut self,
        touched: &TouchedBlocks,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let (realm, through) = (self.realm(), self.messages.last);
        let none = RoaringBitmap::new();
        for (user, flag, block) in touched {
            let set = self.messages.users.get(user).and_then(|mine| mine.set(*flag)).unwrap_or(&none);
            rows.put(tables::flags(realm, *user, *flag, *block), &FlagBlock::of(set, *block, through))?;
        }
        for (user, _, _) in touched {
            if self.messages.users.get(user).is_some_and(|mine| mine.is_empty()) {
                self.messages.users.remove(user);
            }
        }
        Ok(())
    }

    /// Whether a message's own record is not what was sent, and is read from `Table::ChangedMessages`.
    pub fn is_changed(&self, id: MessageId) -> bool {
        self.changed.contains(id.0)
    }
}
