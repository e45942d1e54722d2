//! The facts of one frame as they are decided, with messages of the server's own bots among them: a message about a
//! change is durable with the change, or neither is.

use super::serialized::DecisionContext;
use crate::announce::record_user_visibility;
use crate::bot_notices::draft_notice;
use crate::channel::{SendContext, load_state};
use crate::direct::{DirectContext, message_facts};
use crate::draft::{ChannelDraft, DirectDraft, Draft};
use crate::error::DomainError;
use model::{
    ChannelFact, ChannelId, Directory, Fact, GroupFact, MessageFact, MessageId, Realm, SubscriptionFact,
    User, UserFact, UserId,
};
use std::sync::Arc;

/// Facts, and the directory as they leave it.
pub(super) struct FrameDraft<'c, 'r> {
    pub context: &'c mut DecisionContext<'r>,
    /// Follows new users, channels, subscriptions and conversations.
    pub directory: Directory,
    pub facts: Vec<Fact>,
}

impl<'c, 'r> FrameDraft<'c, 'r> {
    pub fn new(context: &'c mut DecisionContext<'r>) -> Self {
        let directory = context.directory.clone();
        Self { context, directory, facts: Vec::new() }
    }

    /// Adds a fact.
    pub fn push(&mut self, fact: Fact) {
        let directory = &mut self.directory;
        if let Fact::User(UserFact::Created(user)) = &fact {
            directory.put_user(User::clone(user));
        } else if let Fact::Group(GroupFact::MembersChanged { group, added, removed }) = &fact {
            directory.change_members(*group, added, removed);
        } else if let Fact::Channel(ChannelFact::Created(channel)) = &fact {
            directory.put_channel(model::Channel::clone(channel));
        } else if let Fact::Subscription(SubscriptionFact::Added { channel, subscribers, .. }) = &fact {
            for (user, subscription) in subscribers {
                directory.put_subscription(*channel, *user, subscription.clone());
            }
        } else if let Fact::Channel(ChannelFact::DefaultsChanged(channels)) = &fact {
            directory
                .put_realm(Realm { default_channels: channels.clone(), ..Realm::clone(directory.realm()) });
        } else if let Fact::Message(MessageFact::ConversationCreated(direct)) = &fact {
            directory.put_direct(direct.clone());
        }
        self.facts.push(fact);
    }

    /// Adds several facts.
    pub fn extend(&mut self, facts: impl IntoIterator<Item = Fact>) {
        facts.into_iter().for_each(|fact| self.push(fact));
    }

    /// Adds the fact about who sees whom from now on, so that its events come before those of the messages that follow.
    pub fn record_user_visibility(&mut self) {
        self.facts.extend(record_user_visibility(&self.context.directory, &self.facts));
    }

    /// A text as a message of the notification bot; names mean what they mean to `author`. None if it cannot be rendered.
    pub fn notice(&self, author: &User, text: String) -> Option<Draft> {
        draft_notice(self.context.realm, &self.directory, author, text)
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

    /// Adds a message to a channel, likewise. Its id; none when it was refused.
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

/// The requester as they are now: roles may have changed since the request came in.
///
/// # Errors
/// `InvalidApiKey` when the account does not exist.
pub(super) fn requester(directory: &Directory, user: UserId) -> Result<Arc<User>, DomainError> {
    directory.user(user).cloned().ok_or(DomainError::InvalidApiKey)
}
