//! Domains, linkifiers, code playgrounds and groups of default channels as clients read them (docs/api/organization.md#domains,
//! docs/api/linkifiers.md).

use model::{ChannelId, DefaultChannelGroup, LinkifierRecord, Playground, RealmDomain};
use serde::Serialize;

/// The domain object of the API.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DomainJson<'a> {
    domain: &'a str,
    allow_subdomains: bool,
}

/// The JSON of a domain.
pub fn domain(domain: &RealmDomain) -> DomainJson<'_> {
    DomainJson { domain: &domain.name, allow_subdomains: domain.allows_subdomains }
}

/// The linkifier object of the API.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LinkifierJson<'a> {
    pattern: &'a str,
    url_template: &'a str,
    id: u32,
}

/// The JSON of a linkifier.
pub fn linkifier(linkifier: &LinkifierRecord) -> LinkifierJson<'_> {
    LinkifierJson { pattern: &linkifier.pattern, url_template: &linkifier.url_template, id: linkifier.id }
}

/// The code playground object of the API.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PlaygroundJson<'a> {
    id: u32,
    name: &'a str,
    pygments_language: &'a str,
    url_template: &'a str,
}

/// The JSON of a code playground.
pub fn playground(playground: &Playground) -> PlaygroundJson<'_> {
    PlaygroundJson {
        id: playground.id,
        name: &playground.name,
        pygments_language: &playground.language,
        url_template: &playground.url_template,
    }
}

/// The group of default channels of the API.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DefaultGroupJson<'a> {
    name: &'a str,
    id: u32,
    description: &'a str,
    streams: &'a [ChannelId],
}

/// The JSON of a group of default channels.
pub fn default_group(group: &DefaultChannelGroup) -> DefaultGroupJson<'_> {
    let DefaultChannelGroup { id, name, description, channels } = group;
    DefaultGroupJson { name, id: *id, description, streams: channels }
}
