//! A shard: one thread with the actors of some organizations, and the commit pipeline through which
//! their decisions take effect.

mod commit;
mod daily_budget;
mod pending;
mod sequencer;
mod serial;
mod sink;
mod uncommitted;

pub(crate) use commit::COMMITTER;
pub use commit::Committer;
pub use daily_budget::{Budgeted, DailyBudget};
pub use pending::CommitCallback;
pub use sequencer::Sequencer;
pub use serial::{BasedOn, SerialQueue};
pub(crate) use serial::{RunNext, SerialActor};
pub use sink::{Durability, DurableSink};
