//! One file per endpoint, with each documented response; mirrors `src/api`.

mod account;
mod auth;
pub mod bots;
mod calls;
mod channels;
mod compression;
mod dev;
pub mod edge;
mod folders;
pub mod groups;
pub mod invites;
mod media;
mod messages;
mod offers;
pub mod pages;
pub mod pictures;
pub mod realm;
mod sessions;
mod setup_pages;
mod sign_up;
mod subscriptions;
mod texts;
mod topics;
pub mod tus;
pub mod uploads;
mod users;
mod vary;
