//! `max_message_id` of a user.

use model::{MessageId, UserId};
use storage::View;

/// The newest message that was delivered to a user. Messages of other channels do not count, so the number reveals nothing
/// about them.
pub fn newest_received(view: &View, user: UserId) -> Option<MessageId> {
    let directs = view.conversations_of(user).filter_map(|(_, messages)| messages.max());
    newest_of(view, user, directs.max().map(MessageId))
}

/// As [`newest_received`], with the newest direct message of the user.
pub(super) fn newest_of(view: &View, user: UserId, newest_direct: Option<MessageId>) -> Option<MessageId> {
    let mut newest = newest_direct;
    for channel in view.directory.channels_of_user(user).chain(view.channels_arrived_for(user)) {
        let last = view.channel_ids(channel).and_then(|ids| ids.max()).map(MessageId);
        let Some(last) = last.filter(|last| newest.is_none_or(|newest| newest < *last)) else { continue };
        // The usual case: the user is subscribed and has received messages since.
        if view.is_delivered_in(user, channel, last) {
            newest = Some(last);
        } else {
            newest = newest.max(view.delivered_in_channel(user, channel).max().map(MessageId));
        }
    }
    newest
}
