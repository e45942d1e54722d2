//! `POST /user_topics`: mutes, unmutes or follows a topic, or leaves it to the channel (endpoints.md 9).

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, reply_ok};
use model::{ChannelId, Directory, User, VisibilityPolicy};
use rules::RuleError;
use rules::permissions::channel::{Archived, ChannelRef, access_channel_content};
use rules::topics::check_topic_length;
use rules::visibility::parse_policy;

/// The parameters.
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

/// Sets the caller's policy. It needs neither a subscription nor a message in the topic.
pub async fn set_policy(caller: Caller, Params(params): Params<TopicPolicy>) -> Answer {
    let TopicPolicy { channel, topic, policy } = params;
    let wanted = ChannelRef::Id(channel.into());
    let channel = access_channel_for_policy(&caller.realm.directory(), &caller.user, wanted, policy)?;
    let channel = channel.ok_or(RuleError::InvalidChannelId)?;
    caller.realm.set_topic_policy(caller.user.id, channel, topic, policy).await?;
    reply_ok()
}

/// Finds the channel of a topic: one that the user can read in. A policy can also be taken away where that is no
/// longer so; none then when there is no such channel at all.
///
/// # Errors
/// `InvalidChannelId` or `InvalidChannelName`.
pub fn access_channel_for_policy(
    directory: &Directory,
    user: &User,
    wanted: ChannelRef<'_>,
    policy: VisibilityPolicy,
) -> Result<Option<ChannelId>, RuleError> {
    if policy != VisibilityPolicy::Inherit {
        let found = access_channel_content(directory, user, wanted, Archived::Refused)?;
        return Ok(Some(found.channel().id));
    }
    let found = match wanted {
        ChannelRef::Id(id) => u32::try_from(id).ok().and_then(|id| directory.channel(ChannelId(id))),
        ChannelRef::Name(name) => directory.channel_by_name(rules::text::strip(name)),
    };
    Ok(found.map(|channel| channel.id))
}
