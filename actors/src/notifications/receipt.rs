//! A message as one of its recipients has it.

use crate::queries::locate;
use model::{Message, MessageId, Place, TopicKey, User, UserId, VisibilityPolicy};
use rules::notifications::Receipt;
use std::sync::Arc;
use storage::View;
use storage::view::Location;

/// A message as a user has it; `None` if the user does not have it.
pub(super) fn receipt_of<'v>(
    view: &'v View,
    user: &'v Arc<User>,
    sender: &'v Arc<User>,
    message: &Message,
) -> Option<Receipt<'v>> {
    if !view.is_delivered(user.id, message) {
        return None;
    }
    let directory = &view.directory;
    let (subscription, policy) = match &message.place {
        Place::Direct => (None, VisibilityPolicy::Inherit),
        Place::Channel { channel, topic } => {
            let policy = directory.topic_policy(user.id, *channel, &TopicKey::new(topic));
            (Some(&**directory.subscription(*channel, user.id)?), policy)
        }
    };
    Some(Receipt {
        user,
        sender,
        subscription,
        policy,
        flags: view.flags_for(user.id, message),
        mutes_sender: directory.muted_since(user.id, sender.id).is_some(),
        is_present: false,
    })
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
