//! Texts about scheduled messages and reminders (docs/api/scheduled-messages.md).

use super::{message_link, silent_mention};
use crate::content::{CONTENT_LENGTH_MAX, TRUNCATED_MARKER};
use crate::markdown::{ChannelRef, message_url};
use crate::permissions::users::{UNKNOWN_NAME, sees_user};
use crate::text::cut;
use jiff::Timestamp as Instant;
use model::{Directory, Message, Place, Timestamp, User};

/// To the user whose scheduled message was not sent.
pub fn not_sent_text(due: Timestamp, why: &str) -> String {
    let when = i64::try_from(due.secs()).ok().and_then(|secs| Instant::from_second(secs).ok());
    let when = when.unwrap_or_default();
    format!(
        "The message you scheduled for <time:{when}> was not sent because of the following error:\n\n\
         > {why}\n\n[View scheduled messages](#scheduled)"
    )
}

/// A reminder of a message that can no longer be read.
pub fn lost_reminder_text(note: &str) -> String {
    begin("You requested a reminder for a message that you can no longer read", note)
}

/// A reminder of a message for a reader, with the message as a quote. `url` is the organization's.
pub fn reminder_text(
    directory: &Directory,
    reader: &User,
    message: &Message,
    note: &str,
    url: &str,
) -> String {
    let channel = message.place.channel().and_then(|channel| directory.channel(channel));
    let (first, path) = match (&message.place, channel) {
        (Place::Channel { topic, .. }, Some(channel)) => {
            let named = ChannelRef { id: channel.id.0.into(), name: channel.name.clone() };
            let link = message_link(channel, topic, message.id);
            let first = format!("You requested a reminder for {link}");
            (first, message_url(&named, topic, message.id.0.into()))
        }
        _ => {
            let first = "You requested a reminder for the following direct message".to_owned();
            (first, direct_path(directory, message))
        }
    };
    let sender = directory.user(message.sender).filter(|sender| sees_user(directory, reader, sender));
    let sender = sender.map_or_else(|| UNKNOWN_NAME.to_owned(), |sender| silent_mention(sender));
    let content = message.content.as_str();
    let start = format!("{}\n\n{sender} ", begin(&first, note));
    let link = format!("({url}{path})");
    if content.starts_with("/poll") {
        return format!("{start}[sent]{link} a poll.");
    }
    if content.starts_with("/todo") {
        return format!("{start}[sent]{link} a todo list.");
    }
    let fence = unused_fence(content);
    let before = format!("{start}[said]{link}:\n{fence}quote\n");
    let room = CONTENT_LENGTH_MAX - (before.chars().count() + 1 + fence.len()).min(CONTENT_LENGTH_MAX / 2);
    format!("{before}{}\n{fence}", cut(content, room, TRUNCATED_MARKER))
}

fn begin(first: &str, note: &str) -> String {
    match note {
        "" => format!("{first}."),
        note => format!("{first}. Note:\n > {}", note.replace('\n', "\n > ")),
    }
}

fn direct_path(directory: &Directory, message: &Message) -> String {
    let users = directory.direct(message.recipient).map(|direct| direct.users.as_slice());
    let ids: Vec<String> = users.unwrap_or_default().iter().map(ToString::to_string).collect();
    format!("/#narrow/dm/{}/near/{}", ids.join(","), message.id)
}

/// A fence of backticks that ends no fence in a text.
fn unused_fence(content: &str) -> String {
    let marks = |line: &str| line.trim_start().chars().take_while(|mark| *mark == '`').count();
    let longest = content.lines().map(marks).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, GUEST, MEMBER, OTHER_MEMBER};
    use model::{ChannelId, MessageId, RecipientId, SettingValue, UserId};

    fn message(content: &str) -> Message {
        let place = Place::Channel { channel: ChannelId(1), topic: "tea".into() };
        let message = Message::new(MessageId(7), MEMBER, RecipientId(1), place, Timestamp(0));
        Message { content: content.into(), ..message }
    }

    fn text(content: &str, note: &str) -> String {
        text_for(OTHER_MEMBER, content, note)
    }

    /// In an organization whose guests see only people with whom they share a conversation.
    fn text_for(reader: UserId, content: &str, note: &str) -> String {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(1, "Verona"));
        let members = SettingValue::Group(fixture::group("role:members"));
        fixture::set_realm(&mut dir, "can_access_all_users_group", members);
        reminder_text(&dir, dir.user(reader).unwrap(), &message(content), note, "http://x")
    }

    #[test]
    fn reminders_do_not_name_hidden_users() {
        let link = "(http://x/#narrow/channel/1-Verona/topic/tea/near/7)";
        assert_eq!(
            text_for(GUEST, "hi", ""),
            format!(
                "You requested a reminder for #**Verona>tea@7**.\n\nUnknown user [said]{link}:\n\
                 ```quote\nhi\n```"
            )
        );
        assert!(text_for(GUEST, "/todo", "").contains("\n\nUnknown user [sent]"));
    }

    #[test]
    fn reminders_quote_the_message() {
        let link = "(http://x/#narrow/channel/1-Verona/topic/tea/near/7)";
        let sender = silent_mention(fixture::directory().user(MEMBER).unwrap());
        assert_eq!(
            text("do **this**", "*call* them"),
            format!(
                "You requested a reminder for #**Verona>tea@7**. Note:\n > *call* them\n\n\
                 {sender} [said]{link}:\n```quote\ndo **this**\n```"
            )
        );
        assert_eq!(
            text("/poll Tea?", ""),
            format!("You requested a reminder for #**Verona>tea@7**.\n\n{sender} [sent]{link} a poll.")
        );
        assert!(text("````\ncode\n````", "").ends_with("\n`````quote\n````\ncode\n````\n`````"));
        let long = text(&"x".repeat(10_000), "");
        assert_eq!(long.chars().count(), 10_000);
        assert!(long.ends_with("x\n[message truncated]\n```"));
    }

    #[test]
    fn refusals_are_quoted_with_the_time() {
        let text = not_sent_text(Timestamp(1_795_416_231_000), "No.");
        assert!(text.starts_with("The message you scheduled for <time:2026-11-23T"), "{text}");
        assert!(text.contains("\n\n> No.\n\n"));
    }
}
