//! `POST /channel_folders/create` (docs/api/channels.md#channel-folders).

use crate::api::descriptions::description_html;
use crate::api::formulas;
use crate::http::{ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, reply_field};
use actors::{FolderDescription, commands};
use rules::folders::check_folder_description;

/// A folder to create.
pub struct CreateFolder {
    name: String,
    description: String,
}

impl FromFields for CreateFolder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = fields.required("name")?;
        let description =
            check_folder_description(fields.optional_str("description").unwrap_or_default())?.to_owned();
        Ok(Self { name, description })
    }
}

/// A description with its HTML. Error: the HTML is too long.
pub(super) fn described(caller: &Caller, text: String) -> Result<FolderDescription, ApiError> {
    let html = description_html(caller, &caller.realm.directory(), &text)?;
    Ok(FolderDescription { text, html })
}

/// Returns the `channel_folder_id` of the new folder, which is the last one.
pub async fn create_folder(app: App, caller: Caller, Params(params): Params<CreateFolder>) -> HandlerResult {
    formulas::prepare(&app, &caller, [params.description.as_str()]).await?;
    let description = described(&caller, params.description)?;
    let command = commands::CreateFolder { by: caller.user.id, name: params.name, description };
    reply_field("channel_folder_id", &caller.realm.execute(command).await?)
}
