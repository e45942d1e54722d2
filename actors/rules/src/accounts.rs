//! Who may change, deactivate and reactivate accounts (docs/api/users.md#update-a-user). An organization always keeps
//! an owner.

use crate::address_list::is_address;
use crate::bots::check_rank;
use crate::error::{AccountError, BotError, RuleError};
use crate::names::{check_full_name_free, parse_full_name};
use crate::permissions::roles::{check_administrator, check_owner};
use crate::permissions::users::sees_user;
use crate::profile_fields::{ProfileEntry, check_entries};
use crate::text::strip;
use model::{Directory, Role, User, UserId};
use std::sync::Arc;

/// The mark of an account, among its settings, that may make accounts. Not a setting that anybody can change over the
/// API: whoever has it can let anybody in.
pub const CAN_CREATE_USERS: &str = "can_create_users";

/// The mark of an account that may give others another address; whoever has it can take over any account.
pub const CAN_CHANGE_USER_EMAILS: &str = "can_change_user_emails";

/// Longest text that somebody who deactivates an account has sent to its owner, in code points.
pub const DEACTIVATION_COMMENT_LENGTH_MAX: usize = 2000;

/// What is to change about somebody's account; absent is unchanged.
#[derive(Clone, Debug, Default)]
pub struct AccountUpdate {
    /// Display name, as sent.
    pub full_name: Option<String>,
    /// Role.
    pub role: Option<Role>,
    /// Values of custom profile fields.
    pub profile_data: Vec<ProfileEntry>,
    /// Address, as sent.
    pub new_email: Option<String>,
}

/// An account by id that `by` may know of; none of the server's own.
///
/// # Errors
/// `NoSuchUser`.
pub fn find_account<'d>(dir: &'d Directory, by: &User, id: UserId) -> Result<&'d Arc<User>, RuleError> {
    let found = dir.user(id).filter(|user| !user.is_system_bot() && sees_user(dir, by, user));
    found.ok_or_else(|| AccountError::NoSuchUser.into())
}

/// Administrators may change every account, people those of their bots. Nobody may change a bot above the own role.
///
/// # Errors
/// `InsufficientPermission`; as `check_rank`.
pub fn check_may_administer(by: &User, about: &User) -> Result<(), RuleError> {
    if !by.is_administrator() && about.owner() != Some(by.id) {
        return Err(RuleError::InsufficientPermission);
    }
    if about.is_bot() { check_rank(by, about.role) } else { Ok(()) }
}

/// Whether somebody is the only person with an active account who owns the organization.
pub fn is_only_owner(dir: &Directory, user: &User) -> bool {
    let is_owner = |user: &User| user.role == Role::Owner && user.is_active && !user.is_bot();
    is_owner(user) && !dir.users().any(|other| other.id != user.id && is_owner(other))
}

/// Decides what an account is after a change. The new address is kept as sent, stripped.
///
/// # Errors
/// `NoSuchUser`, `InsufficientPermission`; for a new address `EmailChangeNotPermitted`, `NewEmailInvalid`,
/// `NewEmailRefused`; for a new role `OwnerRequired`, `AdministratorRequired`, `OnlyOwnerRole`, `RoleAboveOwner`; for a name as
/// `parse_full_name`; for profile data as `check_entries`.
pub fn check_account_update(
    dir: &Directory,
    by: &User,
    id: UserId,
    update: AccountUpdate,
) -> Result<User, RuleError> {
    let about = find_account(dir, by, id)?;
    check_may_administer(by, about)?;
    let mut after = User::clone(about);
    if let Some(email) = update.new_email.as_deref().map(strip).filter(|email| *email != about.delivery_email)
    {
        check_new_email(dir, by, about, email)?;
        after.delivery_email = email.to_owned();
    }
    if let Some(role) = update.role.filter(|role| *role != about.role) {
        check_role(dir, by, about, role)?;
        after.role = role;
    }
    if let Some(name) = update.full_name.as_deref().map(strip).filter(|name| *name != about.full_name) {
        let name = parse_full_name(name)?;
        check_full_name_free(dir, name, Some(about.id))?;
        after.full_name = name.to_owned();
    }
    for (field, value) in check_entries(dir, by, about, update.profile_data)? {
        match value {
            Some(value) => after.profile_data.insert(field, value),
            None => after.profile_data.remove(&field),
        };
    }
    Ok(after)
}

fn check_new_email(dir: &Directory, by: &User, about: &User, email: &str) -> Result<(), RuleError> {
    if !by.bool_setting(CAN_CHANGE_USER_EMAILS, false) {
        return Err(AccountError::EmailChangeNotPermitted.into());
    }
    if !is_address(email) {
        return Err(AccountError::NewEmailInvalid.into());
    }
    let refused = |reason: String| Err(AccountError::NewEmailRefused { reason }.into());
    if let Err(refusal) = crate::addresses::check_email_allowed(dir, email) {
        return refused(refusal.to_string());
    }
    match dir.user_by_email(email).filter(|other| other.id != about.id) {
        Some(_) => refused("Already has an account.".to_owned()),
        None => Ok(()),
    }
}

/// Only owners make and unmake owners, one is always left, and no bot is above its owner.
fn check_role(dir: &Directory, by: &User, about: &User, role: Role) -> Result<(), RuleError> {
    check_administrator(by)?;
    if Role::Owner == role || Role::Owner == about.role {
        check_owner(by)?;
    }
    let owner = about.owner().and_then(|owner| dir.user(owner));
    if owner.is_some_and(|owner| role < owner.role) {
        return Err(BotError::RoleAboveOwner.into());
    }
    if is_only_owner(dir, about) { Err(AccountError::OnlyOwnerRole.into()) } else { Ok(()) }
}

/// The person whose account somebody else may deactivate.
///
/// # Errors
/// `NoSuchUser`, for bots too; `InsufficientPermission`; `Deactivated`; `OwnerRequired`; `OnlyOwner`.
pub fn check_deactivation<'d>(dir: &'d Directory, by: &User, id: UserId) -> Result<&'d Arc<User>, RuleError> {
    let about = find_account(dir, by, id)?;
    if about.is_bot() {
        return Err(AccountError::NoSuchUser.into());
    }
    if !by.is_administrator() {
        return Err(RuleError::InsufficientPermission);
    }
    if !about.is_active {
        return Err(AccountError::Deactivated.into());
    }
    if about.role == Role::Owner {
        check_owner(by)?;
    }
    if is_only_owner(dir, about) { Err(AccountError::OnlyOwner.into()) } else { Ok(about) }
}

/// Whether somebody may deactivate their own account: an organization keeps an owner, and somebody.
///
/// # Errors
/// `LastUser`.
pub fn check_own_deactivation(dir: &Directory, user: &User) -> Result<(), RuleError> {
    if is_only_owner(dir, user) {
        return Err(AccountError::LastUser { entity: "organization owner" }.into());
    }
    let is_person = |user: &User| user.is_active && !user.is_bot();
    let is_last = is_person(user) && !dir.users().any(|other| other.id != user.id && is_person(other));
    if is_last { Err(AccountError::LastUser { entity: "user" }.into()) } else { Ok(()) }
}

/// The account that somebody may take back into use; one that is in use stays as it is. Only owners may where that
/// makes an owner.
///
/// # Errors
/// `NoSuchUser`, `InsufficientPermission`, `OwnerRequired`; `NameTaken` where names are unique.
pub fn check_reactivation<'d>(dir: &'d Directory, by: &User, id: UserId) -> Result<&'d Arc<User>, RuleError> {
    let about = find_account(dir, by, id)?;
    if !by.is_administrator() {
        return Err(RuleError::InsufficientPermission);
    }
    if about.is_active {
        return Ok(about);
    }
    if about.role == Role::Owner {
        check_owner(by)?;
    }
    if about.is_bot() {
        check_rank(by, about.role)?;
    }
    check_full_name_free(dir, &about.full_name, Some(about.id))?;
    Ok(about)
}

/// An account, and before it the bots that go out of use with it: those that are in use and have it as their owner.
pub fn accounts_to_deactivate(dir: &Directory, user: UserId) -> Vec<UserId> {
    let is_own = |other: &User| other.bot.as_ref().is_some_and(|bot| bot.owner == Some(user));
    let bots = dir.users().filter(|other| other.is_active && is_own(other)).map(|bot| bot.id);
    bots.chain([user]).collect()
}

#[cfg(test)]
mod tests;
