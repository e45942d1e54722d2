//! Events of what administrators list for an organization, and of its end (events.md 3).

use super::changes::push_open;
use crate::api::wire::json::{push_field, push_name, push_text_field};
use crate::api::wire::list::push_list;
use crate::api::wire::lists::{domain as domain_json, linkifier, playground};
use model::{DomainOp, EventBody};

/// Writes an event up to its number. False: it is of another kind.
pub(super) fn push(out: &mut Vec<u8>, body: &EventBody) -> bool {
    match body {
        EventBody::Domain { domain, op } => {
            let (word, is_gone) = match op {
                DomainOp::Added => ("add", false),
                DomainOp::Changed => ("change", false),
                DomainOp::Removed => ("remove", true),
            };
            push_open(out, "realm_domains", word);
            if is_gone {
                push_text_field(out, "domain", &domain.name);
            } else {
                push_field(out, "realm_domain", &domain_json(domain));
            }
        }
        EventBody::Linkifiers(all) => {
            out.extend_from_slice(b"{\"type\":\"realm_linkifiers\"");
            push_name(out, "realm_linkifiers");
            push_list(out, all.items.iter().map(linkifier));
        }
        EventBody::Playgrounds(all) => {
            out.extend_from_slice(b"{\"type\":\"realm_playgrounds\"");
            push_name(out, "realm_playgrounds");
            push_list(out, all.items.iter().map(playground));
        }
        EventBody::RealmDeactivated(realm) => {
            push_open(out, "realm", "deactivated");
            push_field(out, "realm_id", realm);
        }
        _ => return false,
    }
    true
}
