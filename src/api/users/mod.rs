//! People and bots.

pub mod alert_words;
pub mod create;
pub mod get;
pub mod list;
pub mod me;
pub mod presence;
pub mod settings;
pub mod typing;

pub use create::CAN_CREATE_USERS;
