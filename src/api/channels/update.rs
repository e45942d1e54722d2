//! `PATCH /streams/{id}`: changes a channel (docs/api/channels.md#update-a-channel).

use super::options::folder_id;
use crate::api::descriptions::description_html;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use model::ChannelId;
use rules::names::parse_description;
use rules::new_channels::parse_retention_value;
use rules::permissions::channel_update::{ChannelUpdate, parse_topics_policy};
use rules::permissions::group_setting_change::{ProposedChange, parse_group_setting_change};
use rules::settings::ChannelPermission;

impl FromFields for ChannelUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let description = fields.optional_str("description").map(parse_description).transpose()?;
        Ok(Self {
            description,
            new_name: fields.optional("new_name"),
            is_private: fields.optional_bool("is_private")?,
            is_web_public: fields.optional_bool("is_web_public")?,
            history_public_to_subscribers: fields.optional_bool("history_public_to_subscribers")?,
            is_default: fields.optional_bool("is_default_stream")?,
            retention: fields.optional_str("message_retention_days").map(parse_retention_value),
            is_archived: fields.optional_bool("is_archived")?,
            folder: folder_id(fields)?,
            topics_policy: fields.optional_str("topics_policy").map(parse_topics_policy).transpose()?,
            permissions: permissions(fields)?,
        })
    }
}

fn permissions(fields: &Fields) -> Result<Vec<(ChannelPermission, ProposedChange)>, ApiError> {
    let mut changes = Vec::new();
    for permission in ChannelPermission::ALL {
        let name = permission.rule().name;
        let Some(field) = fields.optional_json(name)? else { continue };
        field.root().object()?;
        let change = parse_group_setting_change(&field.into_value());
        changes.push((permission, change.ok_or_else(|| ApiError::invalid_parameter(name))?));
    }
    Ok(changes)
}

fn description_of(caller: &Caller, id: ChannelId) -> Option<String> {
    caller.realm.directory().channel(id).map(|channel| channel.description.clone())
}

/// Changes the given properties in order; those before a refusal stay changed.
pub async fn update_channel(
    app: App,
    caller: Caller,
    Path(id): Path<ChannelId>,
    Params(update): Params<ChannelUpdate>,
) -> HandlerResult {
    // The notice of the change shows the old description, too.
    let old = update.description.as_ref().and_then(|_| description_of(&caller, id));
    formulas::prepare(&app, &caller, update.description.as_deref().into_iter().chain(old.as_deref())).await?;
    let render = |text: &String| description_html(&caller, &caller.realm.directory(), text);
    let html = update.description.as_ref().map(render).transpose()?;
    let (by, channel) = (caller.user.id, id.0.into());
    let command = commands::UpdateChannel { by, channel, update: Box::new(update), description_html: html };
    match caller.realm.execute(command).await? {
        Some(refusal) => Err(refusal.into()),
        None => reply_ok(),
    }
}
