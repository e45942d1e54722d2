//! A message to send: rendered and checked against a snapshot, not yet decided.

use crate::error::DomainError;
use model::fact::LocalEcho;
use model::message::MessageTraits;
use model::{
    AttachmentId, ChannelId, Directory, Flag, Flags, GroupId, Message, MessageId, Place, RecipientId,
    Timestamp, TopicLink, User, UserId, VisibilityPolicy,
};
use rules::markdown::{AlertText, Rendered};
use rules::permissions::message::check_group_mention;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parts of a message that do not depend on its destination.
#[derive(Clone, Debug)]
pub struct Draft {
    pub sender: Arc<User>,
    /// The Markdown source, normalized.
    pub content: String,
    pub rendered: Rendered,
    pub client: String,
    /// Whether it counts as read for the sender.
    pub read_by_sender: bool,
    pub echo: Option<LocalEcho>,
    /// The uploaded files that the message claims, by id; set where it is decided.
    pub claims: Vec<AttachmentId>,
    /// The widget that the sender gave, as JSON; otherwise the text may be a command that makes one.
    pub widget: Option<String>,
}

/// A message to a topic.
#[derive(Clone, Debug)]
pub struct ChannelDraft {
    pub draft: Draft,
    pub channel: ChannelId,
    /// The normalized topic name.
    pub topic: String,
    pub topic_links: Vec<TopicLink>,
    /// The notice to the owner of a bot that the message has no readers.
    pub owner_notice: Option<Box<DirectDraft>>,
}

/// A direct message.
#[derive(Clone, Debug)]
pub struct DirectDraft {
    pub draft: Draft,
    /// All users in the conversation, the sender included, sorted.
    pub users: Vec<UserId>,
}

/// A durable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub id: MessageId,
    /// The sender's new policy for the topic, if sending changed it.
    pub new_policy: Option<VisibilityPolicy>,
}

/// The destination of a message.
pub(crate) struct Destination {
    pub recipient: RecipientId,
    pub place: Place,
    pub topic_links: Vec<TopicLink>,
}

impl Draft {
    /// The message, with the flags of its recipients.
    pub(crate) fn into_message(
        self,
        id: MessageId,
        now: Timestamp,
        destination: Destination,
        flags: BTreeMap<UserId, Flags>,
    ) -> Message {
        let rendered = self.rendered;
        Message {
            traits: message_traits(&rendered, !self.claims.is_empty(), self.read_by_sender),
            content: self.content,
            rendered: rendered.html,
            client: self.client,
            user_flags: flags.into_iter().collect(),
            topic_links: destination.topic_links,
            ..Message::new(id, self.sender.id, destination.recipient, destination.place, now)
        }
    }
}

/// Refuses a message that mentions a group, not silently, which its sender may not mention.
pub(crate) fn check_group_mentions(draft: &Draft, directory: &Directory) -> Result<(), DomainError> {
    check_mentioned_groups(&draft.rendered, &draft.sender, directory)
}

/// Refuses the text of an edit that mentions a group, not silently, which its sender may not mention.
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

/// The content of a message, for the flags of its recipients.
pub(crate) struct ContentFlags<'c> {
    pub content: &'c str,
    pub rendered: &'c Rendered,
    /// The participants of the topic; used only if the text mentions the topic.
    pub participants: &'c [UserId],
}

impl ContentFlags<'_> {
    /// The flags of users for whom `receives` is true: mentions by name, through a group or as participants of the topic, and
    /// alert words. A mention of the whole channel is stored with the message instead.
    pub fn of_readers(
        &self,
        directory: &Directory,
        receives: impl Fn(UserId) -> bool,
    ) -> BTreeMap<UserId, Flags> {
        let mut flags = mention_flags(self.rendered, directory, &receives);
        if self.rendered.mentions.topic_wildcard {
            for user in self.participants.iter().filter(|user| receives(**user)) {
                add_flag(&mut flags, *user, Flag::TopicWildcardMentioned);
            }
        }
        for user in alerted(self.content, directory, &receives) {
            add_flag(&mut flags, user, Flag::HasAlertWord);
        }
        flags
    }
}

/// Marks the message as read for recipients who mute the sender (docs/api/message-flags.md#unread-rules).
pub(crate) fn read_by_muters(
    flags: &mut BTreeMap<UserId, Flags>,
    directory: &Directory,
    sender: UserId,
    receives: impl Fn(UserId) -> bool,
) {
    for user in directory.muters_of(sender).filter(|user| receives(*user)) {
        add_flag(flags, user, Flag::Read);
    }
}

/// Recipients whose alert words are in a text, including the writer; one with several of them as often.
fn alerted(content: &str, directory: &Directory, receives: impl Fn(UserId) -> bool) -> Vec<UserId> {
    if !directory.has_alert_words() {
        return Vec::new();
    }
    let words = AlertText::new(content).find(|text| directory.last_alert_word_until(text));
    words.into_iter().flatten().copied().filter(|user| receives(*user)).collect()
}

/// Adds a flag of a user to the flags of a message.
pub(crate) fn add_flag(flags: &mut BTreeMap<UserId, Flags>, user: UserId, flag: Flag) {
    let entry = flags.entry(user).or_default();
    *entry = entry.with(flag);
}

/// Flags of users who are mentioned, by name or through a group, and for whom `receives` is true.
pub(crate) fn mention_flags(
    rendered: &Rendered,
    directory: &Directory,
    receives: impl Fn(UserId) -> bool,
) -> BTreeMap<UserId, Flags> {
    let mut flags = BTreeMap::new();
    let users = rendered.mentions.users.iter().map(|user| UserId(*user as u32));
    let groups = rendered.mentions.groups.iter();
    let members = groups.flat_map(|group| directory.members_of(GroupId(*group as u32)));
    for user in users.chain(members).filter(|user| receives(*user)) {
        add_flag(&mut flags, user, Flag::Mentioned);
    }
    flags
}

/// The traits of a message with this rendered content.
pub(crate) fn message_traits(
    rendered: &Rendered,
    has_attachment: bool,
    read_by_sender: bool,
) -> MessageTraits {
    MessageTraits {
        is_me: rendered.is_me_message,
        has_link: rendered.has_link,
        has_image: rendered.has_image,
        has_attachment,
        channel_wildcard: rendered.mentions.channel_wildcard,
        read_by_sender,
    }
}
