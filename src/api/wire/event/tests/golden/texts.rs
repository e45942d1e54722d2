//! Events of the texts that users keep.

use super::*;
use model::event::TextChange;
use model::{
    DraftId, DraftTo, Reminder, SavedDraft, SavedSnippet, SavedSnippetId, ScheduledMessage,
    ScheduledMessageId, ScheduledTo,
};

fn snippet() -> SavedSnippet {
    SavedSnippet { title: TEXT.into(), content: TEXT.into(), created: Timestamp(5_000) }
}

fn draft(to: DraftTo) -> SavedDraft {
    SavedDraft { to, content: TEXT.into(), edited: Timestamp(5_000) }
}

fn drafts(change: TextChange<DraftId, SavedDraft>) -> EventBody {
    EventBody::Drafts { owner: fixture::IAGO, change }
}

/// To a topic; a failed one to people.
fn later(failure: Option<&str>, target: Option<MessageId>) -> ScheduledMessage {
    let to = match failure {
        None => ScheduledTo::Channel { channel: ChannelId(3), topic: TEXT.into() },
        Some(_) => ScheduledTo::People(vec![fixture::IAGO, fixture::CORDELIA]),
    };
    ScheduledMessage {
        to,
        content: TEXT.into(),
        rendered: "<p>x</p>".into(),
        due: Timestamp(5_000),
        client: "website".into(),
        read_by_sender: true,
        url: "http://chat.example".into(),
        failure: failure.map(str::to_owned),
        reminder: target.map(|message| Reminder { message, note: TEXT.into() }),
    }
}

fn scheduled(change: TextChange<ScheduledMessageId, ScheduledMessage>) -> EventBody {
    EventBody::ScheduledMessages { owner: fixture::IAGO, change }
}

fn reminders(change: TextChange<ScheduledMessageId, ScheduledMessage>) -> EventBody {
    EventBody::Reminders { owner: fixture::IAGO, change }
}

/// An event of each kind.
pub(super) fn events() -> Vec<EventBody> {
    vec![
        EventBody::SavedSnippets(TextChange::Added(vec![(SavedSnippetId(1), snippet())])),
        EventBody::SavedSnippets(TextChange::Changed(SavedSnippetId(1), snippet())),
        EventBody::SavedSnippets(TextChange::Removed(SavedSnippetId(1))),
        drafts(TextChange::Added(vec![
            (DraftId(1), draft(DraftTo::Channel { channel: ChannelId(3), topic: TEXT.into() })),
            (DraftId(2), draft(DraftTo::People(vec![fixture::IAGO, fixture::CORDELIA]))),
        ])),
        drafts(TextChange::Changed(DraftId(1), draft(DraftTo::Nowhere))),
        drafts(TextChange::Changed(DraftId(2), draft(DraftTo::People(vec![fixture::IAGO])))),
        drafts(TextChange::Removed(DraftId(1))),
        scheduled(TextChange::Added(vec![(ScheduledMessageId(1), later(None, None))])),
        scheduled(TextChange::Changed(ScheduledMessageId(1), later(Some(TEXT), None))),
        scheduled(TextChange::Removed(ScheduledMessageId(1))),
        reminders(TextChange::Added(vec![(ScheduledMessageId(2), later(None, Some(MessageId(7))))])),
        reminders(TextChange::Changed(ScheduledMessageId(2), later(None, Some(MessageId(7))))),
        reminders(TextChange::Removed(ScheduledMessageId(2))),
    ]
}
