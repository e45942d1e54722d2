//! Rebuilds an event queue after a restart: the log since what the client has, as events for its owner.
//!
//! Nothing is told that the owner may not know now, and nothing is left out that a client would wait for: where it
//! cannot be known any more who had a message that is gone, the queue ends and the client registers again.

use crate::announce::{self, Replay};
use crate::error::DomainError;
use crate::fanout;
use crate::session::Delivered;
use crate::shared::RealmShared;
use model::fact::DeletedFrom;
use model::{
    Audience, ChannelId, Event, EventBody, Fact, Flags, Frame, MessageRanges, QueueRecord, User, UserId,
};
use rules::narrow::EventNarrow;
use rules::permissions::channel::sees_channel;
use std::sync::Arc;
use storage::View;
use storage::log::RealmLog;

/// The events after number `after` that belong into a queue, ascending.
///
/// People's names in them are those of now. Who receives a message follows from the subscription spans, so it is
/// who received it then; for other events it is who was told then and may still know.
///
/// # Errors
/// `Storage` when the log cannot be read; `BadEventQueue` when not all of them can be told apart any more.
pub fn events_since(
    realm: &Arc<RealmShared>,
    log: &Arc<dyn RealmLog>,
    record: &QueueRecord,
    after: u64,
) -> Result<Vec<Delivered>, DomainError> {
    let view = realm.view.read();
    let narrow = EventNarrow::parse(&record.options.narrow).ok().filter(|narrow| !narrow.is_empty());
    let mut changes = Vec::new();
    for_each_frame(realm, log, &view, after, |frame| {
        if frame.facts.iter().any(|fact| is_uncertain(&view, record.user, fact)) {
            return Err(DomainError::BadEventQueue(record.id.clone()));
        }
        changes.extend(frame.facts.into_iter().filter(Replay::keeps));
        Ok(())
    })?;
    let mut replay = Replay::start(&view, &changes);
    let mut found = Vec::new();
    for_each_frame(realm, log, &view, after, |frame| {
        for (event, audience) in replay.events(&frame) {
            if event.number.0 > after && record.options.kinds.contains(event.body.kind()) {
                found.extend(delivered(&view, record, narrow.as_ref(), event, &audience));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Goes through the frames with events after a number, oldest first.
fn for_each_frame(
    realm: &Arc<RealmShared>,
    log: &Arc<dyn RealmLog>,
    view: &View,
    after: u64,
    mut then: impl FnMut(Frame) -> Result<(), DomainError>,
) -> Result<(), DomainError> {
    let from = realm.trees.frame_before_event(realm.id, model::EventNumber(after))?;
    let frames = log.read(realm.id.0, from.0).map_err(|error| DomainError::Storage(error.to_string()))?;
    for stored in frames {
        let stored = stored.map_err(|error| DomainError::Storage(error.to_string()))?;
        // The view does not know what is not published yet; those events come by themselves.
        if stored.sequence > view.progress.sequence.0 {
            break;
        }
        let frame: Frame = storage::decode_frame(&stored.payload)?;
        if frame.first_event.0 + frame.facts.iter().map(Fact::events_max).sum::<u64>() > after {
            then(frame)?;
        }
    }
    Ok(())
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
    if !may_know(view, user, &event.body) {
        return None;
    }
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

/// Whether what an event shows may still be shown to its reader. That something is gone may always be said.
fn may_know(view: &View, user: &User, body: &EventBody) -> bool {
    let sees = |id: &ChannelId| {
        view.directory.channel(*id).is_some_and(|channel| sees_channel(&view.directory, user, channel))
    };
    let keeps = |bot: UserId| view.directory.user(bot).is_some_and(|bot| announce::looks_after(user, bot));
    match body {
        EventBody::Message { message, .. } => announce::can_read_now(view, user, message),
        EventBody::ChannelsCreated(created) => created.iter().all(|one| sees(&one.channel.id)),
        EventBody::SubscriptionsAdded(added) => added.iter().all(|one| sees(&one.summary.channel.id)),
        EventBody::ChannelChanged { channel, .. }
        | EventBody::PeersAdded { channel, .. }
        | EventBody::PeersRemoved { channel, .. } => sees(channel),
        // With its key, which is the one of now.
        EventBody::BotAdded { bot, .. } => keeps(bot.id),
        EventBody::BotChanged { bot, .. } => keeps(*bot),
        _ => true,
    }
}

/// Whether a fact took messages from somebody of whom nobody knows any more which of them they had: in protected
/// history, those that had come there from elsewhere.
fn is_uncertain(view: &View, user: UserId, fact: &Fact) -> bool {
    let (channel, messages): (ChannelId, &MessageRanges) = match fact {
        Fact::MessagesDeleted { from: DeletedFrom::Topic { channel, .. }, messages, .. } => {
            (*channel, messages)
        }
        Fact::MessageUpdated(update) => match &update.movement {
            Some(movement) if movement.new_channel.is_some() => (movement.channel, &movement.messages),
            _ => return false,
        },
        _ => return false,
    };
    let Some(record) = view.directory.channel(channel) else { return false };
    let is_protected = record.invite_only && !record.history_public_to_subscribers;
    let own = view.directory.subscription(channel, user).filter(|own| is_protected && own.is_active);
    own.is_some_and(|own| messages.iter().any(|id| !own.received(id)))
}
