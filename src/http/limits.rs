//! Rate limits: how often one account or address may call, in a table of bounded size.
//!
//! Each rule is a bucket that drains evenly (the "generic cell rate" form): `count` calls at once, then one
//! every `window / count`. One number per rule and key is all it needs. Conventions, section 6.

use super::error::ApiError;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::time::Duration;

/// Parts of the table, each behind its own lock.
const SHARDS: usize = 16;
/// Most rules one bucket may have.
pub const RULES_MAX: usize = 4;

/// What is being limited. Every bucket has its own rules and its own count for each key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Calls of an account.
    ApiByUser,
    /// Calls without credentials, by address.
    ApiByIp,
    /// Polls of an account.
    EventsByUser,
    /// Failed logins of a user name; a success clears them.
    AuthenticateByUsername,
    /// Changes of an e-mail address by an account.
    EmailChangeByUser,
    /// Password reset requests for an e-mail address.
    PasswordResetByEmail,
    /// Requests that send e-mail, by address.
    SendsEmailByIp,
}

/// At most `count` calls in `window_secs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Length of the window in seconds, at least 1.
    pub window_secs: u32,
    /// Calls that fit in one window, at least 1.
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

/// Where a key stands after a call; sent with every limited answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Calls of the longest window.
    pub limit: u32,
    /// Calls left now.
    pub remaining: u32,
    /// UNIX time, in whole seconds, when the window is full again.
    pub reset_at_secs: u64,
    /// Seconds to wait, when the call was refused.
    pub retry_after_secs: Option<f64>,
}

impl Standing {
    /// The refusal, when the call was one too many (RATE_LIMIT_HIT).
    pub fn check(&self) -> Result<(), ApiError> {
        self.retry_after_secs.map_or(Ok(()), |wait| Err(ApiError::rate_limited(wait)))
    }

    /// Adds the `X-RateLimit-*` headers.
    pub fn write_headers(&self, headers: &mut HeaderMap) {
        const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
        const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
        const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(self.reset_at_secs));
    }
}

/// The rules of every bucket. An empty list does not limit.
#[derive(Clone, Debug, Default)]
pub struct Rules(Vec<(Bucket, Vec<Rule>)>);

impl Rules {
    /// Sets the rules of one bucket; the longest window comes first, whatever the order given.
    ///
    /// Rules past [`RULES_MAX`] or with a zero in them are refused by the configuration before they get here.
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

/// When each rule's bucket will have drained, in nanoseconds since 1970.
type Drained = [u64; RULES_MAX];

/// The limiter. `None` in every answer means: not limited.
pub struct Limits {
    rules: Rules,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
    shard_keys_max: usize,
}

#[derive(Default)]
struct Shard {
    drained: HashMap<u64, Drained>,
    /// Everything that found no room shares this entry, so memory stays bounded and strangers stay limited.
    overflow: HashMap<Bucket, Drained>,
    /// No sweep before this time, in nanoseconds since 1970.
    sweep_after: u64,
}

impl Limits {
    /// A limiter for about `keys_max` accounts and addresses; each takes some 60 bytes.
    pub fn new(rules: Rules, keys_max: usize) -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Self { rules, hasher: RandomState::new(), shards, shard_keys_max: (keys_max / SHARDS).max(1) }
    }

    /// A limiter that limits nothing, for development.
    pub fn off() -> Self {
        Self::new(Rules::default(), 0)
    }

    /// Counts one call, if it fits every rule. `now` is the time since 1970.
    pub fn spend(&self, bucket: Bucket, key: impl Hash, now: Duration) -> Option<Standing> {
        self.look(bucket, key, now, true)
    }

    /// Says where a key stands without counting: for buckets that count failures only.
    pub fn peek(&self, bucket: Bucket, key: impl Hash, now: Duration) -> Option<Standing> {
        self.look(bucket, key, now, false)
    }

    /// Forgets a key: after a successful login.
    pub fn clear(&self, bucket: Bucket, key: impl Hash) {
        let (hash, shard) = self.shard_of(bucket, key);
        shard.lock().drained.remove(&hash);
    }

    fn look(&self, bucket: Bucket, key: impl Hash, now: Duration, spend: bool) -> Option<Standing> {
        let rules = self.rules.of(bucket);
        if rules.is_empty() {
            return None;
        }
        let now = u64::try_from(now.as_nanos()).unwrap_or(u64::MAX);
        let (hash, shard) = self.shard_of(bucket, key);
        let mut shard = shard.lock();
        let drained = shard.entry(hash, bucket, now, self.shard_keys_max);
        Some(decide(rules, drained, now, spend))
    }

    fn shard_of(&self, bucket: Bucket, key: impl Hash) -> (u64, &Mutex<Shard>) {
        let hash = self.hasher.hash_one((bucket, key));
        (hash, &self.shards[hash as usize % SHARDS])
    }

    #[cfg(test)]
    fn keys(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().drained.len()).sum()
    }
}

impl Shard {
    fn entry(&mut self, hash: u64, bucket: Bucket, now: u64, keys_max: usize) -> &mut Drained {
        if self.drained.len() >= keys_max && !self.drained.contains_key(&hash) {
            if now >= self.sweep_after {
                // A drained key is the same as an unknown one.
                self.drained.retain(|_, times| times.iter().any(|time| *time > now));
                self.sweep_after = now + 1_000_000_000;
            }
            if self.drained.len() >= keys_max {
                return self.overflow.entry(bucket).or_default();
            }
        }
        self.drained.entry(hash).or_default()
    }
}

fn decide(rules: &[Rule], drained: &mut Drained, now: u64, spend: bool) -> Standing {
    let mut wait_nanos = 0;
    for (rule, time) in rules.iter().zip(drained.iter()) {
        let after = (*time).max(now) + rule.step_nanos();
        wait_nanos = wait_nanos.max(after.saturating_sub(now + rule.window_nanos()));
    }
    if spend && wait_nanos == 0 {
        for (rule, time) in rules.iter().zip(drained.iter_mut()) {
            *time = (*time).max(now) + rule.step_nanos();
        }
    }
    let longest = rules[0];
    let level = drained[0].max(now) - now;
    let free = longest.window_nanos().saturating_sub(level) / longest.step_nanos();
    Standing {
        limit: longest.count,
        remaining: if wait_nanos > 0 { 0 } else { u32::try_from(free).unwrap_or(u32::MAX) },
        reset_at_secs: drained[0].max(now).div_ceil(1_000_000_000),
        retry_after_secs: (wait_nanos > 0).then(|| wait_nanos as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(1_800_000_000);

    fn limits(rules: &[(u32, u32)], keys_max: usize) -> Limits {
        let rules =
            rules.iter().map(|(window_secs, count)| Rule { window_secs: *window_secs, count: *count });
        Limits::new(Rules::default().with(Bucket::ApiByUser, rules.collect()), keys_max)
    }

    #[test]
    fn a_window_holds_its_count_and_then_refuses() {
        let limits = limits(&[(60, 3)], 100);
        for remaining in [2, 1, 0] {
            let standing = limits.spend(Bucket::ApiByUser, 7, NOW).unwrap();
            assert_eq!((standing.limit, standing.remaining, standing.retry_after_secs), (3, remaining, None));
            assert!(standing.check().is_ok());
        }
        let refused = limits.spend(Bucket::ApiByUser, 7, NOW).unwrap();
        assert_eq!((refused.remaining, refused.retry_after_secs), (0, Some(20.0)));
        assert_eq!(refused.reset_at_secs, 1_800_000_060);
        assert_eq!(refused.check().unwrap_err(), ApiError::rate_limited(20.0));
        // Somebody else, and another bucket, are not concerned.
        assert!(limits.spend(Bucket::ApiByUser, 8, NOW).unwrap().check().is_ok());
        assert!(limits.spend(Bucket::EventsByUser, 7, NOW).is_none());
        // After the wait it is one call again, not three.
        let later = NOW + Duration::from_secs(20);
        assert!(limits.spend(Bucket::ApiByUser, 7, later).unwrap().check().is_ok());
        assert!(limits.spend(Bucket::ApiByUser, 7, later).unwrap().check().is_err());
    }

    #[test]
    fn every_rule_of_a_bucket_must_be_satisfied() {
        let limits = limits(&[(3600, 2), (86400, 3)], 100);
        let spend = |hours: u64| {
            let now = NOW + Duration::from_secs(hours * 3600);
            limits.spend(Bucket::ApiByUser, "a@b", now).unwrap()
        };
        assert_eq!(spend(0).limit, 3);
        assert!(spend(0).check().is_ok());
        assert!(spend(0).check().is_err(), "two an hour");
        assert!(spend(1).check().is_ok());
        assert!(spend(2).check().is_err(), "three a day");
        assert!(spend(8).check().is_ok());
    }

    #[test]
    fn failures_are_peeked_at_counted_and_cleared() {
        let limits = limits(&[(1800, 2)], 100);
        for _ in 0..5 {
            assert_eq!(limits.peek(Bucket::ApiByUser, "iago", NOW).unwrap().remaining, 2);
        }
        limits.spend(Bucket::ApiByUser, "iago", NOW);
        limits.spend(Bucket::ApiByUser, "iago", NOW);
        assert!(limits.peek(Bucket::ApiByUser, "iago", NOW).unwrap().check().is_err());
        limits.clear(Bucket::ApiByUser, "iago");
        assert!(limits.peek(Bucket::ApiByUser, "iago", NOW).unwrap().check().is_ok());
    }

    #[test]
    fn memory_stays_bounded_and_strangers_stay_limited() {
        let limits = limits(&[(60, 2)], 160);
        let mut refused = 0;
        for key in 0..10_000 {
            refused += u32::from(limits.spend(Bucket::ApiByUser, key, NOW).unwrap().check().is_err());
        }
        assert!(limits.keys() <= 160, "{}", limits.keys());
        assert!(refused > 9_000, "{refused}");
        // Once the old ones have drained there is room again.
        let later = NOW + Duration::from_secs(120);
        assert!(limits.spend(Bucket::ApiByUser, 20_000, later).unwrap().check().is_ok());
        assert!(limits.keys() <= 160);
    }

    #[test]
    fn off_means_off() {
        assert!(Limits::off().spend(Bucket::ApiByUser, 1, NOW).is_none());
    }

    #[test]
    fn headers_say_where_one_stands() {
        let mut headers = HeaderMap::new();
        limits(&[(60, 3)], 10).spend(Bucket::ApiByUser, 1, NOW).unwrap().write_headers(&mut headers);
        let value = |name| headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(value("X-RateLimit-Limit"), "3");
        assert_eq!(value("X-RateLimit-Remaining"), "2");
        assert_eq!(value("X-RateLimit-Reset"), "1800000020");
    }
}
