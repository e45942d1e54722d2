//! `PATCH /users/me/subscriptions/muted_topics`: mutes or unmutes a topic; the older form of `POST /user_topics`
//! (docs/api/topics.md#mute-topics).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use model::VisibilityPolicy;
use rules::RuleError;
use rules::permissions::channel::{ChannelRef, access_channel_for_policy};
use rules::topics::check_topic_length;

/// A topic, and the policy to set.
pub struct MutedTopic {
    channel: Option<u32>,
    channel_name: Option<String>,
    topic: String,
    policy: VisibilityPolicy,
}

impl FromFields for MutedTopic {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            channel: fields.optional_id("stream_id")?,
            channel_name: fields.optional("stream"),
            topic: check_topic_length(fields.required_str("topic")?)?.to_owned(),
            policy: match fields.one_of("op", &["add", "remove"])? {
                "add" => VisibilityPolicy::Muted,
                _ => VisibilityPolicy::Inherit,
            },
        })
    }
}

/// Mutes or unmutes a topic; no effect if it is so already.
pub async fn change_muted(caller: Caller, Params(params): Params<MutedTopic>) -> HandlerResult {
    let wanted = match (params.channel, &params.channel_name) {
        (Some(id), None) => ChannelRef::Id(id.into()),
        (None, Some(name)) => ChannelRef::Name(name),
        (None, None) => return Err(ApiError::bad_request("Missing 'stream_id' argument")),
        (Some(_), Some(_)) => return Err(ApiError::unsupported_combination(&["stream_id", "stream"])),
    };
    let directory = caller.realm.directory();
    let channel = access_channel_for_policy(&directory, &caller.user, wanted, params.policy)?;
    let channel = channel.ok_or(RuleError::TopicNotMuted)?;
    caller.realm.set_topic_policy(caller.user.id, channel, params.topic, params.policy).await?;
    reply_ok()
}
