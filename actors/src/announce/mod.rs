//! Facts become events and their recipients. Pure: computed from the view after the frame and from the
//! state before it, as far as events need it.

mod access;
mod accounts;
mod attachments;
mod bots;
mod channel_visibility;
mod channels;
mod context;
mod groups;
mod invitations;
mod messages;
mod people;
mod personal;
mod pictures;
mod pre_images;
mod push;
mod readable_parts;
mod realm;
mod replay;
mod subscriptions;
mod user_visibility;

pub use access::can_read_now;
pub(crate) use access::{Listeners, Listening, can_read_any, readable_in, viewers_of};
pub(crate) use accounts::activity_events_max;
pub(crate) use bots::manages_bot;
pub(crate) use context::EventContext;
pub use context::summary;
pub use pre_images::{PreImages, Texts, edits};
pub use replay::{Replay, pre_images_fact};
pub(crate) use user_visibility::record_user_visibility;

use context::Announcements;
use model::{Audience, Event, Fact, Frame};
use std::collections::BTreeSet;
use storage::View;

/// The events of a frame that was just applied to `view`, in order. `listening` says who can receive them, if that is known.
pub(crate) fn events(
    view: &View,
    before: &PreImages,
    frame: &Frame,
    listening: Listening<'_>,
) -> Vec<(Event, Audience)> {
    announced(&EventContext { view, before, after: &view.directory, frame, listening })
}

fn announced(context: &EventContext<'_>) -> Vec<(Event, Audience)> {
    let frame = context.frame;
    // Most facts are one event.
    let events = Vec::with_capacity(frame.facts.len());
    let mut out = Announcements {
        context,
        position: 0,
        next: frame.first_event,
        events,
        seen: BTreeSet::new(),
        seen_files: BTreeSet::new(),
    };
    let mut reserved = frame.first_event;
    for (position, fact) in frame.facts.iter().enumerate() {
        out.position = position;
        announce(fact, &mut out);
        // Each fact has its own numbers, so that a replay gives every event the same one.
        reserved.0 += fact.events_max();
        debug_assert!(out.next <= reserved, "more events than `Fact::events_max`: {fact:?}");
        out.next = reserved;
    }
    out.events
}

fn announce(fact: &Fact, out: &mut Announcements<'_>) {
    match fact {
        Fact::Realm(fact) => realm::announce(fact, out),
        Fact::User(fact) => people::announce(fact, out),
        Fact::Personal(fact) => personal::announce(fact, out),
        Fact::Group(fact) => groups::announce(fact, out),
        Fact::Channel(fact) => channels::announce(fact, out),
        Fact::Subscription(fact) => subscriptions::announce(fact, out),
        Fact::Message(fact) => messages::announce(fact, out),
        Fact::Push(fact) => push::announce(fact, out),
        Fact::Invitation(fact) => invitations::announce(fact, out),
        Fact::Attachment(fact) => attachments::announce(fact, out),
        Fact::Picture(fact) => pictures::announce(fact, out),
        Fact::Queue(_) | Fact::Job(_) | Fact::PreImages(_) | Fact::Audit(_) => {}
    }
}

pub use messages::message_body;

#[cfg(test)]
mod tests;
