//! Uploaded files (docs/api/uploads.md). The edge stores their bytes before the decision, which names them.

use super::frame_draft::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{Attachment, AttachmentFact, AttachmentId, Directory, Fact, ImageInfo, Timestamp, UserId};
use rules::error::{RuleError, UploadError};
use rules::new_ids::id_after;
use rules::uploads::{check_room, folder_of, named_folders};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Unclaimed files that are examined for one frame.
const BATCH_FILES: usize = 100;

/// Adds a file whose bytes are durable.
pub struct AddAttachment {
    /// The owner of the file.
    pub user: UserId,
    /// Its path, which no other file has.
    pub path_id: String,
    pub name: String,
    /// Size of the file in bytes.
    pub size: u64,
    pub content_type: String,
    pub image: Option<ImageInfo>,
    /// Bytes that all files of the organization may take.
    pub quota_bytes: Option<u64>,
}

impl SerializedCommand for AddAttachment {
    type Outcome = AttachmentId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(AttachmentId, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let owner = requester(directory, self.user)?;
        if !owner.is_active {
            return Err(DomainError::UserDeactivated);
        }
        check_room(directory, owner.id, self.size, self.quota_bytes)?;
        let id = AttachmentId(id_after(directory.last_attachment_id().0, "uploaded files")?);
        let file = Attachment {
            id,
            owner: owner.id,
            path_id: self.path_id,
            name: self.name,
            size: self.size,
            content_type: self.content_type,
            created: context.now,
            image: self.image,
            unclaimed_since: Some(context.now),
        };
        Ok((id, vec![Fact::Attachment(AttachmentFact::Added(Box::new(file)))]))
    }
}

/// Deletes a file of a user. The outcome is its path.
pub struct RemoveAttachment {
    /// The owner of the file.
    pub user: UserId,
    pub id: AttachmentId,
}

impl SerializedCommand for RemoveAttachment {
    type Outcome = String;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(String, Vec<Fact>), DomainError> {
        let found = context.directory.attachment(self.id).filter(|file| file.owner == self.user);
        let file = found.ok_or_else(|| RuleError::from(UploadError::Missing))?;
        let fact = AttachmentFact::Removed { attachment: self.id, owner: self.user, if_unclaimed: false };
        Ok((file.path_id.clone(), vec![Fact::Attachment(fact)]))
    }
}

/// Deletes some of the files that no message has named for long. Their bytes are deleted by the sweep of the store.
#[derive(Clone, Copy)]
pub(crate) struct ExpireAttachments {
    /// Files that are unclaimed since this time or longer.
    pub until: Timestamp,
    /// Files that messages named before, of which the last was deleted or edited at this time or earlier.
    pub released_until: Timestamp,
}

impl ExpireAttachments {
    /// The files to delete, unless they are still needed.
    pub fn files(self, directory: &Directory) -> impl Iterator<Item = &Arc<Attachment>> {
        let is_due = move |file: &&Arc<Attachment>| {
            let is_released = file.unclaimed_since != Some(file.created);
            let until = if is_released { self.until.max(self.released_until) } else { self.until };
            file.unclaimed_since.is_some_and(|since| since <= until)
        };
        directory.unclaimed_attachments(self.until.max(self.released_until)).filter(is_due)
    }
}

impl SerializedCommand for ExpireAttachments {
    /// Whether no such file is left.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let mut kept = KeptFolders { directory, by_owner: HashMap::new() };
        let files = self.files(directory).take(BATCH_FILES);
        let facts: Vec<Fact> = files.map(|file| Fact::Attachment(kept.decide(file))).collect();
        Ok((facts.len() < BATCH_FILES, facts))
    }
}

/// The files that users still need for messages that are not sent.
struct KeptFolders<'d> {
    directory: &'d Directory,
    by_owner: HashMap<UserId, HashSet<String>>,
}

impl KeptFolders<'_> {
    fn decide(&mut self, file: &Attachment) -> AttachmentFact {
        let directory = self.directory;
        let kept = self.by_owner.entry(file.owner).or_insert_with(|| folders_in_texts(directory, file.owner));
        match kept.contains(folder_of(&file.path_id)) {
            true => AttachmentFact::Kept { attachment: file.id },
            false => AttachmentFact::Removed { attachment: file.id, owner: file.owner, if_unclaimed: true },
        }
    }
}

/// The folders of the files that a user's drafts, scheduled messages and saved snippets name. No other user can read a file
/// that no message names.
fn folders_in_texts(directory: &Directory, user: UserId) -> HashSet<String> {
    let drafts = directory.drafts(user).map(|(_, draft)| &draft.content);
    let scheduled = directory.scheduled_messages(user).map(|(_, message)| &message.content);
    let snippets = directory.saved_snippets(user).map(|(_, snippet)| &snippet.content);
    let texts = drafts.chain(scheduled).chain(snippets);
    texts.flat_map(|text| named_folders(text)).map(str::to_owned).collect()
}
