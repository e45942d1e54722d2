//! Channels as such: creating, changing, archiving them, and which of them new people are subscribed to
//! (endpoints.md 6 and 7, companions.md 6). Who may is for `rules`, the texts of notices too.

use super::messages::{NewChannel, Notice};
use super::settled::{Moment, SettledCommand};
use super::state::RealmState;
use crate::draft::{Destination, mention_flags};
use crate::error::DomainError;
use crate::handle::{FLAG_RANGES_MAX, RealmHandle, SUBSCRIBERS_MAX};
use crate::notice::draft_notice;
use crate::shard::Sequencer;
use model::{
    Channel, ChannelId, Directory, Fact, Flag, FlagOp, MessageId, MessageRanges, Place, Subscription,
    Timestamp, TopicKey, User, UserId,
};
use rules::RuleError;
use rules::notices::{archived_text, channel_change_text, channel_events_topic, sends_channel_events};
use rules::permissions::channel_update::{
    ChannelChange, ChannelUpdate, access_channel_to_archive, access_default_channel, apply_channel_change,
    check_channel_update,
};
use std::sync::Arc;

impl RealmState {
    /// Decides a new channel with its first subscribers and its first message.
    ///
    /// # Errors
    /// `ChannelExists`; `InvalidFolderId` for a folder that was archived meanwhile.
    pub fn create_channel(
        &self,
        directory: &Directory,
        new: NewChannel,
        ids: &mut Sequencer,
        now: Timestamp,
    ) -> Result<(ChannelId, Vec<Fact>), DomainError> {
        let mut channel = new.channel;
        if self.is_channel_name_taken(directory, &channel.name) {
            return Err(DomainError::ChannelExists(channel.name));
        }
        if channel.folder.is_some_and(|folder| !is_folder_open(directory, folder)) {
            return Err(RuleError::InvalidFolderId.into());
        }
        channel.id = ids.take_channel();
        channel.recipient = ids.take_recipient();
        channel.created = now;
        let (id, last) = (channel.id, ids.last_message());
        let mut facts = vec![Fact::ChannelCreated(Box::new(channel.clone()))];
        let start = |(user, color)| (user, Subscription::start(color, last));
        let subscribers: Vec<(UserId, Subscription)> = new.subscribers.into_iter().map(start).collect();
        let readers: Vec<UserId> = subscribers.iter().map(|(user, _)| *user).collect();
        if !subscribers.is_empty() {
            facts.push(Fact::Subscribed { channel: id, subscribers, by: new.by });
        }
        if new.is_default {
            facts.push(default_channels(directory, id, true));
        }
        if let Some(notice) = new.notice.filter(|_| !readers.is_empty()) {
            let receives = |user: UserId| readers.contains(&user);
            facts.push(notice_fact(directory, &channel, notice, receives, ids, now)?);
        }
        Ok((id, facts))
    }
}

/// The message that a notice becomes, in the channel that it is about.
///
/// # Errors
/// `Overloaded` when no message id is left.
fn notice_fact(
    directory: &Directory,
    channel: &Channel,
    Notice { draft, read_by }: Notice,
    receives: impl Fn(UserId) -> bool,
    ids: &mut Sequencer,
    now: Timestamp,
) -> Result<Fact, DomainError> {
    let mut flags = mention_flags(&draft.rendered, directory, &receives);
    // Who caused a notice has read it.
    if receives(read_by) {
        let entry = flags.entry(read_by).or_default();
        *entry = entry.with(Flag::Read);
    }
    let topic = channel_events_topic(directory.realm(), channel).to_owned();
    let destination = Destination {
        recipient: channel.recipient,
        place: Place::Channel { channel: channel.id, topic },
        topic_links: Vec::new(),
    };
    let message = draft.into_message(ids.take_message()?, now, destination, flags);
    Ok(Fact::MessageSent { message: Arc::new(message), echo: None })
}

/// Whether channels may be put into a folder.
fn is_folder_open(directory: &Directory, folder: model::FolderId) -> bool {
    directory.folder(folder).is_some_and(|folder| !folder.is_archived)
}

/// The channels for new people, with one more or one less.
fn default_channels(directory: &Directory, channel: ChannelId, is_default: bool) -> Fact {
    let mut channels = directory.realm().default_channels.clone();
    channels.retain(|id| *id != channel);
    if is_default {
        channels.push(channel);
    }
    Fact::DefaultChannelsChanged(channels)
}

/// Somebody as they are now: roles may have changed since the request came in.
fn actor(directory: &Directory, user: UserId) -> Result<Arc<User>, DomainError> {
    directory.user(user).cloned().ok_or(DomainError::InvalidApiKey)
}

/// Collects what happens to one channel in one frame.
struct Changes<'m, 'r> {
    moment: &'m mut Moment<'r>,
    actor: Arc<User>,
    before: Arc<Channel>,
    after: Channel,
    /// What is not in the channel's record.
    others: Vec<Fact>,
    notices: Vec<Fact>,
}

impl<'m, 'r> Changes<'m, 'r> {
    fn new(moment: &'m mut Moment<'r>, actor: Arc<User>, before: Arc<Channel>) -> Self {
        let after = Channel::clone(&before);
        Self { moment, actor, before, after, others: Vec::new(), notices: Vec::new() }
    }

    /// Tells the channel, if the organization wants it told.
    fn tell(&mut self, text: String) -> Result<(), DomainError> {
        let directory = &self.moment.directory;
        if !sends_channel_events(directory.realm()) {
            return Ok(());
        }
        let realm = RealmHandle(self.moment.realm.clone());
        let Some(draft) = draft_notice(&realm, directory, &self.actor, text) else { return Ok(()) };
        let notice = Notice { draft, read_by: self.actor.id };
        let channel = self.after.id;
        let receives = |user: UserId| directory.is_subscribed(channel, user);
        let ids = &mut self.moment.ids;
        self.notices.push(notice_fact(directory, &self.after, notice, receives, ids, self.moment.now)?);
        Ok(())
    }

    fn take(&mut self, change: &ChannelChange, description_html: Option<&str>) -> Result<(), DomainError> {
        apply_channel_change(&mut self.after, change);
        match change {
            ChannelChange::Default(is_default) => {
                self.others.push(default_channels(&self.moment.directory, self.after.id, *is_default));
            }
            ChannelChange::Description(_) => {
                self.after.rendered_description = description_html.unwrap_or_default().to_owned();
            }
            _ => {}
        }
        // Nobody writes in an archived channel, the server's own bots included.
        let text = channel_change_text(&self.moment.directory, &self.actor, &self.before, change);
        match text.filter(|_| !self.after.is_archived) {
            Some(text) => self.tell(text),
            None => Ok(()),
        }
    }

    fn into_facts(self) -> Vec<Fact> {
        let mut facts = Vec::new();
        if self.after != *self.before {
            facts.push(Fact::ChannelChanged(Box::new(self.after)));
        }
        facts.extend(self.others);
        if !self.notices.is_empty() && !self.before.is_recently_active {
            let channel = self.before.id;
            facts.push(Fact::ChannelActivityChanged { channel, is_recently_active: true });
        }
        facts.extend(self.notices);
        facts
    }
}

/// Change what a channel is.
pub(crate) struct UpdateChannel {
    /// Who does it.
    pub by: UserId,
    /// The channel, as sent.
    pub channel: i64,
    /// What is asked for.
    pub update: Box<ChannelUpdate>,
    /// The HTML of its description, if it has one.
    pub description_html: Option<String>,
}

impl SettledCommand for UpdateChannel {
    /// What is refused after what was permitted before it has changed.
    type Outcome = Option<RuleError>;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(Self::Outcome, Vec<Fact>), DomainError> {
        let actor = actor(&moment.directory, self.by)?;
        let plan = check_channel_update(
            &moment.directory,
            &actor,
            self.channel,
            &self.update,
            || has_named_topics(moment, self.channel),
            |folder| is_folder_open(&moment.directory, folder),
        )?;
        let mut changes = Changes::new(moment, actor, plan.channel);
        for change in &plan.changes {
            changes.take(change, self.description_html.as_deref())?;
        }
        Ok((plan.refusal, changes.into_facts()))
    }
}

/// Whether some message of a channel is not in the empty topic.
fn has_named_topics(moment: &Moment<'_>, channel: i64) -> bool {
    let view = moment.realm.view.read();
    let id = u32::try_from(channel).map(ChannelId).unwrap_or_default();
    let messages = view.messages.channels.get(&id);
    let unnamed = TopicKey::new("");
    messages.is_some_and(|messages| {
        messages.topics.iter().any(|(key, topic)| *key != unnamed && !topic.ids.is_empty())
    })
}

/// Take a channel out of use.
pub(crate) struct ArchiveChannel {
    /// Who does it.
    pub by: UserId,
    /// The channel, as sent.
    pub channel: i64,
}

impl SettledCommand for ArchiveChannel {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let actor = actor(&moment.directory, self.by)?;
        let found = access_channel_to_archive(&moment.directory, &actor, self.channel)?;
        let before = found.channel().clone();
        let mut changes = Changes::new(moment, actor, before.clone());
        changes.after.is_archived = true;
        if changes.moment.directory.realm().default_channels.contains(&before.id) {
            changes.others.push(default_channels(&changes.moment.directory, before.id, false));
        }
        changes.tell(archived_text(&before.name))?;
        Ok(((), changes.into_facts()))
    }
}

/// Mark as read what is unread in an archived channel, for as many people as one frame holds. Nothing shows it any more,
/// but whoever looks for their first unread message would find it.
pub(crate) struct ReadArchived {
    /// The channel.
    pub channel: ChannelId,
}

impl SettledCommand for ReadArchived {
    /// Whether there may be more.
    type Outcome = bool;

    fn decide(self, moment: &mut Moment<'_>) -> Result<(bool, Vec<Fact>), DomainError> {
        let is_archived = moment.directory.channel(self.channel).is_some_and(|channel| channel.is_archived);
        let view = moment.realm.view.read();
        let Some(ids) = view.channel_ids(self.channel).filter(|_| is_archived) else {
            return Ok((false, Vec::new()));
        };
        let (mut facts, mut room) = (Vec::new(), FLAG_RANGES_MAX);
        for (user, _) in &moment.directory.subscriptions_of(self.channel) {
            let unread = view.unread_of(*user, &view.had_of(*user, self.channel, ids));
            if unread.is_empty() {
                continue;
            }
            let mut messages = MessageRanges::from_sorted(unread.iter().map(MessageId));
            messages.0.truncate(room);
            room -= messages.0.len();
            facts.push(Fact::FlagsChanged { user: *user, flag: Flag::Read, op: FlagOp::Add, messages });
            if room == 0 || facts.len() == SUBSCRIBERS_MAX {
                return Ok((true, facts));
            }
        }
        Ok((false, facts))
    }
}

/// Subscribe new people to a channel from now on, or no longer.
pub(crate) struct SetDefaultChannel {
    /// Who does it.
    pub by: UserId,
    /// The channel, as sent.
    pub channel: i64,
    /// From now on, or no longer.
    pub is_default: bool,
}

impl SettledCommand for SetDefaultChannel {
    type Outcome = ();

    fn decide(self, moment: &mut Moment<'_>) -> Result<((), Vec<Fact>), DomainError> {
        let directory = &moment.directory;
        let actor = actor(directory, self.by)?;
        let id = access_default_channel(directory, &actor, self.channel, self.is_default)?;
        if directory.realm().default_channels.contains(&id) == self.is_default {
            return Ok(((), Vec::new()));
        }
        Ok(((), vec![default_channels(directory, id, self.is_default)]))
    }
}
