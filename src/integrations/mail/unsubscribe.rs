//! Links that turn off a kind of notification mail without a login: each mail has one, for people and for mail programs (RFC 8058).

use actors::RealmHandle;
use model::{ChannelId, Place, User, UserId};
use rules::notifications::Trigger;
use rules::settings::{Setting, user_row};
use std::sync::Arc;

/// Context for deriving keys of this kind.
const PURPOSE: &str = "unsubscribe from mails";
/// Before the id of a channel in the name of its kind.
const CHANNEL: &str = "channel-";

const LOGIN_MAIL: &Setting = user_row("enable_login_emails");
const OFFLINE_MAIL: &Setting = user_row("enable_offline_email_notifications");
const FOLLOWED_MAIL: &Setting = user_row("enable_followed_topic_email_notifications");

/// A kind of mail that a user can turn off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailKind {
    /// Logins with a new client.
    Logins,
    /// Missed direct messages and mentions.
    Missed,
    /// All messages of followed topics.
    FollowedTopics,
    /// All messages of a channel.
    Channel(ChannelId),
}

/// The setting that turns a kind of mail off when it is false.
#[derive(Clone, Copy, Debug)]
pub enum MailSetting {
    /// A setting of the account.
    Account(&'static Setting),
    /// The property `email_notifications` of the subscription to a channel.
    Subscription(ChannelId),
}

impl MailKind {
    /// The kind of a mail about messages, by the reason for it and where the messages are.
    pub(super) fn of(trigger: Trigger, place: &Place) -> Self {
        match (trigger, place) {
            (Trigger::Channel, Place::Channel { channel, .. }) => Self::Channel(*channel),
            (Trigger::FollowedTopic, _) => Self::FollowedTopics,
            (
                Trigger::Direct
                | Trigger::Mention
                | Trigger::FollowedWildcard
                | Trigger::Wildcard
                | Trigger::Channel,
                _,
            ) => Self::Missed,
        }
    }

    /// The setting that turns it off.
    pub fn setting(self) -> MailSetting {
        match self {
            Self::Logins => MailSetting::Account(LOGIN_MAIL),
            Self::Missed => MailSetting::Account(OFFLINE_MAIL),
            Self::FollowedTopics => MailSetting::Account(FOLLOWED_MAIL),
            Self::Channel(channel) => MailSetting::Subscription(channel),
        }
    }

    /// What these mails are about, for people. A channel is not named: mails without content must not name it.
    pub fn description(self) -> &'static str {
        match self {
            Self::Logins => "new logins",
            Self::Missed => "missed direct messages and mentions",
            Self::FollowedTopics => "topics that you follow",
            Self::Channel(_) => "all messages of this channel",
        }
    }

    /// Its name in links.
    fn name(self) -> String {
        match self {
            Self::Logins => "logins".to_owned(),
            Self::Missed => "missed_messages".to_owned(),
            Self::FollowedTopics => "followed_topics".to_owned(),
            Self::Channel(channel) => format!("{CHANNEL}{channel}"),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let known = [Self::Logins, Self::Missed, Self::FollowedTopics];
        known.into_iter().find(|kind| kind.name() == name).or_else(|| {
            let id = name.strip_prefix(CHANNEL)?;
            id.parse().ok().map(|id| Self::Channel(ChannelId(id)))
        })
    }
}

/// The path of the link.
pub(super) fn unsubscribe_path(realm: &RealmHandle, user: &User, kind: MailKind) -> String {
    format!("/accounts/unsubscribe/{}/{}.{}", kind.name(), user.id, secret(realm, user, kind))
}

/// A MAC over the kind, the account and its address: nothing is stored, and the link becomes invalid once the address has changed.
/// It never expires: mails are kept.
fn secret(realm: &RealmHandle, user: &User, kind: MailKind) -> String {
    realm.link_key(PURPOSE, &[&kind.name(), &user.id.to_string(), &user.delivery_email])
}

/// The user and the kind of a valid link, by its last two segments; none for any other. The account may be deactivated.
pub fn parse_unsubscribe_link(realm: &RealmHandle, text: &str) -> Option<(Arc<User>, MailKind)> {
    let (name, rest) = text.split_once('/')?;
    let (user, key) = rest.split_once('.')?;
    let kind = MailKind::parse(name)?;
    let user = realm.directory().user(UserId(user.parse().ok()?)).cloned()?;
    let parts = [&*kind.name(), &*user.id.to_string(), &*user.delivery_email];
    realm.is_link_key(key, PURPOSE, &parts).then_some((user, kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in
            [MailKind::Logins, MailKind::Missed, MailKind::FollowedTopics, MailKind::Channel(ChannelId(7))]
        {
            assert_eq!(MailKind::parse(&kind.name()), Some(kind));
        }
        for name in ["", "channel-", "channel-x", "Logins", "logins "] {
            assert_eq!(MailKind::parse(name), None, "{name}");
        }
    }
}
