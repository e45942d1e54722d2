//! Channel folders: names, order, and when one may be archived (docs/api/channels.md#channel-folders).
//!
//! Only administrators change folders (`permissions::roles::check_administrator`).

use crate::error::RuleError;
use crate::names::DESCRIPTION_LENGTH_MAX;
use crate::text;
use model::{ChannelFolder, Directory, FolderId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Longest folder name, in code points.
const FOLDER_NAME_LENGTH_MAX: usize = 60;

/// The name to store of a folder name as sent. Names are unique ignoring case; `others` are the names of the other
/// folders, including archived ones.
pub fn check_folder_name(
    raw: &str,
    others: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<&str, RuleError> {
    let name = text::strip(raw);
    if name.chars().count() > FOLDER_NAME_LENGTH_MAX {
        return Err(RuleError::TooLong { field: "name", limit: FOLDER_NAME_LENGTH_MAX });
    }
    if name.is_empty() {
        return Err(RuleError::FolderNameEmpty);
    }
    if let Some(position) = text::forbidden_character(name) {
        return Err(RuleError::FolderNameCharacter { position });
    }
    let key = name.to_lowercase();
    if others.into_iter().any(|other| other.as_ref().to_lowercase() == key) {
        return Err(RuleError::FolderNameTaken);
    }
    Ok(name)
}

/// The description to store of a folder description as sent: `TooLong`.
pub fn check_folder_description(raw: &str) -> Result<&str, RuleError> {
    let description = text::strip(raw);
    if description.chars().count() > DESCRIPTION_LENGTH_MAX {
        return Err(RuleError::TooLong { field: "description", limit: DESCRIPTION_LENGTH_MAX });
    }
    Ok(description)
}

/// Refuses to archive a folder that contains channels: `FolderInUse`.
pub fn check_folder_unused(dir: &Directory, folder: FolderId) -> Result<(), RuleError> {
    match dir.channels().any(|channel| channel.folder == Some(folder)) {
        true => Err(RuleError::FolderInUse),
        false => Ok(()),
    }
}

/// All folders in display order, including archived ones.
pub fn folders_in_order(dir: &Directory) -> Vec<&Arc<ChannelFolder>> {
    let mut folders: Vec<&Arc<ChannelFolder>> = dir.folders().collect();
    folders.sort_by_key(|folder| (folder.order, folder.id));
    folders
}

/// A new order: every folder, including archived ones, exactly once. `FolderOrderInvalid`.
pub fn check_folder_order(folders: &BTreeSet<FolderId>, order: &[i64]) -> Result<Vec<FolderId>, RuleError> {
    let ids: Vec<FolderId> = order.iter().filter_map(|id| u32::try_from(*id).ok().map(FolderId)).collect();
    let named: BTreeSet<FolderId> = ids.iter().copied().collect();
    if ids.len() != order.len() || ids.len() != named.len() || named != *folders {
        return Err(RuleError::FolderOrderInvalid);
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn folder_names() {
        let long = "f".repeat(61);
        for (raw, expected) in [
            (" Kitchen ", Ok("Kitchen")),
            ("", Err(RuleError::FolderNameEmpty)),
            (" ", Err(RuleError::FolderNameEmpty)),
            ("a\u{7}", Err(RuleError::FolderNameCharacter { position: 2 })),
            ("OLD", Err(RuleError::FolderNameTaken)),
            (&long[..60], Ok(&long[..60])),
            (&long, Err(RuleError::TooLong { field: "name", limit: 60 })),
        ] {
            assert_eq!(check_folder_name(raw, ["old", "new"]), expected, "{raw:?}");
        }
        assert!(check_folder_description(&"d".repeat(1024)).is_ok());
        assert!(check_folder_description(&"d".repeat(1025)).is_err());
    }

    #[test]
    fn folders_with_channels_cannot_be_archived() {
        let mut dir = fixture::directory();
        let mut channel = fixture::channel(1, "a");
        channel.folder = Some(FolderId(3));
        dir.put_channel(channel);
        assert_eq!(check_folder_unused(&dir, FolderId(3)), Err(RuleError::FolderInUse));
        assert_eq!(check_folder_unused(&dir, FolderId(4)), Ok(()));
    }

    #[test]
    fn orders_contain_every_folder_once() {
        let folders = BTreeSet::from([1, 2, 3].map(FolderId));
        assert_eq!(check_folder_order(&folders, &[3, 1, 2]), Ok(vec![FolderId(3), FolderId(1), FolderId(2)]));
        for order in [&[1, 2][..], &[1, 2, 2], &[1, 2, 3, 3], &[1, 2, 3, 4], &[1, 2, -3], &[]] {
            assert_eq!(check_folder_order(&folders, order), Err(RuleError::FolderOrderInvalid), "{order:?}");
        }
    }
}
