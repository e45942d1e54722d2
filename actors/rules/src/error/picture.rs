//! Why a picture or custom emoji is refused (docs/api/users.md#avatars, docs/api/emoji.md#custom-emoji).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    #[error("Avatar changes are disabled in this organization.")]
    AvatarChangesDisabled,
    #[error("Must be an organization administrator or emoji author")]
    EmojiNotOwn,
    #[error("Emoji name is missing")]
    EmojiNameMissing,
    #[error(
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores."
    )]
    EmojiNameCharacters,
    #[error("Emoji names must end with either a letter or digit.")]
    EmojiNameEnd,
    #[error("A custom emoji with this name already exists.")]
    EmojiExists,
    #[error("Only administrators can override default emoji.")]
    EmojiOverridesDefault,
    #[error("Too many custom emoji (maximum {limit}).")]
    TooManyEmoji { limit: usize },
    /// No active custom emoji has this name. The edge answers 404.
    #[error("Emoji '{name}' does not exist")]
    EmojiMissing { name: String },
}
