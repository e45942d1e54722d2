//! `channel_folder`: folders of channels.

use crate::api::wire::folder::FolderJson;
use model::FolderId;
use model::event::FolderChange;
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum ChannelFolder<'e> {
    Add { channel_folder: FolderJson<'e> },
    Update { channel_folder_id: FolderId, data: Data<'e> },
    Reorder { order: &'e [FolderId] },
}

/// The properties that changed.
#[derive(Serialize)]
pub(super) struct Data<'e> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rendered_description: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_archived: Option<bool>,
}

pub(super) fn data(change: &FolderChange) -> Data<'_> {
    let description = change.description.as_ref();
    Data {
        name: change.name.as_deref(),
        description: description.map(|(markdown, _)| markdown.as_str()),
        rendered_description: description.map(|(_, html)| html.as_str()),
        is_archived: change.is_archived,
    }
}
