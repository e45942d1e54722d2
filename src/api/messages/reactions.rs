//! `POST` and `DELETE /messages/{message_id}/reactions` (docs/api/reactions.md).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::{NamedEmoji, ReactionChange, commands};
use model::MessageId;

/// An emoji to react with.
pub struct AddReaction(NamedEmoji);

impl FromFields for AddReaction {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = Some(fields.required("emoji_name")?);
        Ok(Self(NamedEmoji { name, ..optional_parts(fields) }))
    }
}

/// A reaction to be taken back.
pub struct RemoveReaction(NamedEmoji);

impl FromFields for RemoveReaction {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let name = fields.optional("emoji_name");
        Ok(Self(NamedEmoji { name, ..optional_parts(fields) }))
    }
}

fn optional_parts(fields: &Fields) -> NamedEmoji {
    let (code, kind) = (fields.optional("emoji_code"), fields.optional("reaction_type"));
    NamedEmoji { name: None, code, kind }
}

/// Reacts to a message.
pub async fn add(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(AddReaction(emoji)): Params<AddReaction>,
) -> HandlerResult {
    caller
        .realm
        .change(commands::ChangeReaction {
            user: caller.user.id,
            message: id,
            change: ReactionChange::Add,
            emoji,
        })
        .await?;
    reply_ok()
}

/// Takes the caller's reaction back.
pub async fn remove(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(RemoveReaction(emoji)): Params<RemoveReaction>,
) -> HandlerResult {
    caller
        .realm
        .change(commands::ChangeReaction {
            user: caller.user.id,
            message: id,
            change: ReactionChange::Remove,
            emoji,
        })
        .await?;
    reply_ok()
}
