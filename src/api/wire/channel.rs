//! Channels and subscriptions as clients read them (docs/api/channels.md#channel-object,
//! docs/api/subscriptions.md#subscription-object).

use super::group::{GroupSettingJson, group_setting};
use super::json::{push_text_field, push_value};
use super::list::Object;
use crate::http::ApiError;
use crate::http::reply::push_fields;
use model::event::ChannelSummary;
use model::{ChannelId, Directory, FolderId, MessageId, Subscription, User, UserId};
use rules::posting::{channel_post_policy, is_announcement_only};
use rules::settings::{ChannelPermission, user_bool};
use serde::Serialize;

/// The channel object of the API.
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
    folder_id: Option<FolderId>,
    is_recently_active: bool,
    subscriber_count: u32,
    stream_weekly_traffic: Option<u32>,
    /// The `can_…_group` settings, in the order of their table.
    #[serde(flatten)]
    permissions: Object<[(&'static str, GroupSettingJson<'a>); 10]>,
}

/// A channel with its figures. The caller checks access.
pub fn channel<'a>(directory: &Directory, summary: &'a ChannelSummary) -> ChannelJson<'a> {
    let channel = &*summary.channel;
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
        topics_policy: channel.topics_policy.as_str(),
        first_message_id: summary.first_message,
        folder_id: channel.folder,
        is_recently_active: channel.is_recently_active,
        subscriber_count: summary.subscriber_count,
        stream_weekly_traffic: summary.weekly_traffic,
        permissions: Object(
            ChannelPermission::ALL
                .map(|permission| (permission.rule().name, group_setting(directory, permission.of(channel)))),
        ),
    }
}

/// The subscribers of a channel, as requested by the client and visible to it.
#[derive(Clone, Debug, Default)]
pub struct SubscriberLists<'a> {
    pub all: Option<&'a [UserId]>,
    /// Only some of the subscribers of a large channel.
    pub partial: Option<&'a [UserId]>,
}

/// The subscription object of the API: the channel with the user's settings for it.
#[derive(Clone, Debug, Serialize)]
pub struct SubscriptionJson<'a> {
    #[serde(flatten)]
    channel: ChannelJson<'a>,
    #[serde(flatten)]
    own: OwnSubscriptionJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribers: Option<&'a [UserId]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_subscribers: Option<&'a [UserId]>,
}

/// A user's settings for a channel.
#[derive(Clone, Debug, Serialize)]
pub struct OwnSubscriptionJson<'a> {
    color: &'a str,
    is_muted: bool,
    in_home_view: bool,
    pin_to_top: bool,
    desktop_notifications: Option<bool>,
    audible_notifications: Option<bool>,
    push_notifications: Option<bool>,
    email_notifications: Option<bool>,
    wildcard_mentions_notify: Option<bool>,
}

/// A user's own subscription. Without `null_notifications` (the capability `notification_settings_null`) inherited
/// settings are resolved.
pub fn subscription<'a>(
    directory: &Directory,
    owner: &User,
    summary: &'a ChannelSummary,
    subscription: &'a Subscription,
    null_notifications: bool,
    subscribers: SubscriberLists<'a>,
) -> SubscriptionJson<'a> {
    SubscriptionJson {
        channel: channel(directory, summary),
        own: own_subscription(owner, subscription, null_notifications),
        subscribers: subscribers.all,
        partial_subscribers: subscribers.partial,
    }
}

/// The user's settings for a channel; see [`subscription`].
fn own_subscription<'a>(
    owner: &User,
    own: &'a Subscription,
    null_notifications: bool,
) -> OwnSubscriptionJson<'a> {
    Inherited::of(owner, null_notifications).completing(own)
}

/// What a user's subscriptions show where they have no setting of their own.
#[derive(Clone, Copy, Debug, Default)]
struct Inherited {
    desktop: Option<bool>,
    audible: Option<bool>,
    push: Option<bool>,
    email: Option<bool>,
    wildcards: Option<bool>,
}

impl Inherited {
    fn of(owner: &User, null_notifications: bool) -> Self {
        if null_notifications {
            return Self::default();
        }
        Self {
            desktop: Some(user_bool(owner, "enable_stream_desktop_notifications")),
            audible: Some(user_bool(owner, "enable_stream_audible_notifications")),
            push: Some(user_bool(owner, "enable_stream_push_notifications")),
            email: Some(user_bool(owner, "enable_stream_email_notifications")),
            wildcards: Some(user_bool(owner, "wildcard_mentions_notify")),
        }
    }

    fn completing<'a>(&self, own: &'a Subscription) -> OwnSubscriptionJson<'a> {
        OwnSubscriptionJson {
            color: &own.color,
            is_muted: own.is_muted,
            in_home_view: !own.is_muted,
            pin_to_top: own.pin_to_top,
            desktop_notifications: own.desktop_notifications.or(self.desktop),
            audible_notifications: own.audible_notifications.or(self.audible),
            push_notifications: own.push_notifications.or(self.push),
            email_notifications: own.email_notifications.or(self.email),
            wildcard_mentions_notify: own.wildcard_mentions_notify.or(self.wildcards),
        }
    }
}

/// Writes a user's settings for many channels. What they have in common is encoded once.
pub struct OwnSubscriptions {
    inherited: Inherited,
    /// The fields after the color, where nothing is set.
    unset: Vec<u8>,
}

impl OwnSubscriptions {
    /// For the subscriptions of a user; see [`subscription`].
    pub fn new(owner: &User, null_notifications: bool) -> Self {
        let inherited = Inherited::of(owner, null_notifications);
        let mut unset = Vec::new();
        push_value(&mut unset, &inherited.completing(&Subscription::default()));
        unset.drain(..br#"{"color":"""#.len());
        unset.pop();
        Self { inherited, unset }
    }

    /// Adds the fields of a subscription, each with a comma before it.
    pub fn push(&self, out: &mut Vec<u8>, own: &Subscription) -> Result<(), ApiError> {
        let is_unset = !own.is_muted
            && !own.pin_to_top
            && own.desktop_notifications.is_none()
            && own.audible_notifications.is_none()
            && own.push_notifications.is_none()
            && own.email_notifications.is_none()
            && own.wildcard_mentions_notify.is_none();
        if !is_unset {
            return push_fields(out, &self.inherited.completing(own));
        }
        push_text_field(out, "color", &own.color);
        out.extend_from_slice(&self.unset);
        Ok(())
    }
}

/// The settings of a spectator without an account, for every channel that spectators may read.
pub fn spectator_subscription() -> OwnSubscriptionJson<'static> {
    OwnSubscriptionJson {
        color: "#c2c2c2",
        is_muted: false,
        in_home_view: true,
        pin_to_top: false,
        desktop_notifications: Some(true),
        audible_notifications: Some(true),
        push_notifications: Some(true),
        email_notifications: Some(true),
        wildcard_mentions_notify: Some(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::wire::fixture::{IAGO, VERONA, directory};
    use model::SettingValue;
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    const CHANNEL_KEYS: [&str; 29] = [
        "can_add_subscribers_group",
        "can_administer_channel_group",
        "can_delete_any_message_group",
        "can_delete_own_message_group",
        "can_move_messages_out_of_channel_group",
        "can_move_messages_within_channel_group",
        "can_remove_subscribers_group",
        "can_resolve_topics_group",
        "can_send_message_group",
        "can_subscribe_group",
        "creator_id",
        "date_created",
        "description",
        "first_message_id",
        "folder_id",
        "history_public_to_subscribers",
        "invite_only",
        "is_announcement_only",
        "is_archived",
        "is_recently_active",
        "is_web_public",
        "message_retention_days",
        "name",
        "rendered_description",
        "stream_id",
        "stream_post_policy",
        "stream_weekly_traffic",
        "subscriber_count",
        "topics_policy",
    ];

    const SUBSCRIPTION_KEYS: [&str; 9] = [
        "audible_notifications",
        "color",
        "desktop_notifications",
        "email_notifications",
        "in_home_view",
        "is_muted",
        "pin_to_top",
        "push_notifications",
        "wildcard_mentions_notify",
    ];

    fn summary(directory: &Directory) -> ChannelSummary {
        ChannelSummary {
            channel: directory.channel(VERONA).unwrap().clone(),
            first_message: Some(MessageId(13)),
            subscriber_count: 2,
            weekly_traffic: None,
        }
    }

    fn keys(value: &Value) -> BTreeSet<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn channel_has_exactly_the_documented_fields() {
        let directory = directory();
        let summary = summary(&directory);
        let plain = serde_json::to_value(channel(&directory, &summary)).unwrap();
        assert_eq!(keys(&plain), BTreeSet::from(CHANNEL_KEYS));
        assert_eq!((&plain["stream_weekly_traffic"], &plain["first_message_id"]), (&Value::Null, &json!(13)));
        assert_eq!((&plain["topics_policy"], &plain["creator_id"]), (&json!("inherit"), &json!(1)));
    }

    #[test]
    fn group_setting_is_id_or_object() {
        let mut directory = directory();
        let mut record = model::Channel::clone(directory.channel(VERONA).unwrap());
        let administrators = directory.group_by_name("role:administrators").unwrap().id;
        record.permissions.send_message = model::GroupSetting::Group(administrators);
        record.permissions.administer_channel = model::GroupSetting::only(IAGO);
        directory.put_channel(record);
        let shown = serde_json::to_value(channel(&directory, &summary(&directory))).unwrap();
        assert_eq!(shown["can_send_message_group"], json!(administrators.0));
        let only_iago = json!({"direct_members": [1], "direct_subgroups": []});
        assert_eq!(shown["can_administer_channel_group"], only_iago);
        assert_eq!((&shown["stream_post_policy"], &shown["is_announcement_only"]), (&json!(2), &json!(true)));
    }

    #[test]
    fn settings_of_many_subscriptions_are_those_of_each() {
        let directory = directory();
        let mut me = User::clone(directory.user(IAGO).unwrap());
        me.settings.insert("enable_stream_audible_notifications".into(), SettingValue::Bool(true));
        let unset = Subscription::start("#76ce90".into(), MessageId(0));
        let muted = Subscription { is_muted: true, ..unset.clone() };
        let pinned = Subscription { pin_to_top: true, ..unset.clone() };
        let quiet = Subscription { email_notifications: Some(false), ..unset.clone() };
        let loud = Subscription { wildcard_mentions_notify: Some(true), ..unset.clone() };
        for (own, null) in
            [&unset, &muted, &pinned, &quiet, &loud].into_iter().flat_map(|own| [(own, true), (own, false)])
        {
            let mut written = b"{\"a\":1".to_vec();
            OwnSubscriptions::new(&me, null).push(&mut written, own).unwrap();
            written.push(b'}');
            let mut expected = serde_json::to_value(own_subscription(&me, own, null)).unwrap();
            expected["a"] = json!(1);
            assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), expected);
        }
    }

    #[test]
    fn subscription_adds_user_settings() {
        let directory = directory();
        let mut me = User::clone(directory.user(IAGO).unwrap());
        let name = "enable_stream_push_notifications";
        me.settings.insert(name.into(), SettingValue::Bool(true));
        let mut own = Subscription::start("#76ce90".into(), MessageId(0));
        own.is_muted = true;
        own.desktop_notifications = Some(true);
        let (summary, own) = (summary(&directory), Arc::new(own));
        let ids = [IAGO];
        let lists = SubscriberLists { all: Some(&ids), partial: None };
        let shown = |nulls| {
            serde_json::to_value(subscription(&directory, &me, &summary, &own, nulls, lists.clone())).unwrap()
        };
        let modern = shown(true);
        let mut expected: BTreeSet<&str> = CHANNEL_KEYS.into_iter().chain(SUBSCRIPTION_KEYS).collect();
        expected.insert("subscribers");
        assert_eq!(keys(&modern), expected);
        assert_eq!((&modern["is_muted"], &modern["in_home_view"]), (&json!(true), &json!(false)));
        assert_eq!(
            (&modern["desktop_notifications"], &modern["push_notifications"]),
            (&json!(true), &Value::Null)
        );
        let legacy = shown(false);
        assert_eq!(
            (&legacy["push_notifications"], &legacy["email_notifications"]),
            (&json!(true), &json!(false))
        );
        assert_eq!(legacy["wildcard_mentions_notify"], true);
    }
}
