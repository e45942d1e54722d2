//! Events of what people say about themselves, whom they mute, the views of their sidebar, and profile fields
//! (events.md 3).

use super::changes::{push_object, push_open};
use crate::api::wire::json::{push_field, push_name, push_text, push_text_field};
use crate::api::wire::list::push_list;
use crate::api::wire::navigation::view;
use crate::api::wire::profile::field;
use crate::api::wire::status::changed_status;
use crate::api::wire::user::muted;
use model::EventBody;

/// Writes an event up to its number.
pub(super) fn push(out: &mut Vec<u8>, body: &EventBody) {
    match body {
        EventBody::UserStatus { user, change } => {
            out.extend_from_slice(b"{\"type\":\"user_status\"");
            push_field(out, "user_id", user);
            changed_status(out, change);
        }
        EventBody::MutedUsers(users) => {
            out.extend_from_slice(b"{\"type\":\"muted_users\"");
            push_name(out, "muted_users");
            push_list(out, users.iter().map(|(user, since)| muted(*user, *since)));
        }
        EventBody::InvitationsChanged => out.extend_from_slice(b"{\"type\":\"invites_changed\""),
        EventBody::NavigationViewAdded { fragment, view: record } => {
            push_open(out, "navigation_view", "add");
            push_field(out, "navigation_view", &view(fragment, record));
        }
        EventBody::NavigationViewChanged { fragment, is_pinned, name } => {
            push_open(out, "navigation_view", "update");
            push_name(out, "fragment");
            push_text(out, fragment);
            push_name(out, "data");
            let mut data = Vec::new();
            if let Some(is_pinned) = is_pinned {
                push_field(&mut data, "is_pinned", is_pinned);
            }
            if let Some(name) = name {
                push_text_field(&mut data, "name", name);
            }
            push_object(out, &data);
        }
        EventBody::NavigationViewRemoved(fragment) => {
            push_open(out, "navigation_view", "remove");
            push_text_field(out, "fragment", fragment);
        }
        EventBody::ProfileFields(fields) => {
            out.extend_from_slice(b"{\"type\":\"custom_profile_fields\"");
            push_name(out, "fields");
            push_list(out, fields.list.iter().map(field));
        }
        _ => {}
    }
}
