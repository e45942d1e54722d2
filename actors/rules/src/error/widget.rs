//! Why a submessage is refused (docs/api/messages.md#widgets).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WidgetError {
    /// Only its author makes a message a widget.
    #[error("You cannot attach a submessage to this message.")]
    NotAuthor,
    /// Not JSON.
    #[error("Invalid json for submessage")]
    NotJson,
    /// The question of a poll is its author's.
    #[error("You can't edit a question unless you are the author.")]
    QuestionNotOwn,
    /// So is the title of a list.
    #[error("You can't edit the task list title unless you are the author.")]
    TitleNotOwn,
    /// No part of this kind of widget is called so.
    #[error("Unknown type for {widget} data: {kind}")]
    UnknownType {
        /// `poll` or `todo`.
        widget: &'static str,
        /// As given.
        kind: String,
    },
    /// The data has not the form that its type wants; `detail` says where and how.
    #[error("{detail}")]
    Malformed {
        /// In words.
        detail: String,
    },
    /// More than one message holds.
    #[error("This widget has too many parts (limit: {limit})")]
    TooManyParts {
        /// How many there may be.
        limit: usize,
    },
    /// More than one user may add to one message.
    #[error("You can add at most {limit} parts to a widget")]
    TooManyOwnParts {
        /// How many there may be.
        limit: usize,
    },
    /// The parts of the message are larger than they may be together.
    #[error("The parts of this widget are too large together (limit: {limit} bytes)")]
    PartsTooLarge {
        /// How many bytes there may be.
        limit: usize,
    },
    /// Larger than any vote, question or task.
    #[error("content is too long (limit: {limit} characters)")]
    TooLong {
        /// How many there may be.
        limit: usize,
    },
}
