//! Lists of subscribers in lists of channels: all, some for large channels, or none.

use super::include_subscribers::IncludeSubscribers;
use crate::api::encoded_lists::ChannelSource;
use crate::api::wire::channel::SubscriberLists;
use crate::api::wire::json::{push_field, push_name, push_value};
use crate::http::Envelope;
use actors::RealmHandle;
use model::event::ChannelSummary;
use model::{ChannelId, Directory, User, UserId};
use rules::permissions::channel::sees_subscribers_as;
use std::sync::Arc;

/// Channels with fewer subscribers than this always have complete lists.
const LARGE_CHANNEL_SUBSCRIBERS: u32 = 250;

/// The lists of subscribers that a reader may see.
pub struct SubscriberSource<'a> {
    directory: &'a Directory,
    reader: Option<&'a User>,
    include: IncludeSubscribers,
    /// Users whom clients need at once, besides the reader, ascending: those with a presence, who are likely to be mentioned, and bots.
    pub prominent: Arc<[UserId]>,
}

/// The lists of one channel.
#[derive(Debug, Default)]
pub struct OwnedLists {
    all: Option<Vec<UserId>>,
    partial: Option<Vec<UserId>>,
}

/// The visible part of a channel's subscribers.
enum Shown {
    NoList,
    EmptyList,
    All,
    /// Those whom clients need at once.
    Prominent,
}

impl OwnedLists {
    /// The lists as borrowed slices.
    pub fn borrowed(&self) -> SubscriberLists<'_> {
        SubscriberLists { all: self.all.as_deref(), partial: self.partial.as_deref() }
    }
}

impl<'a> SubscriberSource<'a> {
    /// The lists for a reader (none: without an account).
    pub fn new(
        realm: &RealmHandle,
        directory: &'a Directory,
        reader: Option<&'a User>,
        include: IncludeSubscribers,
    ) -> Self {
        let present = match include {
            IncludeSubscribers::Partial => realm.presences(None).0,
            IncludeSubscribers::No | IncludeSubscribers::All => Vec::new(),
        };
        Self::of_present(directory, reader, include, present.into_iter().map(|(user, _)| user))
    }

    fn of_present(
        directory: &'a Directory,
        reader: Option<&'a User>,
        include: IncludeSubscribers,
        present: impl IntoIterator<Item = UserId>,
    ) -> Self {
        let mut prominent: Vec<UserId> = present.into_iter().collect();
        if include == IncludeSubscribers::Partial {
            prominent.extend(directory.bots().map(|bot| bot.id));
            prominent.sort_unstable();
            prominent.dedup();
        }
        Self { directory, reader, include, prominent: prominent.into() }
    }

    /// The subscribers of a channel; an empty list if the reader may not see them.
    pub fn of(&self, summary: &ChannelSummary) -> OwnedLists {
        let id = summary.channel.id;
        let is_subscribed = self.reader.is_some_and(|reader| self.directory.is_subscribed(id, reader.id));
        match self.shown(summary, is_subscribed) {
            Shown::NoList => OwnedLists::default(),
            Shown::EmptyList => OwnedLists { all: Some(Vec::new()), partial: None },
            Shown::All => {
                OwnedLists { all: Some(self.directory.subscriber_ids(id).collect()), partial: None }
            }
            Shown::Prominent => OwnedLists { all: None, partial: Some(self.prominent(id, is_subscribed)) },
        }
    }

    /// Adds the list to an object that is being written; lists are shared with other readers. `is_subscribed` says whether the reader is.
    pub fn add_to(
        &self,
        envelope: &mut Envelope,
        summary: &ChannelSummary,
        is_subscribed: bool,
        channels: &ChannelSource,
    ) {
        let id = summary.channel.id;
        match self.shown(summary, is_subscribed) {
            Shown::NoList => {}
            Shown::EmptyList => push_field(envelope.buffer(), "subscribers", &[0; 0]),
            Shown::All => {
                push_name(envelope.buffer(), "subscribers");
                envelope.splice(channels.subscribers(id));
            }
            Shown::Prominent => {
                push_name(envelope.buffer(), "partial_subscribers");
                let shared = channels.prominent(id, &self.prominent);
                match self.place_of_reader(&shared.ids, is_subscribed) {
                    None => envelope.splice(shared.json),
                    Some((place, reader)) => push_value(envelope.buffer(), &with(&shared.ids, place, reader)),
                }
            }
        }
    }

    fn shown(&self, summary: &ChannelSummary, is_subscribed: bool) -> Shown {
        let (directory, channel) = (self.directory, &*summary.channel);
        let is_seen = |reader: &User| sees_subscribers_as(directory, reader, channel, is_subscribed);
        match self.include {
            IncludeSubscribers::No => Shown::NoList,
            // The same condition as for events about new subscribers, which continue this list.
            _ if !self.reader.is_some_and(is_seen) => Shown::EmptyList,
            IncludeSubscribers::Partial if summary.subscriber_count >= LARGE_CHANNEL_SUBSCRIBERS => {
                Shown::Prominent
            }
            IncludeSubscribers::All | IncludeSubscribers::Partial => Shown::All,
        }
    }

    /// A lookup for each of few users, whatever the number of subscribers.
    fn prominent(&self, channel: ChannelId, is_subscribed: bool) -> Vec<UserId> {
        let is_shown = |user: &UserId| {
            self.directory.is_subscribed(channel, *user) && self.directory.is_active_user(*user)
        };
        let ids: Vec<UserId> = self.prominent.iter().copied().filter(is_shown).collect();
        match self.place_of_reader(&ids, is_subscribed) {
            None => ids,
            Some((place, reader)) => with(&ids, place, reader),
        }
    }

    /// The reader's place in a list of prominent subscribers, if it lacks the reader.
    fn place_of_reader(&self, ids: &[UserId], is_subscribed: bool) -> Option<(usize, UserId)> {
        let reader = self.reader.filter(|reader| is_subscribed && reader.is_active)?;
        ids.binary_search(&reader.id).err().map(|place| (place, reader.id))
    }
}

/// A list with one more user.
fn with(ids: &[UserId], place: usize, user: UserId) -> Vec<UserId> {
    let mut all = ids.to_vec();
    all.insert(place.min(ids.len()), user);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::encoded_lists::EncodedLists;
    use crate::api::wire::fixture::{self, GUEST, IAGO, VERONA};
    use model::{Bot, BotKind, MessageId, Role, Subscription, Timestamp};

    #[test]
    fn prominent_subscribers_are_found_among_few_users() {
        let mut directory = fixture::directory();
        let mut add = |id: u32, is_bot: bool, is_active: bool| {
            let mut user =
                User::new(UserId(id), format!("u{id}@x.org"), format!("U{id}"), Role::Member, Timestamp(0));
            user.bot = is_bot.then_some(Bot { kind: BotKind::Generic, owner: Some(IAGO), is_system: false });
            user.is_active = is_active;
            directory.put_user(user);
        };
        (100..105).for_each(|id| add(id, false, true));
        [(200, true), (201, true), (202, false)]
            .into_iter()
            .for_each(|(id, is_active)| add(id, true, is_active));
        add(203, true, true);
        add(203, false, true);
        for id in [1, 3, 100, 101, 102, 200, 202, 203].map(UserId) {
            directory.put_subscription(VERONA, id, Subscription::start("#76ce90".into(), MessageId(0)));
        }
        let mut left = Subscription::start("#76ce90".into(), MessageId(0));
        left.end(MessageId(5));
        directory.put_subscription(VERONA, UserId(102), left);
        let reader = directory.user(GUEST).map(|user| &**user);
        // One of the present users has left, one never subscribed.
        let present = [102, 104, 101].map(UserId);
        let source = SubscriberSource::of_present(&directory, reader, IncludeSubscribers::Partial, present);
        let channel = VERONA;
        assert_eq!(source.prominent(channel, true), [3, 101, 200].map(UserId));
        assert_eq!(source.prominent(channel, false), [101, 200].map(UserId));

        // The same from the lists that readers share.
        let shared = EncodedLists::default().channels(&directory).prominent(channel, &source.prominent);
        assert_eq!((&*shared.ids, &*shared.json), (&[101, 200].map(UserId)[..], &b"[101,200]"[..]));
    }
}
