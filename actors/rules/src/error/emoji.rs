//! Why a reaction or the emoji of a status is refused (endpoints.md 12, companions.md 4).

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
    /// The user did not react with it.
    #[error("Reaction doesn't exist.")]
    ReactionMissing,
    /// Nothing says which reaction is meant.
    #[error("At least one of the following arguments must be present: emoji_name, emoji_code")]
    ReactionUnnamed,
}
