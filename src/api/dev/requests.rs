//! `GET /dev/requests` and `DELETE /dev/requests`: the newest calls of the organization
//! (docs/dev-server.md#the-record-of-calls).

use super::{NoParameters, check_known, optional_id, tools};
use crate::http::{ApiError, App, Fields, FromFields, HandlerResult, Params, Realm, reply_field, reply_ok};

/// The newest call that the client has seen.
pub struct CallsSince(u64);

impl FromFields for CallsSince {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let after = optional_id(fields, "after", "a call")?;
        check_known(fields).map(|()| Self(after.unwrap_or_default()))
    }
}

/// Returns the calls after an id, the oldest first.
pub async fn list(
    app: App,
    Realm(realm): Realm,
    Params(CallsSince(after)): Params<CallsSince>,
) -> HandlerResult {
    reply_field("requests", &tools(&app)?.calls.after(realm.id(), after))
}

/// Drops the record of the organization's calls.
pub async fn clear(
    app: App,
    Realm(realm): Realm,
    Params(NoParameters): Params<NoParameters>,
) -> HandlerResult {
    tools(&app)?.calls.clear(realm.id());
    reply_ok()
}
