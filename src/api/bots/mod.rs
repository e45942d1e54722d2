//! `/bots`: bots, for their owners and administrators (docs/api/bots.md).

pub mod api_key;
pub mod create;
pub mod delete;
pub mod list;
pub mod state;
pub mod update;

use crate::api::pictures::made_avatar;
use crate::http::params::Json;
use crate::http::upload::Form;
use crate::http::{ApiError, App, Caller, Fields};
use crate::integrations::images::AvatarImages;
use actors::BotDefaults;
use rules::bots::IntegrationChange;
use std::collections::BTreeMap;

/// Reads the default channels of a bot.
fn read_defaults(fields: &Fields) -> Result<BotDefaults, ApiError> {
    Ok(BotDefaults {
        sending: fields.optional("default_sending_stream"),
        register: fields.optional("default_events_register_stream"),
        all_public: fields.optional_bool("default_all_public_streams")?,
    })
}

/// Reads `config_data`: an object of strings.
fn read_config(fields: &Fields) -> Result<BTreeMap<String, String>, ApiError> {
    let Some(config) = fields.optional_json("config_data")? else { return Ok(BTreeMap::new()) };
    let object = config.root().object()?;
    let entry = |(key, value): (&str, Json<'_>)| Ok((key.to_owned(), value.string()?.to_owned()));
    object.members().map(entry).collect()
}

/// Reads what an incoming webhook bot is for, with the name of its integration.
fn read_integration(name: Option<&str>, fields: &Fields) -> Result<IntegrationChange, ApiError> {
    let name = name.map(|name| rules::text::strip(name).to_owned());
    Ok(IntegrationChange { name, is_known: false, data: read_config(fields)? })
}

/// Looks an integration up in the catalog.
fn find_integration(app: &App, change: &mut IntegrationChange) {
    change.is_known = change.name.as_deref().is_some_and(|name| app.incoming.integration(name).is_some());
}

/// The avatar in a form, if there is one.
async fn read_avatar(app: &App, caller: &Caller, form: Form) -> Result<Option<AvatarImages>, ApiError> {
    match (form.file, form.file_count) {
        (Some(file), 1) => Ok(Some(made_avatar(app, caller, file).await?)),
        (None, _) => Ok(None),
        _ => Err(ApiError::bad_request("You may only upload one file at a time")),
    }
}
