//! `/users` and what people do besides writing.

mod alert_words;
mod api_key;
mod create;
mod deactivate;
mod email_change;
mod get;
mod list;
mod me;
mod muted;
mod navigation_views;
mod presence;
mod profile_data;
mod settings;
mod status;
mod typing;
mod update;

use crate::support::shape::words;

/// Asks again and again until there is something.
async fn until<T, F: Future<Output = Option<T>>>(ask: impl Fn() -> F) -> T {
    let deadline = std::time::Instant::now() + crate::support::PATIENCE;
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(std::time::Instant::now() < deadline, "it does not come");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// The keys of a person, as GET /users gives them.
pub fn person_keys() -> Vec<&'static str> {
    words(
        "avatar_url avatar_version date_joined delivery_email email full_name is_active is_admin is_bot \
         is_guest is_owner role timezone user_id",
    )
}
