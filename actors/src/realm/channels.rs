//! Channels: creating, changing and archiving them, and default channels (docs/api/channels.md). Permissions and texts
//! of notices are in `rules`.

use super::default_groups::leave_default_groups;
use super::frame_draft::requester;
use super::left_behind::bots_leave_channel;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::bot_notices::draft_notice;
use crate::channel::unread_in;
use crate::draft::{Destination, Draft, add_flag, mention_flags};
use crate::error::DomainError;
use crate::shard::Sequencer;
use crate::shared::{FLAG_RANGES_MAX, SUBSCRIBERS_MAX};
use model::{
    Channel, ChannelFact, ChannelId, Directory, Fact, Flag, MessageFact, MessageId, Place, Timestamp,
    TopicKey, User, UserId,
};
use rules::RuleError;
use rules::bot_notices::{archived_text, channel_change_text, channel_events_topic, sends_channel_events};
use rules::permissions::channel_update::{
    ChannelChange, ChannelUpdate, access_channel_to_archive, access_default_channel, apply_channel_change,
    check_channel_update,
};
use std::sync::Arc;

/// A message of a system bot.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub draft: Draft,
    /// Users for whom it is marked as read, if they receive it.
    pub read_by: Vec<UserId>,
}

/// The message that a notice becomes, in the channel that it is about.
///
/// # Errors
/// `Overloaded` when no message id is left.
pub(super) fn notice_fact(
    directory: &Directory,
    channel: &Channel,
    Notice { draft, read_by }: Notice,
    receives: impl Fn(UserId) -> bool,
    ids: &mut Sequencer,
    now: Timestamp,
) -> Result<Fact, DomainError> {
    let mut flags = mention_flags(&draft.rendered, directory, &receives);
    for reader in read_by.into_iter().filter(|reader| receives(*reader)) {
        add_flag(&mut flags, reader, Flag::Read);
    }
    let topic = channel_events_topic(directory.realm(), channel).to_owned();
    let destination = Destination {
        recipient: channel.recipient,
        place: Place::Channel { channel: channel.id, topic },
        topic_links: Vec::new(),
    };
    let message = draft.into_message(ids.take_message()?, now, destination, flags);
    Ok(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None }))
}

/// The default channels with one added or removed.
pub(super) fn default_channels(directory: &Directory, channel: ChannelId, is_default: bool) -> Fact {
    let mut channels = directory.realm().default_channels.clone();
    channels.retain(|id| *id != channel);
    if is_default {
        channels.push(channel);
    }
    Fact::Channel(ChannelFact::DefaultsChanged(channels))
}

/// Collects the changes of one channel in one frame.
struct Changes<'m, 'r> {
    context: &'m mut DecisionContext<'r>,
    requester: Arc<User>,
    before: Arc<Channel>,
    after: Channel,
    /// The last message before the notices.
    last: MessageId,
    /// Facts about other records.
    others: Vec<Fact>,
    notices: Vec<Fact>,
}

impl<'m, 'r> Changes<'m, 'r> {
    fn new(context: &'m mut DecisionContext<'r>, requester: Arc<User>, before: Arc<Channel>) -> Self {
        let (after, last) = (Channel::clone(&before), context.ids.last_message());
        Self { context, requester, before, after, last, others: Vec::new(), notices: Vec::new() }
    }

    /// Adds a notice to the channel, if the organization has them enabled. It is marked as read for `read_by`.
    fn notify(&mut self, text: String, read_by: Vec<UserId>) -> Result<(), DomainError> {
        let directory = &self.context.directory;
        if !sends_channel_events(directory.realm()) {
            return Ok(());
        }
        let Some(draft) = draft_notice(self.context.realm, directory, &self.requester, text) else {
            return Ok(());
        };
        let notice = Notice { draft, read_by };
        let channel = self.after.id;
        let receives = |user: UserId| directory.is_subscribed(channel, user);
        let ids = &mut self.context.ids;
        self.notices.push(notice_fact(directory, &self.after, notice, receives, ids, self.context.now)?);
        Ok(())
    }

    fn take(&mut self, change: &ChannelChange, description_html: Option<&str>) -> Result<(), DomainError> {
        apply_channel_change(&mut self.after, change);
        match change {
            ChannelChange::Default(is_default) => {
                self.others.push(default_channels(&self.context.directory, self.after.id, *is_default));
            }
            ChannelChange::Description(_) => {
                self.after.rendered_description = description_html.unwrap_or_default().to_owned();
            }
            _ => {}
        }
        // Archived channels accept no messages, not even of system bots.
        let text = channel_change_text(&self.context.directory, &self.requester, &self.before, change);
        match text.filter(|_| !self.after.is_archived) {
            // The notice is unread for the requester, too: it shows others what was changed in their name.
            Some(text) => self.notify(text, Vec::new()),
            None => Ok(()),
        }
    }

    /// Unsubscribes the bots whose owners can no longer read the channel.
    fn bots_leave(&self) -> Vec<Fact> {
        let (was, is) = (&*self.before, &self.after);
        if (was.invite_only, was.is_web_public) == (is.invite_only, is.is_web_public)
            && was.permissions == is.permissions
        {
            return Vec::new();
        }
        let mut then = self.context.directory.clone();
        then.put_channel(is.clone());
        bots_leave_channel(self.context, &then, (is.id, self.last), self.requester.id)
    }

    fn into_facts(self) -> Vec<Fact> {
        let (mut facts, bots_leave) = (Vec::new(), self.bots_leave());
        let leaves_default_groups = self.after.is_archived || self.after.invite_only;
        if self.after != *self.before {
            facts.push(Fact::Channel(ChannelFact::Changed(Box::new(self.after))));
        }
        facts.extend(bots_leave);
        facts.extend(self.others);
        if leaves_default_groups {
            facts.extend(leave_default_groups(&self.context.directory, self.before.id));
        }
        if !self.notices.is_empty() && !self.before.is_recently_active {
            let channel = self.before.id;
            facts.push(Fact::Channel(ChannelFact::ActivityChanged { channel, is_recently_active: true }));
        }
        facts.extend(self.notices);
        facts
    }
}

/// Changes properties of a channel.
pub struct UpdateChannel {
    pub by: UserId,
    pub channel: i64,
    pub update: Box<ChannelUpdate>,
    /// The HTML of its description, if it has one.
    pub description_html: Option<String>,
}

impl SerializedCommand for UpdateChannel {
    /// The refusal of a later change; the changes before it are applied.
    type Outcome = Option<RuleError>;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError> {
        let requester = requester(&context.directory, self.by)?;
        let plan = check_channel_update(&context.directory, &requester, self.channel, &self.update, || {
            has_named_topics(context, self.channel)
        })?;
        let mut changes = Changes::new(context, requester, plan.channel);
        for change in &plan.changes {
            changes.take(change, self.description_html.as_deref())?;
        }
        Ok((plan.refusal, changes.into_facts()))
    }
}

/// Whether some message of a channel is not in the empty topic.
fn has_named_topics(context: &DecisionContext<'_>, channel: i64) -> bool {
    let view = context.realm.view.read();
    let id = u32::try_from(channel).map(ChannelId).unwrap_or_default();
    let messages = view.messages.channels.get(&id);
    let unnamed = TopicKey::new("");
    messages.is_some_and(|messages| {
        messages.topics.iter().any(|(key, topic)| *key != unnamed && !topic.ids.is_empty())
    })
}

/// Archives a channel.
pub struct ArchiveChannel {
    pub by: UserId,
    pub channel: i64,
}

impl SerializedChange for ArchiveChannel {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let requester = requester(&context.directory, self.by)?;
        let by = requester.id;
        let before = access_channel_to_archive(&context.directory, &requester, self.channel)?.clone();
        let mut changes = Changes::new(context, requester, before.clone());
        changes.after.is_archived = true;
        if changes.context.directory.realm().default_channels.contains(&before.id) {
            changes.others.push(default_channels(&changes.context.directory, before.id, false));
        }
        // Archived channels are not shown, so their messages are marked as read: in later frames (`ReadArchived`), after a restart,
        // too.
        let reading = ChannelFact::ReadingPending { channel: before.id, is_pending: true };
        changes.others.push(Fact::Channel(reading));
        let mut readers: Vec<UserId> =
            changes.context.directory.subscriber_ids(before.id).take(SUBSCRIBERS_MAX).collect();
        readers.push(by);
        changes.notify(archived_text(&before.name), readers)?;
        Ok(changes.into_facts())
    }
}

/// Marks messages of an archived channel as read, for as many users as fit into one frame: clients do not show them any
/// more, but a search for the first unread message would find them.
pub struct ReadArchived {
    pub channel: ChannelId,
}

impl SerializedCommand for ReadArchived {
    /// Whether there may be more.
    type Outcome = bool;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let is_archived = context.directory.channel(self.channel).is_some_and(|channel| channel.is_archived);
        let view = context.realm.view.read();
        // Otherwise another one has done it, and what is unread now was marked so since.
        if !view.pending_reads.contains(&self.channel) {
            return Ok((false, Vec::new()));
        }
        let done = ChannelFact::ReadingPending { channel: self.channel, is_pending: false };
        if !is_archived {
            return Ok((false, vec![Fact::Channel(done)]));
        }
        let (mut facts, mut room) = (Vec::new(), FLAG_RANGES_MAX);
        for (user, _) in &context.directory.subscriptions_of(self.channel) {
            let mut messages = unread_in(&view, self.channel, *user);
            if messages.is_empty() {
                continue;
            }
            messages.0.truncate(room);
            room -= messages.0.len();
            facts.push(Fact::Message(MessageFact::read(*user, messages)));
            if room == 0 || facts.len() == SUBSCRIBERS_MAX {
                return Ok((true, facts));
            }
        }
        facts.push(Fact::Channel(done));
        Ok((false, facts))
    }
}

/// Adds a channel to the default channels of new users, or removes it.
pub struct SetDefaultChannel {
    pub by: UserId,
    pub channel: i64,
    pub is_default: bool,
}

impl SerializedChange for SetDefaultChannel {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let requester = requester(directory, self.by)?;
        let id = access_default_channel(directory, &requester, self.channel, self.is_default)?;
        if directory.realm().default_channels.contains(&id) == self.is_default {
            return Ok(Vec::new());
        }
        Ok(vec![default_channels(directory, id, self.is_default)])
    }
}

#[cfg(test)]
mod tests;
