//! Rows in words, for people who read what a check found.

use crate::tables::{self, Table};

/// The name of a row, such as `message 17` or `subscription of user 8 to channel 3`.
pub(super) fn row_name(key: &[u8]) -> String {
    let number =
        |position: usize| tables::number_at(key, position).map_or("?".into(), |number| number.to_string());
    let (first, second) = (number(0), number(4));
    match tables::table_of(key) {
        Some(Table::Progress) => "the row that says how far the trees have come".into(),
        Some(Table::Realm) => "the organization's own record".into(),
        Some(Table::Users) => format!("user {first}"),
        Some(Table::Groups) => format!("user group {first}"),
        Some(Table::Channels) => format!("channel {first}"),
        Some(Table::Subscriptions) => format!("subscription of user {second} to channel {first}"),
        Some(Table::Directs) => format!("direct conversation {first}"),
        Some(Table::UserTopics) => {
            format!("topic policy of user {first} in channel {second}, topic {:?}", text(key, 13))
        }
        Some(Table::Queues) => format!("event queue {:?}", text(key, 5)),
        Some(Table::Messages) => format!("messages from {first} on"),
        Some(Table::MessageIndex) => format!("index entries from {first} on"),
        Some(Table::Flags) => {
            format!("flag {} of user {first}, block {}", key.get(9).copied().unwrap_or_default(), number(5))
        }
        Some(Table::EventPositions) => format!("position of event {:?}", key.get(5..).unwrap_or_default()),
        Some(Table::Folders) => format!("channel folder {first}"),
        Some(Table::AlertWords) => format!("alert words of user {first}"),
        Some(Table::UserStatuses) => format!("status of user {first}"),
        Some(Table::MutedUsers) => format!("muting of user {second} by user {first}"),
        Some(Table::NavigationViews) => format!("navigation view {:?} of user {first}", text(key, 9)),
        Some(Table::Invitations) => format!("invitation {first}"),
        Some(Table::BotConfigs) => format!("settings of bot {first}"),
        Some(Table::ProfileFields) => "the custom profile fields".into(),
        Some(Table::RealmLists) => "the domains, linkifiers and playgrounds".into(),
        Some(Table::ChangedMessages) => format!("changed message {first}"),
        Some(Table::ChangedIndex) => format!("index entry of changed message {first}"),
        Some(Table::Moves) => format!("move of frame {second}"),
        Some(Table::Deleted) => format!("deleted messages, block {first}"),
        Some(Table::Jobs) => format!("job of frame {}", job_frame(key)),
        Some(Table::Days) => format!("first message of day {first}"),
        Some(Table::PushTokens) => format!("phones of the older way of user {first}"),
        Some(Table::PushDevices) => format!("phones of user {first}"),
        Some(Table::PushShown) => format!("messages on phones of user {first}"),
        Some(Table::NoticedUpTo) => "the last message that was looked at for notifications".into(),
        Some(Table::Avatars) => format!("picture of user {first}"),
        Some(Table::RealmPictures) => "the organization's icon and logos".into(),
        Some(Table::RealmEmoji) => format!("emoji {first}"),
        None => format!("row {key:02x?} of no known table"),
    }
}

/// The frame that a job came with.
fn job_frame(key: &[u8]) -> u64 {
    let half = |position| u64::from(tables::number_at(key, position).unwrap_or_default());
    (half(0) << 32 | half(4)) >> 16
}

fn text(key: &[u8], start: usize) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(key.get(start..).unwrap_or_default())
}
