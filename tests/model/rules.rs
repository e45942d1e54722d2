//! The rules: whether an action is permitted, how it changes the state, and which events it sends, as
//! described in docs/api. The organization's settings are at their defaults.

use super::state::{
    Channel, ChannelIndex, FOLLOWED, HISTORICAL, INHERIT, MENTIONED, MUTED, Message, PEOPLE, Place, Privacy,
    READ, Role, STARRED, State, UNMUTED, Who, is_toggle, key, role,
};
use super::steps::{Action, Mode};
use std::collections::{BTreeMap, BTreeSet};

/// An event of a queue, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    Message(u64, u8),
    Update(u64, Vec<u64>),
    Delete(Vec<u64>),
    /// One per message, because several requests of the same kind may share one event.
    Flag {
        is_star: bool,
        adds: bool,
        id: u64,
    },
}

/// The effects of an action besides the new state.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Events that must come.
    pub must: Vec<(Who, Event)>,
    /// Events that may come: they contain nothing new.
    pub may: Vec<(Who, Event)>,
    /// Messages to compare after the action.
    pub touched: BTreeSet<u64>,
}

/// Time limit of edits in seconds, with the grace period.
const EDIT_SECS: u64 = 600 + 20;
const DELETE_SECS: u64 = 600;
/// Time limit in seconds for undoing a resolve without a new notice.
const UNDO_SECS: u64 = 60;

/// Whether the server must permit the action.
pub fn permits(state: &State, action: &Action) -> bool {
    match action {
        Action::Send { who, channel, .. } => state.has_content(*who, *channel),
        Action::Edit { who, id, .. } => {
            let message = &state.messages[id];
            state.reads(*who, *id)
                && message.sender == Some(*who)
                && state.now_secs - message.sent_secs <= EDIT_SECS
        }
        Action::Move { who, id, topic, channel, .. } => {
            may_move(state, *who, *id, topic.as_deref(), *channel)
        }
        Action::Delete { who, id } => {
            let message = &state.messages[id];
            let is_young = state.now_secs - message.sent_secs <= DELETE_SECS;
            let is_own = message.sender == Some(*who) && is_young;
            state.reads(*who, *id) && (role(*who) == Role::Administrator || is_own)
        }
        Action::DeleteTopic { who, channel, .. } => {
            role(*who) == Role::Administrator && state.has_content(*who, *channel)
        }
        Action::Policy { who, channel, policy: INHERIT, .. } => {
            state.sees(*who, *channel) || state.has_policy_in(*who, *channel)
        }
        Action::Policy { who, channel, .. } => state.has_content(*who, *channel),
        Action::Mute { who, channel, .. } => state.is_in(*who, *channel),
        Action::Subscribe { who, channel, .. } => {
            role(*who) != Role::Guest && state.has_content(*who, *channel)
        }
        Action::Unsubscribe { who, whom, .. } if who != whom => role(*who) == Role::Administrator,
        Action::Unsubscribe { who, channel, .. } => state.sees(*who, *channel),
        Action::Privacy { who, channel, .. } => {
            role(*who) == Role::Administrator && state.has_content(*who, *channel)
        }
        // Inaccessible messages are skipped, unless a row is to be created for them.
        Action::Flag { is_star: false, .. } => true,
        Action::Flag { who, ids, .. } => ids.iter().all(|id| state.reads(*who, *id)),
        Action::Direct { .. } | Action::Wait { .. } | Action::Poll | Action::Restart => true,
    }
}

fn may_move(state: &State, who: Who, id: u64, topic: Option<&str>, channel: Option<ChannelIndex>) -> bool {
    let Place::Topic(at, current) = &state.messages[&id].place else { return false };
    let topic = topic.filter(|topic| topic != current);
    // Moving to the current channel is permitted and does nothing.
    let says_something = topic.is_some() || channel.is_some();
    let channel = channel.filter(|channel| channel != at);
    let may_leave = channel.is_none_or(|to| role(who) != Role::Guest && state.has_content(who, to));
    state.reads(who, id) && says_something && may_leave
}

/// Applies a permitted action to the state. `ids` gives the ids of new messages, in order.
pub fn apply(state: &mut State, action: &Action, ids: &mut dyn FnMut() -> u64) -> Effects {
    let mut effects = Effects::default();
    match action.clone() {
        Action::Send { who, channel, topic, content, is_read, mention } => {
            send(state, &mut effects, ids(), Sending { who, channel, topic, content, is_read, mention });
        }
        Action::Direct { who, to, content, is_read } => {
            let flags = |one: Who| if one == who && is_read { READ } else { 0 };
            let rows: BTreeMap<Who, u8> = to.iter().map(|one| (*one, flags(*one))).collect();
            add(state, &mut effects, ids(), Some(who), Place::Direct(to), Some(content), rows);
        }
        Action::Edit { id, content, .. } => edit(state, &mut effects, id, content),
        Action::Move { who, id, topic, channel, mode, notify } => {
            move_messages(state, &mut effects, Moving { who, id, topic, channel, mode, notify }, ids);
        }
        Action::Delete { id, who } => delete(state, &mut effects, &[id], who),
        Action::DeleteTopic { who, channel, topic } => {
            delete_topic(state, &mut effects, who, channel, &topic)
        }
        Action::Policy { who, channel, topic, policy } => state.set_policy(who, channel, &topic, policy),
        Action::Mute { who, channel, is_muted } => {
            let muted = &mut state.channels[channel].muted;
            if is_muted {
                muted.insert(who)
            } else {
                muted.remove(&who)
            };
        }
        Action::Subscribe { channel, whom, .. } => {
            state.channels[channel].subscribers.insert(whom);
            effects.touched = in_channel(state, channel).into_iter().rev().take(3).collect();
        }
        Action::Unsubscribe { channel, whom, .. } => unsubscribe(state, &mut effects, channel, whom),
        Action::Privacy { channel, privacy, .. } => set_privacy(state, &mut effects, (channel, privacy), ids),
        Action::Flag { who, ids, is_star, adds } => flag(state, &mut effects, who, &ids, is_star, adds),
        Action::Wait { secs } => state.now_secs += secs,
        Action::Poll | Action::Restart => {}
    }
    effects
}

fn in_channel(state: &State, channel: ChannelIndex) -> Vec<u64> {
    let is_here = |message: &Message| matches!(&message.place, Place::Topic(at, _) if *at == channel);
    state.messages.iter().filter(|(_, message)| is_here(message)).map(|(id, _)| *id).collect()
}

/// Adds a message to a conversation; users with a row for it get an event.
fn add(
    state: &mut State,
    effects: &mut Effects,
    id: u64,
    sender: Option<Who>,
    place: Place,
    content: Option<String>,
    rows: BTreeMap<Who, u8>,
) {
    effects.must.extend(rows.iter().map(|(who, flags)| (*who, Event::Message(id, *flags))));
    effects.touched.insert(id);
    let sent_secs = state.now_secs;
    let message = Message { sender, place, content, rows, sent_secs, is_resolve_notice: false };
    assert!(state.messages.insert(id, message).is_none(), "the id {id} was given twice");
}

struct Sending {
    who: Who,
    channel: ChannelIndex,
    topic: String,
    content: String,
    is_read: bool,
    mention: Option<Who>,
}

fn send(state: &mut State, effects: &mut Effects, id: u64, sending: Sending) {
    let Sending { who, channel, topic, content, is_read, mention } = sending;
    let starts_topic = state.topic(channel, &topic).is_empty();
    let subscribers = state.channels[channel].subscribers.clone();
    let flags = |one: Who| {
        let read = if one == who && is_read { READ } else { 0 };
        read | if mention == Some(one) { MENTIONED } else { 0 }
    };
    let rows = subscribers.iter().map(|one| (*one, flags(*one))).collect();
    add(state, effects, id, Some(who), Place::Topic(channel, topic.clone()), Some(content), rows);
    if let Some(new) = automatic_policy(state, who, channel, &topic, starts_topic) {
        state.set_policy(who, channel, &topic, new);
    }
    if let Some(whom) = mention.filter(|whom| subscribers.contains(whom)) {
        state.set_policy(whom, channel, &topic, FOLLOWED);
    }
}

/// The author of a topic's first message follows it; sending to a topic in a muted channel unmutes it.
fn automatic_policy(state: &State, who: Who, channel: ChannelIndex, topic: &str, starts: bool) -> Option<u8> {
    let policy = state.policy(who, channel, topic);
    // Muting is a property of the subscription.
    let is_channel_muted = state.is_in(who, channel) && state.channels[channel].muted.contains(&who);
    let is_muted = policy == MUTED || is_channel_muted;
    match policy {
        FOLLOWED => None,
        _ if starts => Some(FOLLOWED),
        UNMUTED => None,
        _ => is_muted.then_some(UNMUTED),
    }
}

/// Adds a message of the notification bot.
fn notify(
    state: &mut State,
    effects: &mut Effects,
    ids: &mut dyn FnMut() -> u64,
    place: (ChannelIndex, String),
    flags: impl Fn(Who) -> u8,
) -> u64 {
    let id = ids();
    let rows = state.channels[place.0].subscribers.iter().map(|who| (*who, flags(*who))).collect();
    add(state, effects, id, None, Place::Topic(place.0, place.1), None, rows);
    id
}

fn edit(state: &mut State, effects: &mut Effects, id: u64, content: String) {
    let message = state.messages.get_mut(&id).expect("it is there");
    message.content = Some(content);
    // Edited content mentions no user in this model.
    message.rows.values_mut().for_each(|flags| *flags &= !MENTIONED);
    effects.touched.insert(id);
    for who in 0..PEOPLE.len() {
        emit_update(state, effects, who, id, vec![id], None);
    }
}

/// Users with a row and, in channels with shared history, subscribers.
fn emit_update(
    state: &State,
    effects: &mut Effects,
    who: Who,
    target: u64,
    mut ids: Vec<u64>,
    from: Option<(&Channel, bool)>,
) {
    let message = &state.messages[&target];
    let is_notified = match (&message.place, from) {
        (Place::Topic(channel, _), None) => {
            let channel = &state.channels[*channel];
            channel.subscribers.contains(&who) && channel.privacy != Privacy::Protected
        }
        (Place::Topic(to, _), Some((old, could_read))) => {
            let was_in = old.subscribers.contains(&who);
            // In the destination channel, users who may know the source get an event of the move.
            let knew = was_in || old.privacy == Privacy::Public || role(who) == Role::Administrator;
            let sees_arrival = state.channels[*to].subscribers.contains(&who) && knew;
            was_in && old.privacy != Privacy::Protected
                || sees_arrival && (could_read || role(who) != Role::Guest)
        }
        (Place::Direct(_), _) => false,
    };
    let could_read = from.is_some_and(|(_, could_read)| could_read);
    ids.retain(|id| state.reads(who, *id));
    let event = (who, Event::update(target, ids));
    // Users who only starred a message without having received it, and guests with new access, need not get an event.
    let is_new_guest = role(who) == Role::Guest && from.is_some_and(|(_, could_read)| !could_read);
    let was_sent = message.rows.get(&who).is_some_and(|flags| flags & HISTORICAL == 0) && !is_new_guest;
    if state.reads(who, target) && (is_notified || was_sent) {
        effects.must.push(event);
    } else if state.reads(who, target) || could_read {
        effects.may.push(event);
    }
}

fn delete(state: &mut State, effects: &mut Effects, ids: &[u64], by: Who) {
    let mut notified: BTreeMap<Who, Vec<u64>> = BTreeMap::new();
    for id in ids {
        for who in state.access_set(*id) {
            notified.entry(who).or_default().push(*id);
        }
    }
    // In a public topic, users who get an event of some messages could read all: one event for all is correct as well.
    if ids.iter().all(|id| state.is_public(*id)) {
        notified.values_mut().for_each(|notified| *notified = ids.to_vec());
    }
    if !notified.contains_key(&by) {
        effects.must.push((by, Event::Delete(ids.to_vec())));
    }
    effects.must.extend(notified.into_iter().map(|(who, ids)| (who, Event::Delete(ids))));
    for id in ids {
        state.messages.remove(id);
        effects.touched.insert(*id);
    }
}

fn delete_topic(state: &mut State, effects: &mut Effects, who: Who, channel: ChannelIndex, topic: &str) {
    let ids: Vec<u64> = state.topic(channel, topic).into_iter().filter(|id| state.reads(who, *id)).collect();
    delete(state, effects, &ids, who);
    let left = state.topic(channel, topic);
    for one in 0..PEOPLE.len() {
        let has_left = left.iter().any(|id| state.messages[id].rows.contains_key(&one));
        if state.channels[channel].privacy != Privacy::Protected || !has_left {
            state.set_policy(one, channel, topic, INHERIT);
        }
    }
}

fn unsubscribe(state: &mut State, effects: &mut Effects, channel: ChannelIndex, whom: Who) {
    let here: BTreeSet<u64> = in_channel(state, channel).into_iter().collect();
    let unread: Vec<u64> = state.unread(whom).intersection(&here).copied().collect();
    if !state.channels[channel].subscribers.remove(&whom) {
        return;
    }
    for id in &unread {
        *state.messages.get_mut(id).expect("it is there").rows.get_mut(&whom).expect("a row") |= READ;
    }
    effects.touched.extend(unread.iter().rev().take(5));
    let read = |id| (whom, Event::Flag { is_star: false, adds: true, id });
    effects.must.extend(unread.into_iter().map(read));
}

fn set_privacy(
    state: &mut State,
    effects: &mut Effects,
    (channel, privacy): (ChannelIndex, Privacy),
    ids: &mut dyn FnMut() -> u64,
) {
    if state.channels[channel].privacy == privacy {
        return;
    }
    state.channels[channel].privacy = privacy;
    effects.touched = in_channel(state, channel).into_iter().rev().take(5).collect();
    // The requester gets the event, too.
    notify(state, effects, ids, (channel, "channel events".to_owned()), |_| 0);
}

fn flag(state: &mut State, effects: &mut Effects, who: Who, ids: &[u64], is_star: bool, adds: bool) {
    for id in ids {
        let is_here = match &state.messages[id].place {
            Place::Direct(_) => true,
            Place::Topic(channel, _) => state.is_in(who, *channel),
        };
        if (!is_star && !adds && !is_here) || !state.reads(who, *id) {
            continue;
        }
        let bit = if is_star { STARRED } else { READ };
        let before = state.flags(who, *id);
        let after = if adds { before | bit } else { before & !bit };
        if after != before {
            state.messages.get_mut(id).expect("it is there").rows.insert(who, after);
            effects.must.push((who, Event::Flag { is_star, adds, id: *id }));
        }
    }
    effects.touched.extend(ids);
}

struct Moving {
    who: Who,
    id: u64,
    topic: Option<String>,
    channel: Option<ChannelIndex>,
    mode: Mode,
    notify: (bool, bool),
}

fn move_messages(state: &mut State, effects: &mut Effects, moving: Moving, ids: &mut dyn FnMut() -> u64) {
    let Moving { who, id, topic, channel, mode, notify: (notify_old, notify_new) } = moving;
    let Place::Topic(from, old_topic) = state.messages[&id].place.clone() else { return };
    let topic = topic.filter(|topic| *topic != old_topic);
    let to = channel.unwrap_or(from);
    if topic.is_none() && to == from {
        return;
    }
    let goal = topic.clone().unwrap_or_else(|| old_topic.clone());
    let is_same_topic = to == from && key(&goal) == key(&old_topic);
    let whole = state.topic(from, &old_topic);
    let is_chosen = |one: &u64| match mode {
        Mode::One => *one == id,
        Mode::Later => *one >= id,
        Mode::All => true,
    };
    let moved: Vec<u64> =
        whole.iter().copied().filter(|one| is_chosen(one) && state.reads(who, *one)).collect();
    let leaves_some = whole.iter().any(|one| !moved.contains(one) && state.reads(who, *one));
    let goal_has_messages = state.topic(to, &goal).iter().any(|one| !moved.contains(one));
    let before = state.clone();
    for one in &moved {
        let message = state.messages.get_mut(one).expect("it is there");
        let Place::Topic(_, spelled) = &message.place else { continue };
        message.place = Place::Topic(to, topic.clone().unwrap_or_else(|| spelled.clone()));
    }
    if to != from {
        redeliver(state, &before, &moved, to);
    }
    effects.touched.extend(moved.iter().rev().take(5));
    effects.touched.extend(moved.first());
    emit_move(state, &before, effects, id, &moved, from);
    if !is_same_topic && !leaves_some {
        migrate_policies(state, (&before, &moved), ((from, &old_topic), (to, &goal)), goal_has_messages);
    }
    // Moving part of a topic starts a new topic; moving all of it renames the topic.
    let is_resolve = to == from && is_toggle(&old_topic, &goal);
    if !is_same_topic && leaves_some && state.topic(to, &goal).first() == Some(&id) {
        let sender = before.messages[&id].sender;
        if let Some(sender) = sender.filter(|sender| state.has_content(*sender, to))
            && let Some(new) = automatic_policy(state, sender, to, &goal, true)
        {
            state.set_policy(sender, to, &goal, new);
        }
    }
    let read_by_actor = |one: Who| if one == who { READ } else { 0 };
    if is_resolve {
        emit_resolve_notice(state, effects, who, (to, &goal), ids);
    } else {
        if notify_new {
            notify(state, effects, ids, (to, goal), read_by_actor);
        }
        // After a change of case only, there is no old topic.
        if notify_old && !is_same_topic {
            notify(state, effects, ids, (from, old_topic), read_by_actor);
        }
    }
}

/// Users with a row for moved messages in the destination channel.
fn redeliver(state: &mut State, before: &State, moved: &[u64], to: ChannelIndex) {
    let goal = before.channels[to].clone();
    for id in moved {
        let rows = &mut state.messages.get_mut(id).expect("it is there").rows;
        rows.retain(|who, _| goal.subscribers.contains(who));
        if goal.privacy == Privacy::Protected {
            for who in &goal.subscribers {
                rows.entry(*who).or_insert(READ);
            }
        }
    }
}

fn emit_move(
    state: &State,
    before: &State,
    effects: &mut Effects,
    target: u64,
    moved: &[u64],
    from: ChannelIndex,
) {
    let old = &before.channels[from];
    for who in 0..PEOPLE.len() {
        let lost: Vec<u64> =
            moved.iter().copied().filter(|id| before.reads(who, *id) && !state.reads(who, *id)).collect();
        let could_read = before.reads(who, target);
        if !lost.is_empty() {
            let event = (who, Event::Delete(lost));
            if old.subscribers.contains(&who) { effects.must.push(event) } else { effects.may.push(event) }
        }
        emit_update(state, effects, who, target, moved.to_vec(), Some((old, could_read)));
    }
}

/// A policy follows the messages that its user could read; if the new topic has messages, the more visible policy wins.
fn migrate_policies(
    state: &mut State,
    (before, moved): (&State, &[u64]),
    (from, to): ((ChannelIndex, &str), (ChannelIndex, &str)),
    has_messages: bool,
) {
    let visibility = |policy: u8| [1, 0, 2, 3][usize::from(policy)];
    for who in (0..PEOPLE.len()).filter(|who| moved.iter().any(|one| before.reads(*who, *one))) {
        let (old, new) = (state.policy(who, from.0, from.1), state.policy(who, to.0, to.1));
        if old == INHERIT && new == INHERIT {
            continue;
        }
        state.set_policy(who, from.0, from.1, INHERIT);
        let best = match has_messages {
            true if visibility(old) >= visibility(new) => old,
            true => new,
            // A policy set for an empty topic in advance stays.
            false if old == INHERIT => new,
            false => old,
        };
        // Users who lose access by the move lose their policy for the old topic, and nothing else.
        let loses = state.has_content(who, from.0) && !state.has_content(who, to.0);
        state.set_policy(who, to.0, to.1, if loses { new } else { best });
    }
}

/// The notice of a resolve, or the removal of the notice before it.
fn emit_resolve_notice(
    state: &mut State,
    effects: &mut Effects,
    who: Who,
    place: (ChannelIndex, &str),
    ids: &mut dyn FnMut() -> u64,
) {
    let (channel, topic) = place;
    let last = *state.topic(channel, topic).last().expect("a message that was moved here");
    let message = &state.messages[&last];
    if message.is_resolve_notice && state.now_secs - message.sent_secs <= UNDO_SECS {
        // Sent by the notification bot, so it is unread for the requester, too.
        let mut undone = Effects::default();
        let notified = state.access_set(last);
        delete(state, &mut undone, &[last], 0);
        undone.must.retain(|(one, _)| notified.contains(one));
        effects.must.extend(undone.must);
        effects.touched.insert(last);
        return;
    }
    let followers: BTreeSet<Who> =
        (0..PEOPLE.len()).filter(|one| state.policy(*one, channel, topic) == FOLLOWED).collect();
    let flags = |one: Who| if one == who || !followers.contains(&one) { READ } else { 0 };
    let id = notify(state, effects, ids, (channel, topic.to_owned()), flags);
    state.messages.get_mut(&id).expect("just added").is_resolve_notice = true;
}
