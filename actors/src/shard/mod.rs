//! A shard: one thread whose actors decide for some of the organizations, and the one way in which
//! what they decide becomes true.

mod ahead;
mod commit;
mod sequencer;
mod settled;
mod sink;

pub use commit::{Committer, Done};
pub use sequencer::Sequencer;
pub use settled::SettledQueue;
pub use sink::{Durability, DurableSink};
