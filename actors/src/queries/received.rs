//! `max_message_id` of a user.

use model::{MessageId, UserId};
use storage::View;

/// The newest message that was delivered to a user. Messages of other channels do not count, so the number reveals nothing
/// about them.
pub fn newest_received(view: &View, user: UserId) -> Option<MessageId> {
    let subscribed = view.directory.subscriptions_of_user(user).map(|(channel, _)| channel);
    let channels = subscribed.chain(view.channels_arrived_for(user)).filter_map(|channel| {
        let newest = view.channel_ids(channel)?.max().map(MessageId)?;
        // The usual case: the user is subscribed and has received messages since.
        if view.is_delivered_in(user, channel, newest) {
            return Some(newest);
        }
        view.delivered_in_channel(user, channel).max().map(MessageId)
    });
    let directs = view.directory.directs_of(user);
    let directs =
        directs.filter_map(|direct| view.messages.directs.get(&direct.recipient)?.max().map(MessageId));
    channels.chain(directs).max()
}
