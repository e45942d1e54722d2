//! Custom profile fields and their values (docs/api/profile-fields.md).

use super::groups::requester;
use super::serialized::{DecisionContext, SerializedChange, SerializedCommand};
use crate::error::DomainError;
use model::{
    Directory, Fact, ProfileField, ProfileFieldId, ProfileFields, ProfileValue, RealmFact, User, UserFact,
    UserId,
};
use rules::new_ids::id_after;
use rules::permissions::roles::check_administrator;
use rules::profile_fields::{
    FieldRequest, ProfileEntry, check_entries, check_field_order, check_field_update, check_new_field,
    find_field, offers,
};

/// The profile fields, if the user may change them.
fn fields_for(directory: &Directory, by: UserId) -> Result<ProfileFields, DomainError> {
    check_administrator(requester(directory, by)?)?;
    Ok(ProfileFields::clone(directory.profile_fields()))
}

fn changed(fields: ProfileFields) -> Fact {
    Fact::Realm(RealmFact::ProfileFieldsChanged(Box::new(fields)))
}

/// Creates a field, last in the order.
pub struct CreateProfileField {
    pub by: UserId,
    pub kind: i64,
    /// The other properties of the field, as sent.
    pub request: FieldRequest,
}

impl SerializedCommand for CreateProfileField {
    type Outcome = ProfileFieldId;

    fn decide(self, context: &mut DecisionContext<'_>) -> Result<(ProfileFieldId, Vec<Fact>), DomainError> {
        let mut fields = fields_for(&context.directory, self.by)?;
        let field = check_new_field(&fields.list, self.kind, &self.request)?;
        let last_order = fields.list.iter().map(|field| field.order).max().unwrap_or_default();
        fields.last = ProfileFieldId(id_after(fields.last.0, "custom profile fields")?);
        fields.list.push(ProfileField { id: fields.last, order: last_order.saturating_add(1), ..field });
        Ok((fields.last, vec![changed(fields)]))
    }
}

/// A change of existing fields.
pub enum FieldsChange {
    Update {
        id: i64,
        request: Box<FieldRequest>,
    },
    /// Also deletes the values of all users.
    Delete(i64),
    /// All ids, in the new order.
    Reorder(Vec<i64>),
}

/// Changes existing fields.
pub struct ChangeProfileFields {
    pub by: UserId,
    pub change: FieldsChange,
}

impl SerializedChange for ChangeProfileFields {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let directory = &context.directory;
        let mut fields = fields_for(directory, self.by)?;
        let mut values = Vec::new();
        match self.change {
            FieldsChange::Update { id, request } => {
                let after = check_field_update(&fields.list, id, &request)?;
                values = values_no_longer_offered(directory, &after);
                if let Some(field) = fields.list.iter_mut().find(|field| field.id == after.id) {
                    *field = after;
                }
            }
            FieldsChange::Delete(id) => {
                let removed = find_field(&fields.list, id).map_err(rules::RuleError::from)?.id;
                fields.list.retain(|field| field.id != removed);
            }
            FieldsChange::Reorder(order) => {
                let order = check_field_order(&fields.list, &order).map_err(rules::RuleError::from)?;
                let place = |id| order.iter().position(|known| *known == id).unwrap_or_default();
                for field in &mut fields.list {
                    field.order = place(field.id) as u32;
                }
                fields.list.sort_by_key(|field| field.order);
            }
        }
        if fields == **directory.profile_fields() {
            return Ok(Vec::new());
        }
        Ok(std::iter::once(changed(fields)).chain(values).collect())
    }
}

/// Values whose option no longer exists are removed.
fn values_no_longer_offered(directory: &Directory, field: &ProfileField) -> Vec<Fact> {
    let chosen =
        |user: &User| user.profile_data.get(&field.id).is_some_and(|value| !offers(field, &value.text));
    let users = directory.users().filter(|user| chosen(user));
    users
        .map(|user| Fact::User(UserFact::ProfileValuesSet { user: user.id, values: vec![(field.id, None)] }))
        .collect()
}

fn values_set(user: UserId, values: Vec<(ProfileFieldId, Option<ProfileValue>)>) -> Vec<Fact> {
    if values.is_empty() { Vec::new() } else { vec![Fact::User(UserFact::ProfileValuesSet { user, values })] }
}

/// Sets values of the own profile: all or nothing.
pub struct SetProfileValues {
    pub user: UserId,
    pub entries: Vec<ProfileEntry>,
}

impl SerializedChange for SetProfileValues {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let user = requester(&context.directory, self.user)?;
        let changes = check_entries(&context.directory, user, user, self.entries)?;
        Ok(values_set(self.user, changes))
    }
}

/// Removes values of the own profile: all or nothing.
pub struct RemoveProfileValues {
    pub user: UserId,
    pub fields: Vec<i64>,
}

impl SerializedChange for RemoveProfileValues {
    fn facts(self, context: &mut DecisionContext<'_>) -> Result<Vec<Fact>, DomainError> {
        let user = requester(&context.directory, self.user)?;
        let entries = self.fields.into_iter().map(ProfileEntry::removal).collect();
        let changes = check_entries(&context.directory, user, user, entries)?;
        Ok(values_set(self.user, changes))
    }
}
