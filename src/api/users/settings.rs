//! `PATCH /settings` and its older names: the requester's settings, name and password
//! (docs/api/account.md#change-settings).

use crate::api::account::attempt::Attempt;
use crate::api::account::fetch_api_key::unavailable;
use crate::api::realm::setting_fields::settings;
use crate::http::{
    Address, ApiError, App, Caller, Fields, FromFields, HandlerResult, OwnSession, Params, reply_ok,
};
use crate::integrations::ldap::LdapAnswer;
use crate::rate_limit::Bucket;
use actors::{DomainError, NewPassword, OwnChanges, commands};
use model::job::TaskKind;
use model::{Directory, SettingValue};
use rules::addresses::counted_address;
use rules::invitations::check_new_address;
use rules::names::{check_full_name_free, parse_full_name};
use rules::passwords::is_strong_password;
use rules::settings::{Setting, USER_SETTINGS, check_user_settings, realm_bool};
use rules::text::strip;
use std::net::IpAddr;

/// The settings to change; empty texts change nothing.
pub struct UpdateSettings {
    settings: Vec<(&'static Setting, SettingValue)>,
    full_name: Option<String>,
    email: String,
    old_password: String,
    new_password: String,
}

impl FromFields for UpdateSettings {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            full_name: fields.optional("full_name"),
            email: fields.optional("email").unwrap_or_default(),
            old_password: fields.optional("old_password").unwrap_or_default(),
            new_password: fields.optional("new_password").unwrap_or_default(),
            settings: settings(fields, USER_SETTINGS)?,
        })
    }
}

/// Changes the given settings, or none if any is refused. The API key does not depend on the password, and stays.
pub async fn update_settings(
    app: App,
    caller: Caller,
    OwnSession(own_session): OwnSession,
    Address(from): Address,
    Params(params): Params<UpdateSettings>,
) -> HandlerResult {
    let UpdateSettings { settings, full_name, email, old_password, new_password } = params;
    check_user_settings(&settings)?;
    let password = match new_password.is_empty() {
        true => None,
        false => {
            let checked = check_new_password(&app, &caller, from, (old_password, new_password)).await?;
            Some(NewPassword { own_session, ..checked })
        }
    };
    let directory = caller.realm.directory();
    let address = check_address_change(&directory, &caller, &email)?;
    let full_name = check_name_change(&directory, &caller, full_name)?;
    if let Some(address) = &address {
        count_address_change(&app, &caller, address)?;
    }
    let changes = OwnChanges { settings, full_name, password, address };
    let user = caller.user.id;
    let command = commands::UpdateOwnUser { user, changes };
    match caller.realm.execute_and_report_presence(user, command).await {
        // Changed by another request meanwhile.
        Err(DomainError::WrongPassword) => Err(wrong_password()),
        Err(DomainError::EmailInUse(_)) => Err(address_taken()),
        changed => changed.map_err(ApiError::from).and_then(|()| reply_ok()),
    }
}

fn address_taken() -> ApiError {
    ApiError::bad_request("Already has an account.")
}

fn wrong_password() -> ApiError {
    ApiError::bad_request("Wrong password!")
}

/// The result of checking passwords.
enum Checked {
    Wrong,
    Weak,
    /// The hash of the new password.
    Good(String),
}

/// Refuses accounts of the LDAP directory: their password is in the directory.
async fn check_not_in_ldap(app: &App, caller: &Caller) -> Result<(), ApiError> {
    let Some(ldap) = &app.ldap else { return Ok(()) };
    let address = &caller.user.delivery_email;
    let found = async { ldap.acquire_permit(address).await?.find(address).await };
    match found.await.map_err(unavailable)? {
        LdapAnswer::Unknown => Ok(()),
        _ => Err(ApiError::bad_request("Your Zulip password is managed in LDAP")),
    }
}

/// Checks the old password and hashes the new one. Wrong guesses are limited like failed logins, so that callers with
/// the API key cannot guess the password here.
async fn check_new_password(
    app: &App,
    caller: &Caller,
    from: Option<IpAddr>,
    (old, new): (String, String),
) -> Result<NewPassword, ApiError> {
    check_not_in_ldap(app, caller).await?;
    let user = caller.user.clone();
    let permit = app.passwords.acquire_permit().await?;
    let attempt = Attempt::confirmation(app, caller, from).map_err(|too_many| {
        let secs = too_many.retry_after_secs.ceil() as u64;
        ApiError::bad_request(format!("You're making too many attempts! Try again in {secs} seconds."))
    })?;
    let old_hash = user.password_hash.clone();
    let checked = permit.run(move |hasher| {
        if !hasher.check(user.password_hash.as_deref(), &old) {
            return Ok(Checked::Wrong);
        }
        if !is_strong_password(&new, &[&user.delivery_email, &user.full_name]) {
            return Ok(Checked::Weak);
        }
        hasher.hash(&new).map(Checked::Good)
    });
    match checked.await?? {
        Checked::Wrong => {
            attempt.failed();
            Err(wrong_password())
        }
        Checked::Weak => Err(ApiError::bad_request("New password is too weak!")),
        Checked::Good(new_hash) => {
            attempt.succeeded(&caller.realm, &caller.user);
            Ok(NewPassword { old_hash, new_hash, own_session: None })
        }
    }
}

/// The new address; none if it does not change. Refused on servers without mail, because it is confirmed by a link that
/// is mailed to it.
fn check_address_change(
    directory: &Directory,
    caller: &Caller,
    email: &str,
) -> Result<Option<String>, ApiError> {
    let (email, user) = (strip(email), &caller.user);
    if email.is_empty() || email == user.delivery_email {
        return Ok(None);
    }
    if realm_bool(directory.realm(), "email_changes_disabled") && !user.is_administrator() {
        return Err(ApiError::bad_request("Email address changes are disabled in this organization."));
    }
    check_new_address(directory, email).map_err(|problem| ApiError::bad_request(problem.to_string()))?;
    if !caller.realm.supports(TaskKind::Mail) {
        let msg = "This server sends no e-mail, so a new address cannot be confirmed.";
        return Err(ApiError::bad_request(msg));
    }
    Ok(Some(email.to_owned()))
}

/// Counts a change of the address, for the account, and for the mailbox that gets the link. What is refused for the mailbox does
/// not count for the account.
fn count_address_change(app: &App, caller: &Caller, address: &str) -> Result<(), ApiError> {
    let account = (caller.realm.id(), caller.user.id);
    let by_user = app.limits.acquire(Bucket::EmailChangeByUser, account, app.moment());
    by_user.map_or(Ok(()), |status| status.check())?;
    let mailbox = ("address change", caller.realm.id(), counted_address(address));
    let by_address = app.limits.acquire(Bucket::ResetMailsByAddress, mailbox, app.moment());
    let checked = by_address.map_or(Ok(()), |status| status.check());
    Ok(checked.inspect_err(|_| app.limits.refund(Bucket::EmailChangeByUser, account))?)
}

/// The new name; none if it does not change or the organization does not allow users to change it.
fn check_name_change(
    directory: &Directory,
    caller: &Caller,
    full_name: Option<String>,
) -> Result<Option<String>, ApiError> {
    let user = &caller.user;
    let is_fixed = realm_bool(directory.realm(), "name_changes_disabled") && !user.is_administrator();
    let Some(name) = full_name.filter(|name| !is_fixed && strip(name) != user.full_name) else {
        return Ok(None);
    };
    check_full_name_free(directory, parse_full_name(&name)?, Some(user.id))?;
    Ok(Some(name))
}
