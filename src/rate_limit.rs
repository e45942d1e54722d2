//! Rate limits: how often an account or IP address may call, in a table of bounded size.
//!
//! Most buckets drain evenly (the generic cell rate algorithm): `count` calls at once, then one every `window /
//! count`, with one number per rule and key. Buckets of few calls in long windows, such as failed logins, are exact:
//! they store the time of each call, so that no window ever contains more than its count.
//!
//! Time is monotonic: changes of the system clock have no effect.

use actors::Clock;
use parking_lot::{Mutex, RwLock};
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

/// Number of parts of the table, each with its own lock.
const SHARDS: usize = 16;
/// Maximum number of rules of one limit.
pub const RULES_MAX: usize = 4;
/// Largest count in a rule of an exact bucket: that many times of 8 bytes are stored for each key.
pub const EXACT_COUNT_MAX: u32 = 1000;

/// What is limited. Every bucket has its own rules and its own count for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    ApiByUser,
    ApiByIp,
    EventsByUser,
    LoginsByIp,
    /// Web pages for joining and confirming e-mail addresses, by IP address.
    JoinsByIp,
    /// Calls with missing or wrong credentials, by IP address.
    UnauthorizedByIp,
    /// Calls of paths that do not exist, by IP address.
    UnknownPathsByIp,
    PicturesByIp,
    /// Failed logins of an account from one IP address; a success clears them.
    AuthenticateByUsername,
    /// Failed logins of an account from all IP addresses that it is not used from.
    AuthenticateFromAnywhere,
    /// Changes of the e-mail address of an account.
    EmailChangeByUser,
    /// E-mails to an address of a channel, or from a user who replies to e-mails.
    MailsByAddress,
    /// Mails with links that were requested for an e-mail address, by anyone.
    ResetMailsByAddress,
    /// Such mails that were requested without a login, by IP address.
    ResetMailsByIp,
    /// Mails for new accounts, by organization.
    SignUpsByOrganization,
}

impl Bucket {
    /// Those whose key is an account.
    pub const OF_ACCOUNTS: [Self; 3] = [Self::ApiByUser, Self::EventsByUser, Self::EmailChangeByUser];

    /// Whether the time of each call is stored, so that no window contains more than its count.
    pub fn is_exact(self) -> bool {
        match self {
            Self::AuthenticateByUsername
            | Self::AuthenticateFromAnywhere
            | Self::EmailChangeByUser
            | Self::ResetMailsByAddress
            | Self::ResetMailsByIp
            | Self::SignUpsByOrganization => true,
            Self::ApiByUser
            | Self::ApiByIp
            | Self::EventsByUser
            | Self::LoginsByIp
            | Self::JoinsByIp
            | Self::UnauthorizedByIp
            | Self::UnknownPathsByIp
            | Self::PicturesByIp
            | Self::MailsByAddress => false,
        }
    }
}

/// A point in monotonic time, independent of the system clock. See [`actors::Clock::monotonic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonotonicTime(Duration);

impl MonotonicTime {
    /// The current time of a clock.
    pub fn now(clock: &dyn Clock) -> Self {
        Self(clock.monotonic())
    }

    /// The point in time that is `wait` later.
    pub fn after(self, wait: Duration) -> Self {
        Self(self.0.saturating_add(wait))
    }

    /// The time since an earlier point; zero for a later one.
    pub fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    fn nanos(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A point in time for tests, in seconds since the origin.
#[cfg(test)]
pub(crate) fn moment(secs: u64) -> MonotonicTime {
    MonotonicTime(Duration::from_secs(secs))
}

/// At most `count` calls in `window_secs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The window in seconds, at least 1.
    pub window_secs: u32,
    /// Calls allowed in the window, at least 1.
    pub count: u32,
}

impl Rule {
    fn window_nanos(self) -> u64 {
        u64::from(self.window_secs) * 1_000_000_000
    }

    fn step_nanos(self) -> u64 {
        self.window_nanos() / u64::from(self.count)
    }
}

/// The state of a key after a call; sent with every limited response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimitStatus {
    /// Calls allowed in the longest window.
    pub limit: u32,
    pub remaining: u32,
    /// Time until the window is full again.
    pub reset_in: Duration,
    /// Seconds to wait, when the call was refused.
    pub retry_after_secs: Option<f64>,
}

impl RateLimitStatus {
    /// Fails when the call was refused.
    pub fn check(&self) -> Result<(), RateLimited> {
        self.retry_after_secs.map_or(Ok(()), |retry_after_secs| Err(RateLimited { retry_after_secs }))
    }
}

/// The refusal of a call over the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimited {
    /// Seconds until a call fits again.
    pub retry_after_secs: f64,
}

/// The rules of every bucket. An empty list means no limit.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<(Bucket, Vec<Rule>)>);

impl Rules {
    /// Sets the rules of one bucket, in any order; the longest window is stored first.
    ///
    /// The configuration refuses more than [`RULES_MAX`] rules, and zeros in them, before.
    pub fn with(mut self, bucket: Bucket, mut rules: Vec<Rule>) -> Self {
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.window_secs));
        rules.truncate(RULES_MAX);
        self.0.retain(|(known, _)| *known != bucket);
        self.0.push((bucket, rules));
        self
    }

    fn of(&self, bucket: Bucket) -> &[Rule] {
        self.0.iter().find(|(known, _)| *known == bucket).map_or(&[], |(_, rules)| rules)
    }
}

/// The rate limiter. `None` in every result means that the bucket is not limited.
pub struct Limits {
    rules: RwLock<Rules>,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
    shard_keys_max: usize,
}

#[derive(Default)]
struct Shard {
    entries: HashMap<u64, Entry>,
    /// All keys that do not fit share this entry, so memory stays bounded and unknown keys stay limited.
    overflow: HashMap<Bucket, Entry>,
    /// No sweep before this time, in nanoseconds.
    sweep_after: u64,
}

/// The state of one key. Times are nanoseconds of [`MonotonicTime`].
struct Entry {
    until: u64,
    count: Count,
}

enum Count {
    /// For each rule: when the bucket will have drained.
    Even([u64; RULES_MAX]),
    /// The time of each call in the longest window, oldest first.
    Exact(VecDeque<u64>),
}

impl Entry {
    fn new(bucket: Bucket) -> Self {
        let count =
            if bucket.is_exact() { Count::Exact(VecDeque::new()) } else { Count::Even([0; RULES_MAX]) };
        Self { until: 0, count }
    }

    fn acquire(&mut self, rules: &[Rule], now: u64) -> RateLimitStatus {
        let (status, until) = match &mut self.count {
            Count::Even(drained) => acquire_evenly(rules, drained, now),
            Count::Exact(calls) => acquire_exactly(rules, calls, now),
        };
        self.until = until;
        status
    }

    fn refund(&mut self, rules: &[Rule]) {
        match &mut self.count {
            Count::Even(drained) => {
                for (rule, time) in rules.iter().zip(drained) {
                    *time = time.saturating_sub(rule.step_nanos());
                }
            }
            Count::Exact(calls) => {
                calls.pop_back();
            }
        }
    }
}

impl Limits {
    /// A limiter for about `keys_max` accounts and IP addresses; each takes some 80 bytes, and 8 more for each stored
    /// time.
    pub fn new(rules: Rules, keys_max: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self {
            rules: RwLock::new(rules),
            hasher: RandomState::new(),
            shards,
            shard_keys_max: (keys_max / SHARDS).max(1),
        }
    }

    /// Replaces the rules; the counts stay.
    pub fn set_rules(&self, rules: Rules) {
        *self.rules.write() = rules;
    }

    /// The rules of a bucket, that of the longest window first; empty if it is not limited.
    pub fn rules(&self, bucket: Bucket) -> Vec<Rule> {
        self.rules.read().of(bucket).to_vec()
    }

    /// Counts one call, if it fits every rule.
    pub fn acquire(&self, bucket: Bucket, key: impl Hash, now: MonotonicTime) -> Option<RateLimitStatus> {
        self.acquire_shared(bucket, (key, 1), now)
    }

    /// As [`Self::acquire`], for a key that others share: each rule allows as many calls as for `keys` keys.
    pub fn acquire_shared(
        &self,
        bucket: Bucket,
        (key, keys): (impl Hash, u32),
        now: MonotonicTime,
    ) -> Option<RateLimitStatus> {
        let mut rules = [Rule { window_secs: 1, count: 1 }; RULES_MAX];
        let all = self.rules.read();
        let configured = all.of(bucket);
        rules.iter_mut().zip(configured).for_each(|(rule, one)| {
            // At most one call in a nanosecond.
            *rule = Rule { count: one.count.saturating_mul(keys).min(1_000_000_000), ..*one };
        });
        let rules = rules.get(..configured.len()).filter(|rules| !rules.is_empty())?;
        let (hash, shard) = self.shard_of(bucket, key);
        let mut shard = shard.lock();
        let entry = shard.entry(hash, bucket, now.nanos(), self.shard_keys_max);
        Some(entry.acquire(rules, now.nanos()))
    }

    /// Takes back the last counted call.
    pub fn refund(&self, bucket: Bucket, key: impl Hash) {
        let (hash, shard) = self.shard_of(bucket, key);
        if let Some(entry) = shard.lock().entries.get_mut(&hash) {
            entry.refund(self.rules.read().of(bucket));
        }
    }

    /// Removes a key, as after a successful login.
    pub fn clear(&self, bucket: Bucket, key: impl Hash) {
        let (hash, shard) = self.shard_of(bucket, key);
        shard.lock().entries.remove(&hash);
    }

    fn shard_of(&self, bucket: Bucket, key: impl Hash) -> (u64, &Mutex<Shard>) {
        let hash = self.hasher.hash_one((bucket, key));
        (hash, &self.shards[hash as usize % SHARDS])
    }

    #[cfg(test)]
    fn keys(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().entries.len()).sum()
    }
}

impl Shard {
    fn entry(&mut self, hash: u64, bucket: Bucket, now: u64, keys_max: usize) -> &mut Entry {
        if self.entries.len() >= keys_max && !self.entries.contains_key(&hash) {
            if now >= self.sweep_after {
                self.entries.retain(|_, entry| entry.until > now);
                self.sweep_after = now + 1_000_000_000;
            }
            if self.entries.len() >= keys_max {
                return self.overflow.entry(bucket).or_insert_with(|| Entry::new(bucket));
            }
        }
        self.entries.entry(hash).or_insert_with(|| Entry::new(bucket))
    }
}

/// One call of an evenly draining bucket: its state, and when the entry expires.
fn acquire_evenly(rules: &[Rule], drained: &mut [u64; RULES_MAX], now: u64) -> (RateLimitStatus, u64) {
    let mut wait_nanos = 0;
    for (rule, time) in rules.iter().zip(drained.iter()) {
        let after = (*time).max(now) + rule.step_nanos();
        wait_nanos = wait_nanos.max(after.saturating_sub(now + rule.window_nanos()));
    }
    if wait_nanos == 0 {
        for (rule, time) in rules.iter().zip(drained.iter_mut()) {
            *time = (*time).max(now) + rule.step_nanos();
        }
    }
    let longest = rules[0];
    let level = drained[0].max(now) - now;
    let free = longest.window_nanos().saturating_sub(level) / longest.step_nanos();
    let status = RateLimitStatus {
        limit: longest.count,
        remaining: if wait_nanos > 0 { 0 } else { u32::try_from(free).unwrap_or(u32::MAX) },
        reset_in: Duration::from_nanos(level),
        retry_after_secs: (wait_nanos > 0).then(|| wait_nanos as f64 / 1e9),
    };
    (status, drained.iter().copied().max().unwrap_or(now))
}

/// One call of an exact bucket: it fits if each window that ends now contains less than its count.
fn acquire_exactly(rules: &[Rule], calls: &mut VecDeque<u64>, now: u64) -> (RateLimitStatus, u64) {
    let longest = rules[0];
    while calls.front().is_some_and(|time| time + longest.window_nanos() <= now) {
        calls.pop_front();
    }
    let mut wait_nanos = 0;
    for rule in rules {
        // The call that must leave this rule's window before another one fits.
        let first = calls.len().checked_sub(rule.count as usize).and_then(|index| calls.get(index));
        let leaves = first.map_or(0, |time| time + rule.window_nanos());
        wait_nanos = wait_nanos.max(leaves.saturating_sub(now));
    }
    if wait_nanos == 0 {
        calls.push_back(now);
    }
    let until = calls.back().map_or(now, |time| time + longest.window_nanos());
    let free = longest.count.saturating_sub(u32::try_from(calls.len()).unwrap_or(u32::MAX));
    let status = RateLimitStatus {
        limit: longest.count,
        remaining: if wait_nanos > 0 { 0 } else { free },
        reset_in: Duration::from_nanos(until.saturating_sub(now)),
        retry_after_secs: (wait_nanos > 0).then(|| wait_nanos as f64 / 1e9),
    };
    (status, until)
}

#[cfg(test)]
mod tests;
