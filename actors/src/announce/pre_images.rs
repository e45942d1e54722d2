//! The state before a frame, as far as events need it: taken right before the frame is applied or, when a queue is rebuilt
//! from the log, from the reconstructed state (`replay`).

use super::access::{self, Holder, Listening};
use model::fact::{DeletedFrom, MessageUpdate, Movement};
use model::{
    ChannelFact, ChannelId, ConversationId, Directory, Fact, FolderId, Frame, MessageFact, MessageId, UserId,
};
use roaring::RoaringBitmap;
use std::collections::{BTreeSet, HashMap};
use storage::View;
use storage::view::ids_of;

/// The state before a frame, as far as its events depend on it.
#[derive(Debug, Default)]
pub struct PreImages {
    /// The directory; none for frames that do not change it.
    pub(super) directory: Option<Directory>,
    /// Who had the messages that a fact deletes or moves away, by the fact's position in the frame.
    pub(super) holders: HashMap<usize, Vec<Holder>>,
    /// The recipients of a changed message or of those moved with it, as far as they can still read them, by the fact's position
    /// in the frame.
    pub(super) readers: HashMap<usize, Vec<UserId>>,
    /// The texts of edited messages, by the fact's position in the frame.
    pub(super) texts: HashMap<usize, Texts>,
    /// Folders that the frame creates.
    pub(super) new_folders: BTreeSet<FolderId>,
    /// In a replay, channels of the directory that did not exist yet.
    pub(super) not_yet_created: BTreeSet<ChannelId>,
    /// The frame was applied long ago: the view may have changed since.
    pub(super) is_replay: bool,
}

/// The text of a message as Markdown source and as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    pub content: String,
    pub rendered: String,
}

impl PreImages {
    /// Collects the state before a frame from the view; empty for most frames. `listening` as in [`super::events`].
    pub(crate) fn of(view: &View, frame: &Frame, listening: Listening<'_>) -> Self {
        let mut before = Self::default();
        if frame.facts.iter().any(changes_directory) {
            before.directory = Some(view.directory.clone());
        }
        for fact in &frame.facts {
            if let Fact::Channel(ChannelFact::FolderChanged(folder)) = fact
                && view.directory.folder(folder.id).is_none()
            {
                before.new_folders.insert(folder.id);
            }
        }
        before.note_messages(view, &view.directory, frame, listening);
        for (position, target, _) in edits(frame) {
            // The commit pipeline has loaded it.
            if let Some(own) = view.recent.get(target) {
                let texts = Texts { content: own.content.clone(), rendered: own.rendered.clone() };
                before.texts.insert(position, texts);
            }
        }
        before
    }

    /// The values before a frame that was applied long ago, with the directory before it.
    pub(super) fn replayed(
        view: &View,
        directory: &Directory,
        not_yet_created: &BTreeSet<ChannelId>,
        frame: &Frame,
    ) -> Self {
        let mut before =
            Self { is_replay: true, not_yet_created: not_yet_created.clone(), ..Self::default() };
        if frame.facts.iter().any(changes_directory) {
            before.directory = Some(directory.clone());
            before.new_folders = new_folders(frame);
        }
        before.note_messages(view, directory, frame, None);
        before
    }

    fn note_messages(&mut self, view: &View, directory: &Directory, frame: &Frame, listening: Listening<'_>) {
        let is_replay = self.is_replay;
        for (position, fact) in frame.facts.iter().enumerate() {
            let Fact::Message(fact) = fact else { continue };
            match fact {
                MessageFact::Deleted { from, messages, by } => {
                    let ids = ids_of(messages);
                    let conversation = match from {
                        DeletedFrom::Topic { channel, .. } => ConversationId::Channel(*channel),
                        DeletedFrom::Direct(recipient) => ConversationId::Direct(*recipient),
                    };
                    // The numbers of later events may not depend on who listens: with a requester, who always receives
                    // the event, it has all messages for all.
                    let listening = listening
                        .filter(|_| by.is_some() && access::has_shared_history(directory, conversation));
                    let holders =
                        access::holders(view, directory, conversation, &ids, (listening, is_replay));
                    self.holders.insert(position, holders);
                }
                MessageFact::Updated(update) => {
                    // To another channel there are several events, whose numbers may not depend on who listens.
                    let listening = listening.filter(|_| move_to_channel(update).is_none());
                    self.note_update(view, directory, (position, update), listening);
                }
                MessageFact::Sent { .. }
                | MessageFact::FlagsChanged { .. }
                | MessageFact::ReactionAdded { .. }
                | MessageFact::ReactionRemoved { .. }
                | MessageFact::SubmessageAdded { .. }
                | MessageFact::HistoryErased { .. }
                | MessageFact::ConversationCreated(_) => {}
            }
        }
    }

    fn note_update(
        &mut self,
        view: &View,
        directory: &Directory,
        (position, update): (usize, &MessageUpdate),
        listening: Listening<'_>,
    ) {
        let among = (listening, self.is_replay);
        let Some(conversation) = conversation_of(view, update) else { return };
        let changed = match &update.movement {
            Some(movement) => ids_of(&movement.messages),
            None => RoaringBitmap::from_iter([update.target.0]),
        };
        self.readers.insert(position, access::receivers(view, directory, conversation, &changed, among));
        if move_to_channel(update).is_some() {
            self.holders.insert(position, access::holders(view, directory, conversation, &changed, among));
        }
    }
}

/// The movement of an update, if it is to another channel.
fn move_to_channel(update: &MessageUpdate) -> Option<&Movement> {
    update.movement.as_ref().filter(|movement| movement.new_channel.is_some())
}

/// Content edits of a frame: the fact's position, the message, and the number of the version before.
pub fn edits(frame: &Frame) -> impl Iterator<Item = (usize, MessageId, u32)> {
    frame.facts.iter().enumerate().filter_map(|(position, fact)| {
        let Fact::Message(MessageFact::Updated(update)) = fact else { return None };
        let edited = update.edited.as_ref()?;
        Some((position, update.target, edited.number.saturating_sub(1)))
    })
}

/// Folders that a frame creates: those that are not in its pre-images.
fn new_folders(frame: &Frame) -> BTreeSet<FolderId> {
    let folder = |fact: &Fact| {
        let Fact::Channel(ChannelFact::FolderChanged(folder)) = fact else { return None };
        Some(folder.id)
    };
    let mut found: BTreeSet<FolderId> = frame.facts.iter().filter_map(folder).collect();
    for fact in &frame.facts {
        if let Fact::PreImages(records) = fact {
            for known in records.iter().filter_map(folder) {
                found.remove(&known);
            }
        }
    }
    found
}

/// Where the target of an update was before it; if it was only edited, where it is now.
pub(super) fn conversation_of(view: &View, update: &MessageUpdate) -> Option<ConversationId> {
    match &update.movement {
        Some(_) => Some(update.conversation),
        None => access::conversation_now(view, update.target, update.conversation),
    }
}

/// Whether events of a fact depend on the directory before it.
pub(super) fn changes_directory(fact: &Fact) -> bool {
    match fact {
        Fact::Realm(_)
        | Fact::User(_)
        | Fact::Group(_)
        | Fact::Channel(_)
        | Fact::Subscription(_)
        | Fact::Picture(_) => true,
        Fact::Message(_)
        | Fact::Personal(_)
        | Fact::Queue(_)
        | Fact::Job(_)
        | Fact::Push(_)
        | Fact::Invitation(_)
        | Fact::Attachment(_)
        | Fact::PreImages(_)
        | Fact::Audit(_) => false,
    }
}
