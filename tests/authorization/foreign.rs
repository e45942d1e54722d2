//! Calls by the owner of another organization at its own host, with ids of this organization: they change nothing here
//! and return nothing of it.

use super::rows;
use super::stage::Stage;

#[tokio::test]
async fn foreign_realm_ids_are_unknown() {
    let mut stage = Stage::set().await;
    for row in rows::all() {
        stage.try_from_outside(&row).await;
    }
}
