//! `PATCH /bots/{bot_id}`: changes a bot (docs/api/bots.md#update-a-bot).

use super::{find_integration, read_avatar, read_defaults, read_integration};
use crate::api::pictures::{FILE_BYTES_MAX, with_avatar};
use crate::api::wire::bot::channel_name;
use crate::http::upload::Upload;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Path, reply};
use actors::{BotUpdate, commands};
use rules::avatar::{AvatarSize, whole_avatar_url};
use rules::permissions::users::api_email;
use serde::Serialize;
use std::collections::BTreeMap;

impl FromFields for BotUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let service_name: Option<String> = fields.optional("service_name");
        Ok(Self {
            full_name: fields.optional("full_name"),
            short_name: fields.optional("short_name"),
            role: fields.optional_int("role")?,
            owner: fields.optional_int("bot_owner_id")?,
            payload_url: fields.optional_loose_string("service_payload_url"),
            interface: fields.optional_int("service_interface")?,
            integration: read_integration(service_name.as_deref(), fields)?,
            defaults: read_defaults(fields)?,
            avatar: None,
        })
    }
}

#[derive(Serialize)]
struct Updated<'a> {
    full_name: &'a str,
    avatar_url: String,
    service_interface: u8,
    service_payload_url: Option<&'a str>,
    config_data: &'a BTreeMap<String, String>,
    default_sending_stream: Option<&'a str>,
    default_events_register_stream: Option<&'a str>,
    default_all_public_streams: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    bot_owner: Option<String>,
}

/// Changes the given properties, and returns the current ones.
pub async fn update_bot(app: App, caller: Caller, Path(bot): Path<u32>, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let mut update = BotUpdate::from_fields(&form.fields)?;
    find_integration(&app, &mut update.integration);
    let ignored = form.ignored();
    let avatar = read_avatar(&app, &caller, form).await?;
    let (realm, by, bot) = (caller.realm.clone(), caller.user.id, i64::from(bot));
    let id = with_avatar(&app, caller.realm.id(), avatar, move |avatar| async move {
        realm.execute(commands::UpdateBot { by, bot, update: BotUpdate { avatar, ..update } }).await
    })
    .await?;
    let directory = caller.realm.directory();
    let bot = directory.user(id).ok_or_else(ApiError::internal)?;
    let config = directory.bot_config(id).cloned().unwrap_or_default();
    let integration = directory.bot_integration(id).cloned().unwrap_or_default();
    let service = config.service.as_ref();
    let owner = bot.bot.as_ref().and_then(|bot| directory.user(bot.owner?));
    let reply = reply(&Updated {
        full_name: &bot.full_name,
        avatar_url: whole_avatar_url(&directory, bot, AvatarSize::Small),
        service_interface: service.map_or(1, |service| service.interface.code()),
        service_payload_url: service.map(|service| service.base_url.as_str()),
        config_data: &integration.data,
        default_sending_stream: channel_name(&directory, bot, config.sending_channel),
        default_events_register_stream: channel_name(&directory, bot, config.register_channel),
        default_all_public_streams: config.all_public_channels,
        bot_owner: owner.map(|owner| api_email(&directory, owner).into_owned()),
    })?;
    Ok(reply.ignoring(ignored))
}
