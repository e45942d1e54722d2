//! The caller's saved texts in a registration.

use super::request::State;
use crate::api::wire::draft::draft;
use crate::api::wire::list::push_list;
use crate::api::wire::scheduled::{reminder, scheduled};
use crate::api::wire::snippet::snippet;
use crate::http::Envelope;
use model::UserId;

/// Adds what was asked for of `saved_snippets`, `drafts`, `scheduled_messages` and `reminders`.
pub fn text_fields(envelope: &mut Envelope, state: &State<'_>) {
    let (directory, me) = (state.directory(), state.me);
    if state.wants("saved_snippets") {
        let snippets = me.into_iter().flat_map(|me| directory.saved_snippets(me.id));
        push_list(envelope.open_field("saved_snippets"), snippets.map(|(id, record)| snippet(id, record)));
    }
    if state.wants("drafts") {
        let mut drafts: Vec<_> = me
            .into_iter()
            .flat_map(|me| directory.drafts(me.id).map(|(id, record)| (me.id, id, record)))
            .collect();
        drafts.sort_by_key(|(_, id, record)| std::cmp::Reverse((record.edited, *id)));
        let items = drafts.iter().map(|(owner, id, record)| draft(*owner, *id, record));
        push_list(envelope.open_field("drafts"), items);
    }
    let own = || {
        let all = me.into_iter().flat_map(|me| directory.scheduled_in_order(me.id));
        all.map(|(id, record)| (me.map_or(UserId::default(), |me| me.id), id, record))
    };
    if state.wants("scheduled_messages") {
        let messages = own().filter(|(_, _, record)| record.reminder.is_none());
        let items = messages.map(|(owner, id, record)| scheduled(owner, id, record));
        push_list(envelope.open_field("scheduled_messages"), items);
    }
    if state.wants("reminders") {
        let reminders = own().filter(|(_, _, record)| record.reminder.is_some());
        let items = reminders.map(|(owner, id, record)| reminder(owner, id, record));
        push_list(envelope.open_field("reminders"), items);
    }
}
