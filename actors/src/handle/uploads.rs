//! Queries about uploaded files.

use super::RealmHandle;
use crate::uploads::{FileAccess, access_file, listed};
use model::{ListedAttachment, User, UserId};

impl RealmHandle {
    /// Whether a requester (none: without an account) may read the file at a path.
    pub fn access_file(&self, asker: Option<&User>, path_id: &str) -> FileAccess {
        self.read(|view| access_file(view, asker, path_id))
    }

    /// The uploaded files of a user, oldest first, with the newest messages that name each.
    pub fn attachments_of(&self, owner: UserId) -> Vec<ListedAttachment> {
        self.read(|view| {
            let own = view.directory.attachments_of(owner);
            own.filter_map(|file| listed(view, file.id)).collect()
        })
    }
}
