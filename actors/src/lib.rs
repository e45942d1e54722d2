//! The actors: commands, their order, and reads.
//!
//! A [`Server`] runs shards: threads with the actors of some organizations. A [`RealmHandle`] is all that
//! the edge has of an organization: commands go to its actors, reads to its view. `shard::Committer` is
//! the one way in which a decision becomes durable, visible and announced, in that order.

mod account;
mod addresses;
pub mod announce;
mod audit;
pub mod backups;
mod bootstrap;
mod bot_notices;
mod bot_owner;
pub mod budget;
mod changes;
mod channel;
mod check;
mod clock;
mod clock_watch;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod commands;
mod counters;
mod direct;
mod draft;
mod erase;
mod error;
mod fanout;
pub mod folder_access;
mod folder_upkeep;
mod handle;
mod health;
mod journal_trim;
pub mod linkifiers;
pub mod login;
mod login_candidate;
mod mailbox;
mod markdown;
pub mod notifications;
mod opening;
mod options;
pub mod outbox;
mod placement;
mod presence;
mod priority;
pub mod queries;
mod realm;
mod registry;
mod resume;
mod scheduled;
pub mod search;
mod seed;
mod seed_frames;
mod server;
mod session;
mod shard;
mod shared;
mod storage_recovery;
mod storage_watchdog;
mod upkeep;
mod uploads;
mod webhooks;

pub use account::{OnBehalfOf, Requester, for_current_requester, on_behalf_of};
pub use bootstrap::{NewRealm, SUBDOMAIN_LENGTH_MAX, check_subdomain, subdomain_rule};
pub use bot_notices::SYSTEM_BOTS;
pub use bot_notices::{gateway_bot, notification_bot, welcome_bot};
pub use bot_owner::{owner_message, owner_notice};
pub use changes::{Edited, NamedEmoji, ReactionChange, RequestedEdit, TopicDeletion};
pub use channel::Unsubscribed;
pub use check::{IndexReport, check, check_indexes};
pub use clock::{Clock, ManualClock, ShiftedClock, SystemClock};
pub use draft::{ChannelDraft, DirectDraft, Draft, Sent};
pub use erase::{EraseStatus, Erased};
pub use error::DomainError;
pub use handle::{FoundSession, OwnQueue, RealmHandle};
pub use health::{Pause, Reserve, SpaceLevels, StorageStatus};
pub use login_candidate::LoginCandidate;
pub use markdown::{RealmMarkdown, preview_of};
pub use options::Options;
pub use placement::Placement;
pub use presence::{Presence, Report};
pub use realm::{
    Added, BULK_NOTICE_RECIPIENTS_MAX, BotDefaults, BotUpdate, EmojiFiles, EndedSessions, FolderDescription,
    Joining, NewBot, NewPassword, NewPushDevice, NewUser, OwnChanges, RegisteredQueue, WantedStatus,
};
pub use seed::{
    Seed, SeedChange, SeedChannel, SeedEmoji, SeedField, SeedFile, SeedFolder, SeedGroup, SeedPermission,
    SeedThread, SeedUser, Subscribers, seed_directory, seed_holders,
};
pub use server::Server;
pub use server::bulk::{BulkWriter, fits_in_frame};
pub use server::import_file::{IMPORT_REMEDY, ImportOrigin, UnfinishedImport};
pub use server::interrupted::UnfinishedRealm;
pub use session::{Delivered, Polled};
pub use shared::QueueLimits;
pub use storage::BUCKET_OWNER as BUCKET_OWNER_FILE;
pub use storage::backup::{BackedUp, Restored};
pub use storage::check::{CheckProgress, CheckReport};
pub use uploads::FileAccess;

/// Where an actor sends its result.
pub(crate) type ReplySender<T> = tokio::sync::oneshot::Sender<Result<T, DomainError>>;

#[cfg(test)]
mod fixture;
