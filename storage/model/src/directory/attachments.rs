//! Uploaded files of a directory.

use super::Directory;
use crate::attachment::Attachment;
use crate::ids::{AttachmentId, UserId};
use crate::time::Timestamp;
use std::ops::Bound;
use std::sync::Arc;

impl Directory {
    /// An uploaded file by its id.
    pub fn attachment(&self, id: AttachmentId) -> Option<&Arc<Attachment>> {
        self.attachments.files.get(&id)
    }

    /// An uploaded file by its path, such as `1/ab/cdef/cat.png`.
    pub fn attachment_by_path(&self, path_id: &str) -> Option<&Arc<Attachment>> {
        self.attachments.files.get(self.attachments.by_path.get(path_id)?)
    }

    /// Whether there is an uploaded file whose path begins with a folder, such as `1/ab/cdef/`.
    pub fn has_attachment_below(&self, folder: &str) -> bool {
        let mut after = self.attachments.by_path.range::<_, str>((Bound::Included(folder), Bound::Unbounded));
        after.next().is_some_and(|(path, _)| path.starts_with(folder))
    }

    /// The uploaded files of a user, oldest first.
    pub fn attachments_of(&self, owner: UserId) -> impl Iterator<Item = &Arc<Attachment>> {
        let own = self.attachments.by_owner.get(&owner).into_iter().flatten();
        own.filter_map(|id| self.attachments.files.get(id))
    }

    /// Number of uploaded files of a user.
    pub fn attachment_count_of(&self, owner: UserId) -> usize {
        self.attachments.by_owner.get(&owner).map_or(0, imbl::OrdSet::len)
    }

    /// Number of uploaded files of the organization.
    pub fn attachment_count(&self) -> usize {
        self.attachments.files.len()
    }

    /// Bytes of all uploaded files of the organization.
    pub fn upload_space_used(&self) -> u64 {
        self.attachments.bytes
    }

    /// Files that no message names, the longest unclaimed first, up to those that are unclaimed since a time.
    pub fn unclaimed_attachments(&self, until: Timestamp) -> impl Iterator<Item = &Arc<Attachment>> {
        let old = self.attachments.unclaimed.iter().take_while(move |(since, _)| *since <= until);
        old.filter_map(|(_, id)| self.attachments.files.get(id))
    }

    /// The newest id of an uploaded file, deleted ones included; 0 before the first.
    pub fn last_attachment_id(&self) -> AttachmentId {
        self.attachments.last
    }

    /// Sets the newest id of uploaded files.
    pub fn put_last_attachment_id(&mut self, id: AttachmentId) {
        self.attachments.last = id;
    }

    /// Sets an uploaded file.
    pub fn put_attachment(&mut self, attachment: Attachment) {
        let id = attachment.id;
        self.remove_attachment(id);
        let files = &mut self.attachments;
        files.bytes += attachment.size;
        files.by_path.insert(attachment.path_id.as_str().into(), id);
        files.by_owner.entry(attachment.owner).or_default().insert(id);
        if let Some(since) = attachment.unclaimed_since {
            files.unclaimed.insert((since, id));
        }
        files.files.insert(id, Arc::new(attachment));
    }

    /// Removes an uploaded file.
    pub fn remove_attachment(&mut self, id: AttachmentId) {
        let files = &mut self.attachments;
        let Some(before) = files.files.remove(&id) else { return };
        files.bytes -= before.size;
        files.by_path.remove(before.path_id.as_str());
        if let Some(since) = before.unclaimed_since {
            files.unclaimed.remove(&(since, id));
        }
        let Some(own) = files.by_owner.get_mut(&before.owner) else { return };
        own.remove(&id);
        if own.is_empty() {
            files.by_owner.remove(&before.owner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::RealmId;
    use crate::realm::Realm;

    fn file(id: u32, owner: u32, size: u64, unclaimed_since: Option<u64>) -> Attachment {
        Attachment {
            id: AttachmentId(id),
            owner: UserId(owner),
            path_id: format!("1/ab/{id}/cat.png"),
            name: "cat.png".to_owned(),
            size,
            content_type: "image/png".to_owned(),
            created: Timestamp(1),
            image: None,
            unclaimed_since: unclaimed_since.map(Timestamp),
        }
    }

    #[test]
    fn indexes_follow_the_files() {
        let empty = Directory::new(Realm::new(RealmId(1), "", "Test", "zulip.test", Timestamp(0)));
        let mut directory = empty.clone();
        directory.put_attachment(file(1, 7, 10, Some(5)));
        directory.put_attachment(file(2, 7, 20, Some(3)));
        directory.put_attachment(file(2, 7, 20, Some(3)));
        let unclaimed = |directory: &Directory, until| {
            directory.unclaimed_attachments(Timestamp(until)).map(|file| file.id.0).collect::<Vec<_>>()
        };
        assert_eq!((unclaimed(&directory, 5), unclaimed(&directory, 4)), (vec![2, 1], vec![2]));
        assert_eq!((directory.upload_space_used(), directory.attachment_count_of(UserId(7))), (30, 2));
        let found = directory.attachment_by_path("1/ab/2/cat.png").map(|file| file.id);
        assert_eq!(found, Some(AttachmentId(2)));
        directory.put_attachment(file(2, 7, 20, None));
        assert_eq!(unclaimed(&directory, 9), [1]);
        directory.remove_attachment(AttachmentId(1));
        directory.remove_attachment(AttachmentId(2));
        assert_eq!(directory, empty);
    }
}
