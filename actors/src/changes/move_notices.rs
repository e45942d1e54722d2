//! Notices of the notification bot about a move, in the same frame (docs/api/messages.md#notices-of-moves).

use super::movement::Relocation;
use super::request::EditCommand;
use super::{DecisionContext, Target};
use crate::bot_notices::{draft_notice_with, notification_bot};
use crate::draft::Destination;
use crate::error::DomainError;
use crate::markdown::RealmMarkdown;
use model::fact::{DeletedFrom, MessageRanges};
use model::{
    Channel, ChannelFact, ChannelId, Fact, Flag, Flags, MessageFact, MessageId, Place, TopicKey, TopicLink,
    User, UserId, VisibilityPolicy,
};
use rules::bot_notices::{
    MoveOutcome, is_resolve_undone, moved_away_text, moved_here_text, plan_move_notices,
    reads_resolve_notice, resolve_text, topic_link,
};
use rules::markdown::{ChannelRef, message_url};
use rules::topics::{ResolveChange, check_topics_policy};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a notice is created as read for a user with a policy for the topic.
type HasRead = fn(&User, VisibilityPolicy) -> bool;

/// The topic of a notice.
struct Thread<'a> {
    channel: &'a Arc<Channel>,
    topic: &'a str,
    links: &'a [TopicLink],
}

/// Writes the notices about one move.
struct Writer<'w, 'm> {
    context: &'w mut DecisionContext<'m>,
    user: Arc<User>,
    command: &'w EditCommand,
    relocation: &'w Relocation,
    /// The newest notice in the new topic.
    newest: Option<MessageId>,
    facts: Vec<Fact>,
}

/// The facts of a move's notices: in the new topic about resolving and the origin of the messages, then in the old topic
/// about their destination.
pub(super) fn announce_move(
    context: &mut DecisionContext<'_>,
    command: &EditCommand,
    target: &Target,
    relocation: &Relocation,
) -> Result<Vec<Fact>, DomainError> {
    let user = context.user(command.user)?.clone();
    let plan = &relocation.plan;
    let outcome = MoveOutcome {
        moved: relocation.moved.len() as usize,
        leaves_messages: relocation.leaves_messages,
        joins_messages: relocation.joins_messages,
    };
    let wanted = (command.tells_old, command.tells_new);
    let planned = plan_move_notices(plan, command.request.content.is_some(), wanted, outcome);
    let new_links = if plan.changes_topic() { &command.topic_links } else { &target.message.topic_links };
    let old = Thread { channel: &plan.origin, topic: &plan.old_topic, links: &target.message.topic_links };
    let new = Thread { channel: &plan.destination, topic: &plan.topic, links: new_links };
    let mut writer = Writer { context, user, command, relocation, newest: None, facts: Vec::new() };
    if let Some(change) = planned.resolve {
        writer.resolve(&new, change)?;
    }
    if let Some(part) = planned.new {
        let from = topic_link(old.channel, old.topic);
        let text = moved_here_text(&writer.user, &from, part, &writer.target_url());
        writer.newest = writer.send(&new, text, None)?;
    }
    if let Some(part) = planned.old {
        let to = topic_link(new.channel, new.topic);
        let text = moved_away_text(&writer.user, &to, part);
        writer.send(&old, text, None)?;
    }
    Ok(writer.facts)
}

impl Writer<'_, '_> {
    /// Adds the notice that a topic was resolved, or deletes the recent one that this change undoes.
    fn resolve(&mut self, thread: &Thread<'_>, change: ResolveChange) -> Result<(), DomainError> {
        if let Some(id) = self.undone_notice()? {
            let from = DeletedFrom::Topic { channel: thread.channel.id, topic: thread.topic.to_owned() };
            let messages = MessageRanges::from_sorted([id]);
            self.facts.push(Fact::Message(MessageFact::Deleted { from, messages, by: None }));
            return Ok(());
        }
        let text = resolve_text(&self.user, change);
        self.newest = self.send(thread, text, Some(reads_resolve_notice))?;
        Ok(())
    }

    /// The last message of the topic, if it is a notice that this change reverts.
    fn undone_notice(&self) -> Result<Option<MessageId>, DomainError> {
        let Relocation { moved, in_new_topic, .. } = self.relocation;
        let Some(last) = moved.max().max(in_new_topic.max()).map(MessageId) else { return Ok(None) };
        let (Some(bot), Some(message)) =
            (notification_bot(&self.context.view.directory), self.context.realm.own_record(last)?)
        else {
            return Ok(None);
        };
        Ok(is_resolve_undone(&message, bot.id, self.context.now).then_some(last))
    }

    /// Sends a notice; `None` if the channel's rules do not allow the topic.
    fn send(
        &mut self,
        thread: &Thread<'_>,
        text: String,
        has_read: Option<HasRead>,
    ) -> Result<Option<MessageId>, DomainError> {
        let directory = &self.context.view.directory;
        if check_topics_policy(directory.realm(), thread.channel, thread.topic).is_err() {
            return Ok(None);
        }
        let context = self.context();
        let Some(draft) = draft_notice_with(&context, directory, text) else { return Ok(None) };
        let flags = self.flags(thread.channel.id, has_read);
        let id = self.context.ids.take_message()?;
        let place = Place::Channel { channel: thread.channel.id, topic: thread.topic.to_owned() };
        let destination =
            Destination { recipient: thread.channel.recipient, place, topic_links: thread.links.to_vec() };
        let message = Arc::new(draft.into_message(id, self.context.now, destination, flags));
        self.facts.push(Fact::Message(MessageFact::Sent { message, echo: None }));
        self.wake(thread.channel);
        Ok(Some(id))
    }

    /// A notice is activity like any other message.
    fn wake(&mut self, channel: &Channel) {
        let fact =
            Fact::Channel(ChannelFact::ActivityChanged { channel: channel.id, is_recently_active: true });
        if !channel.is_recently_active && !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }

    /// The Markdown context: names as for the acting user, topics as after the move.
    fn context(&self) -> RealmMarkdown<'_> {
        let Relocation { plan, moved, in_new_topic, .. } = self.relocation;
        let directory = &self.context.view.directory;
        let (old_key, new_key) = (TopicKey::new(&plan.old_topic), TopicKey::new(&plan.topic));
        let left = self.context.view.messages.topic(plan.origin.id, &old_key);
        let left = left.and_then(|topic| (&topic.ids - moved).max()).map(MessageId);
        let newest = moved.max().max(in_new_topic.max()).map(MessageId).max(self.newest);
        RealmMarkdown::of_notice(self.context.realm, directory, &self.user)
            .with_url(&self.command.realm_url)
            .with_newest(plan.origin.id, old_key, left)
            .with_newest(plan.destination.id, new_key, newest)
    }

    /// Users for whom a notice is created as read: the acting user, and others by their settings.
    fn flags(&self, channel: ChannelId, has_read: Option<HasRead>) -> BTreeMap<UserId, Flags> {
        let directory = &self.context.view.directory;
        let mut flags = BTreeMap::new();
        for reader in directory.subscriber_ids(channel).filter_map(|user| directory.user(user)) {
            let wants_it_read =
                |has_read: HasRead| has_read(reader, self.relocation.policy_after(directory, reader.id));
            if reader.id == self.user.id || has_read.is_some_and(wants_it_read) {
                flags.insert(reader.id, Flags::only(Flag::Read));
            }
        }
        flags
    }

    /// The absolute URL of the message that the request was about.
    fn target_url(&self) -> String {
        let plan = &self.relocation.plan;
        let channel = ChannelRef { id: plan.destination.id.0.into(), name: plan.destination.name.clone() };
        let path = message_url(&channel, &plan.topic, self.relocation.target.0.into());
        format!("{}{path}", self.command.realm_url)
    }
}
