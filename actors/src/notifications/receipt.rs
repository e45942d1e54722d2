//! A message as one of its recipients has it.

use crate::queries::locate;
use model::directory::{Subscribers, TopicPolicies};
use model::{Message, MessageId, Place, TopicKey, User, UserId, VisibilityPolicy};
use rules::notifications::Receipt;
use std::sync::Arc;
use storage::View;
use storage::view::Location;

/// What the receipts of a message by all of its recipients have in common.
pub(super) struct Reception<'v> {
    view: &'v View,
    sender: &'v Arc<User>,
    message: &'v Message,
    /// The subscriptions and the policies for the topic of a message in a channel.
    channel: Option<(Subscribers, Option<&'v TopicPolicies>)>,
}

impl<'v> Reception<'v> {
    /// What is common to the recipients of a message from `sender`.
    pub fn of(view: &'v View, sender: &'v Arc<User>, message: &'v Message) -> Self {
        let directory = &view.directory;
        let channel = match &message.place {
            Place::Direct => None,
            Place::Channel { channel, topic } => {
                let policies = directory.topic_policies(*channel, &TopicKey::new(topic));
                Some((directory.subscriptions_of(*channel), policies))
            }
        };
        Self { view, sender, message, channel }
    }

    /// The message as a user has it; `None` if the user does not have it.
    pub fn receipt<'r>(&'r self, user: &'r Arc<User>) -> Option<Receipt<'r>> {
        let (subscription, policy) = match &self.channel {
            None => (None, VisibilityPolicy::Inherit),
            Some((subscribers, policies)) => {
                let policy = policies.and_then(|policies| policies.get(&user.id));
                let policy = policy.copied().unwrap_or_default();
                (Some(&**subscribers.get(&user.id)?), policy)
            }
        };
        Some(Receipt {
            user,
            sender: self.sender,
            subscription,
            policy,
            flags: self.view.notified_flags(user.id, self.message)?,
            mutes_sender: self.view.directory.muted_since(user.id, self.sender.id).is_some(),
            is_present: false,
        })
    }
}

/// Whether a message is unread by a user who can read it.
pub fn is_still_unread(view: &View, user: UserId, id: MessageId) -> bool {
    let is_read = view.messages.users.get(&user).is_some_and(|mine| mine.read.contains(id.0));
    let Some(user) = view.directory.user(user).filter(|user| user.is_active && !is_read) else {
        return false;
    };
    let is_delivered = match view.place_of(id) {
        Some(Location::Topic(channel, _)) => view.is_delivered_in(user.id, channel, id),
        Some(Location::Direct(recipient)) => view.is_in_conversation(user.id, recipient),
        None => false,
    };
    is_delivered && locate(view, Some(user), id).is_some()
}
