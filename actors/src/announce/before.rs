//! What events need of the state before a frame: taken right before it is applied, or, when a queue is rebuilt
//! from the log, made from the state of now and what the frame says.

use super::access::{self, Holder};
use model::fact::{DeletedFrom, MessageUpdate};
use model::{Directory, Fact, Frame, Place, UserId};
use roaring::RoaringBitmap;
use rules::permissions::message::Spot;
use std::collections::HashMap;
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
}

impl Before {
    /// Collects it; nothing for most frames.
    pub fn of(view: &View, frame: &Frame) -> Self {
        let mut before = Self::default();
        if frame.facts.iter().any(changes_directory) {
            before.directory = Some(view.directory.clone());
        }
        before.note_messages(view, &view.directory, frame, false);
        before
    }

    fn note_messages(&mut self, view: &View, directory: &Directory, frame: &Frame, is_replay: bool) {
        for (position, fact) in frame.facts.iter().enumerate() {
            match fact {
                Fact::MessagesDeleted { from, messages } => {
                    let ids = messages.iter().map(|id| id.0).collect();
                    let spot = match from {
                        DeletedFrom::Topic { channel, .. } => Spot::Channel(*channel),
                        DeletedFrom::Direct(recipient) => Spot::Direct(*recipient),
                    };
                    let holders = access::holders(view, directory, spot, &ids, is_replay);
                    self.holders.insert(position, holders);
                }
                Fact::MessageUpdated(update) => {
                    self.note_update(view, directory, position, update, is_replay);
                }
                _ => {}
            }
        }
    }

    fn note_update(
        &mut self,
        view: &View,
        directory: &Directory,
        position: usize,
        update: &MessageUpdate,
        is_replay: bool,
    ) {
        let Some(spot) = spot_of(view, update) else { return };
        let target = RoaringBitmap::from_iter([update.target.0]);
        self.readers.insert(position, access::receivers(view, directory, spot, &target, is_replay));
        if let Some(movement) = update.movement.as_ref().filter(|movement| movement.new_channel.is_some()) {
            let ids = movement.messages.iter().map(|id| id.0).collect();
            self.holders.insert(position, access::holders(view, directory, spot, &ids, is_replay));
        }
    }
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
fn changes_directory(fact: &Fact) -> bool {
    match fact {
        Fact::Subscribed { .. }
        | Fact::Unsubscribed { .. }
        | Fact::RealmChanged(_)
        | Fact::UserChanged(_)
        | Fact::GroupMembersChanged { .. }
        | Fact::ChannelChanged(_)
        | Fact::SubscriptionChanged { .. }
        | Fact::FolderChanged(_)
        | Fact::GroupChanged(_)
        // Channels that come to be in a frame were seen by nobody before.
        | Fact::ChannelCreated(_) => true,
        Fact::RealmCreated(_)
        | Fact::UserCreated(_)
        | Fact::GroupCreated(_)
        | Fact::ChannelActivityChanged { .. }
        | Fact::DefaultChannelsChanged(_)
        | Fact::DirectConversationCreated(_)
        | Fact::MessageSent { .. }
        | Fact::FlagsChanged { .. }
        | Fact::TopicPolicySet { .. }
        | Fact::QueueRegistered(_)
        | Fact::QueueEnded(_)
        | Fact::EventNumbersReserved(_)
        | Fact::MessageUpdated(_)
        | Fact::MessagesDeleted { .. }
        | Fact::ReactionAdded { .. }
        | Fact::ReactionRemoved { .. }
        | Fact::SubmessageAdded { .. }
        | Fact::TopicPoliciesSet { .. }
        | Fact::FoldersReordered(_)
        | Fact::AlertWordsSet { .. } => false,
    }
}
