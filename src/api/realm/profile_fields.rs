//! `/realm/profile_fields`: custom profile fields (docs/api/profile-fields.md#manage-fields).

use crate::api::wire::list::push_list;
use crate::api::wire::profile::field;
use crate::http::{
    ApiError, Caller, Envelope, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok,
};
use actors::commands::{ChangeProfileFields, CreateProfileField, FieldsChange};
use model::ProfileFieldId;
use rules::profile_fields::FieldRequest;
use serde::Serialize;
use serde_json::Value;

/// A field to be made.
pub struct NewField {
    kind: i64,
    request: FieldRequest,
}

impl FromFields for NewField {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let request = FieldUpdate::from_fields(fields)?.0;
        Ok(Self { kind: fields.required_int("field_type")?, request })
    }
}

/// What is to change of a field.
pub struct FieldUpdate(FieldRequest);

impl FromFields for FieldUpdate {
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
        Ok(Self(FieldRequest {
            name,
            hint,
            data,
            is_in_summary: fields.optional_bool("display_in_profile_summary")?,
            is_required: fields.optional_bool("required")?,
            is_editable_by_user: fields.optional_bool("editable_by_user")?,
        }))
    }
}

/// All fields in their new order.
pub struct FieldOrder(Vec<i64>);

impl FromFields for FieldOrder {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required_ints("order")?))
    }
}

#[derive(Serialize)]
struct Created {
    id: ProfileFieldId,
}

/// `custom_fields`, in their order.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let mut envelope = Envelope::with_capacity(512);
    push_list(envelope.open_field("custom_fields"), directory.profile_fields().list.iter().map(field));
    envelope.reply()
}

/// `id` of the new field, which stands behind all others.
pub async fn create(caller: Caller, Params(NewField { kind, request }): Params<NewField>) -> HandlerResult {
    let id = caller.realm.execute(CreateProfileField { by: caller.user.id, kind, request }).await?;
    reply(&Created { id })
}

/// Changes what is given; success without an event where that is what holds already.
pub async fn update(
    caller: Caller,
    Path(id): Path<u32>,
    Params(FieldUpdate(request)): Params<FieldUpdate>,
) -> HandlerResult {
    caller
        .realm
        .execute(ChangeProfileFields {
            by: caller.user.id,
            change: FieldsChange::Update { id: id.into(), request: Box::new(request) },
        })
        .await?;
    reply_ok()
}

/// Takes a field away, with what everybody filled in.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(ChangeProfileFields { by: caller.user.id, change: FieldsChange::Delete(id.into()) })
        .await?;
    reply_ok()
}

/// Puts the fields into an order that names each of them once.
pub async fn reorder(caller: Caller, Params(FieldOrder(order)): Params<FieldOrder>) -> HandlerResult {
    caller
        .realm
        .execute(ChangeProfileFields { by: caller.user.id, change: FieldsChange::Reorder(order) })
        .await?;
    reply_ok()
}
