//! Files that users upload and name in messages.

mod claims;
mod limits;
mod list;
mod serve;
mod store;
mod temporary;

use crate::support::TestUser;

/// Uploads a file and returns its URL.
pub async fn upload(person: &TestUser, name: &str, bytes: &[u8]) -> String {
    let stored = person.upload("/user_uploads", &[], &[(name, bytes.to_vec())]).ok().await;
    stored["url"].as_str().expect("a URL").to_owned()
}

/// The status with which a user gets a file.
pub async fn status(person: &TestUser, url: &str) -> u16 {
    person.fetch(url).await.0
}
