//! What each kind of export contains.

use actors::RealmHandle;
use model::{Channel, ChannelId, Directory, Message, MessageId, Place, User, UserId};
use rules::permissions::channel::{History, history_of, sees_content};
use rules::settings::{EXPORT_CONSENT, user_bool};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The kind of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ExportKind {
    /// Messages of public channels, and what everyone may know
    Public,
    /// Also the private data of those who allow it in their settings
    Consent,
    /// Everything of everyone
    #[default]
    Full,
}

impl ExportKind {
    /// The number in exports and in the API.
    pub fn code(self) -> u8 {
        match self {
            Self::Public => 1,
            Self::Consent => 2,
            Self::Full => 3,
        }
    }
}

/// Decides what is exported.
#[derive(Clone, Debug)]
pub struct Scope {
    pub kind: ExportKind,
    /// Those who allow the export of their private data, with their bots.
    consenting: BTreeSet<UserId>,
}

impl Scope {
    /// Learns who allows the export of private data.
    pub fn new(kind: ExportKind, directory: &Directory) -> Self {
        let allows = |user: &User| user_bool(user, EXPORT_CONSENT);
        let is_consenting = |user: &&Arc<User>| {
            let owner = user.owner().and_then(|owner| directory.user(owner));
            allows(user) || owner.is_some_and(|owner| allows(owner))
        };
        let consenting = match kind {
            ExportKind::Public | ExportKind::Full => BTreeSet::new(),
            ExportKind::Consent => directory.users().filter(is_consenting).map(|user| user.id).collect(),
        };
        Self { kind, consenting }
    }

    /// Whether a user's private data is exported.
    pub fn shares(&self, user: UserId) -> bool {
        match self.kind {
            ExportKind::Full => true,
            ExportKind::Consent => self.consenting.contains(&user),
            ExportKind::Public => false,
        }
    }

    /// Whether the flags of a user are exported.
    pub fn has_rows(&self, user: UserId) -> bool {
        self.kind == ExportKind::Public || self.shares(user)
    }

    /// The bits of flags that are exported. A public export has only those that do not tell what a user has chosen to keep.
    pub fn flags(&self, mask: u32) -> u32 {
        const CHOSEN: u32 = 1 << 1 | 1 << 2 | 1 << 9;
        if self.kind == ExportKind::Public { mask & !CHOSEN } else { mask }
    }

    /// Whether a channel is exported: public ones always; private ones with consent if one of those who consent has been
    /// subscribed.
    pub fn has_channel(&self, directory: &Directory, channel: &Channel) -> bool {
        match self.kind {
            _ if !channel.invite_only => true,
            ExportKind::Full => true,
            ExportKind::Public => false,
            ExportKind::Consent => self.members_of(directory, channel).next().is_some(),
        }
    }

    /// Those who consent and are or were subscribed to a channel. A bot counts only while its owner can read the channel.
    fn members_of<'d>(
        &self,
        directory: &'d Directory,
        channel: &Channel,
    ) -> impl Iterator<Item = &'d Arc<User>> {
        let all = directory.subscriptions_of(channel.id);
        let found = self.consenting.iter().filter(move |user| all.contains_key(*user));
        found.filter_map(move |user| directory.user(*user)).filter(move |user| {
            let may_read =
                |owner| directory.user(owner).is_some_and(|owner| sees_content(directory, owner, channel));
            user.owner().is_none_or(may_read)
        })
    }

    /// Whether all messages of an exported channel are exported: of a private one with consent if one of those who consent
    /// may read all of them now.
    fn has_all_of(&self, directory: &Directory, channel: &Channel) -> bool {
        let reads_all =
            |user: &User| user.is_active && history_of(directory, user, channel) == Some(History::Whole);
        !channel.invite_only
            || self.members_of(directory, channel).any(|user| {
                let owner = user.owner();
                let owner_reads = |owner| directory.user(owner).is_some_and(|owner| reads_all(owner));
                reads_all(user) && owner.is_none_or(owner_reads)
            })
    }

    /// Whether a direct conversation of these people is exported.
    pub fn has_people(&self, users: &[UserId]) -> bool {
        users.iter().any(|user| self.shares(*user))
    }

    /// Those of some messages that are exported.
    pub fn select(&self, realm: &RealmHandle, messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
        if self.kind == ExportKind::Full {
            return messages;
        }
        // As it is now: a channel may have become private since the beginning.
        let directory = realm.directory();
        let in_channels = self.in_channels(realm, &directory, &messages);
        let is_exported = |message: &Arc<Message>| match &message.place {
            Place::Direct => {
                directory.direct(message.recipient).is_some_and(|direct| self.has_people(&direct.users))
            }
            Place::Channel { .. } => in_channels.contains(&message.id),
        };
        messages.into_iter().filter(is_exported).collect()
    }

    /// Those of some messages that are in channels and exported: of private channels that those who consent may not read as a
    /// whole only what they have received.
    fn in_channels(
        &self,
        realm: &RealmHandle,
        directory: &Directory,
        messages: &[Arc<Message>],
    ) -> BTreeSet<MessageId> {
        let mut by_channel: BTreeMap<ChannelId, Vec<MessageId>> = BTreeMap::new();
        for message in messages {
            if let Some(channel) = message.place.channel() {
                by_channel.entry(channel).or_default().push(message.id);
            }
        }
        let mut found = BTreeSet::new();
        for (id, messages) in by_channel {
            let channel = directory.channel(id).filter(|channel| self.has_channel(directory, channel));
            let Some(channel) = channel else { continue };
            if self.has_all_of(directory, channel) {
                found.extend(messages);
            } else {
                let members = self.members_of(directory, channel).map(|user| user.id).collect();
                found.extend(realm.export_own(id, &messages, &members));
            }
        }
        found
    }
}
