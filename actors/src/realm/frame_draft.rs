//! The facts of one frame as they are decided, with messages of system bots among them: a message about a change is
//! durable with the change, or neither is.

use super::serialized::DecisionContext;
use crate::announce::record_user_visibility;
use crate::bot_notices::{draft_notice, draft_notice_with};
use crate::channel::{SendContext, load_state};
use crate::direct::{DirectContext, message_facts};
use crate::draft::{ChannelDraft, DirectDraft, Draft};
use crate::error::DomainError;
use crate::markdown::RealmMarkdown;
use model::fact::DirectoryChange as Change;
use model::{ChannelId, Directory, Fact, MessageId, User, UserId};
use rules::settings::realm_int;
use std::sync::Arc;

/// Facts, and the directory as they leave it.
pub(super) struct FrameDraft<'c, 'r> {
    pub context: &'c mut DecisionContext<'r>,
    /// Follows new users, channels, subscriptions and conversations.
    pub directory: Directory,
    pub facts: Vec<Fact>,
}

impl<'c, 'r> FrameDraft<'c, 'r> {
    /// An empty frame, decided from the current directory.
    pub fn new(context: &'c mut DecisionContext<'r>) -> Self {
        let directory = context.directory.clone();
        Self { context, directory, facts: Vec::new() }
    }

    /// Adds a fact and applies it to the directory.
    pub fn push(&mut self, fact: Fact) {
        if let Some(change) = fact.directory_change() {
            apply(&mut self.directory, change);
        }
        self.facts.push(fact);
    }

    /// Adds facts, and applies them to the directory of the draft.
    pub fn extend(&mut self, facts: impl IntoIterator<Item = Fact>) {
        facts.into_iter().for_each(|fact| self.push(fact));
    }

    /// Adds the fact about visibility of users, so that its events come before those of the messages that follow.
    pub fn record_user_visibility(&mut self) {
        self.facts.extend(record_user_visibility(&self.context.directory, &self.facts));
    }

    /// A message of the notification bot, rendered with the permissions of `author`. None if it cannot be rendered.
    pub fn notice(&self, author: &User, text: String) -> Option<Draft> {
        draft_notice(self.context.realm, &self.directory, author, text)
    }

    /// A text of the organization itself in a message of the welcome bot, with all its formulas.
    pub fn own_text(&self, bot: &User, text: String) -> Option<Draft> {
        let markdown = RealmMarkdown::of_message(self.context.realm, &self.directory, bot);
        draft_notice_with(&markdown, &self.directory, text)
    }

    /// The channel in a setting of the organization, unless it is archived.
    pub fn channel_of_setting(&self, setting: &str) -> Option<ChannelId> {
        let id = realm_int(self.directory.realm(), setting).and_then(|id| u32::try_from(id).ok())?;
        let channel = self.directory.channel(ChannelId(id)).filter(|channel| !channel.is_archived)?;
        Some(channel.id)
    }

    /// Adds a direct message. One that is refused is left out with a warning: the change it is about happens anyway.
    pub fn send_direct(&mut self, draft: Draft, to: UserId) {
        let mut users = vec![draft.sender.id, to];
        users.sort_unstable();
        let known = self.directory.direct_by_users(&users).map(|direct| direct.recipient);
        let recipient = known.or_else(|| (self.context.uncommitted_direct)(&users));
        let (realm, now) = (self.context.realm, self.context.now);
        let context = DirectContext { realm, directory: &self.directory, now, recipient };
        let mut ids = self.context.ids;
        match message_facts(&context, DirectDraft { draft, users }, &mut ids) {
            Ok((_, facts)) => {
                self.context.ids = ids;
                self.extend(facts);
            }
            Err(error) => tracing::warn!(%error, "a direct message of a system bot could not be sent"),
        }
    }

    /// Adds a message to a channel and returns its id; none, with a warning, when it is refused.
    pub fn send_to_channel(&mut self, draft: Draft, channel: ChannelId, topic: &str) -> Option<MessageId> {
        let mut ids = self.context.ids;
        match self.channel_message(draft, channel, topic, &mut ids) {
            Ok((id, facts)) => {
                self.context.ids = ids;
                self.extend(facts);
                Some(id)
            }
            Err(error) => {
                tracing::warn!(%error, "a message of a system bot to a channel could not be sent");
                None
            }
        }
    }

    fn channel_message(
        &self,
        draft: Draft,
        channel: ChannelId,
        topic: &str,
        ids: &mut crate::shard::Sequencer,
    ) -> Result<(MessageId, Vec<Fact>), DomainError> {
        let missing = || rules::RuleError::ChannelIdDoesNotExist { id: channel.0.into() };
        let view = self.context.realm.view.read();
        let state = load_state(&view, &self.directory, channel).ok_or_else(missing)?;
        let (id, now, durable) = (ids.take_message()?, self.context.now, view.progress.sequence);
        let context = SendContext { directory: &self.directory, participants: &[], id, now, durable };
        let draft = ChannelDraft {
            draft,
            channel,
            topic: topic.to_owned(),
            topic_links: Vec::new(),
            owner_notice: None,
        };
        Ok((id, state.send(draft, None, &context)?.facts))
    }
}

/// The requester's current record: roles may have changed since the request arrived.
///
/// # Errors
/// `InvalidApiKey` when the account does not exist.
pub(super) fn requester(directory: &Directory, user: UserId) -> Result<Arc<User>, DomainError> {
    directory.user(user).cloned().ok_or(DomainError::InvalidApiKey)
}

/// Applies what later facts of the frame depend on: new users, channels, subscriptions and conversations, and default channels.
fn apply(directory: &mut Directory, change: Change<'_>) {
    match change {
        Change::User { user, is_new: true } => directory.put_user(user.clone()),
        Change::Members { group, added, removed } => directory.change_members(group, added, removed),
        Change::Channel { channel, is_new: true } => directory.put_channel(channel.clone()),
        Change::Subscribed { channel, subscribers } => {
            for (user, subscription) in subscribers {
                directory.put_subscription(channel, *user, subscription.clone());
            }
        }
        Change::Direct(direct) => directory.put_direct(direct.clone()),
        Change::DefaultChannels(channels) => directory.put_default_channels(channels),
        Change::User { is_new: false, .. }
        | Change::Channel { is_new: false, .. }
        | Change::Realm(_)
        | Change::Account { .. }
        | Change::Group { .. }
        | Change::Activity { .. }
        | Change::Folder(_)
        | Change::Unsubscribed { .. }
        | Change::Subscription { .. }
        | Change::Picture(_) => {}
    }
}
