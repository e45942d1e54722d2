//! Facts about the organization itself: its record, its lists and its custom profile fields.

use super::bounds::EVENTS_OF_RECORD;
use crate::export::RealmExport;
use crate::lists::{DomainOp, LinkifierRecord, Listed, Playground, RealmDomain};
use crate::profile_field::ProfileFields;
use crate::realm::Realm;
use serde::{Deserialize, Serialize};

/// A change of the organization.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RealmFact {
    /// The organization was created. Always its first fact.
    Created(Box<Realm>),
    /// The organization's record, settings included, is now this.
    Changed(Box<Realm>),
    /// The custom profile fields are now these.
    ProfileFieldsChanged(Box<ProfileFields>),
    /// An allowed e-mail domain was added, changed or removed.
    DomainSet {
        /// Its record; the last one if it was removed.
        domain: RealmDomain,
        op: DomainOp,
    },
    /// The linkifiers are now these.
    LinkifiersChanged(Box<Listed<LinkifierRecord>>),
    /// The code playgrounds are now these.
    PlaygroundsChanged(Box<Listed<Playground>>),
    /// The exports that administrators requested are now these.
    ExportsChanged(Box<Listed<RealmExport>>),
}

impl RealmFact {
    /// An upper bound of the number of events of this fact.
    pub fn events_max(&self) -> u64 {
        match self {
            // One for each default setting of new users in addition to those of the record.
            Self::Created(_) | Self::Changed(_) => EVENTS_OF_RECORD * 2,
            Self::ProfileFieldsChanged(_)
            | Self::DomainSet { .. }
            | Self::LinkifiersChanged(_)
            | Self::PlaygroundsChanged(_)
            | Self::ExportsChanged(_) => 1,
        }
    }
}
