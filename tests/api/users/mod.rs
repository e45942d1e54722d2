//! `/users`: mirrors `src/api/users`.

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
mod onboarding_steps;
mod presence;
mod profile_data;
mod settings;
mod status;
mod typing;
mod update;
mod zcommand;

use crate::support::shape::words;

/// The keys of a user in `GET /users`.
pub fn person_keys() -> Vec<&'static str> {
    words(
        "avatar_url avatar_version date_joined delivery_email email full_name is_active is_admin is_bot \
         is_guest is_owner role timezone user_id",
    )
}
