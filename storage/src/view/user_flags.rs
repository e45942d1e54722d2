//! The flags of all users, and which users may have one on a message: a change of a message must not cost as much as there are
//! users.

use super::flag_blocks::{BLOCK_MESSAGES, FlagBlock, blocks_of};
use super::newest::add_newest;
use crate::checkpoint::codec::{Input, Output, Saved, saved};
use foldhash::HashMap;
use model::{Flag, FlagOp, MessageId, UserId};
use roaring::{MultiOps, RoaringBitmap};
use std::collections::BTreeMap;
use std::io;
use std::ops::Deref;

/// From this many messages on, changing a flag re-optimizes the set.
const OPTIMIZE_MESSAGES_MIN: u64 = 64;

/// The flags of one user that do not follow from other records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserMessages {
    pub read: RoaringBitmap,
    pub starred: RoaringBitmap,
    pub collapsed: RoaringBitmap,
    /// Messages that are flagged without having been delivered.
    pub historical: RoaringBitmap,
    /// Messages that mention the user, by name or group.
    pub mentioned: RoaringBitmap,
    /// Messages that mention all participants of a topic of which the user is one.
    pub topic_wildcard: RoaringBitmap,
    /// Messages that contain an alert word of the user.
    pub alerted: RoaringBitmap,
}

saved!(UserMessages { read, starred, collapsed, historical, mentioned, topic_wildcard, alerted });

/// The flags of all users with any. Only its methods change it, so that the blocks always have every user of a flag.
#[derive(Clone, Debug, Default)]
pub struct FlaggedUsers {
    sets: HashMap<UserId, UserMessages>,
    /// Users who have read a message of a block, and those who have another flag on one. Users stay in a block when their flag
    /// is removed, so a block has at most all users, a bit each.
    readers: UsersByBlock,
    flagged: UsersByBlock,
}

/// Users by block of messages.
#[derive(Clone, Debug, Default)]
struct UsersByBlock(BTreeMap<u32, RoaringBitmap>);

impl UsersByBlock {
    fn add(&mut self, block: u32, user: UserId) {
        self.0.entry(block).or_default().insert(user.0);
    }

    fn near(&self, ids: &RoaringBitmap) -> RoaringBitmap {
        blocks_of(ids).into_iter().filter_map(|block| self.0.get(&block)).union()
    }
}

impl Deref for FlaggedUsers {
    type Target = HashMap<UserId, UserMessages>;

    fn deref(&self) -> &Self::Target {
        &self.sets
    }
}

/// Equal flags: users may be in the blocks of one of both who have no flags in them any more.
impl PartialEq for FlaggedUsers {
    fn eq(&self, other: &Self) -> bool {
        self.sets == other.sets
    }
}

impl Saved for FlaggedUsers {
    fn save(&self, out: &mut Output<'_>) -> io::Result<()> {
        self.sets.save(out)
    }

    fn load(input: &mut Input<'_>) -> Option<Self> {
        let sets: HashMap<UserId, UserMessages> = Saved::load(input)?;
        let (mut readers, mut flagged) = (UsersByBlock::default(), UsersByBlock::default());
        for (user, mine) in &sets {
            for flag in Flag::ALL {
                let users = if flag == Flag::Read { &mut readers } else { &mut flagged };
                let blocks = mine.set(flag).map(blocks_of).unwrap_or_default();
                blocks.into_iter().for_each(|block| users.add(block, *user));
            }
        }
        Some(Self { sets, readers, flagged })
    }
}

impl FlaggedUsers {
    /// Users who may have read one of some messages: all who have, and others who have read messages with ids near them.
    pub fn readers_near(&self, ids: &RoaringBitmap) -> RoaringBitmap {
        self.readers.near(ids)
    }

    /// Users who may have a flag other than [`Flag::Read`] on one of some messages: all who have, and others who have one on
    /// messages with ids near them.
    pub fn flagged_near(&self, ids: &RoaringBitmap) -> RoaringBitmap {
        self.flagged.near(ids)
    }

    /// A user's set of a flag, to which messages of some blocks may be added; `None` for flags that are not stored per user.
    fn set_to_grow(
        &mut self,
        user: UserId,
        flag: Flag,
        blocks: impl IntoIterator<Item = u32>,
    ) -> Option<&mut RoaringBitmap> {
        if flag == Flag::ChannelWildcardMentioned {
            return None;
        }
        let users = if flag == Flag::Read { &mut self.readers } else { &mut self.flagged };
        blocks.into_iter().for_each(|block| users.add(block, user));
        self.sets.entry(user).or_default().set_mut(flag)
    }

    /// Adds a flag on a message, which mostly is newer than all others.
    pub(super) fn add_newest(&mut self, user: UserId, flag: Flag, id: MessageId) {
        if let Some(set) = self.set_to_grow(user, flag, [id.0 / BLOCK_MESSAGES]) {
            add_newest(set, id.0);
        }
    }

    /// Adds a flag on a message. Returns whether the user did not have it.
    pub(super) fn add(&mut self, user: UserId, flag: Flag, id: MessageId) -> bool {
        self.set_to_grow(user, flag, [id.0 / BLOCK_MESSAGES]).is_some_and(|set| set.insert(id.0))
    }

    /// Adds a flag on messages.
    pub(super) fn add_all(&mut self, user: UserId, flag: Flag, ids: &RoaringBitmap) {
        if ids.is_empty() {
            return;
        }
        if let Some(set) = self.set_to_grow(user, flag, blocks_of(ids)) {
            *set |= ids;
        }
    }

    /// Adds or removes a flag on messages. Returns whether the flag is stored per user.
    pub(super) fn change(&mut self, user: UserId, flag: Flag, op: FlagOp, ids: &RoaringBitmap) -> bool {
        let blocks = match op {
            FlagOp::Add => blocks_of(ids),
            FlagOp::Remove => Vec::new(),
        };
        let Some(set) = self.set_to_grow(user, flag, blocks) else { return false };
        match op {
            FlagOp::Add => *set |= ids,
            FlagOp::Remove => *set -= ids,
        }
        if ids.len() >= OPTIMIZE_MESSAGES_MIN {
            set.optimize();
        }
        true
    }

    /// Removes a flag on messages. Returns those that had it.
    pub(super) fn take(&mut self, user: UserId, flag: Flag, ids: &RoaringBitmap) -> RoaringBitmap {
        let set = self.sets.get_mut(&user).and_then(|mine| mine.set_mut(flag));
        let Some(set) = set.filter(|set| !set.is_disjoint(ids)) else { return RoaringBitmap::new() };
        let hit = &*set & ids;
        *set -= &hit;
        hit
    }

    /// Replaces the part of a user's set that a stored block covers.
    pub(super) fn restore(&mut self, user: UserId, flag: Flag, block: u32, own: &FlagBlock) {
        if let Some(set) = self.set_to_grow(user, flag, [block]) {
            own.restore(set, block);
        }
    }

    /// Removes a user who has no flags.
    pub(super) fn remove_if_empty(&mut self, user: UserId) {
        if self.sets.get(&user).is_some_and(UserMessages::is_empty) {
            self.sets.remove(&user);
        }
    }

    /// Removes messages from the flags of all users. `left` has those that are still in the organization.
    pub(super) fn remove_messages(&mut self, ids: &RoaringBitmap, left: &RoaringBitmap) {
        for user in (self.readers.near(ids) | self.flagged.near(ids)).iter().map(UserId) {
            if let Some(mine) = self.sets.get_mut(&user) {
                mine.remove(ids);
            }
            self.remove_if_empty(user);
        }
        for block in blocks_of(ids) {
            let start = block * BLOCK_MESSAGES;
            if left.range_cardinality(start..=start + (BLOCK_MESSAGES - 1)) == 0 {
                self.readers.0.remove(&block);
                self.flagged.0.remove(&block);
            }
        }
    }

    /// Removes messages from the flags of all users, and all users who have no flags. Visits each user.
    pub(super) fn remove_from_each(&mut self, ids: &RoaringBitmap) {
        self.sets.retain(|_, mine| {
            mine.remove(ids);
            !mine.is_empty()
        });
    }

    /// Brings every set into its smallest form.
    pub(super) fn optimize(&mut self) {
        self.sets.values_mut().for_each(UserMessages::optimize);
        for users in self.readers.0.values_mut().chain(self.flagged.0.values_mut()) {
            users.optimize();
        }
    }
}

impl UserMessages {
    /// Whether the user has no flags.
    fn is_empty(&self) -> bool {
        Flag::ALL.into_iter().filter_map(|flag| self.set(flag)).all(RoaringBitmap::is_empty)
    }

    /// Brings every set into its smallest form; contiguous reads then cost almost nothing.
    fn optimize(&mut self) {
        for flag in Flag::ALL {
            if let Some(set) = self.set_mut(flag) {
                set.optimize();
            }
        }
    }

    /// Removes messages from every set.
    fn remove(&mut self, ids: &RoaringBitmap) {
        for flag in Flag::ALL {
            if let Some(set) = self.set_mut(flag)
                && !set.is_disjoint(ids)
            {
                *set -= ids;
            }
        }
    }

    /// The set for a flag; `None` for flags that are not stored per user.
    pub fn set(&self, flag: Flag) -> Option<&RoaringBitmap> {
        use Flag::*;
        match flag {
            Read => Some(&self.read),
            Starred => Some(&self.starred),
            Collapsed => Some(&self.collapsed),
            Mentioned => Some(&self.mentioned),
            TopicWildcardMentioned => Some(&self.topic_wildcard),
            HasAlertWord => Some(&self.alerted),
            Historical => Some(&self.historical),
            ChannelWildcardMentioned => None,
        }
    }

    /// The set for a flag, to be changed; `None` for flags that are not stored per user.
    pub fn set_mut(&mut self, flag: Flag) -> Option<&mut RoaringBitmap> {
        use Flag::*;
        match flag {
            Read => Some(&mut self.read),
            Starred => Some(&mut self.starred),
            Collapsed => Some(&mut self.collapsed),
            Mentioned => Some(&mut self.mentioned),
            TopicWildcardMentioned => Some(&mut self.topic_wildcard),
            HasAlertWord => Some(&mut self.alerted),
            Historical => Some(&mut self.historical),
            ChannelWildcardMentioned => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: MessageId = MessageId(1);
    const NEW: MessageId = MessageId(5 * BLOCK_MESSAGES);

    fn only(id: MessageId) -> RoaringBitmap {
        RoaringBitmap::from_iter([id.0])
    }

    fn listed(users: &RoaringBitmap) -> Vec<u32> {
        users.iter().collect()
    }

    /// A thousand users with flags on an old message, one who has read a new one, and one who is mentioned in it.
    fn thousand() -> FlaggedUsers {
        let mut users = FlaggedUsers::default();
        for user in (1..=1_000).map(UserId) {
            users.add_newest(user, Flag::Read, OLD);
            assert!(users.add(user, Flag::Starred, OLD));
        }
        users.add_all(UserId(7), Flag::Read, &only(NEW));
        assert!(users.change(UserId(8), Flag::Mentioned, FlagOp::Add, &only(NEW)));
        users
    }

    #[test]
    fn a_change_of_a_message_visits_users_with_flags_near_it() {
        let mut users = thousand();
        for _ in 0..2 {
            assert_eq!(listed(&users.readers_near(&only(NEW))), [7]);
            assert_eq!(listed(&users.flagged_near(&only(NEW))), [8]);
            assert_eq!(users.flagged_near(&only(OLD)).len(), 1_000);
            // The same after a start from a checkpoint.
            let mut bytes = Vec::new();
            users.save(&mut Output::new(&mut bytes)).unwrap();
            let loaded = FlaggedUsers::load(&mut Input::new(&bytes)).unwrap();
            assert_eq!(loaded, users);
            users = loaded;
        }
    }

    #[test]
    fn removed_messages_leave_neither_flags_nor_blocks() {
        let mut users = thousand();
        users.remove_messages(&only(NEW), &only(OLD));
        assert!(!users[&UserId(7)].read.contains(NEW.0) && !users[&UserId(8)].mentioned.contains(NEW.0));
        assert!(users.readers_near(&only(NEW)).is_empty() && users.flagged_near(&only(NEW)).is_empty());
        assert_eq!(users.len(), 1_000);
        users.remove_messages(&only(OLD), &RoaringBitmap::new());
        assert!(users.is_empty() && users.readers.0.is_empty() && users.flagged.0.is_empty());
    }

    #[test]
    fn flags_are_taken_from_one_user() {
        let mut users = thousand();
        assert_eq!(users.take(UserId(3), Flag::Starred, &only(OLD)), only(OLD));
        assert!(users.take(UserId(3), Flag::Starred, &only(OLD)).is_empty());
        assert!(users.take(UserId(3), Flag::ChannelWildcardMentioned, &only(OLD)).is_empty());
        assert!(!users.change(UserId(2_000), Flag::ChannelWildcardMentioned, FlagOp::Add, &only(OLD)));
        assert!(users.change(UserId(3), Flag::Read, FlagOp::Remove, &only(OLD)));
        users.remove_if_empty(UserId(3));
        users.remove_if_empty(UserId(4));
        assert_eq!((users.contains_key(&UserId(3)), users.len()), (false, 999));
    }
}
