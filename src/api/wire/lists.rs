//! What administrators list for an organization, as clients read it (companions.md 2).

use model::{LinkifierRecord, Playground, RealmDomain};
use serde::Serialize;

/// A domain.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DomainJson<'a> {
    domain: &'a str,
    allow_subdomains: bool,
}

/// A domain.
pub fn domain(domain: &RealmDomain) -> DomainJson<'_> {
    DomainJson { domain: &domain.name, allow_subdomains: domain.allows_subdomains }
}

/// A linkifier.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LinkifierJson<'a> {
    pattern: &'a str,
    url_template: &'a str,
    id: u32,
}

/// A linkifier.
pub fn linkifier(linkifier: &LinkifierRecord) -> LinkifierJson<'_> {
    LinkifierJson { pattern: &linkifier.pattern, url_template: &linkifier.url_template, id: linkifier.id }
}

/// A playground.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlaygroundJson<'a> {
    id: u32,
    name: &'a str,
    pygments_language: &'a str,
    url_template: &'a str,
}

/// A playground.
pub fn playground(playground: &Playground) -> PlaygroundJson<'_> {
    PlaygroundJson {
        id: playground.id,
        name: &playground.name,
        pygments_language: &playground.language,
        url_template: &playground.url_template,
    }
}
