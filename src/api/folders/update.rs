//! `PATCH /channel_folders/{id}` (docs/api/channels.md#channel-folders).

use super::create::described;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path};
use actors::commands;
use model::FolderId;
use rules::folders::check_folder_description;

/// The properties to change.
pub struct UpdateFolder {
    name: Option<String>,
    description: Option<String>,
    is_archived: Option<bool>,
}

impl FromFields for UpdateFolder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let description = fields.optional_str("description").map(check_folder_description).transpose()?;
        Ok(Self {
            name: fields.optional("name"),
            description: description.map(str::to_owned),
            is_archived: fields.optional_bool("is_archived")?,
        })
    }
}

/// Changes the given properties.
pub async fn update_folder(
    app: App,
    caller: Caller,
    Path(id): Path<FolderId>,
    Params(params): Params<UpdateFolder>,
) -> HandlerResult {
    formulas::prepare(&app, &caller, params.description.as_deref()).await?;
    let description = params.description.map(|text| described(&caller, text)).transpose()?;
    let UpdateFolder { name, is_archived, .. } = params;
    let by = caller.user.id;
    caller.execute(commands::UpdateFolder { by, folder: id, name, description, is_archived }).await
}
