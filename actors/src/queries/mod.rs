//! Reads. They do not stand in a mailbox: a moment under the view's read lock for what there is, the trees
//! for the bodies of older messages, and the same rules of access as everywhere.

mod bodies;
mod channels;
mod fetch;
mod flags;
mod locate;
mod own;
mod readers;
mod received;
mod register;
mod search;
mod sets;
mod unread;

#[cfg(test)]
mod tests;

pub use bodies::MessageSnapshot;
pub use channels::{ChannelSnapshot, TopicSummary, channel_snapshot, one_channel, topics};
pub use fetch::{Anchor, FetchedMessage, NEWEST, Range, Window, chosen, ids_among, window};
pub use flags::{FlagSelection, ReadScope, select_flags, select_unread};
pub use locate::{locate, may_read, readable_among};
pub use readers::readers;
pub use received::newest_received;
pub use register::{Include, RecentConversation, StateSnapshot, state_snapshot};
pub use search::evaluate;
pub use unread::{UnreadConversation, UnreadTopic, Unreads, unreads};
