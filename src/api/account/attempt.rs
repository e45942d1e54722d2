//! Rate limits of password attempts.
//!
//! Failures count per account and client address. Only the real address logs in and counts for the account: if others did, too,
//! they would reveal whose an address is. All addresses together have a larger bound, which
//! does not apply to addresses that the account is used from: guessing is slow from any number of addresses, and does
//! not lock the owner out.

use crate::http::address::Network;
use crate::http::{ApiError, App, Caller};
use crate::rate_limit::{Bucket, RateLimitStatus, RateLimited};
use actors::{DomainError, RealmHandle};
use model::{RealmId, User, UserId};
use std::net::IpAddr;

/// The account that an attempt is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Claim {
    Account(RealmId, UserId),
    /// A name without an account: counted too, so that the limits do not reveal which names exist.
    Name(RealmId, String),
}

impl Claim {
    /// The account of a real e-mail address, in upper or lower case; of another organization if this one has none.
    fn of(app: &App, realm: &RealmHandle, name: &str) -> Self {
        let name = name.trim().to_lowercase();
        if let Some(claim) = Self::in_realm(realm, &name) {
            return claim;
        }
        let other = app.server.other_realm_of(&name, realm.id());
        other.and_then(|other| Self::in_realm(&other, &name)).unwrap_or_else(|| Self::Name(realm.id(), name))
    }

    fn in_realm(realm: &RealmHandle, name: &str) -> Option<Self> {
        let directory = realm.directory();
        Some(Self::Account(realm.id(), directory.user_by_delivery_email(name)?.id))
    }
}

/// The second limit of an attempt, besides that of account and client address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    /// None: the account is used from this address.
    KnownAddress,
    /// Logins from all other addresses together.
    Anywhere,
    /// Confirmations by callers with the account's API key. Failed logins of others do not count here.
    Confirmation,
}

/// An attempt that counts as a failure until its outcome is known. An attempt that is dropped does not count.
pub struct Attempt<'a> {
    app: &'a App,
    claim: Claim,
    from: Network,
    scope: Scope,
    is_open: bool,
}

impl<'a> Attempt<'a> {
    /// A login by name.
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

    /// A password check for a caller with the account's API key; known addresses get no higher limit.
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

    /// The password was wrong: the attempt stays counted. Returns the error for the client.
    pub fn failed(mut self) -> ApiError {
        self.is_open = false;
        DomainError::WrongPassword.into()
    }

    /// The password was right: resets the failures from this address, and remembers the address as known.
    pub fn succeeded(mut self, realm: &RealmHandle, user: &User) {
        self.is_open = false;
        let app = self.app;
        app.limits.clear(Bucket::AuthenticateByUsername, (&self.claim, self.from));
        self.refund_scope();
        app.known.note((realm.id(), user.id), self.from, app.moment());
    }

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
