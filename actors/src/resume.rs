//! Rebuilds an event queue after a restart: the log since what the client has, as events for its owner.

use crate::announce;
use crate::error::DomainError;
use crate::fanout;
use crate::session::Delivered;
use crate::shared::RealmShared;
use model::{Audience, Event, Flags, Frame, QueueRecord, UserId};
use rules::narrow::EventNarrow;
use std::sync::Arc;
use storage::View;
use storage::log::RealmLog;

/// The events after number `after` that belong into a queue, ascending.
///
/// Names in them are those of now. Who receives a message follows from the subscription spans, so it is
/// who received it then; for other events it is who would be told now.
///
/// # Errors
/// `Storage` when the log cannot be read.
pub fn events_since(
    realm: &Arc<RealmShared>,
    log: &Arc<dyn RealmLog>,
    record: &QueueRecord,
    after: u64,
) -> Result<Vec<Delivered>, DomainError> {
    let view = realm.view.read();
    let narrow = EventNarrow::parse(&record.options.narrow).ok().filter(|narrow| !narrow.is_empty());
    let from = realm.trees.frame_before_event(realm.id, model::EventNumber(after))?;
    let frames = log.read(realm.id.0, from.0).map_err(|error| DomainError::Storage(error.to_string()))?;
    let mut found = Vec::new();
    for stored in frames {
        let stored = stored.map_err(|error| DomainError::Storage(error.to_string()))?;
        // The view does not know what is not published yet; those events come by themselves.
        if stored.sequence > view.progress.sequence.0 {
            break;
        }
        let frame: Frame = storage::decode_frame(&stored.payload)?;
        if frame.first_event.0 + frame.facts.iter().map(model::Fact::events_max).sum::<u64>() <= after {
            continue;
        }
        for (event, audience) in announce::events(&view, &announce::Before::default(), &frame) {
            if event.number.0 <= after || !record.options.kinds.contains(event.body.kind()) {
                continue;
            }
            found.extend(delivered(&view, record, narrow.as_ref(), event, &audience));
        }
    }
    Ok(found)
}

fn delivered(
    view: &View,
    record: &QueueRecord,
    narrow: Option<&EventNarrow>,
    event: Event,
    audience: &Audience,
) -> Option<Delivered> {
    let user = view.directory.user(record.user)?;
    let flags = match audience {
        Audience::Everyone => Flags::NONE,
        Audience::NonGuests if !user.is_guest() => Flags::NONE,
        Audience::Users(users) if users.contains(&user.id) => Flags::NONE,
        Audience::Flagged(users) => users.iter().find(|(id, _)| *id == user.id)?.1,
        Audience::Readers(message) => readers_flags(view, record, user.id, message)?,
        _ => return None,
    };
    if !crate::session::accepts(&record.options, &event) {
        return None;
    }
    if let Some(narrow) = narrow
        && !crate::session::wants(narrow, &view.directory, record.user, &event, flags)
    {
        return None;
    }
    Some(Delivered { event: Arc::new(event), flags, local_id: None })
}

fn readers_flags(view: &View, record: &QueueRecord, user: UserId, message: &model::Message) -> Option<Flags> {
    if view.is_delivered(user, message) {
        return Some(fanout::flags_at_send(user, message));
    }
    let channel = view.directory.channel(message.place.channel()?)?;
    let is_public = !channel.invite_only && !view.directory.user(user)?.is_guest();
    (crate::realm::hears_all_public_channels(&record.options) && is_public).then_some(Flags::NONE)
}
