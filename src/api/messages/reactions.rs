//! `POST` and `DELETE /messages/{message_id}/reactions` (docs/api/reactions.md).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_ok};
use actors::{NamedEmoji, ReactionChange, commands};
use model::MessageId;

/// For removals: every part is optional.
impl FromFields for NamedEmoji {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let (code, kind) = (fields.optional("emoji_code"), fields.optional("reaction_type"));
        Ok(Self { name: fields.optional("emoji_name"), code, kind })
    }
}

/// The emoji of a new reaction, which needs a name.
pub struct NewReaction(NamedEmoji);

impl FromFields for NewReaction {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        fields.required_str("emoji_name")?;
        NamedEmoji::from_fields(fields).map(Self)
    }
}

/// Adds a reaction to a message.
pub async fn add(
    caller: Caller,
    Path(message): Path<MessageId>,
    Params(NewReaction(emoji)): Params<NewReaction>,
) -> HandlerResult {
    change(&caller, message, ReactionChange::Add, emoji).await
}

/// Removes the caller's reaction.
pub async fn remove(
    caller: Caller,
    Path(message): Path<MessageId>,
    Params(emoji): Params<NamedEmoji>,
) -> HandlerResult {
    change(&caller, message, ReactionChange::Remove, emoji).await
}

async fn change(
    caller: &Caller,
    message: MessageId,
    change: ReactionChange,
    emoji: NamedEmoji,
) -> HandlerResult {
    caller.realm.change(commands::ChangeReaction { user: caller.user.id, message, change, emoji }).await?;
    reply_ok()
}
