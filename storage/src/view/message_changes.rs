//! Changes of a single message after it was sent: edits, reactions, submessages. Each is a row of its own, so the cost of
//! a change does not depend on earlier changes of the message, and nothing is read from disk for it.

use super::chunk::blank_message;
use super::flag_blocks::{BLOCK_MESSAGES, FlagBlock};
use super::key::{Block, Number};
use super::records::{self, EditedRow, ReactionRow, reaction_key};
use super::{RowChange, Rows, View};
use crate::error::StoreError;
use model::{
    ConversationId, Flag, Flags, Message, MessageId, MessageVersion, Reaction, RemainingReactions, Sequence,
    Submessage, UserId,
};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Flags that follow from the content of a message.
const CONTENT_FLAGS: [Flag; 3] = [Flag::Mentioned, Flag::TopicWildcardMentioned, Flag::HasAlertWord];

/// The user, flag and block of rows that have to be written.
pub(super) type TouchedBlocks = BTreeSet<(UserId, Flag, u32)>;

/// Which kinds of later changes a message has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub is_edited: bool,
    pub has_reactions: bool,
    /// It has submessages besides the first.
    pub has_submessages: bool,
    /// Versions before this number are erased, though the trees may still have their texts.
    pub erased_before: u32,
}

impl Changes {
    /// Whether the message was never changed.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

impl View {
    /// Which kinds of later changes a message has.
    pub fn changes_of(&self, id: MessageId) -> Changes {
        Changes {
            is_edited: self.edited.contains(id.0),
            has_reactions: self.messages.with_reaction.contains(id.0),
            has_submessages: self.with_submessage.contains(id.0),
            erased_before: self.versions.erased_before(id),
        }
    }

    /// Adds a body to those in memory that was read from the trees, and that frame `sequence` is about to change, unless it is
    /// in memory. The trees may have had texts that are erased meanwhile.
    pub fn warm(&mut self, sequence: Sequence, mut own: Arc<Message>) {
        let erased_before = self.versions.erased_before(own.id);
        if erased_before > 0 {
            Arc::make_mut(&mut own).blank_history(erased_before);
        }
        self.recent.warm(sequence, own);
    }

    /// Applies an edit of the content.
    pub(super) fn apply_version(
        &mut self,
        sequence: Sequence,
        id: MessageId,
        version: &Arc<MessageVersion>,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if !self.messages.all.contains(id.0) {
            return Ok(());
        }
        let realm = self.realm();
        rows.put::<records::MessageVersions>(realm, &(id, Number(version.number)), version)?;
        let row = EditedRow { version: version.number, traits: version.traits };
        rows.put::<records::EditedMessages>(realm, &id, &row)?;
        self.messages.change_traits(id, &version.traits);
        self.edited.insert(id.0);
        if let Some(own) = self.recent.get(id).filter(|own| own.version == 0) {
            // The message as it was sent may not be in the trees yet either.
            let as_sent = Arc::new(MessageVersion::of(own));
            self.versions.put(sequence, id, as_sent, self.recent.stored_sequence());
        }
        self.versions.put(sequence, id, version.clone(), self.recent.stored_sequence());
        self.recent.change(sequence, id, |message| message.edit(version));
        self.apply_content_flags(id, &version.user_flags, rows)
    }

    /// Erases the texts of old versions: of each message those before a number.
    pub(super) fn apply_history_erased(
        &mut self,
        sequence: Sequence,
        versions: &[(MessageId, u32)],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let is_known = |id: &MessageId| self.messages.all.contains(id.0) && self.edited.contains(id.0);
        let known: Vec<_> = versions.iter().filter(|(id, _)| is_known(id)).copied().collect();
        for (id, kept) in &known {
            self.chunks.bodies.change(*id, blank_message)?;
            self.versions.blank(sequence, (*id, *kept), self.recent.stored_sequence());
            self.recent.change(sequence, *id, |message| message.blank_history(*kept));
        }
        rows.0.push(RowChange::EraseVersions { realm: self.realm(), versions: known });
        Ok(())
    }

    /// Adds a reaction. A message that was never delivered to the user becomes historical and read for them.
    pub(super) fn apply_reaction_added(
        &mut self,
        added: (Sequence, u16),
        (id, conversation): (MessageId, ConversationId),
        reaction: &Reaction,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if !self.messages.all.contains(id.0) {
            return Ok(());
        }
        let row = ReactionRow { added, reaction: reaction.clone() };
        rows.put::<records::Reactions>(self.realm(), &reaction_key(id, reaction), &row)?;
        self.messages.add_reactor(id, reaction.user);
        self.recent.change(added.0, id, |message| message.reactions.push(row.reaction));
        let user = reaction.user;
        if self.has_at(user, conversation, id) {
            return Ok(());
        }
        self.messages.users.add(user, Flag::Historical, id);
        self.messages.users.add(user, Flag::Read, id);
        let block = id.0 / BLOCK_MESSAGES;
        let touched = TouchedBlocks::from([(user, Flag::Historical, block), (user, Flag::Read, block)]);
        self.put_flag_blocks(&touched, rows)
    }

    /// Removes a reaction.
    pub(super) fn apply_reaction_removed(
        &mut self,
        sequence: Sequence,
        id: MessageId,
        reaction: &Reaction,
        left: RemainingReactions,
        rows: &mut Rows,
    ) {
        if !self.messages.all.contains(id.0) {
            return;
        }
        rows.remove::<records::Reactions>(self.realm(), &reaction_key(id, reaction));
        self.messages.remove_reactor(id, reaction.user, left);
        self.recent.change(sequence, id, |message| message.reactions.retain(|other| other != reaction));
    }

    /// Adds a submessage.
    pub(super) fn apply_submessage(
        &mut self,
        sequence: Sequence,
        id: MessageId,
        submessage: &Submessage,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if !self.messages.all.contains(id.0) {
            return Ok(());
        }
        rows.put::<records::Submessages>(self.realm(), &(id, Number(submessage.id)), submessage)?;
        self.with_submessage.insert(id.0);
        self.recent.change(sequence, id, |message| message.submessages.push(submessage.clone()));
        Ok(())
    }

    /// Removes the rows of later changes of deleted messages. The messages are still in the index.
    pub(super) fn remove_changes(&mut self, deleted: &RoaringBitmap, rows: &mut Rows) {
        let realm = self.realm();
        for id in (&self.edited & deleted).iter().map(MessageId) {
            rows.remove_under::<records::MessageVersions>(realm, &id);
            rows.remove::<records::EditedMessages>(realm, &id);
            self.versions.forget(id);
        }
        for id in (&self.messages.with_reaction & deleted).iter().map(MessageId) {
            rows.remove_under::<records::Reactions>(realm, &id);
        }
        for id in (&self.with_submessage & deleted).iter().map(MessageId) {
            rows.remove_under::<records::Submessages>(realm, &id);
        }
        self.edited -= deleted;
        self.with_submessage -= deleted;
    }

    /// After an edit, users have the flags that follow from the new content. Flags that they set themselves (read, starred)
    /// stay, and users without access to the message get none.
    fn apply_content_flags(
        &mut self,
        id: MessageId,
        user_flags: &[(UserId, Flags)],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let wanted: BTreeMap<UserId, Flags> = user_flags.iter().copied().collect();
        let mut touched = TouchedBlocks::new();
        let block = id.0 / BLOCK_MESSAGES;
        let ids = RoaringBitmap::from_iter([id.0]);
        for user in self.messages.users.flagged_near(&ids).iter().map(UserId) {
            let flags = wanted.get(&user).copied().unwrap_or_default();
            for flag in CONTENT_FLAGS.into_iter().filter(|flag| !flags.contains(*flag)) {
                if !self.messages.users.take(user, flag, &ids).is_empty() {
                    touched.insert((user, flag, block));
                }
            }
        }
        // The place of the message is only looked up if some user is flagged.
        let conversation =
            if wanted.is_empty() { None } else { self.place_of(id).map(|place| place.conversation()) };
        for (user, flags) in wanted {
            if !conversation.is_some_and(|conversation| self.has_at(user, conversation, id)) {
                continue;
            }
            for flag in CONTENT_FLAGS.into_iter().filter(|flag| flags.contains(*flag)) {
                if self.messages.users.add(user, flag, id) {
                    touched.insert((user, flag, block));
                }
            }
        }
        self.put_flag_blocks(&touched, rows)
    }

    /// Writes blocks of flags in their present state, and removes users who have none left.
    pub(super) fn put_flag_blocks(
        &mut self,
        touched: &TouchedBlocks,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let (realm, through) = (self.realm(), self.messages.last);
        let none = RoaringBitmap::new();
        for (user, flag, block) in touched {
            let set = self.messages.users.get(user).and_then(|mine| mine.set(*flag)).unwrap_or(&none);
            let key = (*user, *flag, Block(*block));
            rows.put::<records::Flags>(realm, &key, &FlagBlock::of(set, *block, through))?;
        }
        touched.iter().for_each(|(user, ..)| self.messages.users.remove_if_empty(*user));
        Ok(())
    }
}
