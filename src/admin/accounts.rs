//! Accounts: list, create, role, password, activity, keys, sessions, permissions.

use super::answer::{Answer, Table, time};
use super::find::account;
use super::request::{NewAccount, Permission, RoleName};
use crate::api::account::address::is_address;
use crate::api::users::create::check_new_account;
use crate::cli::error::CliError;
use crate::units::counted;
use actors::{NewUser, RealmHandle, commands};
use model::{Role, User};
use serde_json::json;
use std::sync::Arc;

/// All accounts but the server's own bots.
pub(super) fn list(realm: &RealmHandle) -> Answer {
    let mut table =
        Table::new(&["id", "email", "full_name", "role", "kind", "state", "joined"]).with_times("joined");
    for user in realm.directory().users().filter(|user| !user.is_system_bot()) {
        let kind = if user.is_bot() { "bot" } else { "person" };
        let state = if user.is_active { "active" } else { "deactivated" };
        table.push(vec![
            json!(user.id.0),
            json!(user.delivery_email),
            json!(user.full_name),
            json!(RoleName::of(user.role)),
            json!(kind),
            json!(state),
            time(user.joined),
        ]);
    }
    Answer::list(table)
}

/// Refuses what is not an e-mail address.
///
/// # Errors
/// A sentence with the text.
pub fn check_address(text: &str) -> Result<(), CliError> {
    match text {
        "" => Err(CliError::Refused("the e-mail address must not be empty".to_owned())),
        text if is_address(text) => Ok(()),
        text => Err(CliError::Refused(format!("`{text}` is not an e-mail address"))),
    }
}

/// Refuses what bots do not have; `instead` says what to do.
fn check_person(user: &User, instead: &str) -> Result<(), CliError> {
    match user.is_bot() {
        false => Ok(()),
        true => Err(CliError::Refused(format!("{} is a bot: {instead}", user.delivery_email))),
    }
}

/// Creates an account.
pub(super) async fn create(
    realm: &RealmHandle,
    role: RoleName,
    user: NewAccount,
) -> Result<Answer, CliError> {
    check_address(&user.email)?;
    let full_name = check_new_account(Some(&realm.directory()), &user.email, &user.full_name)?.to_owned();
    let user = NewUser {
        email: user.email,
        full_name,
        role: role.into(),
        bot: None,
        password_hash: Some(user.password_hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    let user = realm.execute(commands::CreateUser { user, sends_messages: false }).await?;
    let value = json!({"user_id": user.id.0, "email": user.delivery_email});
    Ok(Answer::of(format!("Account created: user {}, {}.", user.id, user.delivery_email), value))
}

/// Changes a person's role.
pub(super) async fn set_role(realm: &RealmHandle, user: &User, role: RoleName) -> Result<Answer, CliError> {
    check_person(user, "its owner or an administrator changes its role, with `PATCH /bots/{bot_id}`")?;
    let role = Role::from(role);
    let is_changed = realm.execute(commands::OperatorSetRole { user: user.id, role }).await?;
    let when = if is_changed { "now" } else { "already" };
    let article = if matches!(role, Role::Owner | Role::Administrator) { "an" } else { "a" };
    let line = format!("{} is {when} {article} {}.", user.delivery_email, RoleName::of(role));
    Ok(Answer::of(line, json!({"user_id": user.id.0, "role": RoleName::of(role)})))
}

/// Replaces a person's password; their web sessions end.
pub(super) async fn set_password(
    realm: &RealmHandle,
    user: &User,
    password_hash: String,
) -> Result<Answer, CliError> {
    let instead = "it has an API key instead of a password; `user api-key` prints it, and `user end-sessions` replaces it";
    check_person(user, instead)?;
    realm.execute(commands::OperatorSetPassword { user: user.id, password_hash }).await?;
    let line = format!(
        "{} has a new password, and is logged out of all browsers. API keys are still valid; `user end-sessions` ends them.",
        user.delivery_email
    );
    Ok(Answer::of(line, json!({"user_id": user.id.0})))
}

/// Deactivates or reactivates an account.
pub(super) async fn set_active(
    realm: &RealmHandle,
    user: &User,
    is_active: bool,
) -> Result<Answer, CliError> {
    let is_changed = realm.execute(commands::OperatorSetActive { user: user.id, is_active }).await?;
    let state = if is_active { "active" } else { "deactivated" };
    let when = if is_changed { "now" } else { "already" };
    let line = format!("{} is {when} {state}.", user.delivery_email);
    Ok(Answer::of(line, json!({"user_id": user.id.0, "is_active": is_active})))
}

/// Replaces an account by a placeholder, after deactivating it and deleting its messages. If it is interrupted, repeating it goes
/// on.
pub(super) async fn delete(
    realm: &RealmHandle,
    user: &User,
    keeps_messages: bool,
) -> Result<Answer, CliError> {
    realm.execute(commands::OperatorSetActive { user: user.id, is_active: false }).await?;
    let messages = if keeps_messages { 0 } else { realm.delete_messages_of(user.id).await? };
    let is_changed = realm.execute(commands::OperatorDeleteAccount { user: user.id }).await?;
    let when = if is_changed { "now" } else { "already" };
    let with = match messages {
        0 => String::new(),
        count => format!(", with {}", counted(count, "message")),
    };
    let line = format!(
        "User {} is {when} deleted{with}. What the journal has of the account is erased by the next \
         erasing; `millstream erase --now` does it at once.",
        user.id
    );
    Ok(Answer::of(line, json!({"user_id": user.id.0, "messages": messages})))
}

/// An account's API key.
pub(super) fn api_key(realm: &RealmHandle, user: &User) -> Answer {
    let key = realm.api_key(user);
    let value = json!({"user_id": user.id.0, "email": user.delivery_email, "api_key": key});
    Answer::of(key, value)
}

/// Ends the web sessions and API keys of one account, or of all.
pub(super) async fn end_sessions(realm: &RealmHandle, email: Option<&str>) -> Result<Answer, CliError> {
    let users: Vec<Arc<User>> = match email {
        Some(email) => vec![account(realm, email)?],
        None => {
            let directory = realm.directory();
            // Placeholders of deleted accounts have neither.
            let has_access = |user: &&Arc<User>| !user.is_system_bot() && !user.is_deleted();
            directory.users().filter(has_access).cloned().collect()
        }
    };
    for user in &users {
        realm.execute(commands::OperatorEndSessions { user: user.id }).await?;
    }
    let line = match email {
        Some(email) => format!("{email} is logged out everywhere, and the API key is replaced."),
        None => {
            let accounts = counted(users.len() as u64, "account");
            format!("Logged out everywhere, with a new API key: {accounts}.")
        }
    };
    Ok(Answer::of(line, json!({"accounts": users.len()})))
}

/// Grants or revokes a permission of a single account.
pub(super) async fn grant(
    realm: &RealmHandle,
    user: &User,
    permission: Permission,
    is_granted: bool,
) -> Result<Answer, CliError> {
    if is_granted && !user.is_administrator() {
        let why =
            format!("{} is not an administrator; `millstream user role` changes that", user.delivery_email);
        return Err(CliError::Refused(why));
    }
    let name = permission.setting_name();
    let is_changed =
        realm.execute(commands::SetAccountPermission { user: user.id, permission: name, is_granted }).await?;
    let may = match (is_granted, is_changed) {
        (true, true) => "may now",
        (true, false) => "already had the permission to",
        (false, true) => "may no longer",
        (false, false) => "did not have the permission to",
    };
    let line = format!("{} {may} {}.", user.delivery_email, permission.what());
    Ok(Answer::of(line, json!({"user_id": user.id.0, "permission": name, "is_granted": is_granted})))
}
