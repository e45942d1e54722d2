//! `/bots`: bots, for their owners and administrators (docs/api/bots.md).

pub mod api_key;
pub mod create;
pub mod delete;
pub mod list;
pub mod state;
pub mod update;

use crate::api::pictures::made_avatar;
use crate::http::upload::Form;
use crate::http::{ApiError, App, Fields};
use crate::integrations::images::AvatarImages;
use actors::BotDefaults;

/// Reads the default channels of a bot.
fn read_defaults(fields: &Fields) -> Result<BotDefaults, ApiError> {
    Ok(BotDefaults {
        sending: fields.optional("default_sending_stream"),
        register: fields.optional("default_events_register_stream"),
        all_public: fields.optional_bool("default_all_public_streams")?,
    })
}

/// Refuses a non-empty `config_data`: it is for embedded bots, which are not implemented.
fn refuse_config(fields: &Fields) -> Result<(), ApiError> {
    let Some(config) = fields.optional_json("config_data")? else { return Ok(()) };
    config.root().object()?;
    let is_empty = config.into_value().as_object().is_some_and(serde_json::Map::is_empty);
    if is_empty { Ok(()) } else { Err(rules::RuleError::from(rules::error::BotError::EmbeddedOff).into()) }
}

/// The avatar in a form, if there is one.
async fn read_avatar(app: &App, form: Form) -> Result<Option<AvatarImages>, ApiError> {
    match (form.file, form.file_count) {
        (Some(file), 1) => Ok(Some(made_avatar(app, file).await?)),
        (None, _) => Ok(None),
        _ => Err(ApiError::bad_request("You may only upload one file at a time")),
    }
}
