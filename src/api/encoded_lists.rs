//! Encoded parts of large lists that are the same for many readers: encoded once for each state of the directory, and
//! spliced into the responses that need them.
//!
//! Users: one list for all unrestricted users of a role (and one for readers without an account), in which the reader's
//! own entry is replaced, because users see more of themselves; restricted guests and bots get lists of their own.
//! Channels: the fields that do not depend on the reader, channel by channel; which channels and lists of subscribers a
//! reader may see is decided for each response. Groups: one list for all readers with an account. Statuses: one list for all who see
//! all users. Of a requester with many channels, what a registration says of them is kept for the next one. A list is reused only
//! while everything that it was made from is unchanged; answers that are still being sent keep the one that they began with, and
//! together they keep a bounded number of bytes without being charged for them.

mod channels;
mod groups;
mod own_channels;
mod people;
mod source;
mod statuses;
mod subscribers;
mod version;

pub use channels::EncodedChannels;
pub use groups::ListedGroups;
pub use own_channels::{OwnChannels, OwnChannelsKey, OwnChannelsOf};
pub use people::{Listed, SharedPeople};
pub use source::ChannelSource;

use bytes::Bytes;
use groups::SharedGroups;
use metrics::{Counter, Gauge, counter, gauge};
use model::{Directory, RealmId, User};
use parking_lot::Mutex;
use people::PeopleKey;
use source::ChannelParts;
use statuses::SharedStatuses;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::{Duration, Instant};
use version::UncachedBytes;

use super::wire::user::UserForm;
use crate::http::Envelope;

/// Maximum bytes of shared lists of users; beyond it, the least recently used are dropped.
const PEOPLE_BYTES_MAX: usize = 48 << 20;
/// Maximum bytes of lists of own channels; beyond it, the least recently used are dropped.
const OWN_CHANNELS_BYTES_MAX: usize = 32 << 20;
/// Maximum bytes of all that is kept; beyond it, what was used least recently is dropped every few seconds.
const BYTES_MAX: usize = 256 << 20;
/// Maximum bytes of lists that no cache has, or has any more, and that answers keep until they are read, without being charged to
/// those who asked. What the caches have may be added to them at any time, because a change makes it old.
const UNCACHED_BYTES_MAX: usize = 128 << 20;
/// Time after which unused lists are dropped.
const UNUSED_MAX: Duration = Duration::from_secs(60);

/// The shared parts of all organizations.
pub struct EncodedLists {
    state: Mutex<State>,
    uncached: UncachedBytes,
    uncached_bytes_max: usize,
    own_channels_bytes_min: usize,
    bytes: Gauge,
    uncached_gauge: Gauge,
    made: Counter,
    used: Counter,
}

#[derive(Default)]
struct State {
    people: HashMap<(RealmId, PeopleKey), CacheEntry<SharedPeople>>,
    channels: HashMap<RealmId, CacheEntry<Mutex<ChannelParts>>>,
    groups: HashMap<(RealmId, ListedGroups), CacheEntry<SharedGroups>>,
    statuses: HashMap<RealmId, CacheEntry<SharedStatuses>>,
    own_channels: HashMap<(RealmId, OwnChannelsKey), CacheEntry<OwnChannels>>,
}

/// A shared list, and the time of its last use.
struct CacheEntry<T> {
    shared: Arc<T>,
    used_at: Instant,
}

impl<T> CacheEntry<T> {
    fn new(shared: Arc<T>) -> Self {
        Self { shared, used_at: Instant::now() }
    }

    /// The list, which is used now.
    fn touch(&mut self) -> Arc<T> {
        self.used_at = Instant::now();
        self.shared.clone()
    }
}

impl Default for EncodedLists {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            uncached: UncachedBytes::default(),
            uncached_bytes_max: UNCACHED_BYTES_MAX,
            own_channels_bytes_min: own_channels::KEPT_BYTES_MIN,
            bytes: gauge!("millstream_shared_answer_bytes"),
            uncached_gauge: gauge!("millstream_shared_answer_uncached_bytes"),
            made: counter!("millstream_shared_lists_total", "how" => "made"),
            used: counter!("millstream_shared_lists_total", "how" => "reused"),
        }
    }
}

impl EncodedLists {
    /// Keeps lists of own channels of any size, for tests with few channels.
    #[cfg(test)]
    pub fn keeping_small() -> Self {
        Self { own_channels_bytes_min: 0, ..Self::default() }
    }

    /// An envelope for shared parts; `bytes` is the expected size of what it has besides them. Its requester is charged for them
    /// only while answers keep too many bytes of lists that no cache has.
    pub fn envelope(&self, bytes: usize) -> Envelope {
        let envelope = Envelope::with_capacity(bytes);
        let is_over = self.uncached.get() > self.uncached_bytes_max;
        if is_over { envelope.counting_spliced() } else { envelope }
    }

    /// The list of users that a reader (none: without an account) shares with others; none for readers who need a list
    /// of their own. Encodes all users if the directory has changed: not for HTTP threads.
    pub fn people(
        &self,
        directory: &Directory,
        reader: Option<&User>,
        form: UserForm,
        listed: Listed,
    ) -> Option<Arc<SharedPeople>> {
        let key = PeopleKey::of(directory, reader, form, listed)?;
        Some(self.cached(
            |state| &mut state.people,
            (directory.realm().id, key),
            |list| list.is_of(directory),
            || SharedPeople::new(directory, reader, form, listed, &self.uncached),
        ))
    }

    /// A list of groups.
    pub fn groups(&self, directory: &Directory, listed: ListedGroups) -> Bytes {
        let list = self.cached(
            |state| &mut state.groups,
            (directory.realm().id, listed),
            |list| list.is_of(directory),
            || SharedGroups::new(directory, listed, &self.uncached),
        );
        list.json.json().clone()
    }

    /// The statuses of all active users who have one, by id, for readers who see all users.
    pub fn statuses(&self, directory: &Directory) -> Bytes {
        let list = self.cached(
            |state| &mut state.statuses,
            directory.realm().id,
            |list| list.is_of(directory),
            || SharedStatuses::new(directory, &self.uncached),
        );
        list.json.json().clone()
    }

    /// What a registration says of its requester's channels: the lists of an earlier one, or those that `write` returns with the places
    /// of the shown channels.
    pub fn own_channels<E>(
        &self,
        key: OwnChannelsKey,
        of: &OwnChannelsOf<'_>,
        write: impl FnOnce() -> Result<(Envelope, Vec<usize>), E>,
    ) -> Result<Arc<OwnChannels>, E> {
        let key = (of.directory.realm().id, key);
        let known = self.state.lock().own_channels.get_mut(&key).map(CacheEntry::touch);
        if let Some(known) = known.filter(|known| known.is_of(of)) {
            self.used.increment(1);
            return Ok(known);
        }
        let made = OwnChannels::new(of, write()?, (&self.uncached, self.own_channels_bytes_min));
        let made = Arc::new(made);
        let mut state = self.state.lock();
        if made.is_kept() {
            self.made.increment(1);
            state.own_channels.insert(key, CacheEntry::new(made.clone()));
            evict_lists_of_users(&mut state.own_channels, OwnChannels::bytes, OWN_CHANNELS_BYTES_MAX);
            self.bytes.set(state.bytes() as f64);
        } else {
            state.own_channels.remove(&key);
        }
        Ok(made)
    }

    /// The list with a key in one of the maps, or the one that `make` encodes in its place if that is missing or not current.
    fn cached<K: Eq + Hash, T>(
        &self,
        map: impl Fn(&mut State) -> &mut HashMap<K, CacheEntry<T>>,
        key: K,
        is_current: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Arc<T> {
        let known = {
            let mut state = self.state.lock();
            map(&mut state).get_mut(&key).map(CacheEntry::touch)
        };
        if let Some(known) = known.filter(|known| is_current(known)) {
            self.used.increment(1);
            return known;
        }
        let made = Arc::new(make());
        self.made.increment(1);
        let mut state = self.state.lock();
        map(&mut state).insert(key, CacheEntry::new(made.clone()));
        evict_lists_of_users(&mut state.people, SharedPeople::bytes, PEOPLE_BYTES_MAX);
        self.bytes.set(state.bytes() as f64);
        made
    }

    /// The channels of an organization, encoded on demand.
    pub fn channels(&self, directory: &Directory) -> ChannelSource {
        let parts = {
            let mut state = self.state.lock();
            let entry = state.channels.entry(directory.realm().id);
            let make = || CacheEntry::new(Arc::new(Mutex::new(ChannelParts::new(&self.uncached))));
            entry.or_insert_with(make).touch()
        };
        ChannelSource::new(parts, directory)
    }

    /// Drops unused lists. Call it every few seconds.
    pub fn forget_unused(&self) {
        let mut state = self.state.lock();
        state.retain(|used_at| used_at.elapsed() < UNUSED_MAX);
        state.evict_to(BYTES_MAX);
        self.bytes.set(state.bytes() as f64);
        self.uncached_gauge.set(self.uncached.get() as f64);
    }
}

impl State {
    fn bytes(&self) -> usize {
        let channels = self.channels.values().map(|entry| entry.shared.lock().bytes()).sum::<usize>();
        let groups = self.groups.values().map(|entry| entry.shared.json.json().len()).sum::<usize>();
        let statuses = self.statuses.values().map(|entry| entry.shared.json.json().len()).sum::<usize>();
        let own_channels = self.own_channels.values().map(|entry| entry.shared.bytes()).sum::<usize>();
        let people = self.people.values().map(|entry| entry.shared.bytes()).sum::<usize>();
        people + channels + groups + statuses + own_channels
    }

    /// Keeps only the entries whose last use was at a time that is to be kept.
    fn retain(&mut self, is_kept: impl Fn(Instant) -> bool) {
        self.people.retain(|_, entry| is_kept(entry.used_at));
        self.channels.retain(|_, entry| is_kept(entry.used_at));
        self.groups.retain(|_, entry| is_kept(entry.used_at));
        self.statuses.retain(|_, entry| is_kept(entry.used_at));
        self.own_channels.retain(|_, entry| is_kept(entry.used_at));
    }

    /// Drops what was used least recently until the rest fits.
    fn evict_to(&mut self, bytes_max: usize) {
        while self.bytes() > bytes_max {
            let people = self.people.values().map(|entry| entry.used_at);
            let channels = self.channels.values().map(|entry| entry.used_at);
            let groups = self.groups.values().map(|entry| entry.used_at);
            let statuses = self.statuses.values().map(|entry| entry.used_at);
            let own_channels = self.own_channels.values().map(|entry| entry.used_at);
            let all = people.chain(channels).chain(groups).chain(statuses).chain(own_channels);
            let Some(oldest) = all.min() else { break };
            self.retain(|used_at| used_at > oldest);
        }
    }
}

/// Drops the lists of users that were used least recently until the rest fits.
fn evict_lists_of_users<K: Copy + Eq + Hash, T>(
    lists: &mut HashMap<K, CacheEntry<T>>,
    bytes: impl Fn(&T) -> usize,
    bytes_max: usize,
) {
    let mut kept: usize = lists.values().map(|entry| bytes(&entry.shared)).sum();
    while kept > bytes_max {
        let oldest = lists.iter().min_by_key(|(_, entry)| entry.used_at).map(|(key, _)| *key);
        let Some(dropped) = oldest.and_then(|oldest| lists.remove(&oldest)) else { break };
        kept -= bytes(&dropped.shared);
    }
}

#[cfg(test)]
mod tests;
