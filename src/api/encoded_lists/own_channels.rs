//! What a registration says of its requester's own channels: kept for requesters who register again, as after a reload of the app,
//! before anything that it depends on has changed.

use super::channels::{ChannelTable, EncodedChannels};
use super::version::{UncachedBytes, Version};
use crate::api::subscriptions::include_subscribers::IncludeSubscribers;
use crate::http::Envelope;
use bytes::Bytes;
use model::{Directory, UserId};
use std::sync::{Arc, Weak};

/// Shorter lists are not kept: they are encoded faster than thousands of them are looked through for the oldest.
pub(super) const KEPT_BYTES_MIN: usize = 64 << 10;
/// Shared parts up to this size are copied into the lists, which then are few parts of an answer.
const COPIED_BYTES_MAX: usize = 4 << 10;

/// The requester, and all of a request that the lists depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OwnChannelsKey {
    /// None without an account.
    pub reader: Option<UserId>,
    pub include_subscribers: IncludeSubscribers,
    pub archived_channels: bool,
    pub notification_settings_null: bool,
    /// Whether the subscriptions are requested, or only the channels that are shown.
    pub has_subscriptions: bool,
}

/// What else the lists depend on, as of one answer.
pub struct OwnChannelsOf<'a> {
    pub directory: &'a Directory,
    pub encoded: &'a EncodedChannels,
    /// Users whose subscriptions partial lists name.
    pub prominent: &'a Arc<[UserId]>,
}

/// The channels that a requester may see, and the encoded lists of them.
pub struct OwnChannels {
    directory: Directory,
    /// The table has the channels' own fields; it is not kept.
    table: Weak<ChannelTable>,
    prominent: Arc<[UserId]>,
    /// The places of the shown channels among all channels.
    pub shown: Vec<usize>,
    /// Whether they are long enough for the cache.
    is_kept: bool,
    /// The bytes of these lists alone.
    own: Version,
    /// What they share with others, each with the place in `own` at which it is inserted.
    spliced: Vec<(usize, Bytes)>,
}

impl OwnChannels {
    /// An envelope for the fields of the lists; `channels` is their number.
    pub fn envelope(of: &OwnChannelsOf<'_>, channels: usize) -> Envelope {
        let bytes_each = of.encoded.table().bytes() / of.directory.channel_count().max(1) + 400;
        Envelope::part(channels * bytes_each, COPIED_BYTES_MAX)
    }

    /// The lists that were written to an envelope as of [`Self::envelope`].
    pub(super) fn new(
        of: &OwnChannelsOf<'_>,
        (fields, shown): (Envelope, Vec<usize>),
        (uncached, kept_bytes_min): (&UncachedBytes, usize),
    ) -> Self {
        let (own, spliced) = fields.into_spliced();
        let is_kept = own.len() >= kept_bytes_min;
        let own = uncached.version(own);
        Self {
            directory: of.directory.clone(),
            table: Arc::downgrade(of.encoded.table()),
            prominent: of.prominent.clone(),
            shown,
            is_kept,
            own,
            spliced,
        }
    }

    /// Whether the lists would be the same.
    pub(super) fn is_of(&self, of: &OwnChannelsOf<'_>) -> bool {
        std::ptr::eq(self.table.as_ptr(), Arc::as_ptr(of.encoded.table()))
            && self.prominent == *of.prominent
            && self.directory.has_same_channels_as(of.directory)
    }

    /// Whether the cache keeps them.
    pub(super) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Memory that the lists take, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.own.json().len() + size_of_val(&*self.spliced) + size_of_val(&*self.shown)
    }

    /// Adds the fields to an answer, which is charged for lists that are not kept.
    pub fn add_to(&self, envelope: &mut Envelope) {
        let json = self.own.json();
        let mut from = 0;
        for (at, shared) in &self.spliced {
            self.add_own(envelope, json.slice(from..*at));
            envelope.splice(shared.clone());
            from = *at;
        }
        self.add_own(envelope, json.slice(from..));
    }

    fn add_own(&self, envelope: &mut Envelope, own: Bytes) {
        match self.is_kept {
            true => envelope.splice(own),
            false => envelope.buffer().extend_from_slice(&own),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::encoded_lists::EncodedLists;
    use crate::api::wire::fixture::{self, IAGO, VERONA};
    use model::event::ChannelSummary;
    use model::{MessageId, Subscription};
    use std::cell::Cell;

    fn summaries(directory: &Directory, weekly_traffic: u32) -> Vec<ChannelSummary> {
        let summary = |channel: &Arc<model::Channel>| ChannelSummary {
            channel: channel.clone(),
            first_message: None,
            subscriber_count: 2,
            weekly_traffic: Some(weekly_traffic),
        };
        directory.channels().map(summary).collect()
    }

    const KEY: OwnChannelsKey = OwnChannelsKey {
        reader: Some(IAGO),
        include_subscribers: IncludeSubscribers::Partial,
        archived_channels: true,
        notification_settings_null: true,
        has_subscriptions: true,
    };

    #[test]
    fn lists_are_written_again_only_after_a_change() {
        let shared = EncodedLists::default();
        let written = Cell::new(0);
        let mut directory = fixture::directory();
        let mut prominent: Arc<[UserId]> = Arc::from([IAGO]);
        let ask = |directory: &Directory, traffic, prominent: &Arc<[UserId]>, key, bytes: usize| {
            let encoded = shared.channels(directory).encode(&summaries(directory, traffic));
            let of = OwnChannelsOf { directory, encoded: &encoded, prominent };
            let write = || {
                written.set(written.get() + 1);
                let mut fields = OwnChannels::envelope(&of, 3);
                fields.open_field("a").extend_from_slice("7".repeat(bytes).as_bytes());
                fields.splice(Bytes::from("8".repeat(COPIED_BYTES_MAX)));
                fields.splice(Bytes::from("9".repeat(COPIED_BYTES_MAX + 1)));
                Ok::<_, ()>((fields, vec![0, 2]))
            };
            let own = shared.own_channels(key, &of, write).unwrap();
            assert_eq!((&*own.shown, own.spliced.len()), (&[0, 2][..], 1));
            let mut envelope = Envelope::with_capacity(0).raw_field("first", b"1");
            own.add_to(&mut envelope);
            let expected = [
                "{\"first\":1,\"a\":",
                &"7".repeat(bytes),
                &"8".repeat(COPIED_BYTES_MAX),
                &"9".repeat(COPIED_BYTES_MAX + 1),
                "}",
            ];
            assert!(envelope.into_object().concat() == expected.concat().as_bytes());
            written.get()
        };
        let large = KEPT_BYTES_MIN;
        assert_eq!(ask(&directory, 1, &prominent, KEY, large), 1);
        assert_eq!(ask(&directory, 1, &prominent, KEY, large), 1);
        // Equal, but not the same list of users.
        prominent = Arc::from([IAGO]);
        assert_eq!(ask(&directory, 1, &prominent, KEY, large), 1);
        assert_eq!(ask(&directory, 2, &prominent, KEY, large), 2, "more traffic");
        directory.put_subscription(VERONA, IAGO, Subscription::start("#76ce90".into(), MessageId(9)));
        assert_eq!(ask(&directory, 2, &prominent, KEY, large), 3, "a subscription");
        prominent = Arc::default();
        assert_eq!(ask(&directory, 2, &prominent, KEY, large), 4, "someone has left");
        let other = OwnChannelsKey { archived_channels: false, ..KEY };
        assert_eq!(ask(&directory, 2, &prominent, other, large), 5, "another client");
        assert_eq!(ask(&directory, 2, &prominent, KEY, large), 5);
        assert_eq!(ask(&directory, 2, &prominent, OwnChannelsKey { reader: None, ..KEY }, 10), 6);
        assert_eq!(
            ask(&directory, 2, &prominent, OwnChannelsKey { reader: None, ..KEY }, 10),
            7,
            "few bytes"
        );
    }
}
