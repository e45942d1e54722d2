//! Why a picture or custom emoji is refused (docs/api/users.md#avatars, docs/api/emoji.md#custom-emoji).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// Pictures of people are left to administrators.
    #[error("Avatar changes are disabled in this organization.")]
    AvatarChangesDisabled,
    /// Only one's own emoji can be removed, but by administrators.
    #[error("Must be an organization administrator or emoji author")]
    EmojiNotOwn,
    /// No name, or only white space.
    #[error("Emoji name is missing")]
    EmojiNameMissing,
    /// A character that names cannot have.
    #[error(
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores."
    )]
    EmojiNameCharacters,
    /// A dash or underscore at the end.
    #[error("Emoji names must end with either a letter or digit.")]
    EmojiNameEnd,
    /// The name is taken.
    #[error("A custom emoji with this name already exists.")]
    EmojiExists,
    /// The name is that of a standard emoji.
    #[error("Only administrators can override default emoji.")]
    EmojiOverridesDefault,
    /// More than an organization may have.
    #[error("Too many custom emoji (maximum {limit}).")]
    TooManyEmoji {
        /// How many there may be.
        limit: usize,
    },
    /// No emoji of the organization's own is offered by this name. The edge answers 404.
    #[error("Emoji '{name}' does not exist")]
    EmojiMissing {
        /// As given.
        name: String,
    },
}
