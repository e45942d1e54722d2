//! `PATCH /channel_folders`: the order of all folders (companions.md 6).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};

/// The parameter.
pub struct ReorderFolders {
    order: Vec<i64>,
}

impl FromFields for ReorderFolders {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { order: fields.required_ids("order")?.into_iter().map(i64::from).collect() })
    }
}

/// Nothing but success.
pub async fn reorder_folders(caller: Caller, Params(params): Params<ReorderFolders>) -> Answer {
    caller.realm.reorder_folders(caller.user.id, params.order).await?;
    reply_ok()
}
