//! Which events a queue gets.

use model::event::TypingConversation;
use model::{
    Directory, Event, EventBody, EventKind, EventKinds, Flags, Message, QueueOptions, TopicKey, UserId,
};
use rules::narrow::{EventNarrow, NarrowedMessage, Shown};

/// Whether a queue also gets messages of public channels that its owner does not subscribe to: all of them, or those that
/// match its narrow (docs/api/events.md#message).
pub(crate) fn receives_all_public_channels(options: &QueueOptions) -> bool {
    options.all_public_channels || !options.narrow.is_empty()
}

/// Whether a queue gets an event of a type that it takes (docs/api/events.md#client-capabilities).
pub(crate) fn accepts(options: &QueueOptions, event: &Event) -> bool {
    if !event.clients.include(&options.capabilities) {
        return false;
    }
    match &event.body {
        EventBody::Typing { conversation: TypingConversation::Channel { .. }, .. } => {
            options.capabilities.stream_typing_notifications
        }
        // Superseded by `user_topic` events: only for clients that did not ask for those by name.
        EventBody::MutedTopics(_) => {
            options.kinds == EventKinds::ALL || !options.kinds.contains(EventKind::UserTopic)
        }
        _ => true,
    }
}

/// Whether an event passes a queue's message filter. Other events always do.
pub(crate) fn wants(
    narrow: &EventNarrow,
    directory: &Directory,
    owner: UserId,
    event: &Event,
    flags: Flags,
) -> bool {
    let EventBody::Message { message, context } = &event.body else { return true };
    let candidate = NarrowedMessage {
        message,
        channel_name: context.channel_name.as_deref(),
        sender_email: &rules::permissions::users::api_email(directory, &context.sender),
        flags,
    };
    narrow.matches(&candidate, || shown(directory, owner, message))
}

fn shown(directory: &Directory, owner: UserId, message: &Message) -> Shown {
    let Some(channel) = message.place.channel() else { return Shown::default() };
    let subscription = directory.subscription(channel, owner);
    Shown {
        policy: directory.topic_policy(owner, channel, &TopicKey::new(message.place.topic())),
        is_channel_muted: subscription.is_some_and(|subscription| subscription.is_muted),
    }
}
