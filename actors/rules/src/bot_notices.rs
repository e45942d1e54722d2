//! Texts of the notification bot, as Markdown (docs/api/channels.md#channel-notices,
//! docs/api/messages.md#notices-of-moves).
//!
//! Only texts and their topics; the caller renders and sends them. The comments say when a notice is sent and which users
//! have read it from the start.

mod channels;
mod moves;
mod people;
mod scheduled;

pub use channels::{
    CHANNEL_EVENTS_TOPIC, NEW_CHANNELS_TOPIC, announced_text, archived_text, channel_change_text,
    channel_events_topic, created_text, sends_channel_events,
};
pub use moves::{
    MoveNotices, MoveOutcome, MovedPart, RESOLVE_UNDO_GRACE_SECS, is_resolve_undone, moved_away_text,
    moved_here_text, plan_move_notices, reads_resolve_notice, resolve_text,
};
pub use people::{
    SIGNUPS_TOPIC, bot_channel_empty_text, bot_channel_id_missing_text, bot_channel_missing_text,
    export_finished_text, invitation_accepted_text, signed_up_text, subscribed_text, welcome_text,
};

pub use scheduled::{lost_reminder_text, not_sent_text, reminder_text};

use crate::markdown::{ChannelRef, channel_url, message_url, topic_url};
use crate::topics::EMPTY_TOPIC_DISPLAY_NAME;
use model::{Channel, MessageId, User};

/// A mention without notification.
pub fn silent_mention(user: &User) -> String {
    format!("@_**{}|{}**", user.full_name, user.id)
}

/// A mention with notification.
pub(crate) fn notifying_mention(user: &User) -> String {
    format!("@**{}|{}**", user.full_name, user.id)
}

/// A link to a channel: `#**name**`, or a Markdown link if the name has special characters.
pub fn channel_link(channel: &Channel) -> String {
    if !breaks_links(&channel.name) {
        return format!("#**{}**", channel.name);
    }
    plain_link(&format!("#{}", escaped(&channel.name)), &channel_url(&channel_ref(channel)))
}

/// A link to a topic: `#**name>topic**`, or a Markdown link if a name has special characters.
pub fn topic_link(channel: &Channel, topic: &str) -> String {
    if !breaks_links(&channel.name) && !breaks_links(topic) {
        return format!("#**{}>{topic}**", channel.name);
    }
    let shown = match topic {
        "" => format!("*{EMPTY_TOPIC_DISPLAY_NAME}*"),
        topic => escaped(topic),
    };
    let text = format!("#{} &gt; {shown}", escaped(&channel.name));
    plain_link(&text, &topic_url(&channel_ref(channel), topic))
}

/// A link to a message: `#**name>topic@id**`, or a plain link where a name would break that.
pub(crate) fn message_link(channel: &Channel, topic: &str, message: MessageId) -> String {
    if !breaks_links(&channel.name) && !breaks_links(topic) {
        return format!("#**{}>{topic}@{message}**", channel.name);
    }
    let text = format!("#{} &gt; {} @ 💬", escaped(&channel.name), escaped(topic));
    plain_link(&text, &message_url(&channel_ref(channel), topic, message.0.into()))
}

fn plain_link(text: &str, url: &str) -> String {
    format!("[{text}]({})", url.trim_start_matches('/'))
}

fn channel_ref(channel: &Channel) -> ChannelRef {
    ChannelRef { id: channel.id.0.into(), name: channel.name.clone() }
}

/// Characters with a special meaning inside a link, and their entities.
const BREAKING: [(&str, &str); 7] = [
    ("&", "&amp;"),
    ("`", "&#96;"),
    (">", "&gt;"),
    ("*", "&#42;"),
    ("[", "&#91;"),
    ("]", "&#93;"),
    ("$$", "&#36;&#36;"),
];

/// Whether a name cannot be part of `#**…**`.
pub(crate) fn breaks_links(name: &str) -> bool {
    BREAKING.iter().any(|(breaking, _)| name.contains(breaking))
}

fn escaped(name: &str) -> String {
    // `&` comes first, because the entities of the others begin with it.
    BREAKING.iter().fold(name.to_owned(), |name, (breaking, entity)| name.replace(breaking, entity))
}

/// A quote block, with a fence that text of one line cannot close.
fn quoted(text: &str) -> String {
    format!("```` quote\n{text}\n````")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::markdown::{EmojiRef, GroupRef, MarkdownContext, UserRef, render};

    /// Has a channel of every name.
    struct AnyChannel;

    impl MarkdownContext for AnyChannel {
        fn user_by_name(&self, _: &str) -> Option<UserRef> {
            None
        }
        fn user_by_id(&self, id: u64) -> Option<UserRef> {
            Some(UserRef { id, full_name: "member".into(), is_active: true })
        }
        fn group_by_name(&self, _: &str) -> Option<GroupRef> {
            None
        }
        fn channel_by_name(&self, name: &str) -> Option<ChannelRef> {
            Some(ChannelRef { id: 1, name: name.to_owned() })
        }
        fn newest_message_in_topic(&self, _: u64, _: &str) -> Option<u64> {
            None
        }
        fn custom_emoji(&self, _: &str) -> Option<EmojiRef> {
            None
        }
    }

    #[test]
    fn every_name_makes_a_valid_link() {
        for (name, topic, markdown) in [
            ("design", "red pens", "#**design>red pens**"),
            ("design", "", "#**design>**"),
            ("a*b", "red", "[#a&#42;b &gt; red](#narrow/channel/1-a.2Ab/topic/red)"),
            ("a*b", "", "[#a&#42;b &gt; *general chat*](#narrow/channel/1-a.2Ab/topic/)"),
            ("a", "b > [c]", "[#a &gt; b &gt; &#91;c&#93;](#narrow/channel/1-a/topic/b.20.3E.20.5Bc.5D)"),
            (
                "a",
                "$$x$$ & `y`",
                "[#a &gt; &#36;&#36;x&#36;&#36; &amp; &#96;y&#96;](#narrow/channel/1-a/topic/.24.24x.24.24.20.26.20.60y.60)",
            ),
            ("a", "$5", "#**a>$5**"),
        ] {
            let link = topic_link(&fixture::channel(1, name), topic);
            assert_eq!(link, markdown);
            let html = render(&link, &AnyChannel).unwrap().html;
            assert_eq!(html.matches("<a ").count(), 1, "{html}");
            assert!(html.starts_with("<p><a ") && html.ends_with("</a></p>"), "{html}");
        }
        assert_eq!(channel_link(&fixture::channel(1, "design")), "#**design**");
        assert_eq!(channel_link(&fixture::channel(1, "a>b")), "[#a&gt;b](#narrow/channel/1-a.3Eb)");
    }

    #[test]
    fn silent_mentions_notify_no_user() {
        let text = silent_mention(&fixture::member());
        assert_eq!(text, "@_**member|4**");
        assert_eq!(render(&text, &AnyChannel).unwrap().mentions, Default::default());
    }
}
