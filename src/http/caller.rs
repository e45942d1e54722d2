//! Authentication, and the role checks that precede an endpoint's own rules.
//!
//! Malformed headers are refused by `basic_auth`; `hosts` finds the organization.

use super::app::App;
use super::basic_auth::{Credentials, is_api_key};
use super::error::{ApiError, Code};
use super::reply::{HandlerResult, reply_ok};
use actix_web::http::Method;
use actors::budget::Holder;
use actors::commands::SerializedCommand;
use actors::{DomainError, RealmHandle};
use model::{BotKind, RealmId, Role, User, UserId};
use std::sync::Arc;

/// An authenticated account. Cheap to clone.
#[derive(Clone)]
pub struct Caller {
    pub realm: RealmHandle,
    pub user: Arc<User>,
}

impl Caller {
    /// The key of its rate limits.
    pub(super) fn key(&self) -> (RealmId, UserId) {
        (self.realm.id(), self.user.id)
    }

    /// The key of the rate limits that all bots of its owner share, for a bot that has one.
    pub(super) fn bots_key(&self) -> Option<BotsKey> {
        self.user.owner().map(|owner| bots_key(self.realm.id(), owner))
    }

    /// The account to which the memory and the writes of its calls are charged: those of a bot to its owner, so that bots
    /// give no one a larger share.
    pub(super) fn charged_account(&self) -> UserId {
        self.user.owner().unwrap_or(self.user.id)
    }

    /// Whose share of the memory budget its calls use.
    pub fn holder(&self) -> Holder {
        Holder::Account(self.realm.id(), self.charged_account())
    }

    /// Executes a command of the organization, and responds with the bare success.
    pub async fn execute(&self, command: impl SerializedCommand) -> HandlerResult {
        self.realm.execute(command).await?;
        reply_ok()
    }
}

/// The key of the rate limits that all bots of an owner share, different from that of any account.
pub type BotsKey = (&'static str, RealmId, UserId);

/// The key of the bots of an owner.
pub fn bots_key(realm: RealmId, owner: UserId) -> BotsKey {
    ("bots", realm, owner)
}

/// The credentials of a request: well-formed, and not checked yet.
pub enum ClientCredentials {
    /// An API key with the address of its account.
    AddressAndKey(Credentials),
    /// An API key alone, in a URL.
    Key(String),
}

impl ClientCredentials {
    /// The API key of a URL.
    pub fn key(api_key: &str) -> Result<Self, ApiError> {
        let api_key = api_key.trim();
        if !is_api_key(api_key) {
            return Err(ApiError::new(Code::INVALID_API_KEY, "Malformed API key"));
        }
        Ok(Self::Key(api_key.to_owned()))
    }

    /// The account in the organization of the request; none if that does not know the key.
    pub fn caller(&self, realm: Option<&RealmHandle>) -> Result<Option<Caller>, ApiError> {
        let Some(realm) = realm else { return Ok(None) };
        let found = match self {
            Self::AddressAndKey(credentials) => {
                realm.authenticate(credentials.address(), credentials.api_key())
            }
            Self::Key(api_key) => realm.authenticate_key(api_key),
        };
        match found {
            Ok(user) => Ok(Some(Caller { realm: realm.clone(), user })),
            Err(DomainError::InvalidApiKey) => Ok(None),
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// The refusal of a key that the organization of the request does not know: one that is valid in another organization
    /// gets an error of its own. All organizations are searched, so the call must have been counted before.
    pub fn refusal(&self, app: &App) -> ApiError {
        let of_other_realm = || ApiError::bad_request("Account is not associated with this subdomain");
        match self {
            Self::AddressAndKey(credentials) => {
                match app.server.authenticate(credentials.address(), credentials.api_key()) {
                    Ok(Some(_)) => of_other_realm(),
                    Ok(None) => DomainError::InvalidApiKey.into(),
                    Err(refusal) => refusal.into(),
                }
            }
            Self::Key(api_key) if app.server.knows_key(api_key) => of_other_realm(),
            Self::Key(_) => ApiError::new(Code::INVALID_API_KEY, "Invalid API key"),
        }
    }
}

/// Where messages are sent.
const SEND_PATH: &str = "/api/v1/messages";
/// Where other services deliver what becomes a message.
pub const WEBHOOK_PATH: &str = "/api/v1/external/{integration:text}";

/// Incoming webhook bots may send messages, and nothing else.
pub fn check_webhook(caller: &Caller, method: &Method, path: &str) -> Result<(), ApiError> {
    let is_webhook = caller.user.bot.as_ref().is_some_and(|bot| bot.kind == BotKind::IncomingWebhook);
    let may_call = *method == Method::POST && [SEND_PATH, WEBHOOK_PATH].contains(&path);
    if is_webhook && !may_call {
        return Err(ApiError::bad_request("This API is not available to incoming webhook bots."));
    }
    Ok(())
}

/// Who may call a route. Checked before parameters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    None,
    /// Accounts, and clients without credentials where the organization has public access. The endpoint decides.
    Spectator,
    /// Accounts, and clients without credentials where the organization has public access; the API key may also be in the query of
    /// the URL, as `api_key`. The endpoint decides.
    SpectatorOrKeyInUrl,
    /// Accounts; below `/json` also browsers that are not logged in, where the organization has public access. The
    /// endpoint decides.
    AccountOrBrowser,
    Account,
    /// Any account, by the parameter `api_key` in the URL: for services that cannot send an `Authorization` header.
    KeyInUrl,
    Human,
    NotGuest,
    /// Any account of a person except guests.
    HumanNotGuest,
    Administrator,
    Owner,
}

impl Login {
    /// Refuses an account that may not call the route.
    pub fn check(self, user: &User) -> Result<(), ApiError> {
        if matches!(self, Self::Human | Self::HumanNotGuest) && user.is_bot() {
            return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
        }
        if matches!(self, Self::NotGuest | Self::HumanNotGuest) && user.is_guest() {
            return Err(ApiError::bad_request("Not allowed for guest users"));
        }
        // A lower number is a more powerful role.
        if self == Self::Administrator && user.role > Role::Administrator {
            return Err(ApiError::new(Code::UNAUTHORIZED_PRINCIPAL, "Must be an organization administrator"));
        }
        if self == Self::Owner && user.role > Role::Owner {
            return Err(ApiError::new(Code::UNAUTHORIZED_PRINCIPAL, "Must be an organization owner"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Bot, Timestamp};

    #[test]
    fn login_checks_refuse_with_api_texts() {
        let user = |role, is_bot: bool| User {
            bot: is_bot.then_some(Bot { kind: BotKind::Generic, owner: None, is_system: false }),
            ..User::new(UserId(2), "hamlet@zulip.com", "King Hamlet", role, Timestamp(0))
        };
        let bot = "This endpoint does not accept bot requests.";
        let guest = "Not allowed for guest users";
        let admin = "Must be an organization administrator";
        let cases = [
            (Login::Account, Role::Guest, true, None),
            (Login::Human, Role::Guest, false, None),
            (Login::Human, Role::Owner, true, Some(bot)),
            (Login::NotGuest, Role::Member, true, None),
            (Login::NotGuest, Role::Guest, false, Some(guest)),
            (Login::HumanNotGuest, Role::Guest, true, Some(bot)),
            (Login::HumanNotGuest, Role::Guest, false, Some(guest)),
            (Login::Administrator, Role::Owner, false, None),
            (Login::Administrator, Role::Administrator, false, None),
            (Login::Administrator, Role::Moderator, false, Some(admin)),
            (Login::Owner, Role::Owner, false, None),
            (Login::Owner, Role::Administrator, false, Some("Must be an organization owner")),
        ];
        for (login, role, is_bot, msg) in cases {
            let refused = login.check(&user(role, is_bot)).err();
            assert_eq!(refused.as_ref().map(ApiError::msg), msg, "{login:?} {role:?} {is_bot}");
        }
    }
}
