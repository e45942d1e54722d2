//! Finds the unfinished uploads of the caller.

use crate::http::{ApiError, App, Caller};
use crate::integrations::partial_uploads::WriteLock;

/// The right to write to an unfinished upload of the caller.
pub(super) async fn write_lock(app: &App, caller: &Caller, id: &str) -> Result<WriteLock, ApiError> {
    let account = (caller.realm.id(), caller.user.id);
    let upload = app.partial_uploads.find(account, id, app.clock.now())?;
    Ok(app.partial_uploads.write_lock(&upload).await?)
}
