//! Messages as clients read them, written directly into a buffer (docs/api/messages.md#message-object).
//!
//! The caller checks access. Only documented fields are written: some clients reject unknown ones.

use self::body_cache::push_cached;
use self::sender_cache::push_cached_sender;
use super::json::{push_field, push_name, push_text, push_text_field, push_value};
use super::list::push_list;
use actors::queries::PAGE_HISTORY_BYTES_MAX;
use actors::search::Highlighter;
use model::history::CARRIED_EDITS_MAX;
use model::{
    Directory, EditEntry, Flag, Flags, HistoryBound, Message, MessageId, Place, QueueOptions, Reaction,
    RecipientId, Submessage, TopicLink, User, UserId,
};
use rules::avatar::{AvatarSize, avatar_url, public_avatar_url, unknown_avatar_url};
use rules::history::{HistoryPolicy, visible_edits};
use rules::permissions::users::{UNKNOWN_NAME, api_email, is_restricted, sees_user};
use rules::topics::shown_topic;
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;

/// Estimated bytes of a message besides its content.
const FIELDS_BYTES: usize = 640;

/// The form in which a client reads messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageForm {
    /// Content as HTML (true) or Markdown.
    pub apply_markdown: bool,
    /// The client computes Gravatar URLs from e-mail addresses that it sees.
    pub client_gravatar: bool,
    /// Write the empty topic as is instead of its display name.
    pub allow_empty_topic: bool,
}

impl MessageForm {
    /// The form that a queue was registered for.
    pub fn of_queue(options: &QueueOptions) -> Self {
        Self {
            apply_markdown: options.apply_markdown,
            client_gravatar: options.client_gravatar,
            allow_empty_topic: options.capabilities.empty_topic_name,
        }
    }
}

/// Writes messages for one reader. The encoded senders and conversations are cached, so that a page encodes each once.
pub struct MessageWriter<'d> {
    directory: &'d Directory,
    /// The reader, if some users are hidden from them.
    restricted: Option<&'d User>,
    /// Whether the reader has no account: then addresses are hidden.
    is_spectator: bool,
    form: MessageForm,
    history: HistoryPolicy,
    /// Bytes of edit history that may still be written.
    history_left: usize,
    /// The name of the messages' channel at the time of an event; the present one otherwise.
    channel_name: Option<&'d str>,
    senders: Written<UserId>,
    places: Written<RecipientId>,
}

impl<'d> MessageWriter<'d> {
    /// A writer for a reader; none for anonymous access.
    pub fn new(directory: &'d Directory, reader: Option<&'d User>, form: MessageForm) -> Self {
        let history = HistoryPolicy::of(directory.realm());
        let restricted = reader.filter(|reader| is_restricted(directory, reader));
        let history_left = PAGE_HISTORY_BYTES_MAX;
        let is_spectator = reader.is_none();
        Self {
            directory,
            restricted,
            is_spectator,
            form,
            history,
            history_left,
            channel_name: None,
            senders: Written::new(),
            places: Written::new(),
        }
    }

    /// Writes the messages of one channel with the name that it had, which a reader who has lost access since may know.
    pub fn with_channel_name(self, channel_name: Option<&'d str>) -> Self {
        Self { channel_name, ..self }
    }

    /// Estimated bytes of an encoded message.
    pub fn size_of(&self, message: &Message) -> usize {
        FIELDS_BYTES + self.content(message).len() * 9 / 8
    }

    /// Writes a message object. Responses have `flags` inside the object, events beside it.
    pub fn push(&mut self, out: &mut Vec<u8>, message: &Message, flags: Option<Flags>) {
        self.push_with(out, message, flags, |writer, out| writer.push_body(out, message));
    }

    /// Writes the object of a message that is in memory, whose body is encoded once for many pages.
    pub fn push_recent(&mut self, out: &mut Vec<u8>, message: &Arc<Message>, flags: Option<Flags>) {
        // What the form changes is not in the body of most messages.
        let is_cached = self.form.apply_markdown && !message.place.topic().is_empty();
        self.push_with(out, message, flags, |writer, out| match is_cached {
            true => push_cached(out, message, |out| writer.push_body(out, message)),
            false => writer.push_body(out, message),
        });
    }

    fn push_with(
        &mut self,
        out: &mut Vec<u8>,
        message: &Message,
        flags: Option<Flags>,
        push_body: impl FnOnce(&Self, &mut Vec<u8>),
    ) {
        out.extend_from_slice(b"{\"id\":");
        push_value(out, &message.id);
        self.push_sender(out, message.sender);
        self.push_place(out, message);
        push_body(self, out);
        self.push_edits(out, message);
        if let Some(flags) = flags {
            push_flags(out, flags);
        }
        out.push(b'}');
    }

    /// Writes the fields that are the same for all readers of this form.
    fn push_body(&self, out: &mut Vec<u8>, message: &Message) {
        let is_channel = message.place.channel().is_some();
        let topic = shown_topic(message.place.topic(), self.form.allow_empty_topic || !is_channel);
        // Each literal is one copy; a page has a hundred of each.
        out.extend_from_slice(b",\"subject\":");
        push_text(out, topic);
        if message.topic_links.is_empty() {
            out.extend_from_slice(b",\"topic_links\":[],\"timestamp\":");
        } else {
            push_field(out, "topic_links", &topic_links(&message.topic_links));
            out.extend_from_slice(b",\"timestamp\":");
        }
        push_value(out, &message.sent.secs());
        out.extend_from_slice(b",\"client\":");
        push_text(out, &message.client);
        out.extend_from_slice(b",\"content\":");
        push_text(out, self.content(message));
        out.extend_from_slice(match (self.form.apply_markdown, message.traits.is_me) {
            (true, false) => b",\"content_type\":\"text/html\",\"is_me_message\":false",
            (true, true) => b",\"content_type\":\"text/html\",\"is_me_message\":true",
            (false, false) => b",\"content_type\":\"text/x-markdown\",\"is_me_message\":false",
            (false, true) => b",\"content_type\":\"text/x-markdown\",\"is_me_message\":true",
        });
        if message.reactions.is_empty() && message.submessages.is_empty() {
            // Most messages have neither.
            out.extend_from_slice(b",\"reactions\":[],\"submessages\":[]");
        } else {
            push_name(out, "reactions");
            push_list(out, message.reactions.iter().map(reaction));
            push_name(out, "submessages");
            push_list(out, message.submessages.iter().map(|part| submessage(message.id, part)));
        }
    }

    /// Writes a message that a search has found, with the words of the search marked.
    pub fn push_found(
        &mut self,
        out: &mut Vec<u8>,
        message: &Message,
        flags: Flags,
        highlighter: &mut Highlighter,
    ) {
        self.push(out, message, Some(flags));
        // The fields continue.
        out.pop();
        let topic = message.place.channel().map(|_| message.place.topic());
        let subject = topic.map(|topic| shown_topic(topic, self.form.allow_empty_topic));
        push_text_field(out, "match_content", &highlighter.content(&message.rendered));
        push_text_field(out, "match_subject", &highlighter.subject(subject));
        out.push(b'}');
    }

    fn content<'m>(&self, message: &'m Message) -> &'m str {
        if self.form.apply_markdown { &message.rendered } else { &message.content }
    }

    fn push_sender(&mut self, out: &mut Vec<u8>, id: UserId) {
        if let Some(written) = self.senders.get(id) {
            return out.extend_from_slice(written);
        }
        let start = out.len();
        let is_for_all = self.restricted.is_none() && !self.is_spectator;
        match self.directory.user(id).filter(|_| is_for_all) {
            Some(user) => {
                let client_gravatar = self.form.client_gravatar;
                push_cached_sender(out, self.directory, user, client_gravatar, |out| {
                    self.encode_sender(out, id)
                });
            }
            None => self.encode_sender(out, id),
        }
        self.senders.put(id, &out[start..]);
    }

    fn encode_sender(&self, out: &mut Vec<u8>, id: UserId) {
        push_field(out, "sender_id", &id);
        let person = self.person(id);
        push_text_field(out, "sender_full_name", person.name);
        push_text_field(out, "sender_email", &person.email);
        push_text_field(out, "sender_realm_str", &self.directory.realm().subdomain);
        // The same for every reader: Gravatar URLs are only left to clients if everyone sees the e-mail address.
        let avatar = match person.user {
            Some(user) if self.is_spectator => {
                Some(public_avatar_url(self.directory, user, AvatarSize::Small))
            }
            Some(user) => {
                avatar_url(self.directory, None, user, self.form.client_gravatar, AvatarSize::Small)
            }
            None => Some(unknown_avatar_url(self.directory.realm().id, AvatarSize::Small)),
        };
        push_field(out, "avatar_url", &avatar);
    }

    /// Writes the conversation of a message.
    fn push_place(&mut self, out: &mut Vec<u8>, message: &Message) {
        if let Some(written) = self.places.get(message.recipient) {
            return out.extend_from_slice(written);
        }
        let start = out.len();
        push_field(out, "recipient_id", &message.recipient);
        match &message.place {
            Place::Channel { channel, .. } => {
                push_text_field(out, "type", "stream");
                push_field(out, "stream_id", channel);
                let name_now =
                    || self.directory.channel(*channel).map_or("", |channel| channel.name.as_str());
                let name = self.channel_name.unwrap_or_else(name_now);
                push_text_field(out, "display_recipient", name);
            }
            Place::Direct => {
                push_text_field(out, "type", "private");
                push_field(out, "display_recipient", &self.participants(message));
            }
        }
        self.places.put(message.recipient, &out[start..]);
    }

    /// All participants of a direct conversation, by id.
    fn participants(&self, message: &Message) -> Vec<Participant<'d>> {
        let direct = self.directory.direct(message.recipient);
        let users = direct.map(|direct| direct.users.as_slice()).unwrap_or_default();
        let participant = |id: &UserId| {
            let person = self.person(*id);
            Participant { id: *id, email: person.email, full_name: person.name, is_mirror_dummy: false }
        };
        users.iter().map(participant).collect()
    }

    fn person(&self, id: UserId) -> Person<'d> {
        let hidden =
            |user: &User| self.restricted.is_some_and(|reader| !sees_user(self.directory, reader, user));
        match self.directory.user(id).filter(|user| !hidden(user)) {
            Some(user) => {
                let email = match self.is_spectator && !user.is_bot() {
                    true => Cow::Owned(self.directory.made_up_email(id)),
                    false => api_email(self.directory, user),
                };
                Person { user: Some(user), name: &user.full_name, email }
            }
            None => {
                Person { user: None, name: UNKNOWN_NAME, email: Cow::Owned(self.directory.made_up_email(id)) }
            }
        }
    }

    fn push_edits(&mut self, out: &mut Vec<u8>, message: &Message) {
        if message.edits.is_empty() && message.last_edited.is_none() && message.last_moved.is_none() {
            return;
        }
        let edits = visible_edits(message, self.history);
        let mut bound = HistoryBound::new(CARRIED_EDITS_MAX, self.history_left);
        let shown = edits.iter().take_while(|entry| bound.takes(entry));
        let entries: Vec<EditJson> = shown.map(|entry| edit_entry(entry, self.form)).collect();
        self.history_left = bound.bytes;
        if !entries.is_empty() {
            push_field(out, "edit_history", &entries);
        }
        if let Some(edited) = message.last_edited {
            push_field(out, "last_edit_timestamp", &edited.secs());
        }
        if let Some(moved) = message.last_moved {
            push_field(out, "last_moved_timestamp", &moved.secs());
        }
    }
}

/// Senders and conversations of a page for which room is made at once.
const WRITTEN_COUNT: usize = 31;

/// What was written for each id, in one buffer.
struct Written<K> {
    /// With the end in the buffer; each begins where the one before ends.
    ends: Vec<(K, usize)>,
    bytes: Vec<u8>,
}

impl<K: Copy + PartialEq> Written<K> {
    const fn new() -> Self {
        Self { ends: Vec::new(), bytes: Vec::new() }
    }

    fn get(&self, id: K) -> Option<&[u8]> {
        let place = self.ends.iter().position(|(known, _)| *known == id)?;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].1);
        Some(&self.bytes[start..self.ends[place].1])
    }

    fn put(&mut self, id: K, written: &[u8]) {
        if self.ends.len() == 1 {
            // A second one, so it is not a single message: there may be dozens.
            self.ends.reserve(WRITTEN_COUNT);
            self.bytes.reserve(WRITTEN_COUNT * written.len());
        }
        self.bytes.extend_from_slice(written);
        self.ends.push((id, self.bytes.len()));
    }
}

/// A user as the reader may see them; `user` is none if the user is hidden.
struct Person<'d> {
    user: Option<&'d User>,
    name: &'d str,
    email: Cow<'d, str>,
}

#[derive(Serialize)]
struct Participant<'d> {
    id: UserId,
    email: Cow<'d, str>,
    full_name: &'d str,
    is_mirror_dummy: bool,
}

#[derive(Serialize)]
struct EditJson<'m> {
    user_id: UserId,
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_rendered_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_stream: Option<model::ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<model::ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_topic: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'m str>,
}

fn edit_entry(entry: &EditEntry, form: MessageForm) -> EditJson<'_> {
    let topics = entry.topic.as_ref();
    let shown = |topic| shown_topic(topic, form.allow_empty_topic);
    EditJson {
        user_id: entry.user,
        timestamp: entry.at.secs(),
        prev_content: entry.prev_content.as_deref(),
        prev_rendered_content: entry.prev_rendered.as_deref(),
        prev_stream: entry.channel.map(|(before, _)| before),
        stream: entry.channel.map(|(_, after)| after),
        prev_topic: topics.map(|(before, _)| shown(before)),
        topic: topics.map(|(_, after)| shown(after)),
    }
}

/// A link found in a topic name.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TopicLinkJson<'m> {
    text: &'m str,
    url: &'m str,
}

/// The value of `topic_links`.
pub fn topic_links(links: &[TopicLink]) -> Vec<TopicLinkJson<'_>> {
    links.iter().map(|link| TopicLinkJson { text: &link.text, url: &link.url }).collect()
}

#[derive(Serialize)]
struct ReactionJson<'m> {
    emoji_name: &'m str,
    emoji_code: &'m str,
    reaction_type: &'m str,
    user_id: UserId,
}

fn reaction(reaction: &Reaction) -> ReactionJson<'_> {
    ReactionJson {
        emoji_name: &reaction.emoji_name,
        emoji_code: &reaction.emoji_code,
        reaction_type: &reaction.reaction_type,
        user_id: reaction.user,
    }
}

#[derive(Serialize)]
struct SubmessageJson<'m> {
    id: u32,
    message_id: MessageId,
    sender_id: UserId,
    msg_type: &'m str,
    content: &'m str,
}

fn submessage(message_id: MessageId, submessage: &Submessage) -> SubmessageJson<'_> {
    SubmessageJson {
        id: submessage.id,
        message_id,
        sender_id: submessage.sender,
        msg_type: &submessage.msg_type,
        content: &submessage.content,
    }
}

/// Writes `,"flags":[…]`, with the older name of wildcard mentions after the newer ones.
pub fn push_flags(out: &mut Vec<u8>, flags: Flags) {
    // Most messages.
    if flags == Flags::NONE {
        return out.extend_from_slice(b",\"flags\":[]");
    }
    if flags == Flags::NONE.with(Flag::Read) {
        return out.extend_from_slice(b",\"flags\":[\"read\"]");
    }
    push_name(out, "flags");
    out.push(b'[');
    let start = out.len();
    let push_word = |out: &mut Vec<u8>, word| {
        if out.len() > start {
            out.push(b',');
        }
        push_text(out, word);
    };
    for flag in flags.iter() {
        push_word(out, flag.as_str());
        let is_last_wildcard = match flag {
            Flag::TopicWildcardMentioned => true,
            Flag::ChannelWildcardMentioned => !flags.contains(Flag::TopicWildcardMentioned),
            _ => false,
        };
        if is_last_wildcard {
            push_word(out, "wildcard_mentioned");
        }
    }
    out.push(b']');
}

mod body_cache;
mod sender_cache;
#[cfg(test)]
mod tests;
