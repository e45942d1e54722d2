//! A message to send: rendered and checked against a snapshot, not yet decided.

use crate::error::DomainError;
use model::fact::LocalEcho;
use model::message::MessageTraits;
use model::{
    ChannelId, Directory, Flag, Flags, GroupId, Message, MessageId, Place, RecipientId, Timestamp, TopicLink,
    User, UserId, VisibilityPolicy,
};
use rules::markdown::{AlertText, Rendered};
use rules::permissions::message::check_group_mention;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What every message has, wherever it goes.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The account that sends.
    pub sender: Arc<User>,
    /// The Markdown source, normalized.
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
    /// The message.
    pub draft: Draft,
    /// To which channel.
    pub channel: ChannelId,
    /// To which topic, normalized.
    pub topic: String,
    /// Links in the topic.
    pub topic_links: Vec<TopicLink>,
    /// Tells the owner of a bot that nobody reads the message.
    pub owner_notice: Option<Box<DirectDraft>>,
}

/// A message to people.
#[derive(Clone, Debug)]
pub struct DirectDraft {
    /// The message.
    pub draft: Draft,
    /// All users in the conversation, the sender included, sorted.
    pub users: Vec<UserId>,
}

/// A message that is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The id that it was given.
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
            ..Message::new(id, self.sender.id, destination.recipient, destination.place, now)
        }
    }
}

/// Refuses a message that mentions a group aloud which its sender may not mention.
pub(crate) fn check_group_mentions(draft: &Draft, directory: &Directory) -> Result<(), DomainError> {
    check_mentioned_groups(&draft.rendered, &draft.sender, directory)
}

/// The same for a text that is no new message.
pub(crate) fn check_mentioned_groups(
    rendered: &Rendered,
    sender: &User,
    directory: &Directory,
) -> Result<(), DomainError> {
    for group in &rendered.mentions.groups {
        if let Some(group) = directory.group(GroupId(*group as u32)) {
            check_group_mention(directory, sender, group)?;
        }
    }
    Ok(())
}

/// What a message says, as far as it flags people.
pub(crate) struct ContentFlags<'c> {
    /// The Markdown source.
    pub content: &'c str,
    /// HTML and mentions.
    pub rendered: &'c Rendered,
    /// Who is meant by a mention of the whole topic; matters only where there is one.
    pub participants: &'c [UserId],
}

impl ContentFlags<'_> {
    /// The flags of single users, where `receives` says that they get the message: mentions by name, through a group
    /// or as part of the topic, and alert words. Mentions of the whole channel are the message's own.
    pub fn of_readers(
        &self,
        directory: &Directory,
        receives: impl Fn(UserId) -> bool,
    ) -> BTreeMap<UserId, Flags> {
        let mut flags = mention_flags(self.rendered, directory, &receives);
        let mut add = |user: UserId, flag| {
            let entry = flags.entry(user).or_default();
            *entry = entry.with(flag);
        };
        if self.rendered.mentions.topic_wildcard {
            for user in self.participants.iter().filter(|user| receives(**user)) {
                add(*user, Flag::TopicWildcardMentioned);
            }
        }
        for user in alerted(self.content, directory, &receives) {
            add(user, Flag::HasAlertWord);
        }
        flags
    }
}

/// Recipients who mute the sender get the message as read (docs/api/message-flags.md#unread-rules).
pub(crate) fn read_by_muters(
    flags: &mut BTreeMap<UserId, Flags>,
    directory: &Directory,
    sender: UserId,
    receives: impl Fn(UserId) -> bool,
) {
    for user in directory.muters_of(sender).filter(|user| receives(*user)) {
        let entry = flags.entry(user).or_default();
        *entry = entry.with(Flag::Read);
    }
}

/// Recipients of a text with an alert word in it; the writer's own alert words count, too.
fn alerted(content: &str, directory: &Directory, receives: impl Fn(UserId) -> bool) -> Vec<UserId> {
    let mut text = None;
    // Many users have the same alert words.
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut found = Vec::new();
    for (user, words) in directory.all_alert_words() {
        let text = text.get_or_insert_with(|| AlertText::new(content));
        let mut words = words.iter();
        if receives(user) && words.any(|word| *known.entry(word).or_insert_with(|| text.contains(word))) {
            found.push(user);
        }
    }
    found
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
