//! `POST /channels/create`: creates a channel with the listed subscribers (docs/api/channels.md#create-a-channel).

use super::options::channel_options;
use crate::api::formulas;
use crate::http::params::check_not_blank;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::commands;
use model::UserId;
use rules::names::parse_description;
use rules::new_channels::ChannelOptions;
use rules::text::strip;

/// A channel to create.
pub struct CreateChannel {
    name: String,
    description: String,
    subscribers: Vec<u32>,
    options: ChannelOptions,
}

impl FromFields for CreateChannel {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = strip(fields.required_str("name")?).to_owned();
        check_not_blank("name", &name)?;
        let description = parse_description(fields.optional_str("description").unwrap_or_default())?;
        let subscribers = fields.required_ids("subscribers")?;
        Ok(Self { name, description, subscribers, options: channel_options(fields)? })
    }
}

/// Returns the `id` of the new channel. The creator is subscribed only if listed.
pub async fn create_channel(
    app: App,
    caller: Caller,
    Params(params): Params<CreateChannel>,
) -> HandlerResult {
    let CreateChannel { name, description, subscribers, options } = params;
    formulas::prepare(&app, &caller, [description.as_str()]).await?;
    let subscribers = subscribers.into_iter().map(UserId).collect();
    let command = commands::CreateChannel { by: caller.user.id, name, description, subscribers, options };
    let id = caller.realm.create_channel(command).await?;
    reply_field("id", &id)
}
