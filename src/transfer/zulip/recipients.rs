//! Where messages were sent: an exported recipient is a channel, one person, or a group of people.

use super::tables::Tables;
use model::{ChannelId, DirectConversation, Directory, RecipientId, UserId};
use std::collections::HashMap;

/// The kinds of recipients.
pub const PERSON: u8 = 1;
/// A channel; see [`PERSON`].
pub const CHANNEL: u8 = 2;
/// A group of people; see [`PERSON`].
pub const GROUP: u8 = 3;

/// What a recipient stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Channel(ChannelId, RecipientId),
    /// One person; the conversation is that of the sender and them.
    Person(UserId),
    /// These people, sorted.
    People(Vec<UserId>),
}

/// All recipients, and the direct conversations that have been created.
#[derive(Debug, Default)]
pub struct Recipients {
    targets: HashMap<u32, Target>,
    /// Ids of conversations that keep theirs.
    kept: HashMap<Vec<UserId>, RecipientId>,
    created: HashMap<Vec<UserId>, RecipientId>,
    last: u32,
}

impl Recipients {
    /// Reads the recipients. Those of channels or people that were not carried over are not known.
    pub fn new(tables: &Tables, directory: &Directory) -> Self {
        let mut people: HashMap<u32, Vec<UserId>> = HashMap::new();
        for row in &tables.subscriptions {
            if tables.recipients.get(&row.recipient).is_some_and(|(kind, _)| *kind == GROUP) {
                people.entry(row.recipient).or_default().push(UserId(row.user_profile));
            }
        }
        let mut own = Self::default();
        let is_known = |user: &UserId| directory.user(*user).is_some();
        for (id, (kind, of)) in &tables.recipients {
            let target = match *kind {
                PERSON => Some(Target::Person(UserId(*of))).filter(|_| is_known(&UserId(*of))),
                CHANNEL => {
                    let channel = directory.channel(ChannelId(*of));
                    channel.map(|channel| Target::Channel(channel.id, channel.recipient))
                }
                GROUP => {
                    let mut users = people.remove(id).unwrap_or_default();
                    users.sort_unstable();
                    users.dedup();
                    let is_whole = !users.is_empty() && users.iter().all(is_known);
                    is_whole.then(|| {
                        own.kept.insert(users.clone(), RecipientId(*id));
                        Target::People(users)
                    })
                }
                _ => None,
            };
            if let Some(target) = target {
                own.targets.insert(*id, target);
            }
        }
        // System bots have no row among the recipients.
        for row in tables.rows("zerver_userprofile_crossrealm") {
            if let (Some(recipient), Some(user)) = (row.id("recipient_id"), row.id("id")) {
                own.targets.entry(recipient).or_insert(Target::Person(UserId(user)));
            }
        }
        let channels = directory.channels().map(|channel| channel.recipient.0);
        let known = own.targets.keys().copied().chain(channels);
        own.last =
            known.chain(directory.directs().map(|direct| direct.recipient.0)).max().unwrap_or_default();
        let created = directory.directs().map(|direct| (direct.users.clone(), direct.recipient));
        own.created = created.collect();
        own
    }

    /// What a recipient stands for.
    pub fn target(&self, recipient: u32) -> Option<&Target> {
        self.targets.get(&recipient)
    }

    /// The conversation of these people (sorted), and its record if this is its first message.
    pub fn direct(&mut self, users: &[UserId]) -> (RecipientId, Option<DirectConversation>) {
        if let Some(known) = self.created.get(users) {
            return (*known, None);
        }
        let recipient = self.kept.get(users).copied().unwrap_or_else(|| {
            self.last += 1;
            RecipientId(self.last)
        });
        self.created.insert(users.to_vec(), recipient);
        (recipient, Some(DirectConversation { recipient, users: users.to_vec() }))
    }
}
