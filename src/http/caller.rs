//! Who is asking: from credentials to an account, and the gates of roles before an endpoint's own rules.
//!
//! The refusals of a header that is no good are in `basic_auth`. Who an account is, [`Admission`] knows; how
//! it knows is none of this module's business.

use super::basic_auth::Credentials;
use super::call::{Call, FromCall};
use super::error::{ApiError, Code};
use model::{RealmId, Role, UserId};

/// Looks accounts up. One for the whole process, asked on every request with credentials.
pub trait Admission: Send + Sync + 'static {
    /// The account behind credentials, at the organization of this host (`Host` header, when there is one).
    ///
    /// Refuses as rows 5 to 8 of conventions, section 1. Must not block: it is called on an HTTP thread.
    fn admit(&self, host: Option<&str>, credentials: &Credentials) -> Result<Caller, ApiError>;
}

/// An account that proved who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The organization.
    pub realm: RealmId,
    /// The account in it.
    pub user: UserId,
    /// Its role.
    pub role: Role,
    /// Whether it is a bot.
    pub is_bot: bool,
}

/// Who may call a route (conventions, section 1). Checked before parameters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// Everybody; credentials are not even looked at.
    None,
    /// An account, or nobody where the organization shows itself to the public. The endpoint decides.
    Spectator,
    /// Any account.
    Account,
    /// Any account of a person.
    Human,
    /// Any account but guests.
    NotGuest,
    /// Any account of a person but guests.
    HumanNotGuest,
    /// Administrators and owners.
    Administrator,
    /// Owners.
    Owner,
}

impl Login {
    /// Refuses a caller this gate does not let through, with its text.
    pub fn check(self, caller: &Caller) -> Result<(), ApiError> {
        if matches!(self, Self::Human | Self::HumanNotGuest) && caller.is_bot {
            return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
        }
        if matches!(self, Self::NotGuest | Self::HumanNotGuest) && caller.role == Role::Guest {
            return Err(ApiError::bad_request("Not allowed for guest users"));
        }
        // A smaller role is a more powerful one.
        if self == Self::Administrator && caller.role > Role::Administrator {
            return Err(ApiError::new(Code::UNAUTHORIZED_PRINCIPAL, "Must be an organization administrator"));
        }
        if self == Self::Owner && caller.role > Role::Owner {
            return Err(ApiError::new(Code::UNAUTHORIZED_PRINCIPAL, "Must be an organization owner"));
        }
        Ok(())
    }
}

/// For routes that need an account. On any other route, nobody is logged in.
impl FromCall for Caller {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        call.caller.ok_or_else(ApiError::not_logged_in)
    }
}

/// For routes open to spectators.
impl FromCall for Option<Caller> {
    fn from_call(call: &mut Call) -> Result<Self, ApiError> {
        Ok(call.caller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_refuse_with_their_texts() {
        let caller = |role, is_bot| Caller { realm: RealmId(1), user: UserId(2), role, is_bot };
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
            let refused = login.check(&caller(role, is_bot)).err();
            assert_eq!(refused.as_ref().map(ApiError::msg), msg, "{login:?} {role:?} {is_bot}");
        }
    }
}
