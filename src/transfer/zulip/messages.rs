//! The facts of messages, file by file: the messages as they were sent, their changes, reactions and flags.
//!
//! A frame has whole messages with everything that belongs to them, so that an interrupted import goes on after the newest
//! message of the journal.

use super::entry::{Entries, Entry, SubmessageRow};
use super::files::Claims;
use super::flags::{CHANNEL_WILDCARD, FlagFacts, HISTORICAL, READ, content_flags};
use super::history::{History, history_of};
use super::markdown::{ImportMarkdown, Names, Newest};
use super::moves::{Moves, PendingMove};
use super::recipients::{Recipients, Target};
use super::tables::Tables;
use crate::transfer::report::Report;
use crate::transfer::rows::timestamp;
use model::message::MessageTraits;
use model::push::PushFact;
use model::{
    AttachmentFact, AttachmentId, ChannelId, Directory, Fact, Flag, Flags, Message, MessageFact, MessageId,
    MessageVersion, Place, Reaction, RecipientId, Spot, Submessage, Subscription, TopicKey, TopicLink,
    UserId,
};
use rules::linkifiers::compile_linkifiers;
use rules::markdown::{Linkifier, Rendered, render, topic_links};
use rules::widgets::{WIDGET, widget_content};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Estimated bytes at which a frame ends; frames have at most 512 KiB compressed.
const FRAME_BYTES: usize = 350 * 1024;
/// Bytes of a message besides its texts.
const MESSAGE_BYTES: usize = 200;
/// Bytes of a flag fact.
const FLAG_BYTES: usize = 40;
const MESSAGE: &str = "zerver_message";
const ROW: &str = "zerver_usermessage";
const REACTION: &str = "zerver_reaction";
const PART: &str = "zerver_submessage";
/// Characters of the note that counts rows without a message.
const NO_MESSAGE: &str = "of a message that is not in the export";

/// A subscriber of a channel as messages see them.
struct Member {
    user: UserId,
    subscription: Arc<Subscription>,
    /// Whether they have a row for each message that they received; users who were away for long do not.
    has_rows: bool,
}

/// Makes the facts of messages.
pub struct Messages {
    pub tables: Arc<Tables>,
    pub directory: Directory,
    pub recipients: Recipients,
    pub claims: Claims,
    /// Messages up to this one are durable already.
    pub done: MessageId,
    /// The organization's former URL.
    pub url: String,
    pub report: Report,
    /// The most parts that a widget has.
    pub parts_max: u32,
    members: HashMap<ChannelId, Arc<Vec<Member>>>,
    away: HashSet<UserId>,
    newest: Newest,
    linkifiers: Vec<Linkifier>,
    /// Old and new beginning of paths of uploaded files, if they differ.
    uploads: Option<(String, String)>,
    reactions: u64,
}

/// A frame that is being filled.
#[derive(Default)]
struct Draft {
    facts: Vec<Fact>,
    later: Vec<Fact>,
    moves: Moves,
    flags: FlagFacts,
    bytes: usize,
    last: MessageId,
}

impl Draft {
    fn size(&self) -> usize {
        self.bytes + self.flags.len() * FLAG_BYTES
    }

    fn into_facts(mut self) -> Vec<Fact> {
        self.facts.extend(self.moves.into_facts());
        self.facts.append(&mut self.later);
        self.facts.extend(self.flags.into_facts());
        // Nothing is announced of what others wrote long ago.
        self.facts.push(Fact::Push(Box::new(PushFact::NotificationCursorMoved(self.last))));
        self.facts
    }
}

/// Where a message is.
struct Spotted {
    recipient: RecipientId,
    topic: Option<(ChannelId, String)>,
    /// People of a direct conversation.
    people: Vec<UserId>,
}

impl Messages {
    /// Begins after the messages that are durable.
    pub fn new(
        tables: Arc<Tables>,
        directory: Directory,
        claims: Claims,
        done: MessageId,
        url: String,
    ) -> Self {
        let away = |row: &&crate::transfer::rows::Row| row.is("long_term_idle");
        let idle = tables.rows("zerver_userprofile").iter().filter(away);
        let (old, new) = (tables.realm().id("id").unwrap_or_default(), directory.realm().id.0);
        let path = |id: u32| format!("/user_uploads/{id}/");
        Self {
            recipients: Recipients::new(&tables, &directory),
            away: idle.filter_map(|row| row.id("id")).map(UserId).collect(),
            linkifiers: compile_linkifiers(&directory.lists().linkifiers),
            uploads: (old != new).then(|| (path(old), path(new))),
            tables,
            directory,
            claims,
            done,
            url,
            report: Report::default(),
            parts_max: 0,
            members: HashMap::new(),
            newest: Newest::new(),
            reactions: 0,
        }
    }

    /// The frames of a file.
    pub fn frames(&mut self, entries: Entries) -> Vec<Vec<Fact>> {
        let (mut frames, mut draft) = (Vec::new(), Draft::default());
        self.report.leave_out(ROW, NO_MESSAGE, entries.stray_rows);
        self.report.leave_out(PART, NO_MESSAGE, entries.stray_parts);
        for entry in &entries.all {
            self.message(entry, &mut draft);
            if draft.size() >= FRAME_BYTES {
                frames.push(std::mem::take(&mut draft).into_facts());
            }
        }
        if draft.last > MessageId::ZERO {
            frames.push(draft.into_facts());
        }
        frames
    }

    /// Rows that no message had.
    pub fn finish(&mut self) {
        let others = self.tables.reactions.len() as u64 - self.reactions;
        self.report.leave_out(REACTION, NO_MESSAGE, others);
    }

    fn message(&mut self, entry: &Entry, draft: &mut Draft) {
        let row = &entry.row;
        let id = MessageId(u32::try_from(row.id).unwrap_or(u32::MAX));
        let sender = UserId(row.sender);
        let is_known = self.directory.user(sender).is_some();
        let target = self.recipients.target(row.recipient).cloned().filter(|_| is_known);
        let Some(target) = target else {
            let why = if is_known {
                "to a conversation that is not in the export"
            } else {
                "of a sender who is not in the export"
            };
            self.report.leave_out(MESSAGE, why, 1);
            self.report.leave_out(ROW, why, entry.users.len() as u64);
            self.report.leave_out(PART, why, entry.submessages.len() as u64);
            return;
        };
        self.report.carry(MESSAGE, 1);
        if let Target::Channel(channel, _) = &target {
            self.newest.insert((*channel, TopicKey::new(&row.subject)), id);
        }
        if id <= self.done {
            self.count_done(id, entry);
            return;
        }
        let spotted = self.spot(target, sender, entry, draft);
        let is_channel = |id: ChannelId| self.directory.channel(id).is_some();
        let history = history_of(row, spotted.topic.clone(), is_channel);
        self.report
            .change("steps of histories beyond the newest 200 of a message were left out", history.left_out);
        self.report.change("histories that cannot be read were left out", u64::from(history.is_broken));
        let flags = self.flags(id, entry, &spotted, &history, draft);
        self.send(id, entry, &spotted, history, &flags, draft);
        self.add_rest(id, entry, &spotted, draft);
        draft.last = id;
        draft.bytes += MESSAGE_BYTES;
    }

    fn count_done(&mut self, id: MessageId, entry: &Entry) {
        let users = entry.users.iter().filter(|(user, _)| self.directory.user(UserId(*user)).is_some());
        let known = users.count() as u64;
        self.report.carry(ROW, known);
        self.report.leave_out(ROW, "of a user who is not in the export", entry.users.len() as u64 - known);
        self.report.carry(PART, entry.submessages.len() as u64);
        let reactions = self.tables.reactions_of(id.0);
        let is_known = |user: u32| self.directory.user(UserId(user)).is_some();
        let known = reactions.iter().filter(|reaction| is_known(reaction.user)).count() as u64;
        let others = reactions.len() as u64 - known;
        self.reactions += known + others;
        self.report.carry(REACTION, known);
        self.report.leave_out(REACTION, "of a user who is not in the export", others);
    }

    fn spot(&mut self, target: Target, sender: UserId, entry: &Entry, draft: &mut Draft) -> Spotted {
        let people = match target {
            Target::Channel(channel, recipient) => {
                let topic = Some((channel, entry.row.subject.clone()));
                return Spotted { recipient, topic, people: Vec::new() };
            }
            Target::Person(user) => {
                let mut people = vec![sender, user];
                people.sort_unstable();
                people.dedup();
                people
            }
            Target::People(people) => people,
        };
        let (recipient, new) = self.recipients.direct(&people);
        draft.facts.extend(new.map(|direct| Fact::Message(MessageFact::ConversationCreated(direct))));
        Spotted { recipient, topic: None, people }
    }

    /// Who received a message, with the row of each; and who has only a row. Both sorted.
    fn flags(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &Spotted,
        history: &History,
        draft: &mut Draft,
    ) -> MessageFlags {
        let mut flags = MessageFlags { is_read_by_sender: true, ..MessageFlags::default() };
        let sender = UserId(entry.row.sender);
        let moved_here = history
            .steps
            .iter()
            .any(|step| step.place.as_ref().is_some_and(|(before, after)| before.0 != after.0));
        let mut received: HashSet<UserId> = spotted.people.iter().copied().collect();
        let mut without_row = Vec::new();
        if let Some((channel, _)) = &spotted.topic
            && !moved_here
        {
            for member in self.members(*channel).iter().filter(|member| member.subscription.received(id)) {
                received.insert(member.user);
                if member.has_rows {
                    without_row.push(member.user);
                }
            }
        } else {
            without_row.extend(&spotted.people);
        }
        let mut seen = HashSet::new();
        for (user, mask) in &entry.users {
            let (user, mask) = (UserId(*user), *mask);
            if self.directory.user(user).is_none() {
                self.report.leave_out(ROW, "of a user who is not in the export", 1);
                continue;
            }
            if !seen.insert(user) {
                self.report.leave_out(ROW, "the second of a user and a message", 1);
                continue;
            }
            self.report.carry(ROW, 1);
            let has_received = if moved_here { mask & HISTORICAL == 0 } else { received.contains(&user) };
            if moved_here && has_received {
                flags.received.push(user);
            }
            flags.has_channel_wildcard |= mask & CHANNEL_WILDCARD != 0;
            let content = content_flags(mask);
            if content != Flags::NONE {
                flags.content.push((user, content));
            }
            match (user == sender, mask & READ != 0) {
                (true, is_read) if has_received => flags.is_read_by_sender = is_read,
                (_, true) => draft.flags.add(user, Flag::Read, id),
                (_, false) if !has_received => {
                    self.report.change("unread messages that their reader had not received are read", 1);
                    draft.flags.add(user, Flag::Read, id);
                }
                (_, false) => {}
            }
            if has_received && mask & HISTORICAL != 0 {
                draft.flags.add(user, Flag::Historical, id);
            }
            draft.flags.add_own(user, mask, id);
        }
        for user in without_row {
            if user != sender && !seen.contains(&user) {
                draft.flags.add(user, Flag::Read, id);
                self.report.change("received messages of which the export has no row are read", 1);
            }
        }
        flags.content.sort_unstable_by_key(|(user, _)| *user);
        flags.received.sort_unstable();
        flags
    }

    fn members(&mut self, channel: ChannelId) -> Arc<Vec<Member>> {
        if let Some(known) = self.members.get(&channel) {
            return known.clone();
        }
        let all = self.directory.subscriptions_of(channel);
        let members = all.iter().map(|(user, subscription)| Member {
            user: *user,
            subscription: subscription.clone(),
            has_rows: self.directory.is_active_user(*user) && !self.away.contains(user),
        });
        let members = Arc::new(members.collect::<Vec<_>>());
        self.members.insert(channel, members.clone());
        members
    }

    fn render(&self, text: &str, entry: &Entry, claims: &[AttachmentId]) -> Rendered {
        let writer = self.directory.user(UserId(entry.row.sender)).map(|user| &**user);
        let context = ImportMarkdown {
            names: Names::of(entry.row.rendered_content.as_deref().unwrap_or_default()),
            newest: Some(&self.newest),
            claims,
            url: &self.url,
            now_seconds: entry.row.date_sent as i64,
            ..ImportMarkdown::new(&self.directory, writer, &self.linkifiers)
        };
        render(text, &context).unwrap_or_default()
    }

    /// The links in a topic name.
    fn links(&self, topic: &str) -> Vec<TopicLink> {
        let context = ImportMarkdown::new(&self.directory, None, &self.linkifiers);
        let links = topic_links(topic, &context);
        links.into_iter().map(|link| TopicLink { text: link.text, url: link.url }).collect()
    }

    fn text(&self, text: String) -> String {
        match &self.uploads {
            Some((old, new)) if text.contains(old.as_str()) => text.replace(old.as_str(), new),
            _ => text,
        }
    }

    fn send(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &Spotted,
        history: History,
        flags: &MessageFlags,
        draft: &mut Draft,
    ) {
        let row = &entry.row;
        let claims = self.claims.get(&id).cloned().unwrap_or_default();
        let content = self.text(history.content);
        let rendered = self.render(&content, entry, &claims);
        let traits = traits_of(&rendered, !claims.is_empty(), flags);
        let is_edited = history.steps.iter().any(|step| step.content.is_some());
        let place = match history.place {
            Some((channel, topic)) => Place::Channel { channel, topic },
            None => Place::Direct,
        };
        let recipient = match place.channel().and_then(|channel| self.directory.channel(channel)) {
            Some(channel) => channel.recipient,
            None => spotted.recipient,
        };
        let sender = UserId(row.sender);
        draft.bytes += content.len() + rendered.html.len();
        let widget = widget_content(&content);
        let submessages =
            widget.map(|content| Submessage { id: 1, msg_type: WIDGET.to_owned(), content, sender });
        let message = Message {
            content,
            rendered: rendered.html,
            client: self.tables.clients.get(&row.sending_client).cloned().unwrap_or_default(),
            traits,
            user_flags: if is_edited { Vec::new() } else { flags.content.clone() },
            topic_links: self.links(place.topic()),
            submessages: submessages.into_iter().collect(),
            ..Message::new(id, sender, recipient, place, timestamp(row.date_sent))
        };
        let mut spot = Spot::of(&message);
        draft.facts.push(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None }));
        let mut number = 0;
        let last_edit = history.steps.iter().rposition(|step| step.content.is_some());
        for (order, step) in history.steps.into_iter().enumerate() {
            let by = step.by.filter(|user| self.directory.user(*user).is_some()).unwrap_or(sender);
            let edited = step.content.map(|content| {
                number += 1;
                let content = self.text(content);
                let rendered = self.render(&content, entry, &claims);
                draft.bytes += content.len() + rendered.html.len();
                Arc::new(MessageVersion {
                    number,
                    by,
                    at: step.at,
                    content,
                    traits: traits_of(&rendered, !claims.is_empty(), flags),
                    rendered: rendered.html,
                    user_flags: if last_edit == Some(order) { flags.content.clone() } else { Vec::new() },
                })
            });
            let links = step.place.as_ref().map(|(_, after)| self.links(&after.1)).unwrap_or_default();
            let recipient = |channel: ChannelId| self.directory.channel(channel).map(|known| known.recipient);
            let arrival = step.place.as_ref().filter(|(before, after)| before.0 != after.0);
            let arrival = arrival.and_then(|(_, after)| recipient(after.0));
            let after = step.place.as_ref().map_or(spot, |(_, after)| Spot::Channel(after.0));
            draft.bytes += MESSAGE_BYTES + flags.received.len() * 4;
            draft.moves.add(PendingMove {
                order,
                message: id,
                at: step.at,
                by,
                spot,
                edited,
                place: step.place,
                links,
                arrival,
                received: &flags.received,
            });
            spot = after;
        }
        if !claims.is_empty() {
            let sent = timestamp(row.date_sent);
            let fact =
                AttachmentFact::ClaimsChanged { message: id, sent, claimed: claims, released: Vec::new() };
            draft.later.push(Fact::Attachment(fact));
        }
    }

    /// Reactions and parts of widgets.
    fn add_rest(&mut self, id: MessageId, entry: &Entry, spotted: &Spotted, draft: &mut Draft) {
        let spot = match &spotted.topic {
            Some((channel, _)) => Spot::Channel(*channel),
            None => Spot::Direct(spotted.recipient),
        };
        let tables = self.tables.clone();
        let mut seen = HashSet::new();
        for stored in tables.reactions_of(id.0) {
            self.reactions += 1;
            let user = UserId(stored.user);
            let Some(emoji) = tables.emoji.get(stored.emoji as usize) else { continue };
            if self.directory.user(user).is_none() {
                self.report.leave_out(REACTION, "of a user who is not in the export", 1);
            } else if !seen.insert((user, &emoji.kind, &emoji.code)) {
                self.report.leave_out(REACTION, "the same twice", 1);
            } else {
                let reaction = Reaction {
                    emoji_name: emoji.name.clone(),
                    emoji_code: emoji.code.clone(),
                    reaction_type: emoji.kind.clone(),
                    user,
                };
                draft.bytes += emoji.name.len() + emoji.code.len() + 60;
                draft.later.push(Fact::Message(MessageFact::ReactionAdded { message: id, spot, reaction }));
                self.report.carry(REACTION, 1);
            }
        }
        let mut parts: Vec<&SubmessageRow> = entry.submessages.iter().collect();
        parts.sort_by_key(|part| part.id);
        let has_widget = widget_content(&entry.row.content).is_some();
        for (number, part) in (1..).zip(parts) {
            let sender = UserId(part.sender);
            if self.directory.user(sender).is_none() {
                self.report.leave_out(PART, "of a user who is not in the export", 1);
                continue;
            }
            self.report.carry(PART, 1);
            // The first one follows from the text.
            if number == 1 && has_widget {
                continue;
            }
            self.parts_max = self.parts_max.max(number);
            let (msg_type, content) = (part.msg_type.clone(), part.content.clone());
            draft.bytes += content.len() + 60;
            let submessage = Submessage { id: number, msg_type, content, sender };
            draft.later.push(Fact::Message(MessageFact::SubmessageAdded { message: id, spot, submessage }));
        }
    }
}

/// What the rows of users say about a message.
#[derive(Default)]
struct MessageFlags {
    is_read_by_sender: bool,
    has_channel_wildcard: bool,
    /// Flags that follow from the content, sorted by user.
    content: Vec<(UserId, Flags)>,
    /// Who received a message that was moved from another channel, sorted.
    received: Vec<UserId>,
}

fn traits_of(rendered: &Rendered, has_attachment: bool, flags: &MessageFlags) -> MessageTraits {
    MessageTraits {
        is_me: rendered.is_me_message,
        has_link: rendered.has_link,
        has_image: rendered.has_image,
        has_attachment,
        channel_wildcard: flags.has_channel_wildcard,
        read_by_sender: flags.is_read_by_sender,
    }
}
