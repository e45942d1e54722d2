//! `GET /channel_folders` (docs/api/channels.md#channel-folders).

use crate::api::wire::folder::folder;
use crate::api::wire::list::push_list;
use crate::http::{ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params};
use rules::folders::folders_in_order;

/// The parameter.
pub struct ListFolders {
    include_archived: bool,
}

impl FromFields for ListFolders {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { include_archived: fields.bool_or("include_archived", false)? })
    }
}

/// `channel_folders` in their order.
pub async fn list_folders(caller: Caller, Params(params): Params<ListFolders>) -> HandlerResult {
    let directory = caller.realm.directory();
    let folders = folders_in_order(&directory);
    let shown = folders.into_iter().filter(|folder| params.include_archived || !folder.is_archived);
    let mut envelope = Envelope::with_capacity(1024);
    push_list(envelope.open_field("channel_folders"), shown.map(|shown| folder(shown)));
    envelope.reply()
}
