//! `/users/me/subscriptions`.

mod add;
mod list;
mod remove;
mod update;
