//! Users and their personal settings.

pub mod alert_words;
pub mod api_key;
pub mod create;
pub mod deactivate;
pub mod get;
pub mod list;
pub mod me;
pub mod muted;
pub mod navigation_views;
pub mod onboarding_steps;
pub mod presence;
pub mod profile_data;
pub mod reactivate;
pub mod settings;
pub mod status;
pub mod typing;
pub mod update;
pub mod zcommand;
