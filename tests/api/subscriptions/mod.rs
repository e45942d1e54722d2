//! `/users/me/subscriptions`: mirrors `src/api/subscriptions`.

mod add;
mod list;
mod properties;
mod property;
mod remove;
mod update;
