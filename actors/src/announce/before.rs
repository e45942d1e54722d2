//! What events need of the state before a frame: taken right before it is applied, or, when a queue is rebuilt
//! from the log, from the state as it was then (`replay`).

use super::access::{self, Holder};
use model::fact::{DeletedFrom, MessageUpdate};
use model::{ChannelId, Directory, Fact, FolderId, Frame, Place, UserId};
use roaring::RoaringBitmap;
use rules::permissions::message::Spot;
use std::collections::{BTreeSet, HashMap};
use storage::View;

/// The state before a frame, as far as its events depend on it.
#[derive(Debug, Default)]
pub struct Before {
    /// Everybody and everything but the messages; none for frames that change nothing of it.
    pub(super) directory: Option<Directory>,
    /// Who had the messages that a fact takes away, by the fact's position in the frame.
    pub(super) holders: HashMap<usize, Vec<Holder>>,
    /// Who is told of a changed message, by the fact's position in the frame, if they can still read it.
    pub(super) readers: HashMap<usize, Vec<UserId>>,
    /// Folders that the frame makes.
    pub(super) new_folders: BTreeSet<FolderId>,
    /// Channels that did not exist yet, where the directory knows them all the same.
    pub(super) unborn: BTreeSet<ChannelId>,
    /// The frame was applied long ago: everything else may have changed since.
    pub(super) is_replay: bool,
}

impl Before {
    /// Collects it; nothing for most frames.
    pub fn of(view: &View, frame: &Frame) -> Self {
        let mut before = Self::default();
        if frame.facts.iter().any(changes_directory) {
            before.directory = Some(view.directory.clone());
        }
        for fact in &frame.facts {
            if let Fact::FolderChanged(folder) = fact
                && view.directory.folder(folder.id).is_none()
            {
                before.new_folders.insert(folder.id);
            }
        }
        before.note_messages(view, &view.directory, frame);
        before
    }

    /// The same of a frame that was applied long ago, with everything but the messages as it was then.
    pub(super) fn replayed(
        view: &View,
        directory: &Directory,
        unborn: &BTreeSet<ChannelId>,
        frame: &Frame,
    ) -> Self {
        let mut before = Self { is_replay: true, unborn: unborn.clone(), ..Self::default() };
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
            match fact {
                Fact::MessagesDeleted { from, messages, .. } => {
                    let ids = messages.iter().map(|id| id.0).collect();
                    let spot = match from {
                        DeletedFrom::Topic { channel, .. } => Spot::Channel(*channel),
                        DeletedFrom::Direct(recipient) => Spot::Direct(*recipient),
                    };
                    let holders = access::holders(view, directory, spot, &ids, is_replay);
                    self.holders.insert(position, holders);
                }
                Fact::MessageUpdated(update) => {
                    self.note_update(view, directory, position, update);
                }
                _ => {}
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

/// Folders that a frame makes: those of which it noted nothing.
fn new_folders(frame: &Frame) -> BTreeSet<FolderId> {
    let folder = |fact: &Fact| match fact {
        Fact::FolderChanged(folder) => Some(folder.id),
        _ => None,
    };
    let mut found: BTreeSet<FolderId> = frame.facts.iter().filter_map(folder).collect();
    for fact in &frame.facts {
        if let Fact::Before(noted) = fact {
            for known in noted.iter().filter_map(folder) {
                found.remove(&known);
            }
        }
    }
    found
}

/// Where the target of an update was before it.
pub(super) fn spot_of(view: &View, update: &MessageUpdate) -> Option<Spot> {
    match (&update.movement, &update.edited) {
        (Some(movement), _) => Some(Spot::Channel(movement.channel)),
        (None, Some(edited)) => match &edited.place {
            Place::Direct => Some(Spot::Direct(edited.recipient)),
            Place::Channel { channel, .. } => {
                access::channel_of(view, edited.id, *channel).map(Spot::Channel)
            }
        },
        (None, None) => None,
    }
}

/// Whether events of a fact depend on what somebody or something was before.
pub(super) fn changes_directory(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Subscribed { .. }
            | Fact::Unsubscribed { .. }
            | Fact::RealmChanged(_)
            | Fact::UserChanged(_)
            | Fact::UserActiveSet { .. }
            | Fact::KnownPeopleChanged { .. }
            | Fact::GroupMembersChanged { .. }
            | Fact::ChannelCreated(_)
            | Fact::ChannelChanged(_)
            | Fact::SubscriptionChanged { .. }
            | Fact::FolderChanged(_)
            | Fact::GroupChanged(_)
            | Fact::Picture(_)
    )
}
