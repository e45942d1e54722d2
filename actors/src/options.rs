//! Options of a server.

use crate::budget::ByteBudget;
use crate::clock::Clock;
use crate::outbox::OutboxOptions;
use crate::shared::QueueLimits;
use rules::web_sessions::WebSessionLimits;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a server.
#[derive(Clone)]
pub struct Options {
    /// The data folder; created when it does not exist.
    pub data: PathBuf,
    /// Threads for organizations. Fixed when the folder is created.
    pub shards: usize,
    /// False: commits do not wait for the disk, and can be lost.
    pub is_durable: bool,
    /// Memory for pages of the trees.
    pub tree_cache_bytes: u64,
    /// Size of one file of the journal.
    pub journal_segment_bytes: u64,
    /// After this many frames of an organization, its next checkpoint is written.
    pub checkpoint_frames: u64,
    /// How fast sealed parts of the journal are verified in the background; 0 to switch it off.
    pub scrub_bytes_per_sec: u64,
    /// How fast sealed parts of the journal are compacted in the background; 0 to switch it off.
    pub compact_bytes_per_sec: u64,
    /// How long a segment stays beside its archive, in seconds.
    pub segment_kept_secs: u64,
    /// How often what was deleted is erased from the data folder, in seconds; 0: only when the operator asks for it.
    pub erase_interval_secs: u64,
    /// How long frames are kept; none: always.
    pub journal_keep: Option<Duration>,
    /// Free bytes below which changes are refused; 0: automatic.
    pub free_bytes_min: u64,
    /// Free bytes below which the server warns; 0: automatic.
    pub free_bytes_warn: u64,
    pub queues: QueueLimits,
    pub web_sessions: WebSessionLimits,
    /// Bytes that one account, with its bots, may have written to the journal within a day. 0 does not limit.
    pub write_bytes_daily_max: u64,
    /// Direct conversations that one account, with its bots, may start within a day. 0 does not limit.
    pub conversations_daily_max: u64,
    /// Interval of the sweep (message retention, inactive channels), in seconds.
    pub sweep_secs: u64,
    /// How long uploaded files are kept that no message names, in seconds.
    pub unclaimed_secs: u64,
    /// How long uploaded files are kept that messages named and none does any more, in seconds.
    pub released_secs: u64,
    /// How jobs of the outbox are delivered; none for tools: then jobs stay pending.
    pub outbox: Option<OutboxOptions>,
    pub clock: Arc<dyn Clock>,
    /// Bytes that may be held for clients.
    pub budget: ByteBudget,
    /// After how long changes are added to the search index; none to switch search off.
    pub search_write_after: Option<Duration>,
    /// The cluster that the server is a node of; none for a server alone.
    #[cfg(feature = "cluster")]
    pub cluster: Option<crate::cluster::options::ClusterOptions>,
}
