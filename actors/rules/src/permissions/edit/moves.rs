//! Who may move messages to another topic or channel, and the time limits (docs/api/messages.md#edit-or-move-messages).

use super::request::{Wanted, oldest_allowed};
use crate::error::{EditError, RuleError};
use crate::permissions::channel::{
    Archived, ChannelRef, access_channel_content, administers_channel, check_may_post,
};
use crate::permissions::group_setting::holds_realm;
use crate::settings::{ChannelPermission, RealmPermission};
use crate::topics::{ResolveChange, check_topics_policy, resolve_change};
use model::{Channel, Directory, Message, MessageId, Place, PropagateMode, Timestamp, TopicKey, User};
use std::sync::Arc;

const TOPIC_LIMIT: &str = "move_messages_within_stream_limit_seconds";
const CHANNEL_LIMIT: &str = "move_messages_between_streams_limit_seconds";

/// A permitted move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovePlan {
    pub origin: Arc<Channel>,
    /// Often the same as `origin`.
    pub destination: Arc<Channel>,
    /// Topic before, as spelled on the target.
    pub old_topic: String,
    pub topic: String,
    pub mode: PropagateMode,
    /// Set if the new topic differs from the old one only by the prefix of resolved topics.
    pub resolve: Option<ResolveChange>,
    /// For a whole topic: messages sent before this may not move. None: no limit.
    pub oldest_allowed: Option<Timestamp>,
}

impl MovePlan {
    /// Whether messages move to another channel.
    pub fn changes_channel(&self) -> bool {
        self.origin.id != self.destination.id
    }

    /// Whether the topic or its spelling changes.
    pub fn changes_topic(&self) -> bool {
        self.old_topic != self.topic
    }

    /// Whether only the spelling of the topic changes, which users do not see as a move.
    pub fn is_respelling(&self) -> bool {
        !self.changes_channel() && TopicKey::new(&self.old_topic) == TopicKey::new(&self.topic)
    }

    /// Whether the topic is only resolved or unresolved.
    pub fn is_only_resolve(&self) -> bool {
        self.resolve.is_some() && !self.changes_channel()
    }

    /// Whether the messages of the topic that the requester can read, in any order, are recent enough to move. Only
    /// needed if `oldest_allowed` is set.
    pub fn check_ages(
        &self,
        messages: impl IntoIterator<Item = (MessageId, Timestamp)>,
    ) -> Result<(), RuleError> {
        let Some(oldest) = self.oldest_allowed else { return Ok(()) };
        let (mut total, mut allowed, mut first_allowed) = (0, 0, None);
        for (id, sent) in messages {
            total += 1;
            if sent >= oldest {
                allowed += 1;
                first_allowed = Some(first_allowed.map_or(id, |first: MessageId| first.min(id)));
            }
        }
        self.check_allowed(total, allowed, first_allowed)
    }

    /// Decides as [`Self::check_ages`] from counts: of the messages of the topic that the requester can read, of those that may
    /// move, and the first message that may.
    pub fn check_allowed(
        &self,
        total: usize,
        allowed: usize,
        first_allowed: Option<MessageId>,
    ) -> Result<(), RuleError> {
        match first_allowed {
            _ if allowed == total => Ok(()),
            None => Err(EditError::WholeTopicTimeOver.into()),
            Some(first_allowed) => {
                Err(EditError::PartOfTopicTimeOver { first_allowed, total, allowed }.into())
            }
        }
    }
}

/// The requested move, if any; everything is checked except the ages of a whole topic.
pub(super) fn plan_move(
    dir: &Directory,
    requester: &User,
    message: &Message,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<Option<MovePlan>, RuleError> {
    let Place::Channel { channel, topic: old_topic } = &message.place else { return Ok(None) };
    if wanted.topic.is_none() && wanted.channel.is_none() {
        return Ok(None);
    }
    let origin = dir.channel(*channel).ok_or(RuleError::InvalidMessage)?;
    let destination = match wanted.channel {
        None => origin,
        Some(id) => access_channel_content(dir, requester, ChannelRef::Id(id), Archived::Refused)?.channel(),
    };
    let topic = wanted.topic.as_ref().unwrap_or(old_topic).clone();
    check_topics_policy(dir.realm(), destination, &topic)?;
    let mut plan = MovePlan {
        origin: origin.clone(),
        destination: destination.clone(),
        old_topic: old_topic.clone(),
        resolve: resolve_change(old_topic, &topic),
        topic,
        mode: wanted.mode,
        oldest_allowed: None,
    };
    check_topic_change(dir, requester, message, &plan, now)?;
    check_channel_change(dir, requester, message, &plan, now)?;
    if plan.mode == PropagateMode::All && !requester.is_moderator() {
        plan.oldest_allowed = oldest_movable(dir, &plan, now);
    }
    Ok(Some(plan))
}

/// Whether the requester may change the topic, and whether the message is recent enough.
fn check_topic_change(
    dir: &Directory,
    requester: &User,
    message: &Message,
    plan: &MovePlan,
    now: Timestamp,
) -> Result<(), RuleError> {
    if !plan.changes_topic() {
        return Ok(());
    }
    let channels = [&plan.origin, &plan.destination];
    let in_either = |permission: ChannelPermission| {
        channels.iter().any(|channel| dir.holds(permission.of(channel), requester.id))
    };
    if plan.resolve.is_some() {
        let may = holds_realm(dir, RealmPermission::ResolveTopics, requester.id)
            || in_either(ChannelPermission::ResolveTopics);
        return if may { Ok(()) } else { Err(EditError::ResolveNotPermitted.into()) };
    }
    let may = holds_realm(dir, RealmPermission::MoveMessagesBetweenTopics, requester.id)
        || channels.iter().any(|channel| administers_channel(dir, requester, channel))
        || in_either(ChannelPermission::MoveMessagesWithinChannel);
    if !may {
        return Err(EditError::NotPermitted.into());
    }
    match is_single_too_old(dir, requester, message, plan, TOPIC_LIMIT, now) {
        true => Err(EditError::TopicTimeOver.into()),
        false => Ok(()),
    }
}

/// Whether the requester may move the message to another channel, and whether it is recent enough.
fn check_channel_change(
    dir: &Directory,
    requester: &User,
    message: &Message,
    plan: &MovePlan,
    now: Timestamp,
) -> Result<(), RuleError> {
    if !plan.changes_channel() {
        return Ok(());
    }
    let out_of = ChannelPermission::MoveMessagesOutOfChannel.of(&plan.origin);
    let may = holds_realm(dir, RealmPermission::MoveMessagesBetweenChannels, requester.id)
        || administers_channel(dir, requester, &plan.origin)
        || dir.holds(out_of, requester.id);
    if !may {
        return Err(EditError::MoveNotPermitted.into());
    }
    check_may_post(dir, requester, &plan.destination)?;
    match is_single_too_old(dir, requester, message, plan, CHANNEL_LIMIT, now) {
        true => Err(EditError::ChannelTimeOver.into()),
        false => Ok(()),
    }
}

/// Unless a whole topic moves, only the age of the message itself counts. Moderators have no time limit.
fn is_single_too_old(
    dir: &Directory,
    requester: &User,
    message: &Message,
    plan: &MovePlan,
    limit: &str,
    now: Timestamp,
) -> bool {
    plan.mode != PropagateMode::All
        && !requester.is_moderator()
        && oldest_allowed(dir.realm(), limit, now).is_some_and(|oldest| message.sent < oldest)
}

/// The stricter of the time limits for a whole topic; resolving has none.
fn oldest_movable(dir: &Directory, plan: &MovePlan, now: Timestamp) -> Option<Timestamp> {
    let renames = plan.changes_topic() && plan.resolve.is_none();
    let for_topic = renames.then(|| oldest_allowed(dir.realm(), TOPIC_LIMIT, now)).flatten();
    let for_channel =
        plan.changes_channel().then(|| oldest_allowed(dir.realm(), CHANNEL_LIMIT, now)).flatten();
    for_topic.max(for_channel)
}
