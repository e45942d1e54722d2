//! Statuses, muted users, push devices, navigation views, custom emoji and profile fields of a registration.

use super::request::State;
use crate::api::wire::emoji::realm_emoji;
use crate::api::wire::json::push_value;
use crate::api::wire::list::{Object, push_list};
use crate::api::wire::navigation::view;
use crate::api::wire::profile::field;
use crate::api::wire::push::device;
use crate::api::wire::status::statuses;
use crate::api::wire::user::muted;
use crate::http::Envelope;
use model::UserId;
use rules::permissions::users::{UserScope, user_scope};
use std::collections::BTreeMap;

/// Adds the requested ones of these parts.
pub fn profile_fields(envelope: &mut Envelope, state: &State<'_>) {
    let (directory, me) = (state.directory(), state.me);
    if state.wants("user_status") {
        let out = envelope.open_field("user_status");
        match me.map(|me| user_scope(directory, me)) {
            None => out.extend_from_slice(b"{}"),
            Some(UserScope::All) => envelope.splice(state.request.shared.statuses(directory)),
            Some(scope) => {
                let shown = statuses(directory).filter(|(user, _)| scope.contains(user.id));
                let by_id: BTreeMap<UserId, _> = shown.map(|(user, status)| (user.id, status)).collect();
                push_value(out, &by_id);
            }
        }
    }
    if state.wants("muted_users") {
        let users = me.into_iter().flat_map(|me| directory.muted_by(me.id));
        push_list(envelope.open_field("muted_users"), users.map(|(user, since)| muted(user, since)));
    }
    if state.wants("push_device") {
        let devices = me.map(|me| directory.push_devices(me.id)).unwrap_or_default();
        let members = devices.iter().map(|record| (record.account.to_string(), device(record)));
        push_value(envelope.open_field("push_devices"), &Object(members));
    }
    if state.wants("navigation_views") {
        let views = me.into_iter().flat_map(|me| directory.navigation_views(me.id));
        push_list(
            envelope.open_field("navigation_views"),
            views.map(|(fragment, record)| view(fragment, record)),
        );
    }
    if state.wants("realm_emoji") {
        let all = directory.realm_emoji().map(|emoji| &**emoji);
        push_value(envelope.open_field("realm_emoji"), &realm_emoji(directory.realm().id, all));
    }
    if state.wants("custom_profile_fields") {
        let fields = directory.profile_fields().list.iter().filter(|_| me.is_some()).map(field);
        push_list(envelope.open_field("custom_profile_fields"), fields);
    }
}
