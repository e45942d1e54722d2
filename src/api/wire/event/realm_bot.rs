//! `realm_bot`: bots that the user manages. Only the owner of a bot gets its secrets.

use super::writer::EventWriter;
use crate::api::wire::bot::{
    BotJson, ServiceJson, bot as bot_json, channel_name, integration_services, services,
};
use model::event::BotChange;
use model::{BotConfig, BotIntegration, User, UserId};
use rules::avatar::{AvatarSize, whole_avatar_url};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum RealmBot<'e> {
    Add { bot: Box<BotJson<'e>> },
    Update { bot: Updated<'e> },
    Delete { bot: Deleted },
}

#[derive(Serialize)]
pub(super) struct Deleted {
    pub user_id: UserId,
}

#[derive(Serialize)]
pub(super) struct Updated<'e> {
    user_id: UserId,
    #[serde(flatten)]
    property: Option<Property<'e>>,
}

/// The property that changed, under its own name.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Property<'e> {
    FullName(&'e str),
    Email(&'e str),
    IsActive(bool),
    OwnerId(Option<UserId>),
    DefaultSendingStream(Option<&'e str>),
    DefaultEventsRegisterStream(Option<&'e str>),
    DefaultAllPublicStreams(bool),
    AvatarUrl(String),
    ApiKey(String),
    Services(Vec<ServiceJson<'e>>),
}

pub(super) fn add<'e>(
    writer: &EventWriter<'e>,
    bot: &'e User,
    (config, integration): (&'e BotConfig, &'e BotIntegration),
    with_secrets: bool,
) -> RealmBot<'e> {
    let parts = (config, integration);
    RealmBot::Add { bot: Box::new(bot_json(writer.secrets, writer.directory, bot, parts, with_secrets)) }
}

/// The picture and the key of a bot that no longer exists are left out.
pub(super) fn update<'e>(writer: &EventWriter<'e>, user_id: UserId, change: &'e BotChange) -> RealmBot<'e> {
    let directory = writer.directory;
    let bot = directory.user(user_id);
    let shown = |channel| bot.and_then(|bot| channel_name(directory, bot, channel));
    let property = match change {
        BotChange::FullName(name) => Some(Property::FullName(name)),
        BotChange::Email(email) => Some(Property::Email(email)),
        BotChange::IsActive(is_active) => Some(Property::IsActive(*is_active)),
        BotChange::Owner(owner) => Some(Property::OwnerId(*owner)),
        BotChange::SendingChannel(channel) => Some(Property::DefaultSendingStream(shown(*channel))),
        BotChange::RegisterChannel(channel) => Some(Property::DefaultEventsRegisterStream(shown(*channel))),
        BotChange::AllPublicChannels(is_set) => Some(Property::DefaultAllPublicStreams(*is_set)),
        BotChange::Avatar => {
            bot.map(|bot| Property::AvatarUrl(whole_avatar_url(directory, bot, AvatarSize::Small)))
        }
        // The current rotation may be a later one.
        BotChange::ApiKey(rotation) => bot.map(|bot| {
            let bot = User { api_key_rotation: *rotation, ..User::clone(bot) };
            Property::ApiKey(writer.secrets.api_key(&bot))
        }),
        BotChange::ApiKeyHidden => Some(Property::ApiKey(String::new())),
        BotChange::Service { service, with_secrets } => {
            Some(Property::Services(services(writer.secrets, user_id, service.as_ref(), *with_secrets)))
        }
        BotChange::Integration(integration) => Some(Property::Services(integration_services(integration))),
    };
    RealmBot::Update { bot: Updated { user_id, property } }
}
