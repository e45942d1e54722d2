//! `reaction`: a reaction was added to a message or removed from it.

use super::writer::EventWriter;
use model::{MessageId, Reaction, User, UserId};
use rules::permissions::users::UNKNOWN_NAME;
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct ReactionEvent<'e> {
    op: &'static str,
    message_id: MessageId,
    user_id: UserId,
    emoji_name: &'e str,
    emoji_code: &'e str,
    reaction_type: &'e str,
    /// Only events have it, for older clients.
    user: Reactor<'e>,
}

#[derive(Serialize)]
struct Reactor<'e> {
    user_id: UserId,
    email: Cow<'e, str>,
    full_name: &'e str,
}

pub(super) fn changed<'e>(
    writer: &EventWriter<'_>,
    message_id: MessageId,
    reaction: &'e Reaction,
    user: &'e User,
    is_added: bool,
) -> ReactionEvent<'e> {
    let full_name = if writer.hides(user) { UNKNOWN_NAME } else { &user.full_name };
    ReactionEvent {
        op: if is_added { "add" } else { "remove" },
        message_id,
        user_id: reaction.user,
        emoji_name: &reaction.emoji_name,
        emoji_code: &reaction.emoji_code,
        reaction_type: &reaction.reaction_type,
        user: Reactor { user_id: user.id, email: writer.email_of(user), full_name },
    }
}
