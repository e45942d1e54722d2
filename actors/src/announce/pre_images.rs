//! What events need of the state before a frame: taken right before it is applied, or, when a queue is rebuilt
//! from the log, from the state as it was then (`replay`).

use super::access::{self, Holder};
use model::fact::{DeletedFrom, MessageUpdate};
use model::{ChannelFact, ChannelId, Directory, Fact, FolderId, Frame, MessageFact, MessageId, Spot, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeSet, HashMap};
use storage::View;

/// The state before a frame, as far as its events depend on it.
#[derive(Debug, Default)]
pub struct PreImages {
    /// Everybody and everything but the messages; none for frames that change nothing of it.
    pub(super) directory: Option<Directory>,
    /// Who had the messages that a fact takes away, by the fact's position in the frame.
    pub(super) holders: HashMap<usize, Vec<Holder>>,
    /// Who is told of a changed message, by the fact's position in the frame, if they can still read it.
    pub(super) readers: HashMap<usize, Vec<UserId>>,
    /// What edited messages said, by the fact's position in the frame.
    pub(super) texts: HashMap<usize, Texts>,
    /// Folders that the frame makes.
    pub(super) new_folders: BTreeSet<FolderId>,
    /// Channels that did not exist yet, where the directory knows them all the same.
    pub(super) not_yet_created: BTreeSet<ChannelId>,
    /// The frame was applied long ago: everything else may have changed since.
    pub(super) is_replay: bool,
}

/// What a message said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// Markdown source.
    pub content: String,
    /// HTML.
    pub rendered: String,
}

impl PreImages {
    /// Collects it; nothing for most frames.
    pub fn of(view: &View, frame: &Frame) -> Self {
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
        before.note_messages(view, &view.directory, frame);
        for (position, target, _) in edits(frame) {
            // The commit pipeline has brought it into memory.
            if let Some(own) = view.recent.get(target) {
                let texts = Texts { content: own.content.clone(), rendered: own.rendered.clone() };
                before.texts.insert(position, texts);
            }
        }
        before
    }

    /// The same of a frame that was applied long ago, with everything but the messages as it was then.
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
        before.note_messages(view, directory, frame);
        before
    }

    fn note_messages(&mut self, view: &View, directory: &Directory, frame: &Frame) {
        let is_replay = self.is_replay;
        for (position, fact) in frame.facts.iter().enumerate() {
            let Fact::Message(fact) = fact else { continue };
            match fact {
                MessageFact::Deleted { from, messages, .. } => {
                    let ids = messages.iter().map(|id| id.0).collect();
                    let spot = match from {
                        DeletedFrom::Topic { channel, .. } => Spot::Channel(*channel),
                        DeletedFrom::Direct(recipient) => Spot::Direct(*recipient),
                    };
                    let holders = access::holders(view, directory, spot, &ids, is_replay);
                    self.holders.insert(position, holders);
                }
                MessageFact::Updated(update) => self.note_update(view, directory, position, update),
                MessageFact::Sent { .. }
                | MessageFact::FlagsChanged { .. }
                | MessageFact::ReactionAdded { .. }
                | MessageFact::ReactionRemoved { .. }
                | MessageFact::SubmessageAdded { .. }
                | MessageFact::ConversationCreated(_) => {}
            }
        }
    }

    fn note_update(&mut self, view: &View, directory: &Directory, position: usize, update: &MessageUpdate) {
        let is_replay = self.is_replay;
        let Some(spot) = spot_of(view, update) else { return };
        let target = RoaringBitmap::from_iter([update.target.0]);
        self.readers.insert(position, access::receivers(view, directory, spot, &target, is_replay));
        if let Some(movement) = update.movement.as_ref().filter(|movement| movement.new_channel.is_some()) {
            let ids = movement.messages.iter().map(|id| id.0).collect();
            self.holders.insert(position, access::holders(view, directory, spot, &ids, is_replay));
        }
    }
}

/// Content edits of a frame: the fact's position, the message, and the number of the version before.
pub fn edits(frame: &Frame) -> impl Iterator<Item = (usize, MessageId, u32)> {
    frame.facts.iter().enumerate().filter_map(|(position, fact)| {
        let Fact::Message(MessageFact::Updated(update)) = fact else { return None };
        let edited = update.edited.as_ref()?;
        Some((position, update.target, edited.number.saturating_sub(1)))
    })
}

/// Folders that a frame makes: those of which it noted nothing.
fn new_folders(frame: &Frame) -> BTreeSet<FolderId> {
    let folder = |fact: &Fact| {
        let Fact::Channel(ChannelFact::FolderChanged(folder)) = fact else { return None };
        Some(folder.id)
    };
    let mut found: BTreeSet<FolderId> = frame.facts.iter().filter_map(folder).collect();
    for fact in &frame.facts {
        if let Fact::PreImages(noted) = fact {
            for known in noted.iter().filter_map(folder) {
                found.remove(&known);
            }
        }
    }
    found
}

/// Where the target of an update was before it; of one that was only edited, where it is now.
pub(super) fn spot_of(view: &View, update: &MessageUpdate) -> Option<Spot> {
    match &update.movement {
        Some(_) => Some(update.spot),
        None => access::spot_now(view, update.target, update.spot),
    }
}

/// Whether events of a fact depend on what somebody or something was before.
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
        | Fact::PreImages(_) => false,
    }
}
