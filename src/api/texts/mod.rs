//! Texts that users store before they send them, or to send them again.

mod draft_fields;
pub mod drafts;
mod recipient_fields;
pub mod reminders;
pub mod saved_snippets;
pub mod scheduled_messages;
pub mod scheduled_update;
