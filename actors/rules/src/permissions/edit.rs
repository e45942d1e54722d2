//! Who may edit and move which messages (docs/api/messages.md#edit-or-move-messages).
//!
//! `check_edit` does the checks that need no rendering, in order. The caller renders new content, checks its mentions
//! (`permissions::message`) and the ages of a whole topic (`MovePlan::check_ages`).

mod moves;
mod request;

pub use model::PropagateMode;
pub use moves::MovePlan;
pub use request::{EDIT_GRACE_SECS, EditRequest};

use crate::content::parse_content;
use crate::error::{EditError, RuleError};
use crate::permissions::message::{ConversationId, check_may_read};
use crate::settings::realm_bool;
use crate::text;
use crate::topics::{self, EMPTY_TOPIC_DISPLAY_NAME, RESOLVED_PREFIX};
use model::{Directory, Message, Place, Realm, Timestamp, User};
use moves::plan_move;
use request::{Wanted, oldest_allowed};
use sha2::{Digest, Sha256};

/// The content of a message after an edit to empty content.
const DELETED_CONTENT: &str = "(deleted)";

/// Parses an API value: `SettingInvalid`.
pub fn parse_propagate_mode(word: &str) -> Result<PropagateMode, RuleError> {
    let found = PropagateMode::ALL.into_iter().find(|mode| mode.as_str() == word);
    found.ok_or_else(|| RuleError::SettingInvalid { name: "propagate_mode".to_owned() })
}

/// A permitted edit or move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlan {
    /// New Markdown source, not rendered yet.
    pub content: Option<String>,
    pub movement: Option<MovePlan>,
}

/// Decides an edit or move, in the order of docs/api/messages.md#edit-or-move-messages, except for what depends on
/// rendering and on the ages of a whole topic. `received` as in `can_read`.
pub fn check_edit(
    dir: &Directory,
    requester: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
    request: &EditRequest,
    now: Timestamp,
) -> Result<EditPlan, RuleError> {
    check_may_modify(dir, requester, message, received)?;
    if request.content.is_some() {
        check_content_edit(dir.realm(), requester, message, now)?;
    }
    let wanted = Wanted::of(message, request);
    check_payload(message, request, &wanted)?;
    let content = request.content.map(parse_edited_content).transpose()?;
    let movement = plan_move(dir, requester, message, &wanted, now)?;
    Ok(EditPlan { content, movement })
}

/// Whether a user may edit the content of a message now: `InvalidMessage`, `Disabled`, `NotPermitted`, `ContentTimeOver`.
pub fn check_may_edit_content(
    dir: &Directory,
    requester: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
    now: Timestamp,
) -> Result<(), RuleError> {
    check_may_modify(dir, requester, message, received)?;
    Ok(check_content_edit(dir.realm(), requester, message, now)?)
}

/// Whether a user may change a message at all: it is readable, and its channel is not archived. `InvalidMessage`.
pub fn check_may_modify(
    dir: &Directory,
    requester: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
) -> Result<(), RuleError> {
    check_may_read(dir, requester, ConversationId::of(message), received)?;
    let channel = message.place.channel().and_then(|id| dir.channel(id));
    match channel {
        Some(channel) if channel.is_archived => Err(RuleError::InvalidMessage),
        _ => Ok(()),
    }
}

/// Whether a user may change the content of a message; for administrators the same rules apply.
fn check_content_edit(
    realm: &Realm,
    requester: &User,
    message: &Message,
    now: Timestamp,
) -> Result<(), EditError> {
    if !realm_bool(realm, "allow_message_editing") {
        return Err(EditError::Disabled);
    }
    if message.sender != requester.id {
        return Err(EditError::NotPermitted);
    }
    let oldest = oldest_allowed(realm, "message_content_edit_limit_seconds", now);
    if oldest.is_some_and(|oldest| message.sent < oldest) {
        return Err(EditError::ContentTimeOver);
    }
    Ok(())
}

/// Checks which parameters may be combined.
fn check_payload(message: &Message, request: &EditRequest, wanted: &Wanted) -> Result<(), RuleError> {
    // Naming the present channel of the message is permitted and has no effect.
    let moves = wanted.topic.is_some() || request.channel.is_some();
    if request.content.is_none() && !moves {
        return Err(EditError::NothingToChange.into());
    }
    if message.place == Place::Direct {
        if wanted.channel.is_some() {
            return Err(EditError::DirectToChannel.into());
        }
        if wanted.topic.is_some() {
            return Err(EditError::DirectTopic.into());
        }
    }
    if wanted.mode != PropagateMode::One && !moves {
        return Err(EditError::PropagateWithoutMove.into());
    }
    if let (Some(topic), Some(raw)) = (&wanted.topic, request.topic) {
        if is_empty_topic_resolved(topic) {
            return Err(EditError::EmptyTopicResolved.into());
        }
        topics::parse_topic(raw)?;
    }
    if request.content.is_some() {
        if wanted.channel.is_some() {
            return Err(EditError::ContentWithChannel.into());
        }
        if message.submessages.iter().any(|part| part.msg_type == "widget") {
            return Err(EditError::Widget.into());
        }
    }
    match request.prev_content_sha256 {
        Some(digest) if !is_digest_of(digest, &message.content) => {
            Err(RuleError::ExpectationMismatch { field: "prev_content_sha256" })
        }
        _ => Ok(()),
    }
}

/// The resolved empty topic, as clients with and without support of empty topics write it.
fn is_empty_topic_resolved(topic: &str) -> bool {
    topic == RESOLVED_PREFIX.trim_end()
        || topic.strip_prefix(RESOLVED_PREFIX) == Some(EMPTY_TOPIC_DISPLAY_NAME)
}

fn is_digest_of(digest: &str, content: &str) -> bool {
    let expected = Sha256::digest(content.as_bytes());
    let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    expected.eq_ignore_ascii_case(digest)
}

/// Normalizes edited content; empty content becomes [`DELETED_CONTENT`].
fn parse_edited_content(raw: &str) -> Result<String, RuleError> {
    if raw.trim_end_matches(text::is_space).is_empty() {
        return Ok(DELETED_CONTENT.to_owned());
    }
    parse_content(raw)
}

#[cfg(test)]
mod tests;
