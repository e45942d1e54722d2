//! A message on its way: rendered and checked against a snapshot, not yet decided.

use crate::error::DomainError;
use model::fact::LocalEcho;
use model::message::MessageTraits;
use model::{
    ChannelId, Directory, Flag, Flags, GroupId, Message, MessageId, Place, RecipientId, Timestamp, TopicLink,
    User, UserId, VisibilityPolicy,
};
use rules::markdown::Rendered;
use rules::permissions::message::check_group_mention;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What every message has, wherever it goes.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Who writes.
    pub sender: Arc<User>,
    /// Markdown, normalized.
    pub content: String,
    /// HTML and what was mentioned.
    pub rendered: Rendered,
    /// Name of the client.
    pub client: String,
    /// Whether the sender has read it by having written it.
    pub read_by_sender: bool,
    /// Whose client waits for it.
    pub echo: Option<LocalEcho>,
}

/// A message to a topic.
#[derive(Clone, Debug)]
pub struct ChannelDraft {
    /// What.
    pub draft: Draft,
    /// To which channel.
    pub channel: ChannelId,
    /// To which topic, normalized.
    pub topic: String,
    /// Links in the topic.
    pub topic_links: Vec<TopicLink>,
}

/// A message to people.
#[derive(Clone, Debug)]
pub struct DirectDraft {
    /// What.
    pub draft: Draft,
    /// Everybody in the conversation, the sender included, sorted.
    pub users: Vec<UserId>,
}

/// A message that is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its id.
    pub id: MessageId,
    /// The sender's new policy for the topic, if sending changed it.
    pub new_policy: Option<VisibilityPolicy>,
}

/// The set of people a message goes to, and where in it.
pub(crate) struct Destination {
    pub recipient: RecipientId,
    pub place: Place,
    pub topic_links: Vec<TopicLink>,
}

impl Draft {
    /// The message, with flags for those who are mentioned among those it is delivered to.
    pub(crate) fn into_message(
        self,
        id: MessageId,
        now: Timestamp,
        destination: Destination,
        flags: BTreeMap<UserId, Flags>,
    ) -> Message {
        let rendered = self.rendered;
        Message {
            id,
            sender: self.sender.id,
            recipient: destination.recipient,
            place: destination.place,
            sent: now,
            traits: MessageTraits {
                is_me: rendered.is_me_message,
                has_link: rendered.has_link,
                has_image: rendered.has_image,
                // Uploads, and with them who may claim one, come with their own endpoints.
                has_attachment: false,
                channel_wildcard: rendered.mentions.channel_wildcard,
                read_by_sender: self.read_by_sender,
            },
            content: self.content,
            rendered: rendered.html,
            client: self.client,
            user_flags: flags.into_iter().collect(),
            topic_links: destination.topic_links,
            edits: Vec::new(),
            last_edited: None,
            last_moved: None,
            reactions: Vec::new(),
            submessages: Vec::new(),
        }
    }
}

/// Refuses a message that mentions a group aloud which its sender may not mention.
pub(crate) fn check_group_mentions(draft: &Draft, directory: &Directory) -> Result<(), DomainError> {
    for group in &draft.rendered.mentions.groups {
        if let Some(group) = directory.group(GroupId(*group as u32)) {
            check_group_mention(directory, &draft.sender, group)?;
        }
    }
    Ok(())
}

/// Flags for people who are mentioned, by name or through a group, where `receives` says they get the message.
pub(crate) fn mention_flags(
    rendered: &Rendered,
    directory: &Directory,
    receives: impl Fn(UserId) -> bool,
) -> BTreeMap<UserId, Flags> {
    let mut flags: BTreeMap<UserId, Flags> = BTreeMap::new();
    let mut add = |user: UserId| {
        if receives(user) {
            let entry = flags.entry(user).or_default();
            *entry = entry.with(Flag::Mentioned);
        }
    };
    for user in &rendered.mentions.users {
        add(UserId(*user as u32));
    }
    for group in &rendered.mentions.groups {
        for user in directory.members_of(GroupId(*group as u32)) {
            add(user);
        }
    }
    flags
}
