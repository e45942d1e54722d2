//! Applies facts about uploaded files, and about messages that name them.

use super::{Rows, View, records};
use crate::error::StoreError;
use model::{Attachment, AttachmentFact, AttachmentId, MessageId, MessageRanges, Timestamp};

impl View {
    /// Uploaded files and their messages; `at` is the time of the frame.
    pub(super) fn apply_attachment_fact(
        &mut self,
        at: Timestamp,
        fact: &AttachmentFact,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        match fact {
            AttachmentFact::Added(file) => {
                self.put::<records::LastAttachmentId>(rows, (), file.id)?;
                self.put::<records::Attachments>(rows, file.id, Attachment::clone(file))
            }
            AttachmentFact::ClaimsChanged { message, sent, claimed, released } => {
                claimed.iter().try_for_each(|file| self.apply_claim(*file, (*message, *sent), rows))?;
                released.iter().try_for_each(|file| self.apply_release(at, *file, *message, rows))
            }
            AttachmentFact::Removed { attachment, if_unclaimed, .. } => {
                self.apply_attachment_removed(*attachment, *if_unclaimed, rows);
                Ok(())
            }
            AttachmentFact::Kept { attachment } => {
                let is_unclaimed = |file: &Attachment| file.unclaimed_since.is_some();
                self.change_attachment(
                    *attachment,
                    is_unclaimed,
                    |file| file.unclaimed_since = Some(at),
                    rows,
                )
            }
        }
    }

    /// Deleted messages name no files.
    pub(super) fn release_all(
        &mut self,
        at: Timestamp,
        messages: &MessageRanges,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        for message in messages.iter() {
            for file in self.claims.of_message(message).to_vec() {
                self.apply_release(at, file, message, rows)?;
            }
        }
        Ok(())
    }

    /// A file that was deleted at the same time is not claimed.
    fn apply_claim(
        &mut self,
        file: AttachmentId,
        (message, sent): (MessageId, Timestamp),
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if self.directory.attachment(file).is_none() {
            return Ok(());
        }
        self.put::<records::AttachmentClaims>(rows, (file, message), sent)?;
        let is_unclaimed = |file: &Attachment| file.unclaimed_since.is_some();
        self.change_attachment(file, is_unclaimed, |file| file.unclaimed_since = None, rows)
    }

    fn apply_release(
        &mut self,
        at: Timestamp,
        file: AttachmentId,
        message: MessageId,
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        if self.claims.sent(file, message).is_none() {
            return Ok(());
        }
        self.remove::<records::AttachmentClaims>(rows, &(file, message));
        if self.claims.messages(file).is_some() {
            return Ok(());
        }
        self.change_attachment(file, |_| true, |file| file.unclaimed_since = Some(at), rows)
    }

    fn apply_attachment_removed(&mut self, file: AttachmentId, if_unclaimed: bool, rows: &mut Rows) {
        let Some(record) = self.directory.attachment(file) else { return };
        if if_unclaimed && record.unclaimed_since.is_none() {
            return;
        }
        rows.remove_under::<records::AttachmentClaims>(self.realm(), &file);
        self.claims.forget(file);
        self.remove::<records::Attachments>(rows, &file);
    }

    fn change_attachment(
        &mut self,
        file: AttachmentId,
        is_wanted: impl FnOnce(&Attachment) -> bool,
        change: impl FnOnce(&mut Attachment),
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let Some(before) = self.directory.attachment(file).filter(|file| is_wanted(file)) else {
            return Ok(());
        };
        let mut record = Attachment::clone(before);
        change(&mut record);
        self.put::<records::Attachments>(rows, file, record)
    }
}
