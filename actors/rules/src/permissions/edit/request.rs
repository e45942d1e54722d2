//! The parameters of an edit or move.

use crate::settings::realm_int;
use crate::text;
use crate::topics::{TOPIC_LENGTH_MAX, normalize_topic};
use model::{ChannelId, Message, Place, PropagateMode, Realm, Timestamp};

/// Grace period of all time limits on edits and moves, for requests in flight, in seconds.
pub const EDIT_GRACE_SECS: u64 = 20;

/// The parameters as sent; content, topic and channel are the new ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EditRequest<'r> {
    pub content: Option<&'r str>,
    pub topic: Option<&'r str>,
    pub channel: Option<i64>,
    pub mode: PropagateMode,
    /// SHA-256 of the content that the client expects, in hexadecimal.
    pub prev_content_sha256: Option<&'r str>,
}

/// Messages sent before this time are too old for a limit of the organization, grace included; none without a limit.
pub(super) fn oldest_allowed(realm: &Realm, limit: &str, now: Timestamp) -> Option<Timestamp> {
    let secs = u64::try_from(realm_int(realm, limit)?).unwrap_or(0);
    Some(Timestamp(now.0.saturating_sub((secs + EDIT_GRACE_SECS).saturating_mul(1000))))
}

/// The requested place, where it differs from the present place of the message.
pub(super) struct Wanted {
    /// Normalized and truncated.
    pub topic: Option<String>,
    pub channel: Option<i64>,
    pub mode: PropagateMode,
}

impl Wanted {
    /// The current topic or channel counts as not given.
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
