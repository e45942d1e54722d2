//! Reads. They do not stand in a mailbox: a moment under the view's read lock for what there is, the trees
//! for the bodies of older messages, and the same rules of access as everywhere.

mod channels;
mod fetch;
mod flags;
mod locate;
mod received;
mod register;
mod sets;
mod unread;

pub use channels::{ChannelSnapshot, TopicSummary, channel_snapshot, one_channel, topics};
pub use fetch::{
    Anchor, FetchedMessage, NEWEST, Page, Range, RangeError, Window, fetch, fetch_ids, ids_among, load,
    window,
};
pub use flags::{FlagSelection, ReadScope, select_flags, select_unread};
pub use locate::{locate, may_read, readable_among};
pub use received::newest_received;
pub use register::{Include, RecentConversation, StateSnapshot, state_snapshot};
pub use sets::evaluate;
pub use unread::{UnreadConversation, UnreadTopic, Unreads, unreads};
