//! `POST /user_topics`: mutes, unmutes or follows a topic, or resets it (docs/api/topics.md#set-a-visibility-policy).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use model::VisibilityPolicy;
use rules::RuleError;
use rules::permissions::channel::{ChannelRef, access_channel_for_policy};
use rules::topics::check_topic_length;
use rules::visibility::parse_policy;

/// A topic, and the policy to set.
pub struct TopicPolicy {
    channel: u32,
    topic: String,
    policy: VisibilityPolicy,
}

impl FromFields for TopicPolicy {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            channel: fields.required_id("stream_id")?,
            topic: check_topic_length(fields.required_str("topic")?)?.to_owned(),
            policy: parse_policy(fields.required_int("visibility_policy")?)?,
        })
    }
}

/// Sets the caller's policy for a topic. Neither a subscription nor a message in the topic is required.
pub async fn set_policy(caller: Caller, Params(params): Params<TopicPolicy>) -> HandlerResult {
    let TopicPolicy { channel, topic, policy } = params;
    let wanted = ChannelRef::Id(channel.into());
    let channel = access_channel_for_policy(&caller.realm.directory(), &caller.user, wanted, policy)?;
    let channel = channel.ok_or(RuleError::InvalidChannelId)?;
    caller.realm.set_topic_policy(caller.user.id, channel, topic, policy).await?;
    reply_ok()
}
