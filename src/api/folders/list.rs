//! `GET /channel_folders` (docs/api/channels.md#channel-folders).

use crate::api::wire::folder::folder;
use crate::api::wire::list::reply_list;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use rules::folders::folders_in_order;

/// Whether archived folders are included.
pub struct ListFolders(bool);

impl FromFields for ListFolders {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("include_archived", false)?))
    }
}

/// Lists `channel_folders` in their order.
pub async fn list_folders(
    caller: Caller,
    Params(ListFolders(with_archived)): Params<ListFolders>,
) -> HandlerResult {
    let directory = caller.realm.directory();
    let folders = folders_in_order(&directory);
    let shown = folders.into_iter().filter(|folder| with_archived || !folder.is_archived);
    reply_list("channel_folders", shown.map(|shown| folder(shown)))
}
