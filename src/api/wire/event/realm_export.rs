//! `realm_export`: all exports of the organization.

use crate::api::wire::export::{ExportJson, export};
use model::Listed;
use model::export::RealmExport;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct RealmExports {
    exports: Vec<ExportJson>,
}

pub(super) fn all(exports: &Listed<RealmExport>) -> RealmExports {
    RealmExports { exports: exports.items.iter().map(export).collect() }
}
