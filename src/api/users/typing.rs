//! `POST /typing`: announces that the requester starts or stops typing (docs/api/presence-and-status.md#report-typing).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply_ok};
use model::event::TypingConversation;
use model::{ChannelId, Directory, User, UserId};
use rules::RuleError;
use rules::permissions::channel::{Archived, ChannelRef, access_channel_metadata, check_may_post};
use rules::permissions::direct::{check_authorized, find_recipients_by_id};
use rules::permissions::users::sees_user;
use rules::settings::user_bool;
use rules::topics::parse_topic;

/// Maximum number of subscribers of a channel with typing notifications.
const SUBSCRIBERS_MAX: u32 = 100;

/// The start or end of typing.
pub struct ReportTyping {
    is_start: bool,
    is_channel: bool,
    to: Option<Vec<i64>>,
    channel: Option<u32>,
    topic: Option<String>,
}

impl FromFields for ReportTyping {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let kind = fields.optional_one_of("type", &["direct", "stream", "channel"])?.unwrap_or("direct");
        Ok(Self {
            is_start: fields.one_of("op", &["start", "stop"])? == "start",
            is_channel: kind != "direct",
            to: fields.optional_ints("to")?,
            channel: fields.optional_id("stream_id")?,
            topic: fields.optional("topic"),
        })
    }
}

/// Place and recipients of a typing notification.
struct TypingRecipients {
    conversation: TypingConversation,
    readers: Vec<UserId>,
}

/// Notifies users who want typing notifications, the caller's own clients included.
pub async fn report(caller: Caller, Params(request): Params<ReportTyping>) -> HandlerResult {
    let Caller { realm, user } = caller;
    let directory = realm.directory();
    let recipients = if request.is_channel {
        in_channel(&directory, &user, request.channel, request.topic)?
    } else {
        in_conversation(&directory, &user, request.to)?
    };
    if !recipients.readers.is_empty() {
        realm.typing(user, request.is_start, recipients.conversation, recipients.readers).await?;
    }
    reply_ok()
}

fn in_channel(
    directory: &Directory,
    sender: &User,
    channel: Option<u32>,
    topic: Option<String>,
) -> Result<TypingRecipients, ApiError> {
    let channel = channel.ok_or_else(|| ApiError::bad_request("Missing 'stream_id' argument"))?;
    let topic = topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?;
    if !user_bool(sender, "send_stream_typing_notifications") {
        let text = "User has disabled typing notifications for channel messages";
        return Err(ApiError::bad_request(text));
    }
    let wanted = ChannelRef::Id(channel.into());
    let channel = access_channel_metadata(directory, sender, wanted, Archived::Refused)?;
    check_may_post(directory, sender, channel)?;
    let conversation = TypingConversation::Channel { channel: channel.id, topic: parse_topic(&topic)? };
    Ok(TypingRecipients { conversation, readers: typing_recipients(directory, channel.id) })
}

/// Subscribers of a channel who want to know of typing; none in large channels.
pub fn typing_recipients(directory: &Directory, channel: ChannelId) -> Vec<UserId> {
    if directory.subscriber_count(channel) > SUBSCRIBERS_MAX {
        return Vec::new();
    }
    let users = directory.subscriber_ids(channel).filter_map(|id| directory.user(id));
    users.filter(|user| receives_typing(user)).map(|user| user.id).collect()
}

fn in_conversation(
    directory: &Directory,
    sender: &User,
    to: Option<Vec<i64>>,
) -> Result<TypingRecipients, ApiError> {
    let to = to.ok_or_else(|| ApiError::bad_request("Missing 'to' argument"))?;
    if to.is_empty() {
        return Err(ApiError::bad_request("Empty 'to' list"));
    }
    if !user_bool(sender, "send_private_typing_notifications") {
        let text = "User has disabled typing notifications for direct messages";
        return Err(ApiError::bad_request(text));
    }
    let ids = find_recipients_by_id(directory, sender, &to)?;
    // The event has the addresses of all participants, so the caller has to see all of them.
    let visible =
        |id: &UserId| directory.user(*id).filter(|user| sees_user(directory, sender, user)).cloned();
    let user = |id: &UserId| visible(id).ok_or(RuleError::InvalidUserId { id: id.0.into() });
    let users = ids.iter().map(user).collect::<Result<Vec<_>, _>>()?;
    check_authorized(directory, sender, &ids, directory.direct_by_users(&ids).is_some())?;
    let readers = users.iter().filter(|user| user.is_active && receives_typing(user)).map(|user| user.id);
    let readers = readers.collect();
    Ok(TypingRecipients { conversation: TypingConversation::Direct(users), readers })
}

/// Whether a user wants to know of typing.
pub fn receives_typing(user: &User) -> bool {
    user_bool(user, "receives_typing_notifications")
}
