//! Why a message cannot be edited, moved or deleted (docs/api/messages.md#edit-or-move-messages).

use model::MessageId;

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    // --- content ---
    #[error("Your organization has turned off message editing")]
    Disabled,
    /// The message of another user, or a topic that the requester may not change.
    #[error("You don't have permission to edit this message")]
    NotPermitted,
    #[error("The time limit for editing this message has passed")]
    ContentTimeOver,
    /// Polls and task lists are changed by submessages.
    #[error("Widgets cannot be edited.")]
    Widget,

    // --- parameters ---
    /// Every requested value equals the stored one.
    #[error("Nothing to change")]
    NothingToChange,
    #[error("Direct messages cannot be moved to channels.")]
    DirectToChannel,
    #[error("Direct messages cannot have topics.")]
    DirectTopic,
    /// Several messages can be moved together, but not edited.
    #[error("Invalid propagate_mode without topic edit")]
    PropagateWithoutMove,
    #[error("General chat cannot be marked as resolved")]
    EmptyTopicResolved,
    #[error("Cannot change message content while changing channel")]
    ContentWithChannel,

    // --- moves ---
    /// Not in `can_resolve_topics_group` of the channel or the organization.
    #[error("You don't have permission to resolve topics in this channel.")]
    ResolveNotPermitted,
    #[error("The time limit for editing this message's topic has passed.")]
    TopicTimeOver,
    /// The requester may not move messages to other channels.
    #[error("You don't have permission to move this message")]
    MoveNotPermitted,
    #[error("The time limit for editing this message's channel has passed")]
    ChannelTimeOver,
    #[error("The time limit for moving this topic has passed.")]
    WholeTopicTimeOver,
    /// `first_allowed` is the oldest message that may be moved; `total` counts the messages of the topic that the
    /// requester can read. The edge repeats all three.
    #[error("You only have permission to move the {allowed}/{total} most recent messages in this topic.")]
    PartOfTopicTimeOver { first_allowed: MessageId, total: usize, allowed: usize },

    // --- history and deletion ---
    #[error("Message edit history is disabled in this organization")]
    HistoryDisabled,
    #[error("You don't have permission to delete this message")]
    DeleteNotPermitted,
    #[error("The time limit for deleting this message has passed")]
    DeleteTimeOver,
    #[error("Message already deleted")]
    AlreadyDeleted,
}
