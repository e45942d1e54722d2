//! Scheduled messages and reminders: a worker of each organization sends those that are due.
//!
//! Due times are dates that users chose, so they are compared with the wall clock; how often that is done follows the
//! monotonic one. A message is claimed in the organization's actor, behind all changes of scheduled messages, so that one
//! that is changed or deleted is not sent as it was. Its end (sent, or failed with the reason) is a fact in the frame of the
//! message that it becomes, so after a crash it is either still scheduled or sent once. Claims are in memory only.

mod claims;
mod compose;
mod worker;

pub(crate) use claims::Claims;
pub(crate) use compose::check_and_render;
pub(crate) use worker::Worker;
