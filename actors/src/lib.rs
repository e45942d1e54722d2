//! Who decides, in what order.
//!
//! A [`Server`] runs shards: threads with the actors of some organizations. A [`RealmHandle`] is all that
//! the edge has of an organization: commands go to its actors, reads to its view. `shard::Committer` is
//! the one way in which a decision becomes durable, visible and announced, in that order.

pub mod announce;
mod bootstrap;
mod changes;
mod channel;
mod check;
mod clock;
mod direct;
mod draft;
mod error;
mod fanout;
mod handle;
pub mod linkifiers;
pub mod login;
mod markdown;
mod notice;
pub mod noticing;
pub mod outbox;
mod placement;
mod presence;
pub mod queries;
mod realm;
mod resume;
mod server;
mod session;
mod shard;
mod shared;
mod webhooks;

pub use bootstrap::{NewRealm, SYSTEM_BOTS, first_user};
pub use changes::{EditCommand, Edited, NamedEmoji, ReactionChange, RequestedEdit, TopicDeletion};
pub use channel::{Subscribed, Unsubscribed};
pub use check::check;
pub use clock::{Clock, ManualClock, SystemClock};
pub use draft::{ChannelDraft, DirectDraft, Draft, Sent};
pub use error::DomainError;
pub use handle::RealmHandle;
pub use markdown::RealmMarkdown;
pub use notice::{draft_notice, notification_bot, welcome_bot};
pub use placement::Placement;
pub use presence::{Presence, Report};
pub use realm::{
    BotDefaults, BotUpdate, EmojiFiles, FolderDescription, Joining, NewBot, NewChannel, NewPassword,
    NewPushDevice, NewUser, Notice, OwnChanges, RegisteredQueue, WantedStatus,
};
pub use server::{Options, Server};
pub use session::Delivered;
pub use shared::QueueLimits;
pub use storage::View;
pub use storage::check::{CheckProgress, CheckReport};

/// Where an actor's answer goes.
pub(crate) type Answer<T> = tokio::sync::oneshot::Sender<Result<T, DomainError>>;

#[cfg(test)]
mod fixture;
