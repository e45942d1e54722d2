//! What each recipient of a move can read of it. In channels with protected history that differs, and each gets only those ids.

use super::access;
use model::{ChannelId, Flags, MessageId, User, UserId};
use roaring::RoaringBitmap;
use storage::View;

/// Different lists of messages of one move. Recipients whose list would be one more get the ids of all moved messages: ids alone
/// say nothing of messages, and each list is an event of its own.
const LISTS_MAX: usize = 500;
/// Ids in all these lists.
const IDS_MAX: u64 = 1_000_000;

/// What recipients of a change can read of it.
#[derive(PartialEq)]
pub(super) struct ReadablePart {
    /// The message that the request was about or, where they cannot read it, the first moved one that they can read.
    pub target: MessageId,
    /// The changed messages; none: all of them.
    pub messages: Option<RoaringBitmap>,
    /// Whether they may know the name of the channel that the messages were in.
    pub names_origin: bool,
}

/// Messages that were moved in a channel or to it, and where they are.
pub(super) struct MovedTo {
    channel: ChannelId,
    all: RoaringBitmap,
    /// In a replay other moves may have followed.
    places: Vec<(ChannelId, RoaringBitmap)>,
    /// In a replay: messages that were deleted since.
    deleted: RoaringBitmap,
}

impl MovedTo {
    pub(super) fn of(view: &View, channel: ChannelId, all: RoaringBitmap, is_replay: bool) -> Self {
        let (places, deleted) = match is_replay {
            true => (access::split_by_channel(view, &all), &all - &view.messages.all),
            false => (vec![(channel, all.clone())], RoaringBitmap::new()),
        };
        Self { channel, all, places, deleted }
    }

    /// What a user can read of the move, with the first of it; none if nothing. `target` is the message that the request was about,
    /// if the user reads it.
    pub(super) fn readable(
        &self,
        view: &View,
        user: &User,
        target: Option<MessageId>,
    ) -> Option<(MessageId, Option<RoaringBitmap>)> {
        let mut found = access::readable_in_any(view, user, &self.places);
        let target = target.or_else(|| found.min().map(MessageId))?;
        if !found.contains(target.0) {
            found.to_mut().insert(target.0);
        }
        if !self.deleted.is_empty() && access::reads_channel(view, user, self.channel) {
            *found.to_mut() |= &self.deleted;
        }
        let is_all = found.len() == self.all.len();
        Some((target, (!is_all).then(|| found.into_owned())))
    }
}

type Recipients = Vec<(UserId, Flags)>;

/// The recipients of a change by what they can read of it.
pub(super) struct ReadableParts {
    /// The message that the request was about.
    target: MessageId,
    /// The target of those who cannot read it, for those beyond the bounds.
    other_target: Option<MessageId>,
    parts: Vec<(ReadablePart, Recipients)>,
    /// Ids in all lists.
    ids: u64,
}

impl ReadableParts {
    /// For a request about a message, without recipients yet.
    pub(super) fn new(target: MessageId) -> Self {
        Self { target, other_target: None, parts: Vec::new(), ids: 0 }
    }

    /// Adds a recipient; `flags` are its flags of a message, which becomes the target of its part.
    pub(super) fn add(&mut self, part: ReadablePart, user: UserId, flags: impl Fn(MessageId) -> Flags) {
        let recipient = (user, flags(part.target));
        if let Some((_, recipients)) = self.parts.iter_mut().find(|(known, _)| *known == part) {
            recipients.push(recipient);
            return;
        }
        let ids = part.messages.as_ref().map_or(0, RoaringBitmap::len);
        let is_within = self.parts.len() < LISTS_MAX && self.ids + ids <= IDS_MAX;
        if part.messages.is_none() || is_within {
            self.ids += ids;
            self.parts.push((part, vec![recipient]));
            return;
        }
        let is_readable = part.target == self.target;
        let target = if is_readable { self.target } else { *self.other_target.get_or_insert(part.target) };
        self.add(ReadablePart { target, messages: None, ..part }, user, flags);
    }

    pub(super) fn into_parts(self) -> Vec<(ReadablePart, Recipients)> {
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(target: u32, ids: impl IntoIterator<Item = u32>) -> ReadablePart {
        let messages = Some(ids.into_iter().collect());
        ReadablePart { target: MessageId(target), messages, names_origin: true }
    }

    fn added(parts: Vec<ReadablePart>) -> Vec<(ReadablePart, Recipients)> {
        let mut all = ReadableParts::new(MessageId(1));
        for (user, part) in (1..).zip(parts) {
            // Odd messages are read.
            all.add(part, UserId(user), |id| Flags(u8::from(id.0 % 2 == 1)));
        }
        all.into_parts()
    }

    #[test]
    fn equal_parts_have_common_recipients() {
        let all = added(vec![part(1, [1, 2]), part(2, [2]), part(1, [1, 2])]);
        let users = |index: usize| all[index].1.iter().map(|(user, _)| user.0).collect::<Vec<_>>();
        assert_eq!((all.len(), users(0), users(1)), (2, vec![1, 3], vec![2]));
    }

    #[test]
    fn lists_and_their_ids_are_bounded() {
        let many = (0..LISTS_MAX as u32 + 20).map(|first| part(1, first..first + 2)).collect();
        let found = added(many);
        assert_eq!(found.len(), LISTS_MAX + 1);
        let (rest, recipients) = found.last().unwrap();
        assert!(rest.messages.is_none() && recipients.len() == 20);
        let others = (0..LISTS_MAX as u32 + 20).map(|first| part(first + 2, [first + 2])).collect();
        let found = added(others);
        assert_eq!(found.len(), LISTS_MAX + 1);
        assert!(found.iter().all(|(part, _)| part.target != MessageId(1)), "they must not get the new text");
        for (part, recipients) in &found {
            assert!(
                recipients.iter().all(|(_, flags)| u32::from(flags.0) == part.target.0 % 2),
                "of the target"
            );
        }
        let long = added((0..4).map(|first| part(1, first..400_000)).collect());
        let lists = long.iter().filter(|(part, _)| part.messages.is_some()).count();
        assert_eq!((lists, long.len()), (2, 3));
    }
}
