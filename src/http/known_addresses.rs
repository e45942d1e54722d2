//! The IP addresses that each account was recently used from, which distinguish its owner from an attacker who
//! guesses passwords.
//!
//! Kept in memory only. After a restart, connected clients restore their entries within seconds.

use super::address::Network;
use crate::rate_limit::MonotonicTime;
use model::{RealmId, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// How long an address is known after its last use.
const KNOWN_FOR: Duration = Duration::from_secs(30 * 24 * 3600);
/// Maximum number of addresses of an account; the least recently used one is replaced.
const PER_ACCOUNT_MAX: usize = 16;
/// Number of parts of the table, each with its own lock.
const SHARDS: usize = 16;

type Account = (RealmId, UserId);
type Used = Vec<(Network, MonotonicTime)>;

/// The table: at most [`PER_ACCOUNT_MAX`] entries of 32 bytes for each account.
#[derive(Default)]
pub struct KnownAddresses {
    hasher: RandomState,
    shards: [Mutex<HashMap<Account, Used>>; SHARDS],
}

impl KnownAddresses {
    /// Records that an authenticated account was used from an address.
    pub fn note(&self, account: Account, from: Network, now: MonotonicTime) {
        let mut shard = self.shard(account).lock();
        let used = shard.entry(account).or_default();
        if let Some((_, at)) = used.iter_mut().find(|(network, _)| *network == from) {
            *at = now;
            return;
        }
        if used.len() >= PER_ACCOUNT_MAX
            && let Some(oldest) = (0..used.len()).min_by_key(|index| used[*index].1)
        {
            used.swap_remove(oldest);
        }
        used.push((from, now));
    }

    /// Whether an account was used from an address within the last 30 days.
    pub fn knows(&self, account: Account, from: Network, now: MonotonicTime) -> bool {
        let shard = self.shard(account).lock();
        let used = shard.get(&account).map_or(&[][..], Vec::as_slice);
        used.iter().any(|(network, at)| *network == from && now.since(*at) < KNOWN_FOR)
    }

    fn shard(&self, account: Account) -> &Mutex<HashMap<Account, Used>> {
        &self.shards[self.hasher.hash_one(account) as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::moment;
    use std::net::{IpAddr, Ipv4Addr};

    fn network(number: u32) -> Network {
        Network::from(Some(IpAddr::V4(Ipv4Addr::from_bits(number))))
    }

    #[test]
    fn addresses_are_known_for_30_days() {
        let known = KnownAddresses::default();
        let (account, other) = ((RealmId(1), UserId(7)), (RealmId(2), UserId(7)));
        let day = |days: u64| moment(days * 24 * 3600);
        known.note(account, network(1), day(0));
        assert!(known.knows(account, network(1), day(29)) && !known.knows(account, network(1), day(30)));
        assert!(!known.knows(account, network(2), day(1)) && !known.knows(other, network(1), day(1)));
        known.note(account, network(1), day(20));
        assert!(known.knows(account, network(1), day(49)));
    }

    #[test]
    fn addresses_of_an_account_are_limited() {
        let known = KnownAddresses::default();
        let account = (RealmId(1), UserId(7));
        for number in 0..100 {
            known.note(account, network(number), moment(u64::from(number)));
            known.note(account, network(0), moment(u64::from(number)));
        }
        let now = moment(100);
        let count = (0..100).filter(|number| known.knows(account, network(*number), now)).count();
        assert_eq!(count, PER_ACCOUNT_MAX);
        assert!(known.knows(account, network(0), now) && known.knows(account, network(99), now));
    }
}
