//! `/realm/playgrounds`: sites where code of a language can be tried (companions.md 10). Clients read them at
//! registration.

use crate::http::{Answer, ApiError, Caller, Fields, FromFields, Params, Path, reply, reply_ok};
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
) -> Answer {
    let id = caller.realm.add_playground(caller.user.id, name, language, url_template).await?;
    reply(&Created { id })
}

/// Takes a playground away.
pub async fn delete(caller: Caller, Path(id): Path<u32>, _: Params<()>) -> Answer {
    caller.realm.remove_playground(caller.user.id, id.into()).await?;
    reply_ok()
}
