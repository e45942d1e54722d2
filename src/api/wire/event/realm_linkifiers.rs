//! `realm_linkifiers`: all linkifiers of the organization.

use crate::api::wire::lists::{LinkifierJson, linkifier};
use model::{LinkifierRecord, Listed};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct RealmLinkifiers<'e> {
    realm_linkifiers: Vec<LinkifierJson<'e>>,
}

pub(super) fn all(linkifiers: &Listed<LinkifierRecord>) -> RealmLinkifiers<'_> {
    RealmLinkifiers { realm_linkifiers: linkifiers.items.iter().map(linkifier).collect() }
}
