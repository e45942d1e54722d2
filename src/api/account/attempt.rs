//! One attempt to prove who somebody is by a password, as far as failures are counted.
//!
//! Failures count for the account, however it is named, and the address they come from; all addresses together have a
//! larger bound, which does not count for addresses that the account is used from. So guessing stays slow from any number
//! of addresses, and does not lock the owner out.

use crate::http::address::Network;
use crate::http::{ApiError, App, Caller};
use crate::rate_limit::{Bucket, RateLimitStatus, RateLimited};
use actors::{DomainError, RealmHandle};
use model::{RealmId, User, UserId};
use std::net::IpAddr;

/// Who somebody claims to be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Claim {
    /// An account.
    Account(RealmId, UserId),
    /// A name that no account has: counted all the same, so that limits do not tell which names there are.
    Name(RealmId, String),
}

impl Claim {
    /// The account of an address, real or made up, in any spelling; of another organization where this one has none.
    fn of(app: &App, realm: &RealmHandle, name: &str) -> Self {
        let name = name.trim().to_lowercase();
        if let Some(claim) = Self::in_realm(realm, &name) {
            return claim;
        }
        let mut others = app.server.realms().into_iter().filter(|other| other.id() != realm.id());
        others.find_map(|other| Self::in_realm(&other, &name)).unwrap_or_else(|| Self::Name(realm.id(), name))
    }

    fn in_realm(realm: &RealmHandle, name: &str) -> Option<Self> {
        let directory = realm.directory();
        let made_up = || {
            let number = name.strip_prefix("user")?.split_once('@')?.0;
            let user = directory.user(UserId(number.parse().ok()?))?;
            directory.made_up_email(user.id).eq_ignore_ascii_case(name).then_some(user)
        };
        let user = directory.user_by_email(name).or_else(made_up)?;
        Some(Self::Account(realm.id(), user.id))
    }
}

/// What an attempt counts for besides the address it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    /// Nothing: the account is used from this address.
    KnownAddress,
    /// Logins from all addresses that the account is not used from.
    Anywhere,
    /// Confirmations by whoever has the account's key, apart from logins: those of strangers do not count here.
    Confirmation,
}

/// An attempt that counts as a failure until its outcome is known. Dropped without one, it does not count.
pub struct Attempt<'a> {
    app: &'a App,
    claim: Claim,
    from: Network,
    scope: Scope,
    is_open: bool,
}

impl<'a> Attempt<'a> {
    /// Somebody logs in with a name.
    ///
    /// # Errors
    /// RATE_LIMIT_HIT after too many failures.
    pub fn login(
        app: &'a App,
        realm: &RealmHandle,
        name: &str,
        address: Option<IpAddr>,
    ) -> Result<Self, ApiError> {
        let (claim, from) = (Claim::of(app, realm, name), Network::from(address));
        let is_known = match &claim {
            Claim::Account(realm, user) => app.known.knows((*realm, *user), from, app.moment()),
            Claim::Name(..) => false,
        };
        let scope = if is_known { Scope::KnownAddress } else { Scope::Anywhere };
        Self::begin(app, claim, from, scope).map_err(ApiError::from)
    }

    /// Somebody who has an account's key says its password. The key makes no address trustworthy here.
    ///
    /// # Errors
    /// The seconds to wait after too many failures.
    pub fn confirmation(app: &'a App, caller: &Caller, address: Option<IpAddr>) -> Result<Self, RateLimited> {
        let claim = Claim::Account(caller.realm.id(), caller.user.id);
        Self::begin(app, claim, Network::from(address), Scope::Confirmation)
    }

    fn begin(app: &'a App, claim: Claim, from: Network, scope: Scope) -> Result<Self, RateLimited> {
        let now = app.moment();
        let own = (&claim, from);
        check(app.limits.acquire(Bucket::AuthenticateByUsername, own, now))?;
        if scope != Scope::KnownAddress {
            let all = app.limits.acquire(Bucket::AuthenticateFromAnywhere, (&claim, scope), now);
            check(all).inspect_err(|_| app.limits.refund(Bucket::AuthenticateByUsername, own))?;
        }
        Ok(Self { app, claim, from, scope, is_open: true })
    }

    /// It was wrong: it stays counted. Gives the answer.
    pub fn failed(mut self) -> ApiError {
        self.is_open = false;
        DomainError::WrongPassword.into()
    }

    /// It was right: failures from this address are forgotten, and the address is known from now on.
    pub fn succeeded(mut self, realm: &RealmHandle, user: &User) {
        self.is_open = false;
        let app = self.app;
        app.limits.clear(Bucket::AuthenticateByUsername, (&self.claim, self.from));
        self.refund_scope();
        app.known.note((realm.id(), user.id), self.from, app.moment());
    }
}

impl Attempt<'_> {
    fn refund_scope(&self) {
        if self.scope != Scope::KnownAddress {
            self.app.limits.refund(Bucket::AuthenticateFromAnywhere, (&self.claim, self.scope));
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        self.app.limits.refund(Bucket::AuthenticateByUsername, (&self.claim, self.from));
        self.refund_scope();
    }
}

fn check(rate_limit: Option<RateLimitStatus>) -> Result<(), RateLimited> {
    rate_limit.map_or(Ok(()), |status| status.check())
}
