//! Links to channels, topics and messages: `#**channel**`, `#**channel>topic**`, `#**channel>topic@id**`.

use std::fmt::Write as _;

use super::ChannelRef;
use super::html::{escaped_attribute, push_text};
use super::inline::{Inline, Rewrite, may_begin, parse_id};

/// Besides white space, what a link may follow.
const BEFORE: [char; 6] = ['\'', '"', '(', ',', ':', '<'];

/// The three kinds of links.
pub(super) fn links(inline: &mut Inline<'_>, text: &str, _next: usize) -> Option<String> {
    let mut rewrite = Rewrite::of(text);
    let mut from = 0;
    while let Some(offset) = text[from..].find("#**") {
        let start = from + offset;
        from = start + 3;
        let Some(length) = text[from..].find('*') else { break };
        let end = from + length + 2;
        if length == 0 || !text[from + length..].starts_with("**") || !may_begin(text, start, &BEFORE) {
            continue;
        }
        if let Some(html) = link_html(inline, &text[from..from + length]) {
            rewrite.put(start, end, html, &mut inline.stash);
            from = end;
        }
    }
    rewrite.finish()
}

/// The link's HTML; `None` if there is no such channel for the sender.
fn link_html(inline: &Inline<'_>, typed: &str) -> Option<String> {
    let Some((name, topic)) = typed.split_once('>') else {
        let channel = inline.context.channel_by_name(typed)?;
        let href = channel_url(&channel);
        let mut html = open_tag("stream", Some(channel.id), &href);
        push_text(&mut html, &format!("#{}", channel.name));
        html.push_str("</a>");
        return Some(html);
    };
    let channel = inline.context.channel_by_name(name)?;
    let message = topic.rsplit_once('@').and_then(|(topic, id)| Some((topic, parse_id(id)?)));
    if let Some((topic, id)) = message {
        let href = message_url(&channel, topic, id);
        let mut html = open_tag("message-link", None, &href);
        push_conversation(&mut html, &channel, topic);
        html.push_str(" @ 💬</a>");
        return Some(html);
    }
    let mut href = topic_url(&channel, topic);
    if let Some(newest) = inline.context.newest_message_in_topic(channel.id, topic) {
        write!(href, "/with/{newest}").expect("writing to a String cannot fail");
    }
    let mut html = open_tag("stream-topic", Some(channel.id), &href);
    push_conversation(&mut html, &channel, topic);
    html.push_str("</a>");
    Some(html)
}

fn open_tag(class: &str, channel_id: Option<u64>, href: &str) -> String {
    let data = channel_id.map(|id| format!(r#" data-stream-id="{id}""#)).unwrap_or_default();
    format!(r#"<a class="{class}"{data} href="{}">"#, escaped_attribute(href))
}

fn push_conversation(html: &mut String, channel: &ChannelRef, topic: &str) {
    push_text(html, &format!("#{} > ", channel.name));
    if topic.is_empty() {
        html.push_str("<em>general chat</em>");
    } else {
        push_text(html, topic);
    }
}

/// The address of a channel, relative to the organization's root.
pub fn channel_url(channel: &ChannelRef) -> String {
    let mut url = format!("/#narrow/channel/{}-", channel.id);
    push_encoded(&mut url, &channel.name.replace(' ', "-"));
    url
}

/// The address of a topic, likewise.
pub fn topic_url(channel: &ChannelRef, topic: &str) -> String {
    let mut url = channel_url(channel);
    url.push_str("/topic/");
    push_encoded(&mut url, topic);
    url
}

/// The address of a message in its topic, likewise.
pub fn message_url(channel: &ChannelRef, topic: &str, message: u64) -> String {
    format!("{}/near/{message}", topic_url(channel, topic))
}

/// Percent-encoding with `.` for `%`, which some browsers would decode in a fragment.
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
