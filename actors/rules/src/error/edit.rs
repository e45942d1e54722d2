//! Why a message cannot be edited, moved or deleted (docs/api/messages.md#edit-or-move-messages).

use model::MessageId;

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    // --- content ---
    /// The organization does not let anybody edit.
    #[error("Your organization has turned off message editing")]
    Disabled,
    /// Somebody else's message, or topics that the actor may not change.
    #[error("You don't have permission to edit this message")]
    NotPermitted,
    /// Too old to be edited.
    #[error("The time limit for editing this message has passed")]
    ContentTimeOver,
    /// Polls and lists are changed through their parts.
    #[error("Widgets cannot be edited.")]
    Widget,

    // --- what is asked for ---
    /// Nothing asked for differs from what is.
    #[error("Nothing to change")]
    NothingToChange,
    /// A direct message stays one.
    #[error("Direct messages cannot be moved to channels.")]
    DirectToChannel,
    /// A direct message has no topic.
    #[error("Direct messages cannot have topics.")]
    DirectTopic,
    /// Several messages are only moved, never edited.
    #[error("Invalid propagate_mode without topic edit")]
    PropagateWithoutMove,
    /// The empty topic has no name to put the mark before.
    #[error("General chat cannot be marked as resolved")]
    EmptyTopicResolved,
    /// Edited and moved to another channel at once.
    #[error("Cannot change message content while changing channel")]
    ContentWithChannel,

    // --- moves ---
    /// Not in any `can_resolve_topics_group` that matters.
    #[error("You don't have permission to resolve topics in this channel.")]
    ResolveNotPermitted,
    /// Too old for another topic.
    #[error("The time limit for editing this message's topic has passed.")]
    TopicTimeOver,
    /// Not allowed to move messages to other channels.
    #[error("You don't have permission to move this message")]
    MoveNotPermitted,
    /// Too old for another channel.
    #[error("The time limit for editing this message's channel has passed")]
    ChannelTimeOver,
    /// All of the topic is too old.
    #[error("The time limit for moving this topic has passed.")]
    WholeTopicTimeOver,
    /// A part of the topic is too old. The edge repeats all three.
    #[error("You only have permission to move the {allowed}/{total} most recent messages in this topic.")]
    PartOfTopicTimeOver {
        /// The oldest message that may be moved.
        first_allowed: MessageId,
        /// Messages of the topic that the actor can read.
        total: usize,
        /// How many of them may be moved.
        allowed: usize,
    },

    // --- history and deletion ---
    /// The organization shows no history.
    #[error("Message edit history is disabled in this organization")]
    HistoryDisabled,
    /// Neither allowed to delete any message nor this one.
    #[error("You don't have permission to delete this message")]
    DeleteNotPermitted,
    /// Too old to be deleted by its author.
    #[error("The time limit for deleting this message has passed")]
    DeleteTimeOver,
    /// Somebody was quicker.
    #[error("Message already deleted")]
    AlreadyDeleted,
}
