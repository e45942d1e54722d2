//! Creating channels and subscribing users. The organization's actor decides it, because it alone serializes the names of
//! channels: a request creates the channels that do not exist and subscribes to the others in one decision, together with
//! the messages to the subscribers and the organization.

use super::channels::{Notice, default_channels, notice_fact};
use super::frame_draft::{FrameDraft, requester};
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use crate::markdown::RealmMarkdown;
use crate::shared::SUBSCRIBERS_MAX;
use model::fact::MessageRanges;
use model::{
    Channel, ChannelFact, ChannelId, Directory, Fact, MessageFact, MessageId, Subscription, SubscriptionFact,
    User, UserId,
};
use rules::RuleError;
use rules::bot_notices::{
    NEW_CHANNELS_TOPIC, announced_text, created_text, sends_channel_events, subscribed_text,
};
use rules::colors::ColorUses;
use rules::error::AccountError;
use rules::markdown::render;
use rules::names::check_new_channel_name;
use rules::new_channels::{ChannelOptions, ChannelPlan, check_room};
use rules::subscribing::{
    PermittedSubscriptions, SubscribeRequest, check_subscribe, check_subscription_count,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// With more users than this in a request, none of them receives a message (`max_bulk_new_subscription_messages`).
pub const BULK_NOTICE_RECIPIENTS_MAX: usize = 100;

/// Creating a channel counts as this many subscriptions of a frame.
const CREATION_WEIGHT: usize = 20;

/// Creates one channel, with a description in Markdown. The requester is subscribed only if listed.
pub struct CreateChannel {
    pub by: UserId,
    pub name: String,
    pub description: String,
    pub subscribers: Vec<UserId>,
    pub options: ChannelOptions,
}

/// Subscribes users to channels, and creates those that do not exist.
pub struct AddSubscriptions {
    pub by: UserId,
    pub request: SubscribeRequest,
    /// The users, sorted.
    pub users: Vec<UserId>,
    /// Whether the request names users at all, and others than the requester.
    pub for_others: bool,
    /// Whether users receive a message about channels that another user subscribed them to.
    pub sends_messages: bool,
}

/// The result of subscribing. Names of channels by user.
#[derive(Clone, Debug, Default)]
pub struct Added {
    pub subscribed: BTreeMap<UserId, Vec<String>>,
    pub already_subscribed: BTreeMap<UserId, Vec<String>>,
    /// Channels that the requester has no access to.
    pub unauthorized: Vec<String>,
    /// Whether users received messages; none if not requested.
    pub messages_sent: Option<bool>,
    pub created: Vec<ChannelId>,
}

/// The result of one frame of a request.
pub enum Progress {
    Done(Added),
    /// The rest did not fit into the frame.
    More(Box<PendingSubscriptions>),
}

/// The part of a permitted request that is not decided yet.
pub struct PendingSubscriptions {
    by: UserId,
    steps: VecDeque<Step>,
    announces: bool,
    sends_messages: bool,
    added: Added,
}

/// Users to subscribe to one channel, each with a color; as many as one frame may hold.
struct Step {
    channel: Target,
    users: Vec<(UserId, String)>,
}

enum Target {
    Existing(ChannelId),
    New(Box<NewChannel>),
    /// The channel that the step before created.
    LastCreated,
}

struct NewChannel {
    name: String,
    description: String,
    plan: ChannelPlan,
}

impl SerializedCommand for CreateChannel {
    type Outcome = Progress;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Progress, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let creator = requester(directory, self.by)?;
        let name = check_new_channel_name(directory, &self.name)?.to_owned();
        let plan = self.options.plan(directory, &creator)?;
        check_room(directory, &creator, &plan, 1)?;
        let users = first_subscribers(directory, self.subscribers)?;
        let mut pending = PendingSubscriptions::new(self.by, self.options.announce, false);
        let channel = NewChannel { name, description: self.description, plan };
        pending.add_steps(Target::New(Box::new(channel)), users);
        pending.decide_frame(context)
    }
}

impl SerializedCommand for AddSubscriptions {
    type Outcome = Progress;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Progress, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        check_subscription_count(self.request.wanted.len(), self.users.len())?;
        let permitted = check_subscribe(directory, &by, &self.request, self.for_others)?;
        let PermittedSubscriptions { existing, missing, plan, unauthorized } = permitted;
        let mut colors = Colors { directory, users: &self.users, uses: HashMap::new() };
        let announces = self.request.options.announce;
        let mut pending = PendingSubscriptions::new(self.by, announces, self.sends_messages);
        pending.added.unauthorized = unauthorized;
        for (channel, wanted) in existing {
            pending.add_steps(Target::Existing(channel), colors.next(Some(channel), wanted.color.as_deref()));
        }
        for (name, wanted) in missing {
            let Some(plan) = plan.clone() else { break };
            let description = wanted.description.clone();
            let channel = NewChannel { name: name.to_owned(), description, plan };
            pending.add_steps(Target::New(Box::new(channel)), colors.next(None, wanted.color.as_deref()));
        }
        pending.decide_frame(context)
    }
}

impl PendingSubscriptions {
    fn new(by: UserId, announces: bool, sends_messages: bool) -> Self {
        Self { by, steps: VecDeque::new(), announces, sends_messages, added: Added::default() }
    }

    fn add_steps(&mut self, channel: Target, mut users: Vec<(UserId, String)>) {
        let mut rest = users.split_off(users.len().min(SUBSCRIBERS_MAX));
        let next = match &channel {
            Target::Existing(id) => Some(*id),
            Target::New(_) | Target::LastCreated => None,
        };
        self.steps.push_back(Step { channel, users });
        while !rest.is_empty() {
            let users = rest.drain(..rest.len().min(SUBSCRIBERS_MAX)).collect();
            let channel = next.map_or(Target::LastCreated, Target::Existing);
            self.steps.push_back(Step { channel, users });
        }
    }
}

impl SerializedCommand for PendingSubscriptions {
    type Outcome = Progress;

    /// A later frame of a request: other requests may have used up the room since the one before.
    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(Progress, Vec<Fact>), DomainError> {
        let by = requester(&context.directory, self.by)?;
        let mut plans = self.steps.iter().filter_map(|step| match &step.channel {
            Target::New(new) => Some(&new.plan),
            Target::Existing(_) | Target::LastCreated => None,
        });
        if let Some(plan) = plans.next() {
            check_room(&context.directory, &by, plan, 1 + plans.count())?;
        }
        self.decide_frame(context)
    }
}

impl PendingSubscriptions {
    /// The messages about a request are in the last of its frames; most have one.
    fn decide_frame(
        mut self,
        context: &mut DecisionContext<'_>,
    ) -> Result<(Progress, Vec<Fact>), DomainError> {
        let by = requester(&context.directory, self.by)?;
        let mut frame = FrameDraft::new(context);
        let mut weight = 0;
        while let Some(step) = self.steps.pop_front() {
            let is_new = matches!(step.channel, Target::New(_));
            let needed = step.users.len() + if is_new { CREATION_WEIGHT } else { 0 };
            if weight > 0 && weight + needed > SUBSCRIBERS_MAX {
                self.steps.push_front(step);
                return Ok((Progress::More(Box::new(self)), frame.facts));
            }
            weight += needed;
            match step.channel {
                Target::New(new) => self.create(&mut frame, &by, *new, step.users)?,
                Target::Existing(id) => self.subscribe(&mut frame, id, step.users),
                Target::LastCreated => {
                    let id = self.added.created.last().copied().unwrap_or_default();
                    self.subscribe(&mut frame, id, step.users);
                }
            }
        }
        frame.record_user_visibility();
        if self.announces {
            announce_channels(&mut frame, &by, &self.added.created);
        }
        if self.sends_messages {
            self.added.messages_sent = Some(self.notify_subscribers(&mut frame, &by));
        }
        Ok((Progress::Done(self.added), frame.facts))
    }

    fn subscribe(&mut self, frame: &mut FrameDraft<'_, '_>, id: ChannelId, users: Vec<(UserId, String)>) {
        let Some(name) = frame.directory.channel(id).map(|channel| channel.name.clone()) else { return };
        let last = frame.context.ids.last_message();
        let mut subscribers = Vec::new();
        for (user, color) in users {
            let list = match subscription(&frame.directory, id, user, color, last) {
                Some(new) => {
                    subscribers.push((user, new));
                    &mut self.added.subscribed
                }
                None => &mut self.added.already_subscribed,
            };
            list.entry(user).or_default().push(name.clone());
        }
        if !subscribers.is_empty() {
            frame.push(Fact::Subscription(SubscriptionFact::Added { channel: id, subscribers, by: self.by }));
        }
    }

    fn create(
        &mut self,
        frame: &mut FrameDraft<'_, '_>,
        creator: &Arc<User>,
        new: NewChannel,
        users: Vec<(UserId, String)>,
    ) -> Result<(), DomainError> {
        let NewChannel { name, description, plan } = new;
        if frame.directory.channel_by_name(&name).is_some() {
            return Err(RuleError::ChannelAlreadyExists { name }.into());
        }
        let text = created_text(creator, plan.privacy, &description);
        let html = description_html(frame, creator, &description)?;
        let ids = (frame.context.ids.take_channel()?, frame.context.ids.take_recipient()?);
        let channel = plan.channel(ids, creator, &name, (description, html), frame.context.now);
        let (id, has_readers) = (channel.id, !users.is_empty());
        frame.push(Fact::Channel(ChannelFact::Created(Box::new(channel.clone()))));
        self.added.created.push(id);
        self.subscribe(frame, id, users);
        if plan.is_default {
            let fact = default_channels(&frame.directory, id, true);
            frame.push(fact);
        }
        if has_readers && sends_channel_events(frame.directory.realm()) {
            add_creation_notice(frame, creator, &channel, text)?;
        }
        Ok(())
    }

    /// Notifies users of the channels that another user subscribed them to, except those that the request created. Bots
    /// receive no message. False when there are too many users.
    fn notify_subscribers(&self, frame: &mut FrameDraft<'_, '_>, by: &User) -> bool {
        if self.added.subscribed.len() > BULK_NOTICE_RECIPIENTS_MAX {
            return false;
        }
        let mut drafts = BTreeMap::new();
        let created: HashSet<ChannelId> = self.added.created.iter().copied().collect();
        for (user, names) in &self.added.subscribed {
            let is_notified = |user: &&Arc<User>| user.id != by.id && user.is_active && !user.is_bot();
            if frame.directory.user(*user).filter(is_notified).is_none() {
                continue;
            }
            let channels = names.iter().filter_map(|name| frame.directory.channel_by_name(name));
            let channels: Vec<&Channel> =
                channels.map(|channel| &**channel).filter(|channel| !created.contains(&channel.id)).collect();
            let key: Vec<ChannelId> = channels.iter().map(|channel| channel.id).collect();
            let draft = drafts
                .entry(key)
                .or_insert_with(|| subscribed_text(by, &channels).and_then(|text| frame.notice(by, text)));
            if let Some(draft) = draft.clone() {
                frame.send_direct(draft, *user);
            }
        }
        true
    }
}

/// Colors for the next subscription of each user, besides those that the request already used.
struct Colors<'d> {
    directory: &'d Directory,
    users: &'d [UserId],
    uses: HashMap<UserId, ColorUses>,
}

impl Colors<'_> {
    /// The colors for a channel that exists, or for a new one. Who was ever subscribed to it keeps the color of then, and gets none.
    fn next(&mut self, channel: Option<ChannelId>, wanted: Option<&str>) -> Vec<(UserId, String)> {
        let subscriptions = channel.map(|channel| self.directory.subscriptions_of(channel));
        let mut colors = Vec::with_capacity(self.users.len());
        for user in self.users {
            if subscriptions.as_ref().is_some_and(|subscriptions| subscriptions.contains_key(user)) {
                colors.push((*user, String::new()));
                continue;
            }
            let uses = self.uses.entry(*user).or_insert_with(|| color_uses(self.directory, *user));
            let color = match wanted {
                Some(wanted) => {
                    uses.add(wanted);
                    wanted
                }
                None => uses.take(),
            };
            colors.push((*user, color.to_owned()));
        }
        colors
    }
}

/// Colors of the subscriptions that a user has. Walks them, so it is done once for a request.
fn color_uses(directory: &Directory, user: UserId) -> ColorUses {
    let subscriptions = directory.subscriptions_of_user(user).filter(|(_, own)| own.is_active);
    subscriptions.map(|(_, own)| own.color.as_str()).collect()
}

/// A new subscription, or an ended one continued; none where the user is subscribed. `last` is the newest message.
fn subscription(
    directory: &Directory,
    channel: ChannelId,
    user: UserId,
    color: String,
    last: MessageId,
) -> Option<Subscription> {
    let subscriptions = directory.subscriptions_of(channel);
    match subscriptions.get(&user) {
        Some(known) if known.is_active => None,
        Some(ended) => {
            let mut subscription = Subscription::clone(ended);
            subscription.resubscribe(last);
            Some(subscription)
        }
        None => Some(Subscription::start(color, last)),
    }
}

fn first_subscribers(
    directory: &Directory,
    mut ids: Vec<UserId>,
) -> Result<Vec<(UserId, String)>, RuleError> {
    ids.sort_unstable();
    ids.dedup();
    let mut subscribers = Vec::with_capacity(ids.len());
    for id in ids {
        let user = directory.user(id).filter(|user| !user.is_system_bot());
        let user = user.ok_or(RuleError::InvalidMember { id: id.0.into() })?;
        if !user.is_active {
            return Err(AccountError::Deactivated.into());
        }
        subscribers.push((id, color_uses(directory, id).least_used().to_owned()));
    }
    Ok(subscribers)
}

fn description_html(
    frame: &FrameDraft<'_, '_>,
    creator: &User,
    description: &str,
) -> Result<String, DomainError> {
    let context = RealmMarkdown::of_description(frame.context.realm, &frame.directory, creator);
    let rendered = render(description, &context).map_err(|_| RuleError::Unrenderable)?;
    Ok(rendered.html)
}

/// Adds the first message of a channel, which its creator has read.
fn add_creation_notice(
    frame: &mut FrameDraft<'_, '_>,
    creator: &User,
    channel: &Channel,
    text: String,
) -> Result<(), DomainError> {
    let Some(draft) = frame.notice(creator, text) else { return Ok(()) };
    let notice = Notice { draft, read_by: vec![creator.id] };
    let FrameDraft { context, directory, .. } = frame;
    let receives = |user: UserId| directory.is_subscribed(channel.id, user);
    let fact = notice_fact(directory, channel, notice, receives, &mut context.ids, context.now)?;
    frame.push(fact);
    Ok(())
}

/// Adds the message about new channels, if the organization has a channel for it. It is read for the creator.
fn announce_channels(frame: &mut FrameDraft<'_, '_>, creator: &User, created: &[ChannelId]) {
    let Some(channel) = frame.channel_of_setting("new_stream_announcements_stream_id") else { return };
    let channels = created.iter().filter_map(|id| frame.directory.channel(*id));
    let channels: Vec<&Channel> = channels.map(|channel| &**channel).collect();
    let Some(text) = announced_text(creator, &channels) else { return };
    let Some(draft) = frame.notice(creator, text) else { return };
    let sent = frame.send_to_channel(draft, channel, NEW_CHANNELS_TOPIC);
    if let Some(id) = sent.filter(|_| frame.directory.is_subscribed(channel, creator.id)) {
        frame.push(Fact::Message(MessageFact::read(creator.id, MessageRanges::from_sorted([id]))));
    }
}

#[cfg(test)]
mod tests;
