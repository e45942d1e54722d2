//! `GET /messages/{message_id}/history`: all states of a message, oldest first
//! (docs/api/messages.md#fetch-the-edit-history).

use super::page::run;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply};
use model::{ChannelId, Message, MessageId, UserId};
use rules::RuleError;
use rules::history::{HistoryPolicy, Snapshot, snapshots};
use rules::topics::shown_topic;
use serde::Serialize;

/// Whether the client knows the empty topic.
pub struct FetchHistory(bool);

impl FromFields for FetchHistory {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.bool_or("allow_empty_topic_name", false)?))
    }
}

#[derive(Serialize)]
struct History<'m> {
    message_history: Vec<State<'m>>,
    /// The history is too long for one response: its oldest states are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    history_limited: bool,
}

/// A state, with the previous values that differ.
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

/// Returns the history, as far as the organization shows it. Comparing texts is slow, so it runs off the HTTP threads.
pub async fn history(
    caller: Caller,
    Path(id): Path<MessageId>,
    Params(FetchHistory(allow_empty_topic)): Params<FetchHistory>,
) -> HandlerResult {
    let Caller { realm, user } = caller;
    let policy = HistoryPolicy::of(realm.directory().realm());
    policy.check()?;
    let snapshot = realm.history_snapshot(&user, id).ok_or(RuleError::InvalidMessage)?;
    let answer = run(false, move || {
        let message = snapshot.read(&realm)?;
        Ok(message.map(|message| written(&message, policy, allow_empty_topic)))
    });
    answer.await?.ok_or(RuleError::InvalidMessage)?
}

fn written(message: &Message, policy: HistoryPolicy, allow_empty_topic: bool) -> HandlerResult {
    // Direct messages have no topic: the empty one is not replaced by its display name.
    let shown = |topic| shown_topic(topic, allow_empty_topic || message.place.channel().is_none());
    let states = snapshots(message, policy).into_iter().map(|snapshot| State::of(snapshot, shown));
    let history_limited = policy == HistoryPolicy::All && message.is_history_cut();
    reply(&History { message_history: states.collect(), history_limited })
}
