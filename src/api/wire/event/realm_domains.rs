//! `realm_domains`: domains of the organization's e-mail addresses.

use crate::api::wire::lists::{DomainJson, domain as domain_json};
use model::{DomainOp, RealmDomain};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(super) enum RealmDomains<'e> {
    Add { realm_domain: DomainJson<'e> },
    Change { realm_domain: DomainJson<'e> },
    Remove { domain: &'e str },
}

pub(super) fn changed(domain: &RealmDomain, op: DomainOp) -> RealmDomains<'_> {
    match op {
        DomainOp::Added => RealmDomains::Add { realm_domain: domain_json(domain) },
        DomainOp::Changed => RealmDomains::Change { realm_domain: domain_json(domain) },
        DomainOp::Removed => RealmDomains::Remove { domain: &domain.name },
    }
}
