//! Events of messages that were edited or moved.

use super::*;
use model::event::{ChangedContent, MessageChange, MovedMessages};
use model::{PropagateMode, TopicLink};

pub(super) fn events() -> Vec<EventBody> {
    let link = TopicLink { text: TEXT.into(), url: "https://bugs.example/1".into() };
    let content = || ChangedContent {
        orig_content: TEXT.into(),
        orig_rendered: "<p>b</p>".into(),
        content: "c".into(),
        rendered: "<p>c</p>".into(),
        is_me: true,
    };
    let moved = |new_channel, new_topic| {
        Some(MovedMessages { mode: PropagateMode::Later, topic: String::new(), new_channel, new_topic })
    };
    let change = |channel: Option<&str>, movement, content| {
        EventBody::MessageChanged(Box::new(MessageChange {
            by: fixture::IAGO,
            at: Timestamp(9_000),
            target: MessageId(3),
            messages: [3, 4].map(MessageId).to_vec(),
            channel: channel.map(|_| fixture::VERONA),
            channel_name: channel.map(str::to_owned),
            movement,
            content,
        }))
    };
    vec![
        change(None, None, Some(content())),
        change(Some(TEXT), moved(None, Some((String::new(), vec![]))), Some(content())),
        change(Some("Verona"), moved(None, Some(("ink".into(), vec![link.clone(), link]))), None),
        change(Some("Verona"), moved(Some(ChannelId(8)), None), None),
    ]
}
