//! Exports of the organization as clients read them (docs/api/organization.md#exports).

use crate::integrations::blobs::exports::FOLDER_URL;
use model::UserId;
use model::export::{ExportStatus, RealmExport};
use serde::Serialize;

/// An export as clients read it.
#[derive(Serialize)]
pub struct ExportJson {
    id: u32,
    /// Unix seconds of the request.
    export_time: u64,
    acting_user_id: UserId,
    export_url: Option<String>,
    deleted_timestamp: Option<u64>,
    failed_timestamp: Option<u64>,
    pending: bool,
    export_type: u8,
}

/// The JSON of an export.
pub fn export(export: &RealmExport) -> ExportJson {
    let (mut deleted_timestamp, mut failed_timestamp) = (None, None);
    match &export.status {
        ExportStatus::Deleted { at } => deleted_timestamp = Some(at.secs()),
        ExportStatus::Failed { at } => failed_timestamp = Some(at.secs()),
        ExportStatus::Pending | ExportStatus::Succeeded { .. } => {}
    }
    ExportJson {
        id: export.id,
        export_time: export.requested.secs(),
        acting_user_id: export.by,
        export_url: export.path().map(|path| format!("{}{FOLDER_URL}{path}", export.url)),
        deleted_timestamp,
        failed_timestamp,
        pending: export.is_pending(),
        export_type: export.kind.code(),
    }
}
