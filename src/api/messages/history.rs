//! `GET /messages/{message_id}/history`: every state of a message, the oldest first
//! (docs/api/messages.md#fetch-the-edit-history).

use super::page::run;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply};
use model::{ChannelId, Message, MessageId, UserId};
use rules::RuleError;
use rules::history::{HistoryPolicy, Snapshot, snapshots};
use rules::topics::shown_topic;
use serde::Serialize;

/// In which form the history is asked for.
pub struct FetchHistory {
    allow_empty_topic: bool,
}

impl FromFields for FetchHistory {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { allow_empty_topic: fields.bool_or("allow_empty_topic_name", false)? })
    }
}

#[derive(Serialize)]
struct History<'m> {
    message_history: Vec<State<'m>>,
    /// The history is longer than one answer: its oldest states are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    history_limited: bool,
}

/// One state, with what was before it where that differs.
#[derive(Serialize)]
struct State<'m> {
    topic: &'m str,
    content: &'m str,
    rendered_content: &'m str,
    timestamp: u64,
    user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_topic: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_stream: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<ChannelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev_rendered_content: Option<&'m str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_html_diff: Option<String>,
}

impl<'m> State<'m> {
    fn of(snapshot: Snapshot<'m>, shown: impl Fn(&'m str) -> &'m str) -> Self {
        Self {
            topic: shown(snapshot.topic),
            content: snapshot.content,
            rendered_content: snapshot.rendered,
            timestamp: snapshot.at.secs(),
            user_id: snapshot.user,
            prev_topic: snapshot.prev_topic.map(&shown),
            prev_stream: snapshot.channel.map(|(before, _)| before),
            stream: snapshot.channel.map(|(_, after)| after),
            prev_content: snapshot.prev_content,
            prev_rendered_content: snapshot.prev_rendered,
            content_html_diff: snapshot.content_html_diff,
        }
    }
}

/// Gives the history, as far as the organization shows it. Comparing texts takes time, so it is not done where others
/// wait for their requests.
pub async fn history(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(request): Params<FetchHistory>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let policy = HistoryPolicy::of(realm.directory().realm());
    policy.check()?;
    let snapshot = realm.history_snapshot(&user, id).ok_or(RuleError::InvalidMessage)?;
    let answer = run(false, move || {
        let message = snapshot.read(&realm)?;
        Ok(message.map(|message| written(&message, policy, request.allow_empty_topic)))
    });
    answer.await?.ok_or(RuleError::InvalidMessage)?
}

fn written(message: &Message, policy: HistoryPolicy, allow_empty_topic: bool) -> HandlerResult {
    // Direct messages have no topic, and none is shown for them.
    let shown = |topic| shown_topic(topic, allow_empty_topic || message.place.channel().is_none());
    let states = snapshots(message, policy).into_iter().map(|snapshot| State::of(snapshot, shown));
    let history_limited = policy == HistoryPolicy::All && message.is_history_cut();
    reply(&History { message_history: states.collect(), history_limited })
}
