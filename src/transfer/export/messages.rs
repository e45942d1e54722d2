//! The files with messages: 1,000 in each, with the rows of users. Reactions go to a temporary file, for realm.json.

use super::archive::Archive;
use super::clients::Clients;
use super::message_rows::{MessageRow, PartRow, ReactionRow, UserRow, history_text, mask_of};
use super::snapshot::{Context, Personal, Step, seconds};
use super::tables::{Spool, TableWriter};
use crate::transfer::problem::TransferError;
use model::{AttachmentId, ChannelId, Message, MessageId, Place, RecipientId, UserId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Messages in a file.
const FILE_MESSAGES: usize = 1_000;
/// Messages that are read under one lock.
const PIECE_MESSAGES: usize = 250;
/// Which messages of the export name a file.
#[derive(Debug, Default)]
pub struct FileUses {
    pub messages: Vec<MessageId>,
    pub is_public: bool,
    pub is_web_public: bool,
}

/// The files that messages of the export name.
pub type Uses = BTreeMap<AttachmentId, FileUses>;

/// What was found in the messages.
pub struct MessageParts {
    pub reactions: Spool,
    pub reaction_count: u64,
    pub uses: Uses,
    pub messages: u64,
    row_count: u64,
    part_count: u64,
}

/// Writes the files with messages.
pub struct MessageExport<'c, 'r> {
    pub context: &'c Context<'r>,
    pub clients: &'c Clients,
    pub personal: Personal,
    /// Whose flags are exported.
    pub users: Vec<UserId>,
    pub parts: MessageParts,
    files: usize,
}

impl MessageParts {
    /// Nothing was found yet.
    pub fn new(folder: &Path) -> Result<Self, TransferError> {
        Ok(Self {
            reactions: Spool::new(folder)?,
            reaction_count: 0,
            uses: Uses::new(),
            messages: 0,
            row_count: 0,
            part_count: 0,
        })
    }
}

impl<'c, 'r> MessageExport<'c, 'r> {
    /// Before the first message.
    pub fn new(context: &'c Context<'r>, clients: &'c Clients) -> Result<Self, TransferError> {
        let directory = context.realm.directory();
        let users = directory.users().filter(|user| !user.is_system_bot()).map(|user| user.id);
        Ok(Self {
            context,
            clients,
            personal: context.personal,
            users: users.filter(|user| context.scope.has_rows(*user)).collect(),
            parts: MessageParts::new(context.folder)?,
            files: 0,
        })
    }

    /// Writes all messages up to the newest one of the beginning.
    pub fn write<W: Write>(&mut self, archive: &mut Archive<W>) -> Result<(), TransferError> {
        let (until, all) = self.context.realm.export_bounds();
        let (mut after, mut seen) = (MessageId::ZERO, 0);
        let mut waiting: Vec<Arc<Message>> = Vec::new();
        while let Some(piece) = self.context.realm.export_piece(after, until, PIECE_MESSAGES)? {
            self.context.check_running()?;
            after = piece.last;
            seen += piece.messages.len() as u64;
            let chosen = self.context.scope.select(self.context.realm, piece.messages);
            self.note_files(&chosen, &piece.claims);
            waiting.extend(chosen);
            while waiting.len() >= FILE_MESSAGES {
                let rest = waiting.split_off(FILE_MESSAGES);
                self.file(archive, &waiting)?;
                waiting = rest;
            }
            (self.context.progress)(Step::Messages(seen.min(all), all));
        }
        // There is always a first file.
        if !waiting.is_empty() || self.files == 0 {
            self.file(archive, &waiting)?;
        }
        Ok(())
    }

    fn note_files(&mut self, chosen: &[Arc<Message>], claims: &[(MessageId, AttachmentId)]) {
        if claims.is_empty() {
            return;
        }
        let directory = self.context.realm.directory();
        let places: HashMap<MessageId, Option<ChannelId>> =
            chosen.iter().map(|message| (message.id, message.place.channel())).collect();
        for (message, file) in claims {
            let Some(place) = places.get(message) else { continue };
            let channel = place.and_then(|id| directory.channel(id));
            let uses = self.parts.uses.entry(*file).or_default();
            uses.messages.push(*message);
            uses.is_public |= channel.is_some_and(|channel| !channel.invite_only);
            uses.is_web_public |= channel.is_some_and(|channel| channel.is_web_public);
        }
    }

    fn file<W: Write>(
        &mut self,
        archive: &mut Archive<W>,
        messages: &[Arc<Message>],
    ) -> Result<(), TransferError> {
        let mut tables = TableWriter::new(self.context.folder)?;
        tables.begin("zerver_message")?;
        for message in messages {
            self.message(&mut tables, message)?;
        }
        self.user_rows(&mut tables, messages)?;
        if messages.iter().any(|message| !message.submessages.is_empty()) {
            tables.begin("zerver_submessage")?;
            for message in messages {
                for part in &message.submessages {
                    self.parts.part_count += 1;
                    let (id, message) = (self.parts.part_count, message.id);
                    let (msg_type, content) = (part.msg_type.as_str(), part.content.as_str());
                    tables.row(&PartRow { id, message, sender: part.sender, msg_type, content })?;
                }
            }
        }
        self.files += 1;
        self.parts.messages += messages.len() as u64;
        archive.tables(&format!("messages-{:06}.json", self.files), tables)
    }

    fn message(&mut self, tables: &mut TableWriter, message: &Arc<Message>) -> Result<(), TransferError> {
        let whole = match message.is_history_cut() {
            true => self.context.realm.export_history(message.id)?,
            false => None,
        };
        // It may have been edited, moved or deleted meanwhile; then what was read first is exported.
        let is_same = |whole: &Message| whole.place == message.place && whole.content == message.content;
        let whole = whole.filter(is_same);
        let shown = whole.as_ref().unwrap_or(message);
        let last_edit_time = shown.edits.first().map(|edit| seconds(edit.at));
        tables.row(&MessageRow {
            id: message.id,
            sender: message.sender,
            recipient: self.recipient(message).0,
            realm: self.context.realm.id().0,
            kind: 1,
            subject: message.place.topic(),
            content: &message.content,
            rendered_content: &message.rendered,
            rendered_content_version: 1,
            date_sent: seconds(message.sent),
            sending_client: self.clients.id_of(&message.client),
            last_edit_time,
            edit_history: history_text(shown),
            has_attachment: message.traits.has_attachment,
            has_image: message.traits.has_image,
            has_link: message.traits.has_link,
            is_channel_message: message.place.channel().is_some(),
            search_tsvector: None,
        })?;
        for reaction in &message.reactions {
            let parts = &mut self.parts;
            parts.reaction_count += 1;
            parts.reactions.write(if parts.reaction_count == 1 { b"" } else { b",\n" })?;
            parts.reactions.value(&ReactionRow {
                id: parts.reaction_count,
                user_profile: reaction.user,
                message: message.id,
                emoji_name: &reaction.emoji_name,
                emoji_code: &reaction.emoji_code,
                reaction_type: &reaction.reaction_type,
            })?;
        }
        Ok(())
    }

    /// A message between two people has the recipient of the one who did not send it.
    fn recipient(&self, message: &Message) -> RecipientId {
        let kept = self.personal.kept(message.recipient);
        if message.place != Place::Direct {
            return kept;
        }
        let directory = self.context.realm.directory();
        let Some(direct) = directory.direct(message.recipient) else { return kept };
        match direct.users.as_slice() {
            [own] => self.personal.of(*own),
            [one, other] => self.personal.of(if *one == message.sender { *other } else { *one }),
            _ => kept,
        }
    }

    fn user_rows(
        &mut self,
        tables: &mut TableWriter,
        messages: &[Arc<Message>],
    ) -> Result<(), TransferError> {
        tables.begin("zerver_usermessage")?;
        let ids: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        let direct = messages.iter().filter(|message| message.place == Place::Direct);
        let direct: HashSet<MessageId> = direct.map(|message| message.id).collect();
        let (scope, row_count) = (&self.context.scope, &mut self.parts.row_count);
        self.context.realm.export_flags(&self.users, &ids, |user, message, flags| {
            *row_count += 1;
            let flags_mask = scope.flags(mask_of(flags, direct.contains(&message)));
            tables.row(&UserRow { id: *row_count, user_profile: user, message, flags_mask })
        })
    }
}
