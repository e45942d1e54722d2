//! The outbox: jobs for external services (e-mail, webhooks, push notifications), and the worker that delivers them.
//!
//! **Adding a job** is a fact. A command adds [`job`] to the facts of its frame, so that the job is as durable as
//! its cause, and is not added if the command fails. A task contains references only; texts, links and keys are made
//! at delivery, and a task whose subject no longer exists is not delivered (`Delivery::Dropped`). A command that
//! is useless without its job (a new password) calls `RealmShared::check_outbox` first; jobs that only notify
//! need not: beyond the bound (`JOBS_WAITING_MAX` of a kind in an organization) a job is dropped, with a warning.
//! Invitations and e-mails about missed messages leave half of the room to e-mails that a person waits for
//! ([`unrequested_mail_room`]), and the bots of one owner a part of it to those of others ([`CallRoom`]).
//!
//! **Delivery** is done by the [`DeliveryWorker`] that the server was started with: one function for each kind of task, on a
//! thread for that kind, apart from the shards. Its results:
//!
//! | [`Delivery`] | then |
//! |---|---|
//! | `Done(None)` | the job ends |
//! | `Done(Some(Followup))` | the job ends in the same frame as the follow-up, which is committed at most once |
//! | `Dropped` | the job ends: there was nothing to deliver any more |
//! | `Failed` | it is retried with increasing delays (`schedule::wait_millis`), until `give_up_secs` after it was due |
//! | `Refused` | it fails permanently; the follow-up (such as a notification) is in the same frame |
//!
//! An attempt that takes longer than `delivery_secs_max`, or panics, has failed. Delivery is at least once: services deduplicate by
//! `DeliveryAttempt::key`, the same for each attempt of a job.
//!
//! **The worker** of an organization runs on its shard and begins due jobs ([`schedule`]), with limits for each kind,
//! each destination (`Task::destination`), one at a time after a failure, and for the bots of each owner; owners take turns. Attempts are not stored, the last error is only in memory ([`FailedAttempts`]): after
//! a restart each waiting job is attempted at once. Ends are facts (`JobEnded`), so confirmed deliveries are not repeated.
//!
//! To add a kind: a variant of `model::job::Task` (with its own file, destination and description), and an arm in the worker.

mod attempts;
mod delivery;
mod end;
mod job;
mod room;
mod schedule;
mod state;
mod threads;
mod worker;

pub use attempts::FailedAttempts;
pub use delivery::{Decide, Delivery, DeliveryAttempt, DeliveryWorker, Followup, OutboxOptions};
pub use job::job;
pub(crate) use room::{CallRoom, UNREQUESTED_MAILS_MAX, unrequested_mail_room};
pub(crate) use state::{Outbox, note_without_room};
pub(crate) use threads::DeliveryThreads;
pub(crate) use worker::{Worker, stop};
