//! Direct messages of the notification bot to single users (docs/api/subscriptions.md#subscribe,
//! docs/api/invitations.md#after-joining).

use super::{channel_link, notifying_mention, silent_mention};
use model::{Channel, User};

/// To a user who was subscribed by another one; none without channels. Not sent to bots, nor for channels that the same
/// request created.
pub fn subscribed_text(requester: &User, channels: &[&Channel]) -> Option<String> {
    let requester = notifying_mention(requester);
    if let [channel] = channels {
        return Some(format!("{requester} subscribed you to {}.", channel_link(channel)));
    }
    if channels.is_empty() {
        return None;
    }
    let mut sorted = channels.to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    let lines: Vec<String> = sorted.iter().map(|channel| format!("* {}", channel_link(channel))).collect();
    Some(format!("{requester} subscribed you to the following channels:\n\n{}", lines.join("\n")))
}

/// The topic of notices about new users.
pub const SIGNUPS_TOPIC: &str = "signups";

/// To the organization: a new user joined.
pub fn signed_up_text(user: &User) -> String {
    format!("{} joined this organization.", silent_mention(user))
}

/// To the inviter of a user who joined.
pub fn invitation_accepted_text(user: &User) -> String {
    format!("{} accepted your invitation to join Zulip!", silent_mention(user))
}

/// To a new user, before the organization's own welcome message.
pub fn welcome_text(organization: &str) -> String {
    format!(
        "Hello, and welcome to **{organization}**! :wave:\n\n\
         Messages here are in channels, and within a channel each conversation is a topic of its own. Read on where \
         something interests you, reply, or begin a topic. You can also write to people directly, as I do to you."
    )
}

/// To the owner of a bot that sent to a channel that does not exist.
pub fn bot_channel_id_missing_text(bot_email: &str, channel: i64) -> String {
    format!(
        "Your bot `{bot_email}` tried to send a message to channel ID {channel}, but there is no channel \
         with that ID."
    )
}

/// To the owner of a bot that sent to a channel, by its name, that does not exist.
pub fn bot_channel_missing_text(bot_email: &str, name: &str) -> String {
    format!(
        "Your bot `{bot_email}` tried to send a message to channel #**{name}**, but that channel does not \
         exist. Click [here](#channels/new) to create it."
    )
}

/// To the owner of a bot that sent to a channel without subscribers.
pub fn bot_channel_empty_text(bot_email: &str, channel: &Channel) -> String {
    format!(
        "Your bot `{bot_email}` tried to send a message to channel {}. The channel exists but does not have \
         any subscribers.",
        channel_link(channel)
    )
}

/// To the administrator whose export is complete.
pub fn export_finished_text() -> &'static str {
    "Your data export is complete. [View and download exports](/#organization/data-exports-admin)."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn subscribed_users_get_a_notice() {
        let (a, b) = (fixture::channel(1, "a"), fixture::channel(2, "b"));
        for (channels, expected) in [
            (vec![], None),
            (vec![&a], Some("@**member|4** subscribed you to #**a**.")),
            (
                vec![&b, &a],
                Some("@**member|4** subscribed you to the following channels:\n\n* #**a**\n* #**b**"),
            ),
        ] {
            assert_eq!(subscribed_text(&fixture::member(), &channels).as_deref(), expected);
        }
    }

    #[test]
    fn owners_are_notified_of_lost_messages() {
        let channel = fixture::channel(1, "a");
        for (text, expected) in [
            (
                bot_channel_id_missing_text("x-bot@y", 7),
                "Your bot `x-bot@y` tried to send a message to channel ID 7, but there is no channel with that ID.",
            ),
            (
                bot_channel_missing_text("x-bot@y", "b"),
                "Your bot `x-bot@y` tried to send a message to channel #**b**, but that channel does not exist. Click [here](#channels/new) to create it.",
            ),
            (
                bot_channel_empty_text("x-bot@y", &channel),
                "Your bot `x-bot@y` tried to send a message to channel #**a**. The channel exists but does not have any subscribers.",
            ),
        ] {
            assert_eq!(text, expected);
        }
    }
}
