//! Refusals of saved texts (docs/api/saved-texts.md), and of any personal list that is full.

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The user has no such snippet. The edge answers 404.
    #[error("Saved snippet does not exist.")]
    SnippetMissing,
    /// The user has no such draft. The edge answers 404.
    #[error("Draft does not exist")]
    DraftMissing,
    /// The user has disabled storing drafts on the server.
    #[error("User has disabled synchronizing drafts.")]
    DraftsNotSynchronized,
    /// A time before 1970.
    #[error("Timestamp must not be negative.")]
    TimestampNegative,
    /// A draft to no channel, or to several.
    #[error("Must specify exactly 1 channel ID for channel messages")]
    NotOneChannel,
    /// NUL in the topic of a draft.
    #[error("Topic must not contain null bytes")]
    TopicNul,
    /// The user has no such scheduled message. The edge answers 404.
    #[error("Scheduled message does not exist")]
    ScheduledMissing,
    /// The user has no such reminder. The edge answers 404.
    #[error("Reminder does not exist")]
    ReminderMissing,
    /// It is being sent at this moment.
    #[error("Scheduled message was already sent")]
    ScheduledSent,
    /// A time in the past.
    #[error("Scheduled delivery time must be in the future.")]
    NotInFuture,
    /// The server did not run at the time.
    #[error("Message could not be sent at the scheduled time.")]
    TooLate,
    /// The note of a reminder.
    #[error("Maximum reminder note length: {limit} characters")]
    NoteTooLong {
        /// In code points.
        limit: usize,
    },
    /// More texts than one account may store.
    #[error("Too many {what} (maximum {limit}).")]
    TooMany {
        /// `saved snippets`, `drafts`, `scheduled messages` or `navigation views`.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// More bytes than one account may store.
    #[error("Too much text in {what} (maximum {limit} bytes).")]
    TooLarge {
        /// `saved snippets`, `drafts`, `scheduled messages` or `navigation views`.
        what: &'static str,
        /// Bytes of all of them together.
        limit: usize,
    },
}

impl TextError {
    /// Whether the text that is asked for does not exist.
    pub fn is_missing(&self) -> bool {
        match self {
            Self::SnippetMissing | Self::DraftMissing | Self::ScheduledMissing | Self::ReminderMissing => {
                true
            }
            Self::DraftsNotSynchronized
            | Self::TimestampNegative
            | Self::NotOneChannel
            | Self::TopicNul
            | Self::ScheduledSent
            | Self::NotInFuture
            | Self::TooLate
            | Self::NoteTooLong { .. }
            | Self::TooMany { .. }
            | Self::TooLarge { .. } => false,
        }
    }
}
