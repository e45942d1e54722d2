//! `POST` and `GET /export/realm`, `DELETE /export/realm/{export_id}`: exports of the organization that administrators request
//! (docs/api/organization.md#exports).

use crate::api::wire::export::{ExportJson, export};
use crate::http::{
    ApiError, App, Caller, Fields, FromFields, HandlerResult, Params, Path, RealmUrl, reply_field, reply_ok,
};
use crate::integrations::blobs::exports::export_blob;
use actors::commands::{DeleteExport, RequestExport};
use model::Role;
use model::export::RequestedExport;

/// Which export is requested.
pub struct NewExport(RequestedExport);

impl FromFields for NewExport {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let code = fields.int_or("export_type", i64::from(RequestedExport::Public.code()))?;
        let kind = RequestedExport::from_code(code);
        kind.map(Self).ok_or_else(|| ApiError::bad_request("Invalid export_type"))
    }
}

/// Requests an export, which is then made in the background; returns its `id`.
pub async fn request(
    app: App,
    caller: Caller,
    RealmUrl(url): RealmUrl,
    Params(NewExport(kind)): Params<NewExport>,
) -> HandlerResult {
    let realm = &caller.realm;
    let directory = realm.directory();
    let owner = directory.users().find(|user| user.is_active && user.role == Role::Owner && !user.is_bot());
    let contact = owner.map(|owner| owner.full_name.clone()).unwrap_or_default();
    let command = RequestExport { by: caller.user.id, kind, url, contact };
    let id = realm.execute(command).await?;
    app.exports.begin(realm.clone(), app.blobs.clone(), app.config.data.clone(), (id, kind));
    reply_field("id", &id)
}

/// Lists the exports, the oldest first.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let exports: Vec<ExportJson> = directory.exports().items.iter().map(export).collect();
    reply_field("exports", &exports)
}

/// Deletes the file of an export.
pub async fn delete(app: App, caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    let command = DeleteExport { by: caller.user.id, id: id.into() };
    let path = caller.realm.execute(command).await?;
    // The record is gone: what cannot be deleted now is deleted by the sweep.
    if let Some(name) = export_blob(&path)
        && let Err(error) = app.blobs.delete(&name).await
    {
        tracing::warn!(%error, "the file of a deleted export could not be removed; the next cleanup of unused files removes it");
    }
    reply_ok()
}
