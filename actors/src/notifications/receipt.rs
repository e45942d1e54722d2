//! A message as one of its recipients has it.

use super::candidates::Candidate;
use crate::queries::may_read;
use model::directory::TopicPolicies;
use model::{Message, MessageId, Place, User, UserId};
use rules::notifications::Receipt;
use std::collections::BTreeSet;
use std::sync::Arc;
use storage::View;
use storage::view::Location;

/// What the receipts of a message by all of its recipients have in common.
pub(super) struct Reception<'v> {
    view: &'v View,
    sender: &'v Arc<User>,
    message: &'v Message,
    /// The policies for the topic of a message in a channel.
    policies: Option<&'v TopicPolicies>,
    muters: BTreeSet<UserId>,
}

impl<'v> Reception<'v> {
    /// What is common to the recipients of a message from `sender`.
    pub fn of(view: &'v View, sender: &'v Arc<User>, message: &'v Message) -> Self {
        let directory = &view.directory;
        let policies = match &message.place {
            Place::Direct => None,
            Place::Channel { channel, topic } => directory.topic_policies(*channel, topic),
        };
        let muters = directory.muters_of(sender.id).collect();
        Self { view, sender, message, policies, muters }
    }

    /// The message as a user has it; `None` if the user does not have it.
    pub fn receipt<'r>(&'r self, candidate: Candidate<'r>) -> Option<Receipt<'r>> {
        let Candidate { user, subscription } = candidate;
        let policy = self.policies.and_then(|policies| policies.get(&user.id));
        Some(Receipt {
            user,
            sender: self.sender,
            subscription,
            policy: policy.copied().unwrap_or_default(),
            flags: self.view.notified_flags(user.id, subscription, self.message)?,
            mutes_sender: self.muters.contains(&user.id),
            is_present: false,
        })
    }
}

/// Whether a message is unread by a user who can read it.
pub fn is_still_unread(view: &View, user: UserId, id: MessageId) -> bool {
    is_unread_at(view, user, id, view.place_of(id).as_ref())
}

/// As [`is_still_unread`], for a message whose place is known; `None` if there is no such message.
pub fn is_unread_at(view: &View, user: UserId, id: MessageId, place: Option<&Location>) -> bool {
    let Some(place) = place else { return false };
    let is_read = view.messages.users.get(&user).is_some_and(|mine| mine.read.contains(id.0));
    let Some(user) = view.directory.user(user).filter(|user| user.is_active && !is_read) else {
        return false;
    };
    let is_delivered = match place {
        Location::Topic(channel, _) => view.is_delivered_in(user.id, *channel, id),
        Location::Direct(recipient) => view.is_in_conversation(user.id, *recipient),
    };
    is_delivered && may_read(view, Some(user), place.conversation(), id)
}
