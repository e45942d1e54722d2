//! Why a reaction or the emoji of a status is refused (docs/api/reactions.md#emoji-names-and-codes).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmojiError {
    #[error("Emoji '{name}' does not exist")]
    Unknown { name: String },
    /// No emoji of this type has this code.
    #[error("Invalid emoji code.")]
    CodeInvalid,
    /// The emoji with this code has other names.
    #[error("Invalid emoji name.")]
    NameInvalid,
    #[error("Invalid emoji type.")]
    TypeInvalid,
    /// The organization has no custom emoji with this id.
    #[error("Invalid custom emoji.")]
    CustomInvalid,
    /// The custom emoji with this id has another name.
    #[error("Invalid custom emoji name.")]
    CustomNameInvalid,
    #[error("This custom emoji has been deactivated.")]
    CustomDeactivated,
    #[error("Client must pass emoji_name if they pass either emoji_code or reaction_type.")]
    NameMissing,
    #[error("Reaction already exists.")]
    ReactionExists,
    #[error("You can add at most {limit} reactions to a message.")]
    TooManyOfUser { limit: usize },
    #[error("A message can have at most {limit} reactions.")]
    TooManyReactions { limit: usize },
    #[error("Reaction doesn't exist.")]
    ReactionMissing,
    #[error("At least one of the following arguments must be present: emoji_name, emoji_code")]
    ReactionUnnamed,
}
