//! Uploaded files: their records, and their bytes from the store.

use super::archive::Archive;
use super::messages::Uses;
use super::snapshot::{Snapshot, seconds};
use super::tables::{Spool, TableWriter};
use super::texts::ScheduledUses;
use crate::integrations::blobs::uploads::upload_blob;
use crate::integrations::blobs::{BlobError, BlobName, Blobs};
use crate::transfer::problem::TransferError;
use model::{Attachment, MessageId, ScheduledMessageId};
use serde_json::json;
use std::cell::Cell;
use std::io::Write;
use tokio::runtime::Runtime;

/// The store of files, read from a thread of its own.
pub struct Store<'s> {
    pub blobs: &'s Blobs,
    pub runtime: &'s Runtime,
    /// Files that are recorded, but whose bytes are missing.
    pub missing: Cell<u64>,
}

impl Store<'_> {
    /// Adds a stored file to the archive; returns its size, none if it is missing.
    pub fn copy<W: Write>(
        &self,
        archive: &mut Archive<W>,
        name: Option<BlobName>,
        path: &str,
    ) -> Result<Option<u64>, TransferError> {
        let found = match name {
            Some(name) => self.runtime.block_on(self.blobs.get(&name)),
            None => Err(BlobError::Missing),
        };
        match found {
            Ok(blob) => {
                let size = blob.size;
                archive.blob(self.runtime, path, blob)?;
                Ok(Some(size))
            }
            Err(BlobError::Missing) => {
                self.missing.set(self.missing.get() + 1);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Snapshot<'_> {
    /// The files that messages of the export name, and those that no message names yet.
    fn exported_files<'s>(&'s self, uses: &'s Uses) -> impl Iterator<Item = &'s Attachment> {
        let users = self.users().flat_map(|user| self.directory.attachments_of(user.id));
        let mut files: Vec<&Attachment> = users.map(|file| &**file).collect();
        files.sort_unstable_by_key(|file| file.id);
        files.into_iter().filter(|file| {
            let is_own = file.unclaimed_since.is_some() && self.scope.shares(file.owner);
            is_own || uses.contains_key(&file.id)
        })
    }

    /// attachment.json and the folder `uploads`.
    pub fn files<W: Write>(
        &self,
        archive: &mut Archive<W>,
        store: &Store<'_>,
        uses: &Uses,
        scheduled: &ScheduledUses,
    ) -> Result<(), TransferError> {
        let mut tables = TableWriter::new(self.folder)?;
        tables.begin("zerver_attachment")?;
        let mut records = Spool::new(self.folder)?;
        records.write(b"[")?;
        let mut count = 0;
        for file in self.exported_files(uses) {
            let path = format!("uploads/{}", file.path_id);
            let Some(size) = store.copy(archive, upload_blob(&file.path_id), &path)? else { continue };
            let used = uses.get(&file.id);
            let messages: &[MessageId] = used.map(|used| used.messages.as_slice()).unwrap_or_default();
            let later: Vec<ScheduledMessageId> =
                scheduled.iter().filter(|(id, _)| *id == file.id).map(|(_, message)| *message).collect();
            tables.row(&json!({
                "id": file.id, "file_name": file.name, "path_id": file.path_id, "owner": file.owner,
                "realm": self.realm_id(), "create_time": seconds(file.created), "size": size,
                "content_type": file.content_type,
                "is_realm_public": used.is_some_and(|used| used.is_public),
                "is_web_public": used.is_some_and(|used| used.is_web_public),
                "messages": messages, "scheduled_messages": later,
            }))?;
            records.write(if count == 0 { b"\n" } else { b",\n" })?;
            count += 1;
            records.value(&json!({
                "realm_id": self.realm_id(), "user_profile_id": file.owner,
                "user_profile_email": self.directory.made_up_email(file.owner),
                "s3_path": file.path_id, "path": file.path_id, "size": size,
                "last_modified": seconds(file.created), "content_type": file.content_type,
            }))?;
        }
        records.write(b"\n]\n")?;
        archive.count_records("uploads", count);
        archive.spool("uploads/records.json", records)?;
        archive.tables("attachment.json", tables)
    }
}
