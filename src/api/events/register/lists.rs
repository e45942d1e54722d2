//! Lists that administrators maintain: domains, linkifiers, playgrounds.

use super::request::State;
use crate::api::wire::list::push_list;
use crate::api::wire::lists::{domain, linkifier, playground};
use crate::http::Envelope;

/// Adds the requested parts of `realm_domains`, `realm_linkifiers` and `realm_playgrounds`.
pub fn list_fields(envelope: &mut Envelope, state: &State<'_>) {
    let lists = state.directory().lists();
    if state.wants("realm_domains") {
        push_list(envelope.open_field("realm_domains"), lists.domains.items.iter().map(domain));
    }
    if state.wants("realm_linkifiers") {
        // Clients without the capability expect the older form without templates.
        let known = state.request.capabilities.linkifier_url_template;
        let all = lists.linkifiers.items.iter().filter(|_| known).map(linkifier);
        push_list(envelope.open_field("realm_linkifiers"), all);
    }
    if state.wants("realm_playgrounds") {
        push_list(envelope.open_field("realm_playgrounds"), lists.playgrounds.items.iter().map(playground));
    }
}
