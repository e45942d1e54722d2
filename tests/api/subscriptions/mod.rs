//! `/users/me/subscriptions`.

mod add;
mod list;
mod properties;
mod remove;
mod update;
