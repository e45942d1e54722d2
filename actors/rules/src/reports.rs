//! Reports of messages to moderators (docs/api/messages.md#report-a-message): the reasons that may be given, who
//! receives them, and the text of the notice. Rendering and sending is for others.

use crate::bot_notices::{breaks_links, channel_link, silent_mention};
use crate::content::{CONTENT_LENGTH_MAX, TRUNCATED_MARKER};
use crate::error::{ReportError, RuleError};
use crate::settings::realm_int;
use crate::text;
use crate::topics::TOPIC_LENGTH_MAX;
use jiff::Timestamp as Instant;
use model::{Channel, ChannelId, Directory, Message, Place, User};
use std::sync::Arc;

/// The reasons for a report, with the name that is shown.
pub const REPORT_TYPES: [(&str, &str); 5] = [
    ("spam", "Spam"),
    ("harassment", "Harassment"),
    ("inappropriate", "Inappropriate content"),
    ("norms", "Violates community norms"),
    ("other", "Other reason"),
];

/// Maximum length of the explanation of a report, in code points.
pub const REPORT_DESCRIPTION_LENGTH_MAX: usize = 1000;

/// Recipients of a direct message that the notice names.
const NAMED_MAX: usize = 5;

/// Length of the notice besides the explanation and the reported text, at most, in code points.
const FRAME_LENGTH_MAX: usize = 1000;

/// The part of the reported message that the notice contains, in code points.
const REPORTED_LENGTH_MAX: usize = CONTENT_LENGTH_MAX - REPORT_DESCRIPTION_LENGTH_MAX - FRAME_LENGTH_MAX;

/// A reported message and the reason.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// The user who reports.
    pub by: &'r User,
    /// A message that the requester can read.
    pub message: &'r Message,
    /// One of [`REPORT_TYPES`].
    pub reason: &'r str,
    /// The explanation; may be empty.
    pub description: &'r str,
}

/// The channel that receives reports.
///
/// # Errors
/// `NotEnabled` without one, and when it is archived.
pub fn moderation_channel(dir: &Directory) -> Result<&Arc<Channel>, RuleError> {
    let id = realm_int(dir.realm(), "moderation_request_channel_id");
    let id = id.and_then(|id| u32::try_from(id).ok()).map(ChannelId);
    let channel = id.and_then(|id| dir.channel(id)).filter(|channel| !channel.is_archived);
    channel.ok_or_else(|| ReportError::NotEnabled.into())
}

/// The display name of a reason.
///
/// # Errors
/// `ExplanationRequired` for `other` without a description; `SettingInvalid` for unknown reasons.
pub fn check_reason(reason: &str, description: &str) -> Result<&'static str, RuleError> {
    let known = REPORT_TYPES.into_iter().find(|(key, _)| *key == reason);
    let (key, name) = known.ok_or_else(|| RuleError::SettingInvalid { name: "report_type".to_owned() })?;
    if key == "other" && description.trim().is_empty() {
        return Err(ReportError::ExplanationRequired.into());
    }
    Ok(name)
}

/// The topic of reports about a user.
pub fn report_topic(sender: &User) -> String {
    text::cut(&format!("{} moderation", sender.full_name), TOPIC_LENGTH_MAX, "...")
}

/// The notice, as Markdown.
///
/// # Errors
/// As [`check_reason`].
pub fn report_text(dir: &Directory, report: &Report<'_>) -> Result<String, RuleError> {
    let Report { by, message, reason, description } = *report;
    let reason = check_reason(reason, description)?;
    let explanation = match description.trim() {
        "" => format!("**{reason}**."),
        text => format!("**{reason}**. {text}"),
    };
    let content = text::cut(&message.content, REPORTED_LENGTH_MAX, TRUNCATED_MARKER);
    let quote = fence(&explanation);
    let spoiler = fence(&content);
    let what = what_was_sent(dir, message);
    let place = place_of(dir, message).map(|place| format!(" at {place}")).unwrap_or_default();
    let (by, at) = (silent_mention(by), sent_at(message));
    Ok(format!(
        "{by} reported {what} at {at}.\n{quote}quote\n{explanation}\n{quote}\n\n\
         {spoiler} spoiler Original message{place}\n{content}\n{spoiler}"
    ))
}

/// `a message sent by …`; of a direct message also to whom.
fn what_was_sent(dir: &Directory, message: &Message) -> String {
    let sender = mention(dir, message.sender);
    if message.place != Place::Direct {
        return format!("a message sent by {sender}");
    }
    let users = dir.direct(message.recipient).map(|direct| direct.users.as_slice()).unwrap_or_default();
    let others = users.iter().filter(|user| **user != message.sender);
    let (count, mut others): (usize, Vec<String>) =
        (others.clone().count(), others.take(NAMED_MAX).map(|user| mention(dir, *user)).collect());
    if count > NAMED_MAX {
        others.push(format!("{} others", count - NAMED_MAX));
    }
    match (others.pop(), others.is_empty()) {
        (None, _) => format!("a DM sent by {sender} to themselves"),
        (Some(only), true) => format!("a DM sent by {sender} to {only}"),
        (Some(last), false) => format!("a DM sent by {sender} to {} and {last}", others.join(", ")),
    }
}

fn mention(dir: &Directory, user: model::UserId) -> String {
    dir.user(user).map_or_else(|| "a user".to_owned(), |user| silent_mention(user))
}

/// A link to a message of a channel.
fn place_of(dir: &Directory, message: &Message) -> Option<String> {
    let Place::Channel { channel, topic } = &message.place else { return None };
    let channel = dir.channel(*channel)?;
    if breaks_links(&channel.name) || breaks_links(topic) {
        return Some(channel_link(channel));
    }
    Some(format!("#**{}>{topic}@{}**", channel.name, message.id))
}

fn sent_at(message: &Message) -> String {
    let secs = i64::try_from(message.sent.secs()).unwrap_or_default();
    let at = Instant::from_second(secs).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S+00:00");
    format!("<time:{at}>")
}

/// A fence that a text does not contain.
fn fence(text: &str) -> String {
    let longest = text
        .lines()
        .map(|line| line.trim_start())
        .map(|line| line.len() - line.trim_start_matches('`').len());
    "`".repeat(longest.max().unwrap_or(0).max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{DirectConversation, MessageId, RecipientId, SettingValue, Timestamp, UserId};

    fn message(place: Place, content: &str) -> Message {
        let sent = Timestamp(1_795_329_851_000);
        let (id, recipient) = (MessageId(114), RecipientId(1000));
        let message = Message::new(id, fixture::OTHER_MEMBER, recipient, place, sent);
        Message { content: content.into(), ..message }
    }

    fn text(
        dir: &Directory,
        message: &Message,
        reason: &str,
        description: &str,
    ) -> Result<String, RuleError> {
        report_text(dir, &Report { by: &fixture::member(), message, reason, description })
    }

    #[test]
    fn notice_names_reason_and_message() {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(3, "Verona"));
        let other = crate::bot_notices::silent_mention(dir.user(fixture::OTHER_MEMBER).unwrap());
        let place = Place::Channel { channel: ChannelId(3), topic: "rude".into() };
        let rude = message(place, "rude `words`\nand more");
        assert_eq!(
            text(&dir, &rude, "harassment", "please **look**").unwrap(),
            format!(
                "@_**member|4** reported a message sent by {other} at <time:2026-11-22T06:44:11+00:00>.\n\
                 ```quote\n**Harassment**. please **look**\n```\n\n\
                 ``` spoiler Original message at #**Verona>rude@114**\nrude `words`\nand more\n```"
            )
        );
        dir.put_direct(DirectConversation {
            recipient: RecipientId(1000),
            users: vec![fixture::MEMBER, fixture::OTHER_MEMBER],
        });
        let direct = message(Place::Direct, "```\ncode\n```");
        let expected = format!(
            "@_**member|4** reported a DM sent by {other} to @_**member|4** at \
             <time:2026-11-22T06:44:11+00:00>.\n```quote\n**Spam**.\n```\n\n\
             ```` spoiler Original message\n```\ncode\n```\n````"
        );
        assert_eq!(text(&dir, &direct, "spam", " ").unwrap(), expected);
    }

    #[test]
    fn other_reasons_need_an_explanation() {
        let dir = fixture::directory();
        let direct = message(Place::Direct, "x");
        let unexplained = Err(ReportError::ExplanationRequired.into());
        assert_eq!(text(&dir, &direct, "other", " "), unexplained);
        let unknown = Err(RuleError::SettingInvalid { name: "report_type".to_owned() });
        assert_eq!(text(&dir, &direct, "boring", "x"), unknown);
        assert!(text(&dir, &direct, "other", "x").is_ok());
        let long = message(Place::Direct, &"x".repeat(CONTENT_LENGTH_MAX));
        let notice = text(&dir, &long, "spam", &"y".repeat(REPORT_DESCRIPTION_LENGTH_MAX)).unwrap();
        assert!(notice.chars().count() <= CONTENT_LENGTH_MAX, "{}", notice.len());
    }

    #[test]
    fn reports_need_a_channel_in_use() {
        let mut dir = fixture::directory();
        assert_eq!(moderation_channel(&dir).map(|channel| channel.id), Err(ReportError::NotEnabled.into()));
        let mut channel = fixture::channel(3, "core");
        dir.put_channel(channel.clone());
        fixture::set_realm(&mut dir, "moderation_request_channel_id", SettingValue::Int(3));
        assert_eq!(moderation_channel(&dir).map(|channel| channel.id), Ok(ChannelId(3)));
        channel.is_archived = true;
        dir.put_channel(channel);
        assert!(moderation_channel(&dir).is_err());
        let long = User::new(UserId(9), "a@b.example", "é".repeat(100), model::Role::Member, Timestamp(0));
        assert_eq!(report_topic(&long).chars().count(), TOPIC_LENGTH_MAX);
    }
}
