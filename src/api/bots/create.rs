//! `POST /bots`: creates a bot that the requester owns (docs/api/bots.md#create-a-bot).

use super::{find_integration, read_avatar, read_defaults, read_integration};
use crate::api::pictures::{FILE_BYTES_MAX, with_avatar};
use crate::api::wire::bot::channel_name;
use crate::http::upload::Upload;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, reply};
use actors::{NewBot, commands};
use model::{BotKind, UserId};
use rules::avatar::{AvatarSize, whole_avatar_url};
use serde::Serialize;

impl FromFields for NewBot {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let kind = fields.int_or("bot_type", 1)?;
        let service_name: Option<String> = fields.optional("service_name");
        let is_incoming = kind == i64::from(BotKind::IncomingWebhook.code());
        let integration = service_name.as_deref().filter(|name| is_incoming && !name.trim().is_empty());
        Ok(Self {
            full_name: fields.required("full_name")?,
            short_name: fields.required("short_name")?,
            kind,
            payload_url: fields.optional_loose_string("payload_url").unwrap_or_default(),
            integration: read_integration(integration, fields)?,
            service_name,
            interface: fields.int_or("interface_type", 1)?,
            defaults: read_defaults(fields)?,
            avatar: None,
        })
    }
}

#[derive(Serialize)]
struct Created<'a> {
    user_id: UserId,
    api_key: String,
    avatar_url: String,
    default_sending_stream: Option<&'a str>,
    default_events_register_stream: Option<&'a str>,
    default_all_public_streams: bool,
}

/// Creates a bot, and returns its key.
pub async fn create_bot(app: App, caller: Caller, upload: Upload) -> HandlerResult {
    let form = upload.read(FILE_BYTES_MAX).await?;
    let mut new = NewBot::from_fields(&form.fields)?;
    find_integration(&app, &mut new.integration);
    let ignored = form.ignored();
    let avatar = read_avatar(&app, &caller, form).await?;
    let (realm, by) = (caller.realm.clone(), caller.user.id);
    let bot = with_avatar(&app, caller.realm.id(), avatar, move |avatar| async move {
        realm.execute(commands::CreateBot { by, new: NewBot { avatar, ..new } }).await
    })
    .await?;
    let directory = caller.realm.directory();
    let bot = directory.user(bot.id).ok_or_else(ApiError::internal)?;
    let config = directory.bot_config(bot.id).cloned().unwrap_or_default();
    let reply = reply(&Created {
        user_id: bot.id,
        api_key: caller.realm.api_key(bot),
        avatar_url: whole_avatar_url(&directory, bot, AvatarSize::Small),
        default_sending_stream: channel_name(&directory, bot, config.sending_channel),
        default_events_register_stream: channel_name(&directory, bot, config.register_channel),
        default_all_public_streams: config.all_public_channels,
    })?;
    Ok(reply.ignoring(ignored))
}
