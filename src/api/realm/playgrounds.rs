//! `/realm/playgrounds`: code playgrounds (docs/api/organization.md#code-playgrounds). Clients get them
//! from `POST /register`.

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply_field};
use actors::commands::{ChangePlaygrounds, PlaygroundsChange};

/// A playground to add.
pub struct NewPlayground {
    name: String,
    language: String,
    url_template: String,
}

impl FromFields for NewPlayground {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self {
            name: fields.required("name")?,
            language: fields.required("pygments_language")?,
            url_template: fields.required("url_template")?,
        })
    }
}

/// Returns the `id` of the new playground.
pub async fn create(
    caller: Caller,
    Params(NewPlayground { name, language, url_template }): Params<NewPlayground>,
) -> HandlerResult {
    let change = PlaygroundsChange::Add { name, language, url_template };
    reply_field("id", &caller.realm.execute(ChangePlaygrounds { by: caller.user.id, change }).await?)
}

/// Removes a playground.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    let change = PlaygroundsChange::Remove(id.into());
    caller.execute(ChangePlaygrounds { by: caller.user.id, change }).await
}
