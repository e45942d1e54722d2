//! Why a submessage is refused (docs/api/messages.md#widgets).

/// A refusal. The display text is exactly what a client reads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WidgetError {
    /// Only its author turns a message into a widget.
    #[error("You cannot attach a submessage to this message.")]
    NotAuthor,
    #[error("Invalid json for submessage")]
    NotJson,
    #[error("You can't edit a question unless you are the author.")]
    QuestionNotOwn,
    #[error("You can't edit the task list title unless you are the author.")]
    TitleNotOwn,
    /// `widget` is `poll` or `todo`.
    #[error("Unknown type for {widget} data: {kind}")]
    UnknownType { widget: &'static str, kind: String },
    /// The data does not have the form that its type requires.
    #[error("{detail}")]
    Malformed { detail: String },
    #[error("This widget has too many parts (limit: {limit})")]
    TooManyParts { limit: usize },
    #[error("You can add at most {limit} parts to a widget")]
    TooManyOwnParts { limit: usize },
    /// All parts of the message together.
    #[error("The parts of this widget are too large together (limit: {limit} bytes)")]
    PartsTooLarge { limit: usize },
    #[error("content is too long (limit: {limit} characters)")]
    TooLong { limit: usize },
    #[error("widget_content is too long (limit: {limit} characters)")]
    ContentTooLong { limit: usize },
    #[error("Widgets: API programmer sent invalid JSON content")]
    ContentNotJson,
    /// `widget_content` of a new message.
    #[error("Widgets: {detail}")]
    InvalidContent { detail: String },
}
