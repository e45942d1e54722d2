//! Texts that users keep: saved snippets, drafts, scheduled messages and reminders.

use super::snapshot::{Snapshot, seconds};
use super::tables::TableWriter;
use crate::transfer::problem::TransferError;
use model::{
    AttachmentId, ChannelId, DraftTo, RecipientId, ScheduledMessage, ScheduledMessageId, ScheduledTo, UserId,
};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

/// How scheduled messages and reminders are delivered.
const SEND_LATER: u8 = 1;
const REMIND: u8 = 2;
/// The beginning of links to uploaded files.
const UPLOADS: &str = "/user_uploads/";

/// Uploaded files that scheduled messages name.
pub type ScheduledUses = Vec<(AttachmentId, ScheduledMessageId)>;

impl Snapshot<'_> {
    /// All texts; returns which files scheduled messages name.
    pub fn texts(&self, tables: &mut TableWriter) -> Result<ScheduledUses, TransferError> {
        let users: Vec<UserId> =
            self.users().map(|user| user.id).filter(|user| self.scope.shares(*user)).collect();
        tables.begin("zerver_savedsnippet")?;
        for user in &users {
            for (id, snippet) in self.directory.saved_snippets(*user) {
                tables.row(&json!({"id": id, "realm": self.realm_id(), "user_profile": user,
                    "title": snippet.title, "content": snippet.content,
                    "date_created": seconds(snippet.created)}))?;
            }
        }
        tables.begin("zerver_draft")?;
        for user in &users {
            for (id, draft) in self.directory.drafts(*user) {
                let (recipient, topic, to) = self.draft_target(&draft.to);
                tables
                    .row(&json!({"id": id, "user_profile": user, "recipient": recipient, "topic": topic,
                    "content": draft.content, "last_edit_time": seconds(draft.edited), "to": to}))?;
            }
        }
        tables.begin("zerver_scheduledmessage")?;
        let mut uses = ScheduledUses::new();
        for user in &users {
            for (id, message) in self.directory.scheduled_messages(*user) {
                if let Some(row) = self.scheduled_row(*user, id, message) {
                    tables.row(&row)?;
                    uses.extend(self.files_in(&message.content).into_iter().map(|file| (file, id)));
                }
            }
        }
        Ok(uses)
    }

    fn draft_target<'d>(&self, to: &'d DraftTo) -> (Option<RecipientId>, &'d str, &'d [UserId]) {
        match to {
            DraftTo::Nowhere => (None, "", &[]),
            DraftTo::Channel { channel, topic } => (self.channel_recipient(*channel), topic, &[]),
            DraftTo::People(people) => (None, "", people),
        }
    }

    fn channel_recipient(&self, channel: ChannelId) -> Option<RecipientId> {
        let channel = self.directory.channel(channel).filter(|channel| self.has_channel(channel.id));
        channel.map(|channel| self.kept(channel.recipient))
    }

    fn scheduled_row(
        &self,
        user: UserId,
        id: ScheduledMessageId,
        message: &ScheduledMessage,
    ) -> Option<Value> {
        let (recipient, channel, topic) = match &message.to {
            ScheduledTo::Channel { channel, topic } => {
                (self.channel_recipient(*channel)?, Some(*channel), topic.as_str())
            }
            ScheduledTo::People(people) => (self.people_recipient(user, people)?, None, ""),
        };
        let kind = if message.reminder.is_some() { REMIND } else { SEND_LATER };
        let mut row = json!({
            "id": id, "sender": user, "recipient": recipient, "subject": topic, "content": message.content,
            "rendered_content": message.rendered, "sending_client": self.clients.id_of(&message.client),
            "stream": channel, "realm": self.realm_id(), "scheduled_timestamp": seconds(message.due),
            "request_timestamp": seconds(self.at), "read_by_sender": message.read_by_sender,
            "delivered": false, "delivered_message": null, "has_attachment": message.content.contains(UPLOADS),
            "failed": message.failure.is_some(), "failure_message": message.failure, "delivery_type": kind,
        });
        if let Some(reminder) = &message.reminder {
            row["reminder_target_message_id"] = json!(reminder.message);
            row["reminder_note"] = json!(reminder.note);
        }
        Some(row)
    }

    /// The recipient of a message to these people. A group that has no conversation yet has none.
    fn people_recipient(&self, sender: UserId, people: &[UserId]) -> Option<RecipientId> {
        let others: Vec<UserId> = people.iter().copied().filter(|user| *user != sender).collect();
        match others.as_slice() {
            [] => Some(self.personal(sender)),
            [other] => Some(self.personal(*other)),
            _ => {
                let known = self.directory.direct_by_users(people).map(|direct| self.kept(direct.recipient));
                known.or_else(|| self.new_groups.get(people).copied())
            }
        }
    }

    fn files_in(&self, text: &str) -> Vec<AttachmentId> {
        let paths = text.split(UPLOADS).skip(1);
        let ends = |c: char| c.is_whitespace() || "()<>\"'".contains(c);
        let files = paths.filter_map(|path| {
            let path = path.split(ends).next().unwrap_or_default();
            let decoded = percent_decode_str(path).decode_utf8_lossy();
            let known = self.directory.attachment_by_path(path);
            known.or_else(|| self.directory.attachment_by_path(&decoded)).map(|file| file.id)
        });
        let mut files: Vec<AttachmentId> = files.collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}
