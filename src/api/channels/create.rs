//! `POST /channels/create`: a new channel with the subscribers that are listed (endpoints.md 7).

use super::new_channel::{new_channel, next_color};
use super::notices::announce_channels;
use super::options::ChannelOptions;
use crate::http::params::check_not_blank;
use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply};
use model::{ChannelId, Directory, UserId};
use rules::RuleError;
use rules::names::{check_new_channel_name, parse_description};
use rules::text::strip;
use serde::Serialize;

/// The parameters.
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
        Ok(Self { name, description, subscribers, options: ChannelOptions::from_fields(fields)? })
    }
}

#[derive(Serialize)]
struct Created {
    id: ChannelId,
}

/// `id` of the new channel. The creator subscribes only if listed.
pub async fn create_channel(caller: Caller, Params(params): Params<CreateChannel>) -> Answer {
    let directory = caller.realm.directory();
    let name = check_new_channel_name(&directory, &params.name)?;
    let plan = params.options.plan(&directory, &caller.user)?;
    let subscribers = first_subscribers(&directory, &params.subscribers)?;
    let new = new_channel(&caller, &directory, &plan, name, params.description, subscribers)?;
    let id = caller.realm.create_channel(new).await?;
    if params.options.announce {
        announce_channels(&caller, &[name.to_owned()]).await;
    }
    reply(&Created { id })
}

fn first_subscribers(directory: &Directory, ids: &[u32]) -> Result<Vec<(UserId, String)>, ApiError> {
    let mut ids: Vec<UserId> = ids.iter().map(|id| UserId(*id)).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut subscribers = Vec::with_capacity(ids.len());
    for id in ids {
        let user = directory.user(id).filter(|user| !user.is_system_bot());
        let user = user.ok_or(RuleError::InvalidMember { id: id.0.into() })?;
        if !user.is_active {
            return Err(ApiError::bad_request("User is deactivated"));
        }
        subscribers.push((id, next_color(directory, id, &[])));
    }
    Ok(subscribers)
}
