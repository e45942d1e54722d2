//! `/accounts/unsubscribe/…`: the link of a notification mail that turns off mails of its kind (docs/api/server-additions.md#pages).
//! Opening it shows a button; mail programs send the form at once (RFC 8058).
//!
//! The key is the only credential, as for invitations.

use super::login::active_realm;
use super::{SETTINGS, message_of, page};
use crate::http::{HandlerResult, Path, Realm};
use crate::integrations::mail::{MailKind, MailSetting, SETTINGS_PAGE, parse_unsubscribe_link};
use actix_web::http::StatusCode;
use actors::{DomainError, OwnChanges, RealmHandle, commands};
use askama::Template;
use model::{ChannelId, SettingValue, User, UserId};
use rules::RuleError;
use rules::settings::Setting;
use rules::subscription_properties::{ChannelNotification, SubscriptionChange};
use std::sync::Arc;

#[derive(Template)]
#[template(path = "unsubscribe.html", config = "src/pages/askama.toml")]
struct UnsubscribePage<'p> {
    organization: &'p str,
    /// What the mails are about.
    kind: &'static str,
    /// The page that says how to change settings.
    settings: &'static str,
}

/// Shows the button. Programs that check links open them, so opening the link changes nothing.
pub async fn show(realm: Option<Realm>, Path(link): Path<String>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let Some((user, kind)) = find(&realm, &link) else { return invalid_link(&realm) };
    if is_off(&realm, &user, kind) {
        return they_are_off(&realm, kind);
    }
    let directory = realm.directory();
    let organization = &directory.realm().name;
    page(StatusCode::OK, &UnsubscribePage { organization, kind: kind.description(), settings: SETTINGS_PAGE })
}

/// Turns the mails off, and says so. What the form has is ignored.
pub async fn turn_off(realm: Option<Realm>, Path(link): Path<String>) -> HandlerResult {
    let realm = match active_realm(realm) {
        Ok(realm) => realm,
        Err(shown) => return *shown,
    };
    let Some((user, kind)) = find(&realm, &link) else { return invalid_link(&realm) };
    let changed = match kind.setting() {
        MailSetting::Account(setting) => turn_setting_off(&realm, &user, setting).await,
        MailSetting::Subscription(channel) => turn_channel_off(&realm, user.id, channel).await,
    };
    match changed {
        Ok(()) => they_are_off(&realm, kind),
        Err(DomainError::UserDeactivated) => invalid_link(&realm),
        Err(error) => Err(error.into()),
    }
}

fn they_are_off(realm: &RealmHandle, kind: MailKind) -> HandlerResult {
    let kind = kind.description();
    let text = format!("You no longer get emails about {kind}. You can turn them on again in your settings.");
    message_of(realm, StatusCode::OK, "These emails are off", &text, Some(SETTINGS))
}

/// Whether there is nothing to turn off.
fn is_off(realm: &RealmHandle, user: &User, kind: MailKind) -> bool {
    match kind.setting() {
        MailSetting::Account(setting) => !setting.bool_in(&user.settings),
        MailSetting::Subscription(channel) => is_channel_off(realm, user.id, channel),
    }
}

/// Whether the mails of a channel are off, as they are for those who are not subscribed.
fn is_channel_off(realm: &RealmHandle, user: UserId, channel: ChannelId) -> bool {
    let directory = realm.directory();
    let own = directory.subscription(channel, user).filter(|own| own.is_active);
    own.is_none_or(|own| own.email_notifications == Some(false))
}

async fn turn_setting_off(
    realm: &RealmHandle,
    user: &User,
    setting: &'static Setting,
) -> Result<(), DomainError> {
    if !setting.bool_in(&user.settings) {
        return Ok(());
    }
    let changes =
        OwnChanges { settings: vec![(setting, SettingValue::Bool(false))], ..OwnChanges::default() };
    realm.execute(commands::UpdateOwnUser { user: user.id, changes }).await
}

async fn turn_channel_off(realm: &RealmHandle, user: UserId, channel: ChannelId) -> Result<(), DomainError> {
    if is_channel_off(realm, user, channel) {
        return Ok(());
    }
    let change = SubscriptionChange::Notification(ChannelNotification::Email, false);
    match realm.change_subscription(user, channel, change).await {
        Err(DomainError::Rule(RuleError::NotSubscribed { .. })) => Ok(()),
        changed => changed,
    }
}

/// The active user and the kind of mail of a valid link.
fn find(realm: &RealmHandle, link: &str) -> Option<(Arc<User>, MailKind)> {
    parse_unsubscribe_link(realm, link.trim_end_matches('/')).filter(|(user, _)| user.is_active)
}

fn invalid_link(realm: &RealmHandle) -> HandlerResult {
    let text = "It was not copied completely, or the account or its email address has changed since. You can turn emails off in \
                your settings, too.";
    message_of(realm, StatusCode::NOT_FOUND, "This link is not valid", text, Some(SETTINGS))
}
