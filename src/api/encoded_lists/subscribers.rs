//! Shared lists of subscribers: of each channel one list of all, and one of those whom clients need at once.

use super::version::{UncachedBytes, Version};
use crate::api::wire::json::push_value;
use bytes::Bytes;
use model::{ChannelId, Directory, UserId};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum bytes of kept lists of subscribers of an organization.
const SUBSCRIBER_BYTES_MAX: usize = 16 << 20;

/// The encoded lists of one organization.
pub(super) struct SubscriberLists {
    /// The directory that all of them are of; none at first.
    directory: Option<Directory>,
    all: HashMap<ChannelId, Version>,
    /// The users of the lists in `some`.
    prominent: Arc<[UserId]>,
    some: HashMap<ChannelId, SomeSubscribers>,
    bytes: usize,
    uncached: UncachedBytes,
}

/// Those of some users who are subscribed to a channel, for an answer.
#[derive(Clone, Debug, Default)]
pub struct Prominent {
    pub ids: Arc<[UserId]>,
    pub json: Bytes,
}

/// The subscribers among the prominent users, as the cache has them.
struct SomeSubscribers {
    ids: Arc<[UserId]>,
    json: Version,
}

impl SomeSubscribers {
    fn bytes(&self) -> usize {
        size_of_val(&*self.ids) + self.json.json().len()
    }

    fn for_answer(&self) -> Prominent {
        Prominent { ids: self.ids.clone(), json: self.json.json().clone() }
    }
}

impl SubscriberLists {
    /// Nothing is encoded yet.
    pub fn new(uncached: &UncachedBytes) -> Self {
        Self {
            directory: None,
            all: HashMap::new(),
            prominent: Arc::default(),
            some: HashMap::new(),
            bytes: 0,
            uncached: uncached.clone(),
        }
    }

    /// Their memory in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops what differs in this directory.
    pub fn update_to(&mut self, directory: &Directory) {
        match &self.directory {
            Some(known) if is_same(known, directory) => return,
            // Who is subscribed, and whether the account is active, decides; in most channels nothing has changed.
            Some(known) if known.has_same_people_as(directory) => {
                let stays = |channel: &ChannelId| known.has_same_subscribers_as(directory, *channel);
                self.all.retain(|channel, _| stays(channel));
                self.some.retain(|channel, _| stays(channel));
            }
            Some(_) | None => {
                self.all.clear();
                self.some.clear();
            }
        }
        self.count();
        self.directory = Some(directory.clone());
    }

    fn count(&mut self) {
        let all: usize = self.all.values().map(|list| list.json().len()).sum();
        self.bytes = all + self.some.values().map(SomeSubscribers::bytes).sum::<usize>();
    }

    fn is_of(&self, directory: &Directory) -> bool {
        self.directory.as_ref().is_some_and(|known| is_same(known, directory))
    }

    /// All subscribers of a channel.
    pub fn all(&mut self, directory: &Directory, id: ChannelId) -> Bytes {
        // Another response may have updated the lists to another directory meanwhile.
        let is_current = self.is_of(directory);
        if let Some(list) = self.all.get(&id).filter(|_| is_current) {
            return list.json().clone();
        }
        let ids: Vec<UserId> = directory.subscriber_ids(id).collect();
        let list = self.encoded(&ids);
        let json = list.json().clone();
        if is_current && self.has_room(json.len()) {
            self.bytes += json.len();
            self.all.insert(id, list);
        }
        json
    }

    /// Those of `prominent` (ascending) who are subscribed to a channel.
    pub fn some(&mut self, directory: &Directory, id: ChannelId, prominent: &Arc<[UserId]>) -> Prominent {
        let is_current = self.is_of(directory);
        if is_current {
            self.choose(prominent);
        }
        if let Some(known) = self.some.get(&id).filter(|_| is_current) {
            return known.for_answer();
        }
        let is_shown = |user: &UserId| directory.is_subscribed(id, *user) && directory.is_active_user(*user);
        let ids: Arc<[UserId]> = prominent.iter().copied().filter(is_shown).collect();
        let made = SomeSubscribers { json: self.encoded(&ids), ids };
        let answer = made.for_answer();
        if is_current && self.has_room(made.bytes()) {
            self.bytes += made.bytes();
            self.some.insert(id, made);
        }
        answer
    }

    /// A list of ids.
    fn encoded(&self, ids: &[UserId]) -> Version {
        let mut json = Vec::new();
        push_value(&mut json, ids);
        self.uncached.version(json)
    }

    /// Takes these users for the lists of some, which are dropped if they were of others.
    fn choose(&mut self, prominent: &Arc<[UserId]>) {
        if Arc::ptr_eq(&self.prominent, prominent) {
            return;
        }
        if self.prominent != *prominent {
            self.some.clear();
            self.count();
        }
        self.prominent = prominent.clone();
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.bytes + bytes <= SUBSCRIBER_BYTES_MAX
    }
}

/// Whether all lists of both directories are the same.
fn is_same(known: &Directory, directory: &Directory) -> bool {
    known.has_same_people_as(directory) && known.has_same_subscriptions_as(directory)
}
