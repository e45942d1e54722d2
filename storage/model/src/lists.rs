//! Lists that administrators maintain: e-mail domains, linkifiers, code playgrounds.

use crate::ids::ChannelId;
use serde::{Deserialize, Serialize};

/// An ordered list of records with ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    pub items: Vec<T>,
    /// The highest id ever assigned; ids are not reused.
    pub last_id: u32,
}

// Not derived, because `T` need not implement `Default`.
impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), last_id: 0 }
    }
}

impl<T> Listed<T> {
    /// Assigns the next id.
    pub fn next_id(&mut self) -> u32 {
        self.last_id = self.last_id.saturating_add(1);
        self.last_id
    }
}

/// A domain of the e-mail addresses of the organization's users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmDomain {
    pub id: u32,
    /// In lower case, unique in the organization.
    pub name: String,
    /// Addresses at its subdomains are accepted as well.
    pub allows_subdomains: bool,
}

/// A change of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DomainOp {
    Added,
    Changed,
    Removed,
}

/// A pattern whose matches in messages and topics become links (docs/api/linkifiers.md#patterns).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkifierRecord {
    pub id: u32,
    /// Regular expression, unique in the organization.
    pub pattern: String,
    /// RFC 6570; its variables are the pattern's named groups.
    pub url_template: String,
}

/// A website that runs code of a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playground {
    pub id: u32,
    /// Display name; unique together with the language.
    pub name: String,
    /// The language as code blocks name it.
    pub language: String,
    /// RFC 6570 with the one variable `code`.
    pub url_template: String,
}

/// A group of channels that new users may be subscribed to together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultChannelGroup {
    pub id: u32,
    /// Unique in the organization.
    pub name: String,
    pub description: String,
    /// Ids in ascending order.
    pub channels: Vec<ChannelId>,
}

/// All lists of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmLists {
    pub domains: Listed<RealmDomain>,
    /// In the order in which they apply.
    pub linkifiers: Listed<LinkifierRecord>,
    pub playgrounds: Listed<Playground>,
}

impl RealmLists {
    /// A domain by its lower-case name.
    pub fn domain(&self, name: &str) -> Option<&RealmDomain> {
        self.domains.items.iter().find(|domain| domain.name == name)
    }

    /// Applies a change of a domain; idempotent.
    pub fn apply_domain(&mut self, domain: &RealmDomain, op: DomainOp) {
        let Listed { items, last_id } = &mut self.domains;
        *last_id = domain.id.max(*last_id);
        match (op, items.iter().position(|known| known.id == domain.id)) {
            (DomainOp::Removed, Some(position)) => drop(items.remove(position)),
            (DomainOp::Removed, None) => {}
            (_, Some(position)) => items[position] = domain.clone(),
            (_, None) => items.push(domain.clone()),
        }
    }
}
