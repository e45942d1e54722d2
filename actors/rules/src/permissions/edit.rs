//! Who may edit and move which messages (endpoints.md 2).
//!
//! `check_edit` takes the steps that need no rendering, in their order. What is left for whoever asks: rendering
//! new content with its mentions (`permissions::message`), and the ages of a whole topic (`MovePlan::check_ages`).

mod moves;

pub use model::PropagateMode;
pub use moves::MovePlan;

use crate::content::parse_content;
use crate::error::{EditError, RuleError};
use crate::permissions::message::{Spot, check_may_read};
use crate::settings::{realm_bool, realm_int};
use crate::text;
use crate::topics::{self, EMPTY_TOPIC_DISPLAY_NAME, RESOLVED_PREFIX, TOPIC_LENGTH_MAX, normalize_topic};
use model::{ChannelId, Directory, Message, Place, Realm, Timestamp, User};
use moves::plan_move;
use sha2::{Digest, Sha256};

/// Every time limit on edits and moves is longer by this, for requests that were under way, in seconds.
pub const EDIT_GRACE_SECS: u64 = 20;
/// What a message says whose content was taken away.
pub const DELETED_CONTENT: &str = "(deleted)";

/// The mode with a wire word.
///
/// # Errors
/// `SettingInvalid` for others.
pub fn parse_propagate_mode(word: &str) -> Result<PropagateMode, RuleError> {
    let found = PropagateMode::ALL.into_iter().find(|mode| mode.word() == word);
    found.ok_or_else(|| RuleError::SettingInvalid { name: "propagate_mode".to_owned() })
}

/// What a client asks for, as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditRequest<'r> {
    /// New Markdown source.
    pub content: Option<&'r str>,
    /// New topic.
    pub topic: Option<&'r str>,
    /// New channel.
    pub channel: Option<i64>,
    /// Which messages move.
    pub mode: PropagateMode,
    /// What the client believes the content to be: SHA-256 in hexadecimal digits.
    pub prev_content_sha256: Option<&'r str>,
}

/// What is permitted, ready to be rendered and applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlan {
    /// Markdown source to store, if the content is to change.
    pub content: Option<String>,
    /// Where messages go, if they move.
    pub movement: Option<MovePlan>,
}

/// Decides an edit or move up to what rendering says: endpoints.md 2, steps 1 to 7 and 9 (no request has both
/// content, which step 8 is about, and a channel, which step 9 is about). `received` as in `can_read`.
pub fn check_edit(
    dir: &Directory,
    actor: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
    request: &EditRequest,
    now: Timestamp,
) -> Result<EditPlan, RuleError> {
    check_may_modify(dir, actor, message, received)?;
    if request.content.is_some() {
        check_content_edit(dir.realm(), actor, message, now)?;
    }
    let wanted = Wanted::of(message, request);
    check_payload(message, request, &wanted)?;
    let content = request.content.map(parse_edited_content).transpose()?;
    let movement = plan_move(dir, actor, message, &wanted, now)?;
    Ok(EditPlan { content, movement })
}

/// Whether somebody may touch a message at all: it can be read, and its channel is in use. `InvalidMessage`.
pub fn check_may_modify(
    dir: &Directory,
    actor: &User,
    message: &Message,
    received: impl FnOnce() -> bool,
) -> Result<(), RuleError> {
    check_may_read(dir, actor, Spot::of(message), received)?;
    let channel = message.place.channel().and_then(|id| dir.channel(id));
    match channel {
        Some(channel) if channel.is_archived => Err(RuleError::InvalidMessage),
        _ => Ok(()),
    }
}

/// Whether somebody may change what a message says. Administrators are no exception.
fn check_content_edit(
    realm: &Realm,
    actor: &User,
    message: &Message,
    now: Timestamp,
) -> Result<(), EditError> {
    if !realm_bool(realm, "allow_message_editing") {
        return Err(EditError::Disabled);
    }
    if message.sender != actor.id {
        return Err(EditError::NotPermitted);
    }
    let oldest = oldest_allowed(realm, "message_content_edit_limit_seconds", now);
    if oldest.is_some_and(|oldest| message.sent < oldest) {
        return Err(EditError::ContentTimeOver);
    }
    Ok(())
}

/// The time before which a limit of the organization, grace included, forbids; none without a limit.
fn oldest_allowed(realm: &Realm, limit: &str, now: Timestamp) -> Option<Timestamp> {
    let secs = u64::try_from(realm_int(realm, limit)?).unwrap_or(0);
    Some(Timestamp(now.0.saturating_sub((secs + EDIT_GRACE_SECS).saturating_mul(1000))))
}

/// Where the request differs from where the message is.
struct Wanted {
    /// Normalized and cut.
    topic: Option<String>,
    channel: Option<i64>,
    mode: PropagateMode,
}

impl Wanted {
    /// A topic or channel that is the current one counts as not given.
    fn of(message: &Message, request: &EditRequest) -> Self {
        let topic = request.topic.map(|raw| text::cut(normalize_topic(raw), TOPIC_LENGTH_MAX, "..."));
        let topic = match &message.place {
            Place::Channel { topic: current, .. } => topic.filter(|topic| topic != current),
            Place::Direct => topic,
        };
        let current = message.place.channel().map(|ChannelId(id)| i64::from(id));
        let channel = request.channel.filter(|id| Some(*id) != current);
        Self { topic, channel, mode: request.mode }
    }
}

/// Step 4: what goes together.
fn check_payload(message: &Message, request: &EditRequest, wanted: &Wanted) -> Result<(), RuleError> {
    let moves = wanted.topic.is_some() || wanted.channel.is_some();
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

/// The empty topic with the mark of resolved ones, as clients with and without empty topics would write it.
fn is_empty_topic_resolved(topic: &str) -> bool {
    topic == RESOLVED_PREFIX.trim_end()
        || topic.strip_prefix(RESOLVED_PREFIX) == Some(EMPTY_TOPIC_DISPLAY_NAME)
}

fn is_digest_of(digest: &str, content: &str) -> bool {
    let expected = Sha256::digest(content.as_bytes());
    let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    expected.eq_ignore_ascii_case(digest)
}

/// Step 5: content as sent, where nothing at all means that the message is gone.
fn parse_edited_content(raw: &str) -> Result<String, RuleError> {
    if raw.trim_end_matches(text::is_space).is_empty() {
        return Ok(DELETED_CONTENT.to_owned());
    }
    parse_content(raw)
}

#[cfg(test)]
mod tests;
