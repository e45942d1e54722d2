//! Notifications outside of clients: push notifications and e-mails about missed messages.
//!
//! Sending a message writes nothing for them. A **reader** of each organization follows the durable messages in their order
//! and decides from the view who is notified: users with a phone get a push notification (one job for the message), others
//! an e-mail if the message is still unread after a delay. E-mails are recorded (`PushFact::MissedNoted`): each user has at
//! most one pending e-mail, with its first 200 messages. When it is due, the reader decides which of these to include
//! (`missed`), and each conversation becomes a job. The notification cursor moves (`NotificationCursorMoved`) in the same
//! frame as the jobs, so that a crash neither loses nor repeats a decision: messages after the cursor are processed after
//! the restart, unless they are older than a day.
//!
//! A message costs a lookup for each candidate: users who are mentioned, follow the topic or want all notifications.
//! Only a wildcard mention checks all subscribers; many recipients share one record (`PushFact::MissedNotedByMany`).
//!
//! Messages that phones show are recorded (`PushFact::Shown`); once they are read, deleted or no longer accessible, the
//! notifications are removed.
//!
//! Nothing runs where neither push notifications nor e-mail are configured.

mod candidates;
mod mentions;
mod missed;
mod pending_facts;
mod plan;
mod reader;
mod receipt;
mod recipients;

pub use mentions::{Mention, mention_of};
pub(crate) use missed::{is_any_due, missed_messages};
pub(crate) use pending_facts::Notifications;
pub use plan::shown;
pub(crate) use reader::Reader;
pub(crate) use receipt::is_unread_at;
