//! `POST /channel_folders/create` (companions.md 6).

use crate::api::channels::new_channel::description_html;
use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply};
use actors::FolderDescription;
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
pub async fn create_folder(caller: Caller, Params(params): Params<CreateFolder>) -> Answer {
    let description = described(&caller, params.description)?;
    let channel_folder_id = caller.realm.create_folder(caller.user.id, params.name, description).await?;
    reply(&Created { channel_folder_id })
}
