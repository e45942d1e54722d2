//! Unsubscribing users from channels. The organization's actor decides it, because a request may name many channels: all of them are
//! left in one frame, or in as few as their bounds permit.

use super::actor::RealmActor;
use super::commands::{Leaving, Unsubscribe, Unsubscribed, UnsubscribedPart};
use crate::ReplySender;
use crate::channel::{UnreadPart, removed_facts};
use crate::error::DomainError;
use crate::shard::{BasedOn, Hold, Sequencer, SerialActor};
use crate::shared::{FLAG_RANGES_MAX, SUBSCRIBERS_MAX};
use actix::prelude::*;
use model::{ChannelId, Directory, Fact, MessageFact, MessageId, UserId};
use rules::bots::bots_leaving_with;
use rules::permissions::create::{check_may_remove_subscribers, is_own_subscription};
use storage::View;

impl RealmActor {
    /// Decides when all earlier decisions about the channels are durable: messages that are not yet would stay unread.
    fn unsubscribe(
        &mut self,
        ctx: &mut Context<Self>,
        request: Decision,
        answer: ReplySender<UnsubscribedPart>,
    ) {
        self.in_order(ctx, BasedOn::Durable, answer, move |actor, ctx, answer| {
            let awaits = |id: &ChannelId| actor.committer.is_awaiting_messages(actor.realm.id, *id);
            if request.hold.channels().iter().any(awaits) {
                return actor.unsubscribe(ctx, request, answer);
            }
            let Decision { by, leaving, is_permitted, hold } = request;
            let decided = actor.decide_unsubscribing(by, leaving, is_permitted);
            let (ids, part, facts) = match decided {
                Ok((_, part, facts)) if facts.is_empty() => return drop(answer.send(Ok(part))),
                Ok(decided) => decided,
                Err(error) => return drop(answer.send(Err(error))),
            };
            let done = Box::new(move |result: Result<(), DomainError>| {
                drop(hold);
                let _ = answer.send(result.map(|()| part));
            });
            actor.commit(ctx, ids, facts, done);
        });
    }

    fn decide_unsubscribing(
        &self,
        by: UserId,
        leaving: Vec<Leaving>,
        is_permitted: bool,
    ) -> Result<(Sequencer, UnsubscribedPart, Vec<Fact>), DomainError> {
        let ids = self.committer.ids(self.realm.id)?;
        let view = self.realm.view.read();
        if !is_permitted {
            check_unsubscribe(&view.directory, &leaving, by)?;
        }
        let (part, facts) = decide(&view, leaving, (ids.last_message(), by), Room::default());
        Ok((ids, part, facts))
    }
}

/// A request with the hold of its channels.
struct Decision {
    by: UserId,
    leaving: Vec<Leaving>,
    is_permitted: bool,
    hold: Hold,
}

impl Handler<Unsubscribe> for RealmActor {
    type Result = ();

    fn handle(&mut self, request: Unsubscribe, ctx: &mut Self::Context) {
        let Unsubscribe { by, leaving, is_permitted, answer } = request;
        let channels = leaving.iter().map(|leaving| leaving.channel).collect();
        let hold = self.committer.hold(self.realm.id, channels);
        self.unsubscribe(ctx, Decision { by, leaving, is_permitted, hold }, answer);
    }
}

/// Users may unsubscribe themselves and their bots, others only with a permission.
fn check_unsubscribe(directory: &Directory, leaving: &[Leaving], by: UserId) -> Result<(), DomainError> {
    let requester = directory.user(by).ok_or(DomainError::InvalidApiKey)?;
    let is_own = |user: &UserId| is_own_subscription(directory, by, *user);
    if leaving.iter().flat_map(|leaving| &leaving.users).all(is_own) {
        return Ok(());
    }
    let channels = leaving.iter().map(|leaving| directory.channel(leaving.channel).map(|channel| &**channel));
    let channels: Option<Vec<_>> = channels.collect();
    let channels = channels.ok_or(DomainError::InvalidApiKey)?;
    Ok(check_may_remove_subscribers(directory, requester, &channels)?)
}

/// What a frame has room for.
struct Room {
    users: usize,
    /// Ranges of unread messages.
    ranges: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { users: SUBSCRIBERS_MAX, ranges: FLAG_RANGES_MAX }
    }
}

/// What one frame holds of a request, and its facts.
fn decide(
    view: &View,
    leaving: Vec<Leaving>,
    (last, by): (MessageId, UserId),
    mut room: Room,
) -> (UnsubscribedPart, Vec<Fact>) {
    let (mut part, mut facts) = (UnsubscribedPart::default(), Vec::new());
    for Leaving { channel, users } in leaving {
        if room.users == 0 || room.ranges == 0 {
            part.left.push(Leaving { channel, users });
            continue;
        }
        let (mut removed, not_subscribed): (Vec<UserId>, Vec<UserId>) =
            users.into_iter().partition(|user| view.directory.is_subscribed(channel, *user));
        add_their_bots(&view.directory, channel, &mut removed);
        let mut left = removed.split_off(removed.len().min(room.users));
        let unread = UnreadPart::of(view, channel, &removed, room.ranges);
        left.extend(removed.split_off(unread.fitting.len()));
        room.users -= removed.len();
        room.ranges -= unread.fitting.iter().map(|(_, messages)| messages.0.len()).sum::<usize>();
        if !removed.is_empty() {
            facts.extend(removed_facts(channel, unread.fitting, last, by));
        }
        // Who stays for now has read the first of them: what is left is less.
        if let Some((user, messages)) = unread.partial.filter(|_| facts.is_empty()) {
            facts.push(Fact::Message(MessageFact::read(user, messages)));
            room.ranges = 0;
        }
        part.outcomes.push(Unsubscribed { channel, removed, not_subscribed });
        if !left.is_empty() {
            part.left.push(Leaving { channel, users: left });
        }
    }
    (part, facts)
}

/// Adds the subscribed bots of users who leave and cannot read the channel any more.
fn add_their_bots(directory: &Directory, id: ChannelId, leaving: &mut Vec<UserId>) {
    let Some(channel) = directory.channel(id) else { return };
    let mut bots = bots_leaving_with(directory, channel, leaving);
    bots.retain(|bot| directory.is_subscribed(id, *bot) && !leaving.contains(bot));
    leaving.extend(bots);
}

#[cfg(test)]
mod tests;
