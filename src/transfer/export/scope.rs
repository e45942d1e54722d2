//! What each kind of export contains.

use actors::RealmHandle;
use model::{Channel, Directory, Message, MessageId, Place, User, UserId};
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
            ExportKind::Consent => {
                let all = directory.subscriptions_of(channel.id);
                self.consenting.iter().any(|user| all.contains_key(user))
            }
        }
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
        let own = self.own_messages(realm, &directory, &messages);
        let is_exported = |message: &Arc<Message>| match &message.place {
            Place::Direct => {
                directory.direct(message.recipient).is_some_and(|direct| self.has_people(&direct.users))
            }
            Place::Channel { channel, .. } => directory.channel(*channel).is_some_and(|channel| {
                let is_whole = !channel.invite_only || channel.history_public_to_subscribers;
                self.has_channel(&directory, channel) && (is_whole || own.contains(&message.id))
            }),
        };
        messages.into_iter().filter(is_exported).collect()
    }

    /// Messages of channels with protected history that those who consent have received.
    fn own_messages(
        &self,
        realm: &RealmHandle,
        directory: &Directory,
        messages: &[Arc<Message>],
    ) -> BTreeSet<MessageId> {
        let mut protected: BTreeMap<_, Vec<MessageId>> = BTreeMap::new();
        for message in messages {
            let channel = message.place.channel().and_then(|id| directory.channel(id));
            let is_protected =
                |channel: &&Arc<Channel>| channel.invite_only && !channel.history_public_to_subscribers;
            if let Some(channel) = channel.filter(is_protected) {
                protected.entry(channel.id).or_default().push(message.id);
            }
        }
        let own =
            protected.iter().flat_map(|(channel, ids)| realm.export_own(*channel, ids, &self.consenting));
        own.collect()
    }
}
