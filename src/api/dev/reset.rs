//! `POST /dev/reset`: the organization as it was when it was created (docs/dev-server.md#reset).

use super::{NoParameters, tools};
use crate::dev::store_files;
use crate::http::caller::bots_key;
use crate::http::{App, HandlerResult, Params, Realm, reply_ok};
use crate::rate_limit::Bucket;
use actors::RealmHandle;

/// Replaces everything in the organization by its seed. Its event queues end; ids and API keys are those of the beginning.
pub async fn reset(
    app: App,
    Realm(realm): Realm,
    Params(NoParameters): Params<NoParameters>,
) -> HandlerResult {
    let tools = tools(&app)?;
    let seed = tools.seed_of(realm.id());
    app.server.reset_realm(&realm, &seed.seen()).await?;
    store_files(&app.blobs, realm.id(), &seed).await?;
    tools.faults.remove(realm.id(), None);
    tools.calls.clear(realm.id());
    if let Some(mails) = app.mail.list() {
        mails.clear(realm.id());
    }
    clear_limits(&app, &realm);
    app.logins.forget(realm.id());
    reply_ok()
}

/// Gives the accounts their rate limits back. Those of IP addresses are shared by all organizations.
fn clear_limits(app: &App, realm: &RealmHandle) {
    for user in realm.directory().users() {
        for bucket in Bucket::OF_ACCOUNTS {
            app.limits.clear(bucket, (realm.id(), user.id));
            app.limits.clear(bucket, bots_key(realm.id(), user.id));
        }
    }
}
