//! `POST /dev/reset`: the organization as it was when it was created (docs/dev-server.md#reset).

use super::{NoParameters, tools};
use crate::dev::leftovers::EVERY;
use crate::dev::seed::SeedDocument;
use crate::dev::store_files;
use crate::dev::tools::DevTools;
use crate::http::caller::bots_key;
use crate::http::{ApiError, App, HandlerResult, Params, Realm, reply_ok};
use crate::integrations::partial_uploads::PartialUploads;
use crate::rate_limit::Bucket;
use actors::RealmHandle;
use std::sync::Arc;

/// Replaces everything in the organization by its seed. Its event queues end; ids and API keys are those of the beginning.
pub async fn reset(
    app: App,
    Realm(realm): Realm,
    Params(NoParameters): Params<NoParameters>,
) -> HandlerResult {
    // Goes on if the client leaves: a part of what is to be replaced would be left.
    actix_rt::spawn(reset_whole(app, realm)).await.map_err(|_| ApiError::internal())?
}

async fn reset_whole(app: App, realm: RealmHandle) -> HandlerResult {
    let tools = tools(&app)?;
    let seed = tools.seed_of(realm.id());
    // Before, so that they are there if the server ends right after the reset; and after, because what was deleted may go now.
    store_files(&app.blobs, realm.id(), &seed).await?;
    app.server.reset_realm(&realm, &seed.seen()).await?;
    store_files(&app.blobs, realm.id(), &seed).await?;
    delete_files(&app, tools, &realm, seed);
    tools.faults.remove(realm.id(), None);
    tools.calls.reset(realm.id());
    if let Some(mails) = app.mail.list() {
        mails.clear(realm.id());
    }
    clear_limits(&app, &realm);
    app.logins.forget(realm.id());
    reply_ok()
}

/// Ends unfinished uploads, and deletes their files and those of complete ones in the background.
fn delete_files(app: &App, tools: &DevTools, realm: &RealmHandle, seed: Arc<SeedDocument>) {
    let ended = app.partial_uploads.end_all(realm.id());
    if !ended.is_empty() {
        actix_rt::spawn(async move {
            if let Err(error) = PartialUploads::delete_ended(ended).await {
                tracing::warn!(%error, "unfinished uploads of before a reset could not be deleted");
            }
        });
    }
    if tools.leftovers.add(&app.blobs, realm, seed) {
        actix_rt::spawn(sweep(app.clone()));
    }
}

/// Deletes what resets have left, until there were none for a while. What is left when the server stops is deleted by a later sweep.
async fn sweep(app: App) {
    let Some(tools) = &app.tools else { return };
    loop {
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            () = app.stopping().wait() => return,
        }
        if !tools.leftovers.sweep(&app.blobs).await {
            return;
        }
    }
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
