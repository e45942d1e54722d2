//! `max_message_id` of a user.

use model::{MessageId, UserId};
use storage::View;

/// The newest message that was delivered to a user. Messages of other channels do not count, so the number reveals nothing
/// about them.
pub fn newest_received(view: &View, user: UserId) -> Option<MessageId> {
    let directs = view.directory.directs_of(user);
    let directs = directs.filter_map(|direct| view.messages.directs.get(&direct.recipient)?.max());
    let mut newest = directs.max().map(MessageId);
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
