//! The nine properties of a subscription that users set (docs/api/subscriptions.md#set-properties).

use crate::colors::parse_color;
use crate::error::RuleError;
use crate::permissions::channel::{Archived, ChannelRef, access_channel_metadata};
use model::{ChannelId, Directory, Subscription, User};
use serde_json::Value;
use std::sync::Arc;

/// Notification settings of a channel that override the user's own settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelNotification {
    Desktop,
    Audible,
    Push,
    Email,
    WildcardMentions,
}

impl ChannelNotification {
    const ALL: [Self; 5] = [Self::Desktop, Self::Audible, Self::Push, Self::Email, Self::WildcardMentions];

    /// The name of the property in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Desktop => "desktop_notifications",
            Self::Audible => "audible_notifications",
            Self::Push => "push_notifications",
            Self::Email => "email_notifications",
            Self::WildcardMentions => "wildcard_mentions_notify",
        }
    }
}

/// One property with its new value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubscriptionChange {
    /// In the form `#rrggbb`.
    Color(String),
    /// `is_muted`; `in_home_view` is the opposite value.
    Muted(bool),
    Pinned(bool),
    Notification(ChannelNotification, bool),
}

/// The value of a property in events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyValue<'c> {
    Bool(bool),
    Text(&'c str),
}

/// Parses a property and its value. `SubscriptionPropertyUnknown`, `SettingType`, `ColorInvalid`.
pub fn parse_property(property: &str, value: &Value) -> Result<SubscriptionChange, RuleError> {
    let wrong = |wanted| RuleError::SettingType { name: property.to_owned(), wanted };
    let flag = || value.as_bool().ok_or_else(|| wrong("a boolean"));
    match property {
        "color" => {
            let color = value.as_str().ok_or_else(|| wrong("a string"))?;
            Ok(SubscriptionChange::Color(parse_color(color)?))
        }
        "is_muted" => Ok(SubscriptionChange::Muted(flag()?)),
        "in_home_view" => Ok(SubscriptionChange::Muted(!flag()?)),
        "pin_to_top" => Ok(SubscriptionChange::Pinned(flag()?)),
        _ => {
            let kind = ChannelNotification::ALL.into_iter().find(|kind| kind.as_str() == property);
            let unknown = || RuleError::SubscriptionPropertyUnknown { name: property.to_owned() };
            Ok(SubscriptionChange::Notification(kind.ok_or_else(unknown)?, flag()?))
        }
    }
}

impl SubscriptionChange {
    /// The name of the property in the API; the newer one for muting.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Color(_) => "color",
            Self::Muted(_) => "is_muted",
            Self::Pinned(_) => "pin_to_top",
            Self::Notification(kind, _) => kind.as_str(),
        }
    }

    /// The properties in events: muting has two names.
    pub fn properties(&self) -> Vec<(&'static str, PropertyValue<'_>)> {
        match self {
            Self::Color(color) => vec![("color", PropertyValue::Text(color))],
            Self::Muted(is_muted) => vec![
                ("is_muted", PropertyValue::Bool(*is_muted)),
                ("in_home_view", PropertyValue::Bool(!is_muted)),
            ],
            Self::Pinned(is_pinned) => vec![("pin_to_top", PropertyValue::Bool(*is_pinned))],
            Self::Notification(kind, value) => vec![(kind.as_str(), PropertyValue::Bool(*value))],
        }
    }
}

/// Applies a change to a subscription.
pub fn apply_property(subscription: &mut Subscription, change: &SubscriptionChange) {
    match change {
        SubscriptionChange::Color(color) => subscription.color.clone_from(color),
        SubscriptionChange::Muted(is_muted) => subscription.is_muted = *is_muted,
        SubscriptionChange::Pinned(is_pinned) => subscription.pin_to_top = *is_pinned,
        SubscriptionChange::Notification(kind, value) => {
            *match kind {
                ChannelNotification::Desktop => &mut subscription.desktop_notifications,
                ChannelNotification::Audible => &mut subscription.audible_notifications,
                ChannelNotification::Push => &mut subscription.push_notifications,
                ChannelNotification::Email => &mut subscription.email_notifications,
                ChannelNotification::WildcardMentions => &mut subscription.wildcard_mentions_notify,
            } = Some(*value);
        }
    }
}

/// Finds a user's active subscription. `InvalidChannelId`, `NotSubscribed`.
pub fn access_own_subscription<'d>(
    dir: &'d Directory,
    user: &User,
    channel: i64,
) -> Result<(ChannelId, &'d Arc<Subscription>), RuleError> {
    let id = access_channel_metadata(dir, user, ChannelRef::Id(channel), Archived::Refused)?.id;
    match dir.subscription(id, user.id) {
        Some(subscription) if subscription.is_active => Ok((id, subscription)),
        _ => Err(RuleError::NotSubscribed { id: channel }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use PropertyValue::{Bool, Text};
    use model::MessageId;
    use serde_json::json;

    #[test]
    fn exactly_nine_properties_exist() {
        let changed = |property: &str, value: Value| -> Result<Vec<String>, String> {
            let change = parse_property(property, &value).map_err(|error| error.to_string())?;
            let mut subscription = Subscription::start("#000000".into(), MessageId(0));
            apply_property(&mut subscription, &change);
            Ok(change.properties().into_iter().map(|(name, value)| format!("{name} {value:?}")).collect())
        };
        let muted = |is_muted: bool| {
            Ok(vec![format!("is_muted {:?}", Bool(is_muted)), format!("in_home_view {:?}", Bool(!is_muted))])
        };
        for (property, value, expected) in [
            ("color", json!("#ABC"), Ok(vec![format!("color {:?}", Text("#aabbcc"))])),
            ("is_muted", json!(true), muted(true)),
            ("in_home_view", json!(true), muted(false)),
            ("pin_to_top", json!(true), Ok(vec!["pin_to_top Bool(true)".into()])),
            ("desktop_notifications", json!(false), Ok(vec!["desktop_notifications Bool(false)".into()])),
            ("audible_notifications", json!(true), Ok(vec!["audible_notifications Bool(true)".into()])),
            ("push_notifications", json!(true), Ok(vec!["push_notifications Bool(true)".into()])),
            ("email_notifications", json!(true), Ok(vec!["email_notifications Bool(true)".into()])),
            ("wildcard_mentions_notify", json!(true), Ok(vec!["wildcard_mentions_notify Bool(true)".into()])),
            ("bogus", json!(true), Err("Unknown subscription property: bogus".into())),
            ("color", json!("red"), Err("color is not a valid hex color code".into())),
            ("color", json!(true), Err("color is not a string".into())),
            ("is_muted", json!("true"), Err("is_muted is not a boolean".into())),
            ("in_home_view", json!(1), Err("in_home_view is not a boolean".into())),
            ("email_notifications", json!(null), Err("email_notifications is not a boolean".into())),
        ] {
            assert_eq!(changed(property, value), expected, "{property}");
        }
    }

    #[test]
    fn properties_change_their_fields() {
        let mut subscription = Subscription::start("#000000".into(), MessageId(0));
        for (property, value) in [
            ("color", json!("#123456")),
            ("in_home_view", json!(false)),
            ("pin_to_top", json!(true)),
            ("push_notifications", json!(false)),
            ("wildcard_mentions_notify", json!(true)),
        ] {
            apply_property(&mut subscription, &parse_property(property, &value).unwrap());
        }
        let expected = Subscription {
            color: "#123456".into(),
            is_muted: true,
            pin_to_top: true,
            push_notifications: Some(false),
            wildcard_mentions_notify: Some(true),
            ..Subscription::start("#000000".into(), MessageId(0))
        };
        assert_eq!(subscription, expected);
    }

    #[test]
    fn only_current_subscriptions_have_properties() {
        let mut dir = fixture::directory();
        let mut secret = fixture::channel(2, "secret");
        secret.invite_only = true;
        dir.put_channel(secret);
        dir.put_channel(fixture::channel(1, "general"));
        fixture::subscribe(&mut dir, 1, fixture::MEMBER, 0);
        fixture::subscribe(&mut dir, 1, fixture::OTHER_MEMBER, 0);
        fixture::unsubscribe(&mut dir, 1, fixture::OTHER_MEMBER, 5);
        for (user, channel, expected) in [
            (fixture::MEMBER, 1, Ok(ChannelId(1))),
            (fixture::OTHER_MEMBER, 1, Err("Not subscribed to channel ID 1".to_owned())),
            (fixture::OWNER, 2, Err("Not subscribed to channel ID 2".to_owned())),
            (fixture::MEMBER, 2, Err("Invalid channel ID".to_owned())),
            (fixture::MEMBER, 99, Err("Invalid channel ID".to_owned())),
        ] {
            let found = access_own_subscription(&dir, dir.user(user).unwrap(), channel);
            assert_eq!(found.map(|(id, _)| id).map_err(|error| error.to_string()), expected);
        }
    }
}
