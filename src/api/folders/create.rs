//! `POST /channel_folders/create` (docs/api/channels.md#channel-folders).

use crate::api::descriptions::description_html;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::{FolderDescription, commands};
use model::FolderId;
use rules::folders::check_folder_description;
use serde::Serialize;

/// The parameters.
pub struct CreateFolder {
    name: String,
    description: String,
}

impl FromFields for CreateFolder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = fields.required("name")?;
        let description = check_folder_description(fields.required_str("description")?)?.to_owned();
        Ok(Self { name, description })
    }
}

#[derive(Serialize)]
struct Created {
    channel_folder_id: FolderId,
}

/// A description with its HTML.
///
/// # Errors
/// One that has no reasonable HTML.
pub(super) fn described(caller: &Caller, text: String) -> Result<FolderDescription, ApiError> {
    let html = description_html(caller, &caller.realm.directory(), &text)?;
    Ok(FolderDescription { text, html })
}

/// `channel_folder_id` of the new folder, which stands behind all others.
pub async fn create_folder(caller: Caller, Params(params): Params<CreateFolder>) -> HandlerResult {
    let description = described(&caller, params.description)?;
    let channel_folder_id = caller
        .realm
        .execute(commands::CreateFolder { by: caller.user.id, name: params.name, description })
        .await?;
    reply(&Created { channel_folder_id })
}
