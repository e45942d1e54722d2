//! Uploaded files: their records, and their bytes, which are copied to the store.

use super::organization::Builder;
use super::source::Source;
use crate::integrations::blobs::Blobs;
use crate::integrations::blobs::uploads::upload_blob;
use crate::integrations::images::inspect::{HEAD_BYTES_MAX, Inspection, inspect};
use crate::transfer::problem::TransferError;
use crate::transfer::rows::Row;
use model::{Attachment, AttachmentFact, AttachmentId, Fact, ImageInfo, MessageId, RealmId};
use rules::uploads::file_name;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

const TABLE: &str = "zerver_attachment";
/// Bytes of a file in memory at a time.
const PIECE_BYTES: usize = 256 << 10;

/// The files that each message names.
pub type Claims = HashMap<MessageId, Vec<AttachmentId>>;

impl Builder<'_> {
    /// Copies the uploaded files and adds their records; returns which messages name them.
    ///
    /// # Errors
    /// `Files` and `System` when a file cannot be read or stored.
    pub async fn files(&mut self, source: &Source, blobs: &Blobs) -> Result<Claims, TransferError> {
        let mut claims = Claims::new();
        for row in self.rows_by_id(TABLE) {
            match self.file(row, source, blobs).await? {
                Ok(id) => {
                    for message in row.ids("messages") {
                        claims.entry(MessageId(message)).or_default().push(id);
                    }
                    self.report.carry(TABLE, 1);
                }
                Err(why) => self.report.leave_out(TABLE, why, 1),
            }
        }
        Ok(claims)
    }

    async fn file(
        &mut self,
        row: &Row,
        source: &Source,
        blobs: &Blobs,
    ) -> Result<Result<AttachmentId, &'static str>, TransferError> {
        let Some(id) = row.id("id").map(AttachmentId) else { return Ok(Err("without an id")) };
        let Some(owner) = self.user(row.id("owner")) else {
            return Ok(Err("of a user that is not in the export"));
        };
        let Some(path) = source.stored_file("uploads", row.text("path_id")) else {
            return Ok(Err("whose bytes are not in the export"));
        };
        let path_id = path_here(row.text("path_id"), self.directory.realm().id);
        let Some(blob) = path_id.as_deref().and_then(upload_blob) else {
            return Ok(Err("with an unusual path"));
        };
        let (size, image) = copy(&path, blobs.writer(blob)).await?;
        let name = file_name(row.text("file_name"));
        let content_type = match row.text("content_type") {
            "" => mime_guess::from_path(&name).first_raw().unwrap_or("application/octet-stream").to_owned(),
            known => known.to_owned(),
        };
        let file = Attachment {
            id,
            owner,
            path_id: path_id.unwrap_or_default(),
            name,
            size,
            content_type,
            created: row.time("create_time").unwrap_or(self.now),
            image,
            // Until a message names it.
            unclaimed_since: Some(self.now),
        };
        self.directory.put_attachment(file.clone());
        self.facts.push(Fact::Attachment(AttachmentFact::Added(Box::new(file))));
        Ok(Ok(id))
    }
}

/// The path with the organization's id here.
fn path_here(path_id: &str, realm: RealmId) -> Option<String> {
    let (_, rest) = path_id.split_once('/')?;
    (rest.split('/').count() == 3).then(|| format!("{realm}/{rest}"))
}

async fn copy(
    path: &Path,
    mut writer: crate::integrations::blobs::writer::BlobWriter,
) -> Result<(u64, Option<ImageInfo>), TransferError> {
    let failed = |reason| TransferError::system(path, reason);
    let mut file = File::open(path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    let mut head = Vec::new();
    file.by_ref().take(HEAD_BYTES_MAX as u64).read_to_end(&mut head).map_err(failed)?;
    let image = match inspect(&head, size) {
        Inspection::Image(image) => Some(image),
        Inspection::Other | Inspection::Unfinished => None,
    };
    writer.write(&head).await?;
    loop {
        let mut piece = Vec::new();
        file.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece).map_err(failed)?;
        if piece.is_empty() {
            break;
        }
        writer.write(&piece).await?;
    }
    writer.finish().await?;
    Ok((size, image))
}
