//! `realm_user`: users and bots of the organization.

use super::writer::EventWriter;
use crate::api::wire::profile::{ChangedValueJson, changed_value};
use crate::api::wire::user::{UserForm, UserJson, unknown_user, user};
use model::event::UserChange;
use model::{User, UserId};
use rules::permissions::users::{UNKNOWN_NAME, api_email};
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum RealmUser<'e> {
    Add { person: Box<UserJson<'e>> },
    Update { person: Updated<'e> },
    Remove { person: Removed },
}

#[derive(Serialize)]
pub(super) struct Removed {
    user_id: UserId,
    full_name: &'static str,
}

#[derive(Serialize)]
pub(super) struct Updated<'e> {
    user_id: UserId,
    #[serde(flatten)]
    property: Property<'e>,
}

/// The property that changed, with those that belong to it.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Property<'e> {
    FullName(&'e str),
    Role(u16),
    IsActive(bool),
    DeliveryEmail(Option<&'e str>),
    NewEmail(&'e str),
    BotOwnerId(Option<UserId>),
    CustomProfileField(ChangedValueJson<'e>),
    #[serde(untagged)]
    Avatar {
        avatar_url: &'e str,
        avatar_url_medium: &'e str,
        avatar_source: &'e str,
        avatar_version: u32,
    },
    #[serde(untagged)]
    Timezone {
        timezone: &'e str,
        /// Left out if the user no longer exists.
        #[serde(skip_serializing_if = "Option::is_none")]
        email: Option<Cow<'e, str>>,
    },
}

/// A new user, or one who became visible to the owner of the queue.
pub(super) fn add<'e>(writer: &EventWriter<'_>, person: &'e User) -> RealmUser<'e> {
    let person = user(writer.directory, Some(writer.owner), person, form(writer));
    RealmUser::Add { person: Box::new(person) }
}

/// A new user whom the owner of the queue may not see, for clients that need a record of every user.
pub(super) fn add_unknown<'e>(writer: &EventWriter<'_>, person: &User) -> RealmUser<'e> {
    RealmUser::Add { person: Box::new(unknown_user(writer.directory, person, form(writer))) }
}

/// A user who is no longer visible to the owner of the queue.
pub(super) fn remove(user_id: UserId) -> RealmUser<'static> {
    RealmUser::Remove { person: Removed { user_id, full_name: UNKNOWN_NAME } }
}

pub(super) fn update<'e>(writer: &EventWriter<'e>, user_id: UserId, change: &'e UserChange) -> RealmUser<'e> {
    let property = match change {
        UserChange::FullName(name) => Property::FullName(name),
        UserChange::Role(role) => Property::Role(role.code()),
        UserChange::IsActive(is_active) => Property::IsActive(*is_active),
        UserChange::DeliveryEmail(email) => Property::DeliveryEmail(email.as_deref()),
        UserChange::Email(email) => Property::NewEmail(email),
        UserChange::BotOwner(owner) => Property::BotOwnerId(*owner),
        UserChange::ProfileValue(field, value) => {
            Property::CustomProfileField(changed_value(*field, value.as_ref()))
        }
        UserChange::Avatar { url, medium_url, source, version } => Property::Avatar {
            avatar_url: url,
            avatar_url_medium: medium_url,
            avatar_source: source,
            avatar_version: *version,
        },
        UserChange::Timezone(timezone) => {
            let email = writer.directory.user(user_id).map(|user| api_email(writer.directory, user));
            Property::Timezone { timezone, email }
        }
    };
    RealmUser::Update { person: Updated { user_id, property } }
}

fn form(writer: &EventWriter<'_>) -> UserForm {
    UserForm { client_gravatar: writer.options.client_gravatar, profile_data: true, is_active: true }
}
