//! Channels and subscriptions as clients read them (api.md, Channel; endpoints.md 0.4).

use super::group::{GroupSettingJson, group_setting};
use model::event::ChannelSummary;
use model::{ChannelId, Directory, MessageId, Subscription, User, UserId};
use rules::posting::{channel_post_policy, is_announcement_only};
use rules::settings::user_bool;
use serde::Serialize;

/// A Channel object.
#[derive(Clone, Debug, Serialize)]
pub struct ChannelJson<'a> {
    stream_id: ChannelId,
    name: &'a str,
    is_archived: bool,
    description: &'a str,
    rendered_description: &'a str,
    date_created: u64,
    creator_id: Option<UserId>,
    invite_only: bool,
    is_web_public: bool,
    stream_post_policy: u8,
    is_announcement_only: bool,
    message_retention_days: Option<i32>,
    history_public_to_subscribers: bool,
    topics_policy: &'static str,
    first_message_id: Option<MessageId>,
    folder_id: Option<u32>,
    is_recently_active: bool,
    subscriber_count: u32,
    stream_weekly_traffic: Option<u32>,
    can_add_subscribers_group: GroupSettingJson<'a>,
    can_administer_channel_group: GroupSettingJson<'a>,
    can_delete_any_message_group: GroupSettingJson<'a>,
    can_delete_own_message_group: GroupSettingJson<'a>,
    can_move_messages_out_of_channel_group: GroupSettingJson<'a>,
    can_move_messages_within_channel_group: GroupSettingJson<'a>,
    can_remove_subscribers_group: GroupSettingJson<'a>,
    can_resolve_topics_group: GroupSettingJson<'a>,
    can_send_message_group: GroupSettingJson<'a>,
    can_subscribe_group: GroupSettingJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_default: Option<bool>,
}

impl ChannelJson<'_> {
    /// Adds whether new people are subscribed to it.
    pub fn with_default(mut self, is_default: bool) -> Self {
        self.is_default = Some(is_default);
        self
    }
}

/// A channel with what is counted about it. Access is for the caller to have asked.
pub fn channel<'a>(directory: &Directory, summary: &'a ChannelSummary) -> ChannelJson<'a> {
    let channel = &*summary.channel;
    let permissions = &channel.permissions;
    ChannelJson {
        stream_id: channel.id,
        name: &channel.name,
        is_archived: channel.is_archived,
        description: &channel.description,
        rendered_description: &channel.rendered_description,
        date_created: channel.created.secs(),
        creator_id: channel.creator,
        invite_only: channel.invite_only,
        is_web_public: channel.is_web_public,
        stream_post_policy: channel_post_policy(directory, channel),
        is_announcement_only: is_announcement_only(directory, channel),
        message_retention_days: channel.message_retention_days,
        history_public_to_subscribers: channel.history_public_to_subscribers,
        topics_policy: channel.topics_policy.word(),
        first_message_id: summary.first_message,
        folder_id: channel.folder,
        is_recently_active: channel.is_recently_active,
        subscriber_count: summary.subscriber_count,
        stream_weekly_traffic: summary.weekly_traffic,
        can_add_subscribers_group: group_setting(directory, &permissions.add_subscribers),
        can_administer_channel_group: group_setting(directory, &permissions.administer_channel),
        can_delete_any_message_group: group_setting(directory, &permissions.delete_any_message),
        can_delete_own_message_group: group_setting(directory, &permissions.delete_own_message),
        can_move_messages_out_of_channel_group: group_setting(
            directory,
            &permissions.move_messages_out_of_channel,
        ),
        can_move_messages_within_channel_group: group_setting(
            directory,
            &permissions.move_messages_within_channel,
        ),
        can_remove_subscribers_group: group_setting(directory, &permissions.remove_subscribers),
        can_resolve_topics_group: group_setting(directory, &permissions.resolve_topics),
        can_send_message_group: group_setting(directory, &permissions.send_message),
        can_subscribe_group: group_setting(directory, &permissions.subscribe),
        is_default: None,
    }
}

/// Who subscribes to a channel, as far as the client asked and may know.
#[derive(Clone, Debug, Default)]
pub struct SubscriberLists<'a> {
    /// Everybody.
    pub all: Option<&'a [UserId]>,
    /// Only some, of a large channel.
    pub partial: Option<&'a [UserId]>,
}

/// A Subscription object: the channel, and what the user set for it.
#[derive(Clone, Debug, Serialize)]
pub struct SubscriptionJson<'a> {
    #[serde(flatten)]
    channel: ChannelJson<'a>,
    color: &'a str,
    is_muted: bool,
    in_home_view: bool,
    pin_to_top: bool,
    desktop_notifications: Option<bool>,
    audible_notifications: Option<bool>,
    push_notifications: Option<bool>,
    email_notifications: Option<bool>,
    wildcard_mentions_notify: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribers: Option<&'a [UserId]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_subscribers: Option<&'a [UserId]>,
}

/// A user's own subscription. Without `null_notifications` (the capability `notification_settings_null`) what inherits is
/// given as what it comes to.
pub fn subscription<'a>(
    directory: &Directory,
    owner: &User,
    summary: &'a ChannelSummary,
    subscription: &'a Subscription,
    null_notifications: bool,
    subscribers: SubscriberLists<'a>,
) -> SubscriptionJson<'a> {
    let notify = |own: Option<bool>, inherited: &str| match own {
        None if !null_notifications => Some(user_bool(owner, inherited)),
        own => own,
    };
    let own = subscription;
    SubscriptionJson {
        channel: channel(directory, summary),
        color: &own.color,
        is_muted: own.is_muted,
        in_home_view: !own.is_muted,
        pin_to_top: own.pin_to_top,
        desktop_notifications: notify(own.desktop_notifications, "enable_stream_desktop_notifications"),
        audible_notifications: notify(own.audible_notifications, "enable_stream_audible_notifications"),
        push_notifications: notify(own.push_notifications, "enable_stream_push_notifications"),
        email_notifications: notify(own.email_notifications, "enable_stream_email_notifications"),
        wildcard_mentions_notify: notify(own.wildcard_mentions_notify, "wildcard_mentions_notify"),
        subscribers: subscribers.all,
        partial_subscribers: subscribers.partial,
    }
}

/// A channel that a user does not subscribe to (any more), with who does.
#[derive(Clone, Debug, Serialize)]
pub struct ListedChannelJson<'a> {
    #[serde(flatten)]
    channel: ChannelJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribers: Option<&'a [UserId]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_subscribers: Option<&'a [UserId]>,
}

/// An entry of `never_subscribed`.
pub fn listed_channel<'a>(
    directory: &Directory,
    summary: &'a ChannelSummary,
    subscribers: SubscriberLists<'a>,
) -> ListedChannelJson<'a> {
    ListedChannelJson {
        channel: channel(directory, summary),
        subscribers: subscribers.all,
        partial_subscribers: subscribers.partial,
    }
}
