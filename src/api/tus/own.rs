//! Finds the unfinished uploads of the caller.

use crate::http::{ApiError, App, Caller};
use crate::integrations::partial_uploads::Turn;

/// The right to write to an unfinished upload of the caller.
pub(super) async fn turn(app: &App, caller: &Caller, id: &str) -> Result<Turn, ApiError> {
    let account = (caller.realm.id(), caller.user.id);
    let upload = app.partial_uploads.find(account, id, app.clock.now())?;
    Ok(app.partial_uploads.turn(&upload).await?)
}
