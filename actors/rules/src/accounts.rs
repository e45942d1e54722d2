//! Who may change, deactivate and reactivate accounts (docs/api/users.md#update-a-user). An organization always has an
//! owner.

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

/// The flag in an account's settings that allows creating accounts. The API cannot set it: it gives access to anyone.
pub const CAN_CREATE_USERS: &str = "can_create_users";

/// The flag in an account's settings that allows changing the addresses of other users, and so taking over any account.
pub const CAN_CHANGE_USER_EMAILS: &str = "can_change_user_emails";

/// Longest message to the owner of a deactivated account, in code points.
pub const DEACTIVATION_COMMENT_LENGTH_MAX: usize = 2000;

/// The requested changes of an account; name and address as sent, absent is unchanged.
#[derive(Clone, Debug, Default)]
pub struct AccountUpdate {
    pub full_name: Option<String>,
    pub role: Option<Role>,
    pub profile_data: Vec<ProfileEntry>,
    pub new_email: Option<String>,
}

/// Finds an account that `by` may see, except for the server's own bots: `NoSuchUser`.
pub fn find_account<'d>(dir: &'d Directory, by: &User, id: UserId) -> Result<&'d Arc<User>, RuleError> {
    let found = dir.user(id).filter(|user| !user.is_system_bot() && sees_user(dir, by, user));
    found.ok_or_else(|| AccountError::NoSuchUser.into())
}

/// Administrators may change every account, users those of their bots. No one may change a bot above their own role.
/// `InsufficientPermission`; as `check_rank`.
fn check_may_administer(by: &User, about: &User) -> Result<(), RuleError> {
    if !by.is_administrator() && about.owner() != Some(by.id) {
        return Err(RuleError::InsufficientPermission);
    }
    if about.is_bot() { check_rank(by, about.role) } else { Ok(()) }
}

/// Whether the user is the only active owner of the organization.
fn is_only_owner(dir: &Directory, user: &User) -> bool {
    let is_owner = |user: &User| user.role == Role::Owner && user.is_active && !user.is_bot();
    is_owner(user) && !dir.users().any(|other| other.id != user.id && is_owner(other))
}

/// The account after the requested changes. The new address is stored as sent, stripped. `NoSuchUser`,
/// `InsufficientPermission`; for a new address `EmailChangeNotPermitted`, `NewEmailInvalid`, `NewEmailRefused`; for a
/// new role `OwnerRequired`, `AdministratorRequired`, `OnlyOwnerRole`, `RoleAboveOwner`; for a name as
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

/// Only owners change who is an owner, one owner remains, and no bot is above its owner.
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

/// Finds a user whose account `by`, another user, may deactivate: `NoSuchUser`, also for bots; `InsufficientPermission`,
/// `Deactivated`, `OwnerRequired`, `OnlyOwner`.
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

/// Whether users may deactivate their own account. An owner and a user must remain: `LastUser`.
pub fn check_own_deactivation(dir: &Directory, user: &User) -> Result<(), RuleError> {
    if is_only_owner(dir, user) {
        return Err(AccountError::LastUser { entity: "organization owner" }.into());
    }
    let is_person = |user: &User| user.is_active && !user.is_bot();
    let is_last = is_person(user) && !dir.users().any(|other| other.id != user.id && is_person(other));
    if is_last { Err(AccountError::LastUser { entity: "user" }.into()) } else { Ok(()) }
}

/// Finds an account to reactivate, which may be active already; only owners reactivate owners. `NoSuchUser`,
/// `InsufficientPermission`, `OwnerRequired`; `NameTaken` where names are unique.
pub fn check_reactivation<'d>(dir: &'d Directory, by: &User, id: UserId) -> Result<&'d Arc<User>, RuleError> {
    let about = find_account(dir, by, id)?;
    if !by.is_administrator() {
        return Err(RuleError::InsufficientPermission);
    }
    if about.is_active {
        return Ok(about);
    }
    if about.is_deleted() {
        return Err(AccountError::NoSuchUser.into());
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

/// An account, and before it its active bots, which are deactivated with it.
pub fn accounts_to_deactivate(dir: &Directory, user: UserId) -> Vec<UserId> {
    let is_own = |other: &User| other.bot.as_ref().is_some_and(|bot| bot.owner == Some(user));
    let bots = dir.users().filter(|other| other.is_active && is_own(other)).map(|bot| bot.id);
    bots.chain([user]).collect()
}

#[cfg(test)]
mod tests;
