//! Somebody of another organization, at that organization's own address, with ids of this one: nothing here changes,
//! and nothing of here is told.

use super::rows;
use super::stage::Stage;

#[tokio::test]
async fn ids_of_one_organization_mean_nothing_in_another() {
    let mut stage = Stage::set().await;
    for row in rows::all() {
        stage.try_from_outside(&row).await;
    }
}
