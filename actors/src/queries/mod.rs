//! Queries. They bypass the actors: they read memory under the view's lock, held briefly, and bodies of older messages from
//! the trees. Access is checked by the same rules as in commands.

mod activity;
mod audit;
mod bodies;
mod channels;
mod exporting;
mod fetch;
mod flags;
mod history;
mod locate;
mod narrowed;
mod own;
mod readers;
mod received;
mod register;
mod search;
mod search_scope;
mod sets;
mod unread;

#[cfg(test)]
mod tests;

pub use activity::{Activity, activity};
pub use audit::{AuditFilter, AuditPage, audit_log};
pub use bodies::{MessageParts, MessageSnapshot, PAGE_HISTORY_BYTES_MAX};
pub use channels::{ChannelSnapshot, TopicSummary, channel_snapshot, one_channel, topic_count, topics};
pub use exporting::ExportPiece;
pub use fetch::{Anchor, FetchedMessage, NEWEST, Range, Window};
pub use flags::{FlagSelection, ReadScope};
pub(crate) use flags::{select_flags, select_unread};
pub use history::HistorySnapshot;
pub(crate) use locate::{locate, may_read, who_may_read};
pub use narrowed::{Narrowed, TextSearch};
pub(crate) use readers::readers;
pub(crate) use received::newest_received;
pub use register::{Include, RecentConversation, StateSnapshot, state_snapshot};
pub(crate) use search_scope::ScopeSearch;
pub use search_scope::{Covered, SearchScope};
pub use unread::{UnreadConversation, UnreadTopic, Unreads};
