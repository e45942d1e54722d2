//! Applies moves to memory and rows: messages change their topic, and possibly who can access them.

use super::arrivals::ids_of;
use super::flag_blocks::blocks_of;
use super::message_changes::TouchedBlocks;
use super::moves::{Move, MoveRecord};
use super::{Rows, View, key, records};
use crate::error::StoreError;
use model::fact::{ArrivalFact, MessageUpdate, Movement};
use model::{ChannelId, Flag, Sequence, TopicKey, UserId};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// Flags that users lose with access to a message. `Read` stays in case the message is moved back.
const LOST_FLAGS: [Flag; 6] = [
    Flag::Starred,
    Flag::Collapsed,
    Flag::Mentioned,
    Flag::TopicWildcardMentioned,
    Flag::HasAlertWord,
    Flag::Historical,
];

impl View {
    /// Applies one request's edit of a message and the move of it and others. `position` is the position of the fact in its
    /// frame.
    pub(super) fn apply_update(
        &mut self,
        (sequence, position): (Sequence, u16),
        update: &MessageUpdate,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if let Some(movement) = &update.movement {
            let record = MoveRecord { at: update.at, by: update.by, movement: movement.clone() };
            self.apply_movement(&record, rows)?;
            let key = (sequence, key::Position(position));
            rows.put::<records::Moves>(self.realm(), &key, &record)?;
        }
        // After the move: flags of the new content are for users who have access now.
        if let Some(edited) = &update.edited {
            self.apply_version(sequence, update.target, edited, rows)?;
        }
        Ok(())
    }

    fn apply_movement(&mut self, record: &MoveRecord, rows: &mut Rows) -> Result<(), StoreError> {
        let mut touched = TouchedBlocks::new();
        if let Some(arrival) = &record.movement.new_channel {
            self.take_lost_flags(&record.movement, arrival, &mut touched);
        }
        let moved = self.restore_movement(record);
        for delivery in record.movement.new_channel.iter().flat_map(|arrival| &arrival.deliveries) {
            if delivery.is_new {
                self.mark_delivered_read(
                    &delivery.users,
                    &(ids_of(&delivery.messages) & &moved),
                    &mut touched,
                );
            }
        }
        self.put_flag_blocks(&touched, rows)
    }

    /// Applies the part of a move that follows from its record alone, also on open: where the messages are, and who received
    /// them. Returns those that moved.
    pub(super) fn restore_movement(&mut self, record: &MoveRecord) -> RoaringBitmap {
        let movement = &record.movement;
        let arrival = movement.new_channel.as_ref();
        let to = arrival.map_or(movement.channel, |arrival| arrival.channel);
        let name = movement.new_topic.as_ref().map(|topic| topic.name.as_str());
        let from = (movement.channel, &TopicKey::new(&movement.topic));
        let moved = self.messages.relocate(&ids_of(&movement.messages), from, (to, name));
        if let Some(arrival) = arrival
            && !moved.is_empty()
        {
            self.arrivals.leave(movement.channel, &moved);
            self.arrivals.add(&moved, arrival);
        }
        self.moves.add(moved.clone(), Move::of(record.at, record.by, movement));
        moved
    }

    fn take_lost_flags(&mut self, movement: &Movement, arrival: &ArrivalFact, touched: &mut TouchedBlocks) {
        let topic = TopicKey::new(&movement.topic);
        let Some(source) = self.messages.topic(movement.channel, &topic) else { return };
        let ids = &source.ids & ids_of(&movement.messages);
        for (user, lost) in self.lost_by_moving(movement.channel, &ids, arrival) {
            for flag in LOST_FLAGS {
                let hit = self.messages.users.take(user, flag, &lost);
                touched.extend(blocks_of(&hit).into_iter().map(|block| (user, flag, block)));
            }
        }
    }

    /// Flagged messages that users lose by a move: users who are not subscribed to the new channel lose all of them, whether
    /// delivered to them or starred without being delivered.
    fn lost_by_moving(
        &self,
        channel: ChannelId,
        ids: &RoaringBitmap,
        arrival: &ArrivalFact,
    ) -> BTreeMap<UserId, RoaringBitmap> {
        let deliveries: Vec<_> =
            arrival.deliveries.iter().map(|delivery| (ids_of(&delivery.messages), &delivery.users)).collect();
        let mut found = BTreeMap::new();
        for user in self.messages.users.flagged_near(ids).iter().map(UserId) {
            let Some(mine) = self.messages.users.get(&user) else { continue };
            let mut flagged = RoaringBitmap::new();
            for set in LOST_FLAGS.into_iter().filter_map(|flag| mine.set(flag)) {
                if !set.is_disjoint(ids) {
                    flagged |= set & ids;
                }
            }
            if flagged.is_empty() {
                continue;
            }
            let mut lost = match self.directory.is_subscribed(arrival.channel, user) {
                true => self.delivered_among_in_channel(user, channel, &flagged),
                false => flagged,
            };
            for (kept, users) in &deliveries {
                if users.binary_search(&user).is_ok() {
                    lost -= kept;
                }
            }
            if !lost.is_empty() {
                found.insert(user, lost);
            }
        }
        found
    }

    fn mark_delivered_read(&mut self, users: &[UserId], ids: &RoaringBitmap, touched: &mut TouchedBlocks) {
        for user in users.iter().filter(|_| !ids.is_empty()) {
            self.messages.users.add_all(*user, Flag::Read, ids);
            touched.extend(blocks_of(ids).into_iter().map(|block| (*user, Flag::Read, block)));
        }
    }
}
