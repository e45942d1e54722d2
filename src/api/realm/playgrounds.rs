//! `/realm/playgrounds`: code playgrounds (docs/api/organization.md#code-playgrounds). Clients read them at
//! registration.

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, Path, reply, reply_ok};
use actors::commands::{ChangePlaygrounds, PlaygroundsChange};
use serde::Serialize;

/// A playground.
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

#[derive(Serialize)]
struct Created {
    id: u32,
}

/// `id` of the new playground.
pub async fn create(
    caller: Caller,
    Params(NewPlayground { name, language, url_template }): Params<NewPlayground>,
) -> HandlerResult {
    let id = caller
        .realm
        .execute(ChangePlaygrounds {
            by: caller.user.id,
            change: PlaygroundsChange::Add { name, language, url_template },
        })
        .await?;
    reply(&Created { id })
}

/// Takes a playground away.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> HandlerResult {
    caller
        .realm
        .execute(ChangePlaygrounds { by: caller.user.id, change: PlaygroundsChange::Remove(id.into()) })
        .await?;
    reply_ok()
}
