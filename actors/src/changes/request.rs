//! Edits of messages: the request and its outcome.

use model::{ListedAttachment, MessageId, PropagateMode, TopicLink, UserId};
use rules::markdown::Rendered;
use rules::permissions::edit::EditRequest;

/// The parameters of an edit, as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestedEdit {
    /// New Markdown source.
    pub content: Option<String>,
    /// The new topic, as sent; none leaves it unchanged.
    pub topic: Option<String>,
    /// The id of the new channel, as sent; none leaves it unchanged.
    pub channel: Option<i64>,
    pub mode: PropagateMode,
    /// Hash of the content that the client has.
    pub prev_content_sha256: Option<String>,
}

impl RequestedEdit {
    /// The request in the form of the rules.
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

/// Edits or moves a message. Everything that needs no decision is prepared.
#[derive(Clone, Debug)]
pub struct EditCommand {
    pub user: UserId,
    pub message: MessageId,
    pub request: RequestedEdit,
    /// The new content, rendered; required if there is any.
    pub rendered: Option<Rendered>,
    pub topic_links: Vec<TopicLink>,
    pub tells_old: bool,
    pub tells_new: bool,
    /// URL of the organization without a slash at its end, for links in notices.
    pub realm_url: String,
}

/// The outcome of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Number of moved messages.
    pub moved: u64,
    /// Uploaded files that no message names any longer.
    pub detached: Vec<ListedAttachment>,
}
