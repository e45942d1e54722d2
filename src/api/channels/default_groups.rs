//! `POST /default_stream_groups/create`, `PATCH` and `DELETE /default_stream_groups/{group_id}`,
//! `PATCH /default_stream_groups/{group_id}/streams`: groups of default channels
//! (docs/api/channels.md#groups-of-default-channels).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::commands;
use rules::default_groups::DefaultGroupChange;

/// A group to create.
pub struct NewGroup {
    name: String,
    description: String,
    channels: Vec<String>,
}

impl FromFields for NewGroup {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            name: fields.required("group_name")?,
            description: fields.required("description")?,
            channels: fields.required_strings("stream_names")?,
        })
    }
}

/// The requested changes of a group.
pub struct GroupUpdate {
    name: Option<String>,
    description: Option<String>,
}

impl FromFields for GroupUpdate {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { name: fields.optional("new_group_name"), description: fields.optional("new_description") })
    }
}

/// Channels to add to a group or to remove from it.
pub struct GroupChannels {
    is_add: bool,
    channels: Vec<String>,
}

impl FromFields for GroupChannels {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let op = fields.required("op")?;
        let channels = fields.required_strings("stream_names")?;
        if op != "add" && op != "remove" {
            let msg = r#"Invalid value for "op". Specify one of "add" or "remove"."#;
            return Err(ApiError::bad_request(msg));
        }
        Ok(Self { is_add: op == "add", channels })
    }
}

/// Creates a group.
pub async fn create(caller: Caller, Params(new): Params<NewGroup>) -> HandlerResult {
    let NewGroup { name, description, channels } = new;
    execute(caller, DefaultGroupChange::Create { name, description, channels }).await
}

/// Changes name and description.
pub async fn update(
    caller: Caller,
    Path(id): Path<u32>,
    Params(update): Params<GroupUpdate>,
) -> HandlerResult {
    let GroupUpdate { name, description } = update;
    execute(caller, DefaultGroupChange::Update { id: id.into(), name, description }).await
}

/// Adds or removes channels.
pub async fn change_channels(
    caller: Caller,
    Path(id): Path<u32>,
    Params(GroupChannels { is_add, channels }): Params<GroupChannels>,
) -> HandlerResult {
    let id = id.into();
    let change = match is_add {
        true => DefaultGroupChange::AddChannels { id, channels },
        false => DefaultGroupChange::RemoveChannels { id, channels },
    };
    execute(caller, change).await
}

/// Deletes a group.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    execute(caller, DefaultGroupChange::Delete { id: id.into() }).await
}

async fn execute(caller: Caller, change: DefaultGroupChange) -> HandlerResult {
    caller.realm.execute(commands::ChangeDefaultGroups { by: caller.user.id, change }).await?;
    reply_ok()
}
