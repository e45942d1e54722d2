//! The facts of messages, file by file: the messages as they were sent, their changes, reactions and flags.
//!
//! A frame has whole messages with everything that belongs to them, so that an interrupted import continues after the newest
//! message of the journal.

use super::drafting::{Draft, Member, MessageLocation, Scope};
use super::entry::{Entries, Entry};
use super::files::Claims;
use super::history::{History, history_of};
use super::markdown::{ImportMarkdown, Names, Newest};
use super::recipients::{Recipients, Target};
use super::tables::Tables;
use crate::transfer::report::Report;
use model::{AttachmentId, ChannelId, Directory, Fact, MessageFact, MessageId, TopicKey, TopicLink, UserId};
use rules::linkifiers::compile_linkifiers;
use rules::markdown::{Linkifier, Rendered, render, topic_links};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Estimated bytes at which a frame ends; frames have at most 512 KiB compressed.
const FRAME_BYTES: usize = 300 * 1024;
/// Bytes of a message besides its texts.
pub(super) const MESSAGE_BYTES: usize = 200;
const MESSAGE: &str = "zerver_message";
/// The table of users' rows.
pub(super) const ROW: &str = "zerver_usermessage";
/// The table of reactions.
pub(super) const REACTION: &str = "zerver_reaction";
/// The table of parts of widgets.
pub(super) const PART: &str = "zerver_submessage";
/// The HTML of a message that is too large with its own.
const TOO_LARGE: &str = "<p>This message is too long to be shown.</p>";
const NO_MESSAGE: &str = "of a message that is not in the export";

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
    /// Whether the message that is being made has HTML.
    shows_html: bool,
    members: HashMap<ChannelId, Arc<Vec<Member>>>,
    away: HashSet<UserId>,
    newest: Newest,
    linkifiers: Vec<Linkifier>,
    /// Old and new beginning of paths of uploaded files, if they differ.
    uploads: Option<(String, String)>,
    /// Reactions that were found at messages.
    pub(super) reactions: u64,
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
            shows_html: true,
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
            if self.is_large(entry) {
                // In the order of the messages.
                if draft.last > MessageId::ZERO {
                    frames.push(std::mem::take(&mut draft).into_facts());
                }
                frames.extend(self.large_message(entry));
                continue;
            }
            if let Some((id, spotted)) = self.begin(entry, &mut draft) {
                self.compose(id, entry, &spotted, Scope::All, &mut draft);
            }
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

    /// Finds where a message belongs; none if it is not carried over, or durable already.
    pub(super) fn begin(&mut self, entry: &Entry, draft: &mut Draft) -> Option<(MessageId, MessageLocation)> {
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
            return None;
        };
        self.report.carry(MESSAGE, 1);
        if let Target::Channel(channel, _) = &target {
            self.newest.insert((*channel, TopicKey::new(&row.subject)), id);
        }
        if id <= self.done {
            self.count_done(id, entry);
            return None;
        }
        Some((id, self.spot(target, sender, entry, draft)))
    }

    /// Makes the facts of a message.
    pub(super) fn compose(
        &mut self,
        id: MessageId,
        entry: &Entry,
        spotted: &MessageLocation,
        scope: Scope,
        draft: &mut Draft,
    ) {
        let is_channel = |id: ChannelId| self.directory.channel(id).is_some();
        let mut history = history_of(&entry.row, spotted.topic.clone(), is_channel);
        if scope != Scope::All {
            history = History::unchanged(&entry.row, spotted.topic.clone());
            self.report.change("histories of messages that are too large for a frame were left out", 1);
        }
        self.report
            .change("steps of histories beyond the newest 200 of a message were left out", history.left_out);
        self.report.change("histories that cannot be read were left out", u64::from(history.is_broken));
        let flags = self.flags(id, entry, spotted, &history, draft);
        self.shows_html = scope != Scope::TextOnly;
        self.send(id, entry, spotted, history, &flags, draft);
        match scope {
            Scope::All | Scope::WithoutHistory => self.add_rest(id, entry, spotted, draft),
            Scope::TextOnly => self.leave_out_rest(id, entry),
        }
        draft.last = id;
        draft.bytes += MESSAGE_BYTES;
    }

    fn spot(&mut self, target: Target, sender: UserId, entry: &Entry, draft: &mut Draft) -> MessageLocation {
        let people = match target {
            Target::Channel(channel, recipient) => {
                let topic = Some((channel, entry.row.subject.clone()));
                return MessageLocation { recipient, topic, people: Vec::new() };
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
        MessageLocation { recipient, topic: None, people }
    }

    /// The subscribers of a channel.
    pub(super) fn members(&mut self, channel: ChannelId) -> Arc<Vec<Member>> {
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

    /// The HTML of a text of a message.
    pub(super) fn render(&self, text: &str, entry: &Entry, claims: &[AttachmentId]) -> Rendered {
        let writer = self.directory.user(UserId(entry.row.sender)).map(|user| &**user);
        let context = ImportMarkdown {
            names: Names::of(entry.row.rendered_content.as_deref().unwrap_or_default()),
            newest: Some(&self.newest),
            claims,
            url: &self.url,
            now_seconds: entry.row.date_sent as i64,
            ..ImportMarkdown::new(&self.directory, writer, &self.linkifiers)
        };
        if !self.shows_html {
            return Rendered { html: TOO_LARGE.to_owned(), ..Rendered::default() };
        }
        render(text, &context).unwrap_or_default()
    }

    /// The links in a topic name.
    pub(super) fn links(&self, topic: &str) -> Vec<TopicLink> {
        let context = ImportMarkdown::new(&self.directory, None, &self.linkifiers);
        let links = topic_links(topic, &context);
        links.into_iter().map(|link| TopicLink { text: link.text, url: link.url }).collect()
    }

    /// A text with the present links to uploaded files.
    pub(super) fn text(&self, text: String) -> String {
        match &self.uploads {
            Some((old, new)) if text.contains(old.as_str()) => text.replace(old.as_str(), new),
            _ => text,
        }
    }
}
