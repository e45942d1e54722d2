//! Commands about custom profile fields and what people fill in.

use super::RealmHandle;
use crate::error::DomainError;
use crate::realm::{
    ChangeProfileFields, CreateProfileField, FieldsChange, RemoveProfileValues, SetProfileValues,
};
use model::{ProfileFieldId, UserId};
use rules::profile_fields::{FieldRequest, ProfileEntry};

impl RealmHandle {
    /// Makes a custom profile field of the kind with a wire code.
    ///
    /// # Errors
    /// As `rules::profile_fields::check_new_field`; only administrators may.
    pub async fn create_profile_field(
        &self,
        by: UserId,
        kind: i64,
        request: FieldRequest,
    ) -> Result<ProfileFieldId, DomainError> {
        self.settle(CreateProfileField { by, kind, request }).await
    }

    /// Changes a field.
    ///
    /// # Errors
    /// As `rules::profile_fields::check_field_update`; only administrators may.
    pub async fn update_profile_field(
        &self,
        by: UserId,
        id: i64,
        request: FieldRequest,
    ) -> Result<(), DomainError> {
        let change = FieldsChange::Update { id, request: Box::new(request) };
        self.settle(ChangeProfileFields { by, change }).await
    }

    /// Takes a field away, with what everybody filled in.
    ///
    /// # Errors
    /// `FieldMissing`; only administrators may.
    pub async fn delete_profile_field(&self, by: UserId, id: i64) -> Result<(), DomainError> {
        self.settle(ChangeProfileFields { by, change: FieldsChange::Delete(id) }).await
    }

    /// Puts all fields into an order.
    ///
    /// # Errors
    /// `FieldOrderInvalid`; only administrators may.
    pub async fn reorder_profile_fields(&self, by: UserId, order: Vec<i64>) -> Result<(), DomainError> {
        self.settle(ChangeProfileFields { by, change: FieldsChange::Reorder(order) }).await
    }

    /// Fills in fields of one's own profile: all or nothing.
    ///
    /// # Errors
    /// `FieldMissing`, `FieldNotEditable`, what is wrong with a value.
    pub async fn set_profile_values(
        &self,
        user: UserId,
        entries: Vec<ProfileEntry>,
    ) -> Result<(), DomainError> {
        self.settle(SetProfileValues { user, entries }).await
    }

    /// Takes values of one's own profile away: all or nothing.
    ///
    /// # Errors
    /// `FieldMissing`, `FieldNotEditable`.
    pub async fn remove_profile_values(&self, user: UserId, fields: Vec<i64>) -> Result<(), DomainError> {
        self.settle(RemoveProfileValues { user, fields }).await
    }
}
