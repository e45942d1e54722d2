//! Texts that users store: saved snippets, drafts, scheduled messages and reminders.

mod drafts;
mod reminders;
mod saved_snippets;
mod scheduled_messages;
