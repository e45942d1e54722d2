//! Invitations by mail and reusable links (docs/api/invitations.md).
//!
//! The page behind a link is `pages::join`.

pub mod fields;
pub mod list;
pub mod multiuse;
pub mod resend;
pub mod revoke;
pub mod send;
