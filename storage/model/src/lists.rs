//! What administrators list for an organization: domains of addresses, linkifiers, playgrounds for code.

use serde::{Deserialize, Serialize};

/// Things with ids, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T> {
    /// All there are.
    pub items: Vec<T>,
    /// The newest id that was ever given out.
    pub last_id: u32,
}

// Not derived: nothing is asked of `T`.
impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { items: Vec::new(), last_id: 0 }
    }
}

impl<T> Listed<T> {
    /// Takes the next id.
    pub fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }
}

/// A domain that people of the organization have their addresses at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmDomain {
    /// Unique in the organization.
    pub id: u32,
    /// In lower case, unique in the organization.
    pub name: String,
    /// Addresses at any of its subdomains count, too.
    pub allows_subdomains: bool,
}

/// What became of a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DomainOp {
    /// It is new.
    Added,
    /// Its record is another.
    Changed,
    /// It is gone.
    Removed,
}

/// A pattern in texts that becomes a link (markdown.md 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkifierRecord {
    /// Unique in the organization.
    pub id: u32,
    /// Regular expression, unique in the organization.
    pub pattern: String,
    /// RFC 6570; its variables are the pattern's named groups.
    pub url_template: String,
}

/// A site where code of a language can be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playground {
    /// Unique in the organization.
    pub id: u32,
    /// What people call it; unique with its language.
    pub name: String,
    /// As code blocks name it.
    pub language: String,
    /// RFC 6570 with the one variable `code`.
    pub url_template: String,
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmLists {
    /// By id.
    pub domains: Listed<RealmDomain>,
    /// In the order in which they apply.
    pub linkifiers: Listed<LinkifierRecord>,
    /// By id.
    pub playgrounds: Listed<Playground>,
}

impl RealmLists {
    /// A domain by name, which is in lower case.
    pub fn domain(&self, name: &str) -> Option<&RealmDomain> {
        self.domains.items.iter().find(|domain| domain.name == name)
    }

    /// Does what was decided about a domain; twice is as good as once.
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
