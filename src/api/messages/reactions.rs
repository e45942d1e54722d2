//! `POST` and `DELETE /messages/{message_id}/reactions` (companions.md 4).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, Path, reply_ok};
use actors::{NamedEmoji, ReactionChange};
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
) -> Answer {
    caller.realm.change_reaction(caller.user.id, id, ReactionChange::Add, emoji).await?;
    reply_ok()
}

/// Takes the caller's reaction back.
pub async fn remove(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(RemoveReaction(emoji)): Params<RemoveReaction>,
) -> Answer {
    caller.realm.change_reaction(caller.user.id, id, ReactionChange::Remove, emoji).await?;
    reply_ok()
}
