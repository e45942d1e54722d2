//! `GET /export/realm/consents`: which users agree to the export of their private data
//! (docs/api/organization.md#consents-to-exports).

use crate::http::{Caller, HandlerResult, Params, reply};
use model::UserId;
use rules::settings::{EXPORT_CONSENT, user_bool};
use serde::Serialize;

#[derive(Serialize)]
struct Consent {
    user_id: UserId,
    consented: bool,
}

#[derive(Serialize)]
struct Consents {
    export_consents: Vec<Consent>,
}

/// `export_consents`: all users with active accounts, except bots.
pub async fn list(caller: Caller, _: Params<()>) -> HandlerResult {
    let directory = caller.realm.directory();
    let people = directory.users().filter(|user| user.is_active && !user.is_bot());
    let consents =
        people.map(|user| Consent { user_id: user.id, consented: user_bool(user, EXPORT_CONSENT) });
    reply(&Consents { export_consents: consents.collect() })
}
