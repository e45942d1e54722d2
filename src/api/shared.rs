//! Encoded parts of large lists that are the same for many readers: encoded once for each state of the directory, and
//! spliced into the responses that need them.
//!
//! Users: one list for all unrestricted users of a role (and one for readers without an account), in which the reader's
//! own entry is replaced, because users see more of themselves; restricted guests and bots get lists of their own.
//! Channels: the fields that do not depend on the reader, channel by channel; which channels and lists of subscribers a
//! reader may see is decided for each response. Groups: one list for all readers with an account. Statuses: one list for all who see
//! all users. A list is reused only while everything that it was made from is unchanged.

mod channels;
mod groups;
mod people;
mod source;
mod statuses;
mod subscribers;

pub use channels::EncodedChannels;
pub use groups::ListedGroups;
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
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::wire::user::UserForm;

/// Maximum bytes of shared lists of users; beyond it, the least recently used are dropped.
const PEOPLE_BYTES_MAX: usize = 48 << 20;
/// Maximum bytes of all that is kept; beyond it, what was used least recently is dropped every few seconds.
const BYTES_MAX: usize = 256 << 20;
/// Time after which unused lists are dropped.
const UNUSED_MAX: Duration = Duration::from_secs(60);

/// The shared parts of all organizations.
pub struct SharedJson {
    state: Mutex<State>,
    bytes: Gauge,
    made: Counter,
    used: Counter,
}

#[derive(Default)]
struct State {
    people: HashMap<(RealmId, PeopleKey), Used<SharedPeople>>,
    channels: HashMap<RealmId, Used<Mutex<ChannelParts>>>,
    groups: HashMap<(RealmId, ListedGroups), Used<SharedGroups>>,
    statuses: HashMap<RealmId, Used<SharedStatuses>>,
}

/// A shared list, and the time of its last use.
struct Used<T> {
    shared: Arc<T>,
    at: Instant,
}

impl<T> Used<T> {
    fn now(shared: Arc<T>) -> Self {
        Self { shared, at: Instant::now() }
    }

    fn again(&mut self) -> Arc<T> {
        self.at = Instant::now();
        self.shared.clone()
    }
}

impl Default for SharedJson {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            bytes: gauge!("millstream_shared_answer_bytes"),
            made: counter!("millstream_shared_lists_total", "how" => "made"),
            used: counter!("millstream_shared_lists_total", "how" => "reused"),
        }
    }
}

impl SharedJson {
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
        let key = (directory.realm().id, key);
        let known = self.state.lock().people.get_mut(&key).map(Used::again);
        if let Some(known) = known.filter(|known| known.is_of(directory)) {
            self.used.increment(1);
            return Some(known);
        }
        let made = Arc::new(SharedPeople::new(directory, reader, form, listed));
        self.made.increment(1);
        let mut state = self.state.lock();
        state.people.insert(key, Used::now(made.clone()));
        state.make_room();
        self.bytes.set(state.bytes() as f64);
        Some(made)
    }

    /// A list of groups.
    pub fn groups(&self, directory: &Directory, listed: ListedGroups) -> Bytes {
        let key = (directory.realm().id, listed);
        let known = self.state.lock().groups.get_mut(&key).map(Used::again);
        if let Some(known) = known.filter(|known| known.is_of(directory)) {
            self.used.increment(1);
            return known.json.clone();
        }
        let made = Arc::new(SharedGroups::new(directory, listed));
        self.made.increment(1);
        let mut state = self.state.lock();
        state.groups.insert(key, Used::now(made.clone()));
        self.bytes.set(state.bytes() as f64);
        made.json.clone()
    }

    /// The statuses of all active users who have one, by id, for readers who see all users.
    pub fn statuses(&self, directory: &Directory) -> Bytes {
        let id = directory.realm().id;
        let known = self.state.lock().statuses.get_mut(&id).map(Used::again);
        if let Some(known) = known.filter(|known| known.is_of(directory)) {
            self.used.increment(1);
            return known.json.clone();
        }
        let made = Arc::new(SharedStatuses::new(directory));
        self.made.increment(1);
        let mut state = self.state.lock();
        state.statuses.insert(id, Used::now(made.clone()));
        self.bytes.set(state.bytes() as f64);
        made.json.clone()
    }

    /// The channels of an organization, encoded on demand.
    pub fn channels(&self, directory: &Directory) -> ChannelSource {
        let parts = {
            let mut state = self.state.lock();
            let parts = state.channels.entry(directory.realm().id);
            parts.or_insert_with(|| Used::now(Arc::default())).again()
        };
        ChannelSource::new(parts, directory)
    }

    /// Drops unused lists. Call it every few seconds.
    pub fn forget_unused(&self) {
        let mut state = self.state.lock();
        state.keep(|at| at.elapsed() < UNUSED_MAX);
        state.make_room_to(BYTES_MAX);
        self.bytes.set(state.bytes() as f64);
    }
}

impl State {
    fn people_bytes(&self) -> usize {
        self.people.values().map(|used| used.shared.bytes()).sum()
    }

    fn bytes(&self) -> usize {
        let channels = self.channels.values().map(|used| used.shared.lock().bytes()).sum::<usize>();
        let groups = self.groups.values().map(|used| used.shared.json.len()).sum::<usize>();
        let statuses = self.statuses.values().map(|used| used.shared.json.len()).sum::<usize>();
        self.people_bytes() + channels + groups + statuses
    }

    /// Drops what was used last at a time that is not to be kept.
    fn keep(&mut self, is_kept: impl Fn(Instant) -> bool) {
        self.people.retain(|_, used| is_kept(used.at));
        self.channels.retain(|_, used| is_kept(used.at));
        self.groups.retain(|_, used| is_kept(used.at));
        self.statuses.retain(|_, used| is_kept(used.at));
    }

    /// Drops what was used least recently until the rest fits.
    fn make_room_to(&mut self, bytes_max: usize) {
        while self.bytes() > bytes_max {
            let people = self.people.values().map(|used| used.at);
            let channels = self.channels.values().map(|used| used.at);
            let groups = self.groups.values().map(|used| used.at);
            let times =
                people.chain(channels).chain(groups).chain(self.statuses.values().map(|used| used.at));
            let Some(oldest) = times.min() else { break };
            self.keep(|at| at > oldest);
        }
    }

    fn make_room(&mut self) {
        while self.people_bytes() > PEOPLE_BYTES_MAX {
            let oldest = self.people.iter().min_by_key(|(_, used)| used.at).map(|(key, _)| *key);
            let Some(oldest) = oldest else { break };
            self.people.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests;
