//! What an edit asks for.

use crate::settings::realm_int;
use crate::text;
use crate::topics::{TOPIC_LENGTH_MAX, normalize_topic};
use model::{ChannelId, Message, Place, PropagateMode, Realm, Timestamp};

/// Every time limit on edits and moves is longer by this, for requests that were under way, in seconds.
pub const EDIT_GRACE_SECS: u64 = 20;

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

/// The time before which a limit of the organization, grace included, forbids; none without a limit.
pub(super) fn oldest_allowed(realm: &Realm, limit: &str, now: Timestamp) -> Option<Timestamp> {
    let secs = u64::try_from(realm_int(realm, limit)?).unwrap_or(0);
    Some(Timestamp(now.0.saturating_sub((secs + EDIT_GRACE_SECS).saturating_mul(1000))))
}

/// Where the request differs from where the message is.
pub(super) struct Wanted {
    /// Normalized and cut.
    pub topic: Option<String>,
    pub channel: Option<i64>,
    pub mode: PropagateMode,
}

impl Wanted {
    /// A topic or channel that is the current one counts as not given.
    pub fn of(message: &Message, request: &EditRequest) -> Self {
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
