//! `/realm/profile_fields`: custom profile fields (docs/api/profile-fields.md#manage-fields).

use crate::api::wire::list::reply_list;
use crate::api::wire::profile::field;
use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands::{ChangeProfileFields, CreateProfileField, FieldsChange};
use rules::profile_fields::FieldRequest;
use serde_json::Value;

/// A field to create.
pub struct NewField {
    kind: i64,
    request: FieldRequest,
}

impl FromFields for NewField {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let request = FieldRequest::from_fields(fields)?;
        Ok(Self { kind: fields.required_int("field_type")?, request })
    }
}

impl FromFields for FieldRequest {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let (name, hint) = (fields.optional("name"), fields.optional("hint"));
        let data = match fields.optional_json("field_data")? {
            None => None,
            Some(data) => {
                data.root().object()?;
                let Value::Object(members) = data.into_value() else { return Err(ApiError::internal()) };
                Some(members)
            }
        };
        Ok(Self {
            name,
            hint,
            data,
            is_in_summary: fields.optional_bool("display_in_profile_summary")?,
            is_required: fields.optional_bool("required")?,
            is_editable_by_user: fields.optional_bool("editable_by_user")?,
        })
    }
}

/// All fields in their new order.
pub struct FieldOrder(Vec<i64>);

impl FromFields for FieldOrder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ints("order")?))
    }
}

/// Lists `custom_fields` in their order.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    reply_list("custom_fields", caller.realm.directory().profile_fields().list.iter().map(field))
}

/// Returns the `id` of the new field, which is the last one.
pub async fn create(caller: Caller, Params(NewField { kind, request }): Params<NewField>) -> HandlerResult {
    let command = CreateProfileField { by: caller.user.id, kind, request };
    reply_field("id", &caller.realm.execute(command).await?)
}

/// Changes the given properties; success without an event if nothing differs.
pub async fn update(
    caller: Caller,
    Path(id): Path<u32>,
    Params(request): Params<FieldRequest>,
) -> HandlerResult {
    let change = FieldsChange::Update { id: id.into(), request: Box::new(request) };
    caller.execute(ChangeProfileFields { by: caller.user.id, change }).await
}

/// Removes a field with the values of all users.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    let change = FieldsChange::Delete(id.into());
    caller.execute(ChangeProfileFields { by: caller.user.id, change }).await
}

/// Sets the order, which has each field once.
pub async fn reorder(caller: Caller, Params(FieldOrder(order)): Params<FieldOrder>) -> HandlerResult {
    let change = FieldsChange::Reorder(order);
    caller.execute(ChangeProfileFields { by: caller.user.id, change }).await
}
