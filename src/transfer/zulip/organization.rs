//! The facts of an organization without its messages, in the order in which later ones need earlier ones.

use super::tables::Tables;
use crate::transfer::report::Report;
use crate::transfer::rows::Row;
use model::{ChannelId, Directory, Fact, GroupId, Realm, RealmFact, RealmId, Timestamp, UserId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// How the organization is to be created.
#[derive(Clone, Debug, Default)]
pub struct Naming {
    pub subdomain: String,
    /// None keeps the name of the export.
    pub name: Option<String>,
    /// Domain of the addresses of system bots, and of addresses shown for hidden ones.
    pub email_domain: String,
}

/// The exported groups by id, the anonymous ones included.
#[derive(Debug, Default)]
pub struct Groups {
    pub named: HashSet<u32>,
    pub known: HashSet<u32>,
    pub members: HashMap<u32, BTreeSet<UserId>>,
    pub subgroups: HashMap<u32, BTreeSet<GroupId>>,
}

/// Makes the facts. Everything is an absolute value, so facts that were written before an interruption may be written
/// again.
pub struct Builder<'t> {
    pub tables: &'t Tables,
    /// The organization as the facts leave it.
    pub directory: Directory,
    pub facts: Vec<Fact>,
    pub report: Report,
    pub now: Timestamp,
    pub groups: Groups,
}

impl<'t> Builder<'t> {
    /// Begins with the organization's record, which stays deactivated until everything is imported.
    pub fn new(tables: &'t Tables, id: RealmId, naming: &Naming, now: Timestamp, is_new: bool) -> Self {
        let row = tables.realm();
        let name = naming.name.clone().unwrap_or_else(|| row.text("name").to_owned());
        let created = row.time("date_created").unwrap_or(now);
        let realm = Realm {
            is_active: false,
            description: row.text("description").to_owned(),
            ..Realm::new(id, &naming.subdomain, name, &naming.email_domain, created)
        };
        let record = Box::new(realm.clone());
        let first = if is_new { RealmFact::Created(record) } else { RealmFact::Changed(record) };
        let mut report = Report::default();
        report.carry("zerver_realm", 1);
        Self {
            tables,
            directory: Directory::new(realm),
            facts: vec![Fact::Realm(first)],
            report,
            now,
            groups: Groups::default(),
        }
    }

    /// The user with an exported id, if they were carried over.
    pub fn user(&self, id: Option<u32>) -> Option<UserId> {
        id.map(UserId).filter(|id| self.directory.user(*id).is_some())
    }

    /// The channel with an exported id, if it was carried over.
    pub fn channel(&self, id: Option<u32>) -> Option<ChannelId> {
        id.map(ChannelId).filter(|id| self.directory.channel(*id).is_some())
    }

    /// Runs `add` for each row of a table; rows for which it gives a reason are left out.
    pub fn each_row(
        &mut self,
        table: &str,
        mut add: impl FnMut(&mut Self, &Row) -> Result<(), &'static str>,
    ) {
        let tables = self.tables;
        for row in tables.rows(table) {
            match add(self, row) {
                Ok(()) => self.report.carry(table, 1),
                Err(why) => self.report.leave_out(table, why, 1),
            }
        }
    }

    /// The rows of a table by id: ids that are given in order must be stored in order.
    pub fn rows_by_id(&self, table: &str) -> Vec<&'t Row> {
        let mut rows: Vec<&Row> = self.tables.rows(table).iter().collect();
        rows.sort_by_key(|row| row.id("id"));
        rows
    }
}
