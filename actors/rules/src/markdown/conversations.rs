//! Links to channels, topics and messages: `#**channel**`, `#**channel>topic**`, `#**channel>topic@id**`.

use std::fmt::Write as _;

use super::ChannelRef;
use super::html::{escaped_attribute, escaped_text};
use super::inline::{Inline, may_begin, parse_id, replace_matches};

/// Characters that a link may follow, besides white space.
const BEFORE: [char; 6] = ['\'', '"', '(', ',', ':', '<'];

/// Replaces the three kinds of links.
pub(super) fn links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    replace_matches(inline, text, "#**", |inline, start| {
        let typed = text[start + 3..].split('*').next()?;
        let end = start + 3 + typed.len();
        if typed.is_empty() || !text[end..].starts_with("**") || !may_begin(text, start, &BEFORE) {
            return None;
        }
        Some((end + 2, link_html(inline, typed)?))
    })
}

/// The HTML of a link; `None` if the sender cannot access the channel.
fn link_html(inline: &Inline<'_>, typed: &str) -> Option<String> {
    let Some((name, topic)) = typed.split_once('>') else {
        let channel = inline.context.channel_by_name(typed)?;
        let label = format!("#{}", escaped_text(&channel.name));
        return Some(anchor("stream", Some(channel.id), &channel_url(&channel), &label));
    };
    let channel = inline.context.channel_by_name(name)?;
    let message = topic.rsplit_once('@').and_then(|(topic, id)| Some((topic, parse_id(id)?)));
    if let Some((topic, id)) = message {
        let label = conversation_label(&channel, topic) + " @ 💬";
        return Some(anchor("message-link", None, &message_url(&channel, topic, id), &label));
    }
    let mut href = topic_url(&channel, topic);
    if let Some(newest) = inline.context.newest_message_in_topic(channel.id, topic) {
        write!(href, "/with/{newest}").expect("writing to a String cannot fail");
    }
    Some(anchor("stream-topic", Some(channel.id), &href, &conversation_label(&channel, topic)))
}

fn anchor(class: &str, channel_id: Option<u64>, href: &str, label_html: &str) -> String {
    let data = channel_id.map(|id| format!(r#" data-stream-id="{id}""#)).unwrap_or_default();
    format!(r#"<a class="{class}"{data} href="{}">{label_html}</a>"#, escaped_attribute(href))
}

fn conversation_label(channel: &ChannelRef, topic: &str) -> String {
    let topic = if topic.is_empty() { "<em>general chat</em>".to_owned() } else { escaped_text(topic) };
    format!("#{} &gt; {topic}", escaped_text(&channel.name))
}

/// The URL of a channel, relative to the organization's URL.
pub fn channel_url(channel: &ChannelRef) -> String {
    let mut url = format!("/#narrow/channel/{}-", channel.id);
    push_encoded(&mut url, &channel.name.replace(' ', "-"));
    url
}

/// The relative URL of a topic.
pub fn topic_url(channel: &ChannelRef, topic: &str) -> String {
    let mut url = channel_url(channel);
    url.push_str("/topic/");
    push_encoded(&mut url, topic);
    url
}

/// The relative URL of a message in its topic.
pub fn message_url(channel: &ChannelRef, topic: &str, message: u64) -> String {
    format!("{}/near/{message}", topic_url(channel, topic))
}

/// Percent-encoding with `.` instead of `%`, which some browsers decode in fragments.
fn push_encoded(url: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'~') {
            url.push(char::from(byte));
        } else {
            write!(url, ".{byte:02X}").expect("writing to a String cannot fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_encoded_for_a_fragment() {
        let channel = ChannelRef { id: 9, name: "a b/c.d é".to_owned() };
        assert_eq!(channel_url(&channel), "/#narrow/channel/9-a-b.2Fc.2Ed-.C3.A9");
        assert_eq!(topic_url(&channel, "x y-~_%"), format!("{}/topic/x.20y-~_.25", channel_url(&channel)));
    }
}
