//! `/users/me/subscriptions`: mirrors `src/api/subscriptions`.

mod add;
mod list;
mod properties;
mod remove;
mod update;
