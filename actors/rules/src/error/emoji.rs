//! Why a reaction or the emoji of a status is refused (docs/api/reactions.md#emoji-names-and-codes).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmojiError {
    /// No emoji has this name.
    #[error("Emoji '{name}' does not exist")]
    Unknown {
        /// As given.
        name: String,
    },
    /// No emoji of this type has this code.
    #[error("Invalid emoji code.")]
    CodeInvalid,
    /// The emoji has other names.
    #[error("Invalid emoji name.")]
    NameInvalid,
    /// Not one of the three types.
    #[error("Invalid emoji type.")]
    TypeInvalid,
    /// The organization has no such emoji of its own.
    #[error("Invalid custom emoji.")]
    CustomInvalid,
    /// The organization's own emoji has another name.
    #[error("Invalid custom emoji name.")]
    CustomNameInvalid,
    /// The organization no longer uses this emoji of its own.
    #[error("This custom emoji has been deactivated.")]
    CustomDeactivated,
    /// A code or type without the name that goes with it.
    #[error("Client must pass emoji_name if they pass either emoji_code or reaction_type.")]
    NameMissing,
    /// The user reacted with it before.
    #[error("Reaction already exists.")]
    ReactionExists,
    /// The user has added as many reactions to the message as one user may.
    #[error("You can add at most {limit} reactions to a message.")]
    TooManyOfUser {
        /// How many there may be.
        limit: usize,
    },
    /// The message has as many reactions as a message may have.
    #[error("A message can have at most {limit} reactions.")]
    TooManyReactions {
        /// How many there may be.
        limit: usize,
    },
    /// The user did not react with it.
    #[error("Reaction doesn't exist.")]
    ReactionMissing,
    /// Nothing says which reaction is meant.
    #[error("At least one of the following arguments must be present: emoji_name, emoji_code")]
    ReactionUnnamed,
}
