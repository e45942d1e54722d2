//! Folders of channels as clients read them (docs/api/channels.md#channel-folders).

use model::{ChannelFolder, FolderId, UserId};
use serde::Serialize;

/// The channel folder object of the API.
#[derive(Clone, Debug, Serialize)]
pub struct FolderJson<'a> {
    id: FolderId,
    name: &'a str,
    description: &'a str,
    rendered_description: &'a str,
    order: u32,
    date_created: u64,
    creator_id: UserId,
    is_archived: bool,
}

/// The JSON of a folder.
pub fn folder(folder: &ChannelFolder) -> FolderJson<'_> {
    FolderJson {
        id: folder.id,
        name: &folder.name,
        description: &folder.description,
        rendered_description: &folder.rendered_description,
        order: folder.order,
        date_created: folder.created.secs(),
        creator_id: folder.creator,
        is_archived: folder.is_archived,
    }
}
