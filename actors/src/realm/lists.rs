//! Lists that administrators manage: domains, linkifiers, playgrounds (docs/api/organization.md#domains,
//! docs/api/linkifiers.md).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedCommand};
use crate::error::DomainError;
use model::{
    DomainOp, Fact, LinkifierRecord, Listed, Playground, Realm, RealmDomain, RealmFact, SettingValue, UserId,
};
use rules::RuleError;
use rules::addresses::{DomainRequest, check_domain_request};
use rules::linkifiers::{check_linkifier_order, check_linkifier_update, check_new_linkifier, find_linkifier};
use rules::new_ids::id_after;
use rules::permissions::roles::check_administrator;
use rules::playgrounds::{check_new_playground, find_playground};
use rules::settings::realm_bool;

/// Changes the allowed e-mail domains.
pub struct ChangeDomains {
    pub by: UserId,
    pub request: DomainRequest,
}

impl SerializedCommand for ChangeDomains {
    /// The domain, if it is new.
    type Outcome = Option<RealmDomain>;

    fn decide(
        self,
        context: &mut DecisionContext<'_>,
    ) -> Result<(Option<RealmDomain>, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        let by = requester(directory, self.by)?;
        let Some((domain, op)) = check_domain_request(directory, by, self.request)? else {
            return Ok((None, Vec::new()));
        };
        let mut facts = Vec::new();
        let realm = directory.realm();
        let is_last = op == DomainOp::Removed && directory.lists().domains.items.len() == 1;
        if is_last && realm_bool(realm, "emails_restricted_to_domains") {
            // Without domains the restriction has no effect.
            let mut after = Realm::clone(realm);
            after.settings.insert("emails_restricted_to_domains".into(), SettingValue::Bool(false));
            facts.push(Fact::Realm(RealmFact::Changed(Box::new(after))));
        }
        let added = (op == DomainOp::Added).then(|| domain.clone());
        facts.push(Fact::Realm(RealmFact::DomainSet { domain, op }));
        Ok((added, facts))
    }
}

/// A change of the linkifiers. Patterns are regular expressions, URL templates follow RFC 6570.
pub enum LinkifiersChange {
    Add {
        pattern: String,
        url_template: String,
    },
    Update {
        id: i64,
        pattern: String,
        url_template: String,
    },
    Remove(i64),
    /// All ids, in the new order.
    Reorder(Vec<i64>),
}

/// Changes the linkifiers.
pub struct ChangeLinkifiers {
    pub by: UserId,
    pub change: LinkifiersChange,
}

impl SerializedCommand for ChangeLinkifiers {
    /// The id of a new linkifier, otherwise 0.
    type Outcome = u32;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(u32, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_administrator(requester(directory, self.by)?)?;
        let before = &directory.lists().linkifiers;
        let mut after = Listed::clone(before);
        let mut added = 0;
        match self.change {
            LinkifiersChange::Add { pattern, url_template } => {
                let record = check_new_linkifier(before, &pattern, &url_template)?;
                id_after(after.last_id, "linkifiers")?;
                added = after.next_id();
                after.items.push(LinkifierRecord { id: added, ..record });
            }
            LinkifiersChange::Update { id, pattern, url_template } => {
                let record = check_linkifier_update(before, id, &pattern, &url_template)?;
                if let Some(known) = after.items.iter_mut().find(|known| known.id == record.id) {
                    *known = record;
                }
            }
            LinkifiersChange::Remove(id) => {
                let removed = find_linkifier(before, id).map_err(RuleError::from)?.id;
                after.items.retain(|known| known.id != removed);
            }
            LinkifiersChange::Reorder(order) => {
                after.items = check_linkifier_order(before, &order).map_err(RuleError::from)?;
            }
        }
        let changed = (after != *before).then(|| Fact::Realm(RealmFact::LinkifiersChanged(Box::new(after))));
        Ok((added, changed.into_iter().collect()))
    }
}

/// A change of the code playgrounds. URL templates follow RFC 6570.
pub enum PlaygroundsChange {
    Add { name: String, language: String, url_template: String },
    Remove(i64),
}

/// Changes the playgrounds.
pub struct ChangePlaygrounds {
    pub by: UserId,
    pub change: PlaygroundsChange,
}

impl SerializedCommand for ChangePlaygrounds {
    /// The id of a new playground, otherwise 0.
    type Outcome = u32;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(u32, Vec<Fact>), DomainError> {
        let directory = &context.directory;
        check_administrator(requester(directory, self.by)?)?;
        let mut all = Listed::clone(&directory.lists().playgrounds);
        let mut added = 0;
        match self.change {
            PlaygroundsChange::Add { name, language, url_template } => {
                let record = check_new_playground(&all, &name, &language, &url_template)?;
                id_after(all.last_id, "playgrounds")?;
                added = all.next_id();
                all.items.push(Playground { id: added, ..record });
            }
            PlaygroundsChange::Remove(id) => {
                let removed = find_playground(&all, id).map_err(RuleError::from)?.id;
                all.items.retain(|known| known.id != removed);
            }
        }
        Ok((added, vec![Fact::Realm(RealmFact::PlaygroundsChanged(Box::new(all)))]))
    }
}
