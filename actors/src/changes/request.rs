//! Edits of messages: the request and its outcome.

use model::{MessageId, PropagateMode, TopicLink, UserId};
use rules::markdown::Rendered;
use rules::permissions::edit::EditRequest;

/// What a client asks for, as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedEdit {
    /// New Markdown source.
    pub content: Option<String>,
    /// The new topic, as sent; none leaves it unchanged.
    pub topic: Option<String>,
    /// The id of the new channel, as sent; none leaves it unchanged.
    pub channel: Option<i64>,
    /// Which messages move.
    pub mode: PropagateMode,
    /// What the client believes the content to be.
    pub prev_content_sha256: Option<String>,
}

impl RequestedEdit {
    /// For the rules.
    pub fn as_request(&self) -> EditRequest<'_> {
        EditRequest {
            content: self.content.as_deref(),
            topic: self.topic.as_deref(),
            channel: self.channel,
            mode: self.mode,
            prev_content_sha256: self.prev_content_sha256.as_deref(),
        }
    }
}

/// Edit or move, with everything prepared that needs no decision.
#[derive(Clone, Debug)]
pub struct EditCommand {
    /// The acting user.
    pub user: UserId,
    /// The id of the message to edit.
    pub message: MessageId,
    /// What is asked for.
    pub request: RequestedEdit,
    /// The new content, rendered; needed where content is asked for.
    pub rendered: Option<Rendered>,
    /// Links in the new topic.
    pub topic_links: Vec<TopicLink>,
    /// Whether a notice is wanted in the old topic.
    pub tells_old: bool,
    /// Whether a notice is wanted in the new topic.
    pub tells_new: bool,
    /// The organization's own address without a slash at the end, for links in notices.
    pub realm_url: String,
}

/// What an edit did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// How many messages moved.
    pub moved: u64,
}
