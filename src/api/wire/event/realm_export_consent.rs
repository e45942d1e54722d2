//! `realm_export_consent`: whether a user agrees to the export of their private data.

use model::UserId;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct RealmExportConsent {
    pub user_id: UserId,
    pub consented: bool,
}
