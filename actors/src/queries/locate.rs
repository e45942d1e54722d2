//! The place of a message, and whether a user may read it. Uses only the index: no body is loaded.

use model::{MessageId, User, UserId};
use roaring::RoaringBitmap;
use rules::narrow::Conversation;
use rules::permissions::message::{ConversationId, can_read, is_publicly_readable};
use storage::View;
use storage::view::Location;

/// Whether a user (none: without an account) may read the message that is or was in `conversation_id`.
pub fn may_read(view: &View, asker: Option<&User>, conversation_id: ConversationId, id: MessageId) -> bool {
    match asker {
        Some(asker) => {
            can_read(&view.directory, asker, conversation_id, || view.has_at(asker.id, conversation_id, id))
        }
        None => is_publicly_readable(&view.directory, conversation_id),
    }
}

/// The conversation of a message, if it exists and may be read.
pub fn locate(view: &View, asker: Option<&User>, id: MessageId) -> Option<Conversation> {
    let conversation = find(view, id)?;
    let conversation_id = match &conversation {
        Conversation::Topic(channel, _) => ConversationId::Channel(*channel),
        Conversation::Direct(recipient) => ConversationId::Direct(*recipient),
    };
    may_read(view, asker, conversation_id, id).then_some(conversation)
}

/// Those of some users who may read a message. It is located once.
pub fn who_may_read(view: &View, mut users: Vec<UserId>, id: MessageId) -> Vec<UserId> {
    let Some(place) = view.place_of(id) else { return Vec::new() };
    let conversation = place.conversation();
    users.retain(|user| {
        view.directory.user(*user).is_some_and(|user| may_read(view, Some(user), conversation, id))
    });
    users
}

/// Those of some ids that a user may read; ascending, each once.
pub fn readable_among(view: &View, asker: &User, ids: &[MessageId]) -> Vec<MessageId> {
    let wanted: RoaringBitmap = ids.iter().map(|id| id.0).collect();
    let mut found = RoaringBitmap::new();
    for (channel, messages) in &view.messages.channels {
        let readable =
            |id: &u32| may_read(view, Some(asker), ConversationId::Channel(*channel), MessageId(*id));
        found.extend((&messages.ids & &wanted).iter().filter(readable));
    }
    for (_, messages) in view.conversations_of(asker.id) {
        if !messages.is_disjoint(&wanted) {
            found |= messages & &wanted;
        }
    }
    found.iter().map(MessageId).collect()
}

fn find(view: &View, id: MessageId) -> Option<Conversation> {
    Some(match view.place_of(id)? {
        Location::Topic(channel, topic) => Conversation::Topic(channel, topic),
        Location::Direct(recipient) => Conversation::Direct(recipient),
    })
}
