//! Queries about uploaded files.

use super::RealmHandle;
use crate::uploads::{FileAccess, access_file};
use model::{ListedAttachment, User, UserId};

/// Number of messages that a list of files names.
const USES_TOGETHER_MAX: usize = 50_000;

impl RealmHandle {
    /// Whether a requester (none: without an account) may read the file at a path.
    pub fn access_file(&self, asker: Option<&User>, path_id: &str) -> FileAccess {
        self.read(|view| access_file(view, asker, path_id))
    }

    /// The uploaded files of a user, oldest first, with the newest messages that name each; of files that come after
    /// [`USES_TOGETHER_MAX`] messages, only the newest one.
    pub fn attachments_of(&self, owner: UserId) -> Vec<ListedAttachment> {
        self.read(|view| {
            let mut left = USES_TOGETHER_MAX;
            let own = view.directory.attachments_of(owner);
            let own = own.filter_map(|file| {
                let mut listed = view.listed_attachment(file.id)?;
                if listed.uses.len() > left {
                    listed.uses.drain(..listed.uses.len() - 1);
                }
                left -= listed.uses.len().min(left);
                Some(listed)
            });
            own.collect()
        })
    }
}
