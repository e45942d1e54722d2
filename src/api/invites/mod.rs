//! Invitations: by mail, and links that anybody may use (endpoints.md 10, companions.md 10).
//!
//! The page behind a link is `pages::join`.

pub mod fields;
pub mod list;
pub mod multiuse;
pub mod resend;
pub mod revoke;
pub mod send;
