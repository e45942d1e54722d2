//! The state of one organization that threads share: the view for queries, and what its actors use in common. It does not
//! know the actors.

use crate::addresses::AddressIndex;
use crate::announce::Texts;
use crate::clock::Clock;
use crate::error::DomainError;
use crate::linkifiers::LinkifierCache;
use crate::login::Credentials;
use crate::notifications::Notifications;
use crate::outbox::Outbox;
use crate::presence::PresenceTable;
use crate::resume::ResumeState;
use crate::scheduled::Claims;
use crate::search::RealmSearch;
use model::job::TaskKind;
use model::{Directory, Fact, Message, MessageId, QueueOptions, RealmId, Sequence, UserId};
use parking_lot::{Mutex, RwLock};
use rules::web_sessions::WebSessionLimits;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use storage::view::Changes;
use storage::{StoreError, Trees, View};

/// Maximum number of message ranges whose flags one frame changes.
pub(crate) const FLAG_RANGES_MAX: usize = 16_384;
/// Maximum number of users whose subscriptions, or flags in a channel, one frame changes.
pub(crate) const SUBSCRIBERS_MAX: usize = 1000;

/// Bounds of event queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Unacknowledged events of a queue. Beyond it the queue ends.
    pub events_max: usize,
    /// Queues that one user may have at once, running or registered before a restart. All bots of an owner together may have
    /// four times as many.
    pub queues_per_user_max: usize,
    /// Bytes in all queues of one user. Beyond it the largest end.
    pub bytes_per_user_max: usize,
    /// Seconds without a poll after which a queue ends, unless it asked for more.
    pub idle_secs: u32,
    /// Seconds that a queue may ask for.
    pub idle_secs_max: u32,
    /// Seconds of silence after which a heartbeat is sent.
    pub heartbeat_secs: u32,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            events_max: 10_000,
            queues_per_user_max: 50,
            bytes_per_user_max: 64 * 1024 * 1024,
            idle_secs: 600,
            idle_secs_max: 7 * 24 * 3600,
            heartbeat_secs: 45,
        }
    }
}

impl QueueLimits {
    /// How long a queue may be without a poll.
    pub fn idle_of(&self, options: &QueueOptions) -> Duration {
        let secs = options.idle_secs_max.max(self.idle_secs).min(self.idle_secs_max);
        Duration::from_secs(secs.into())
    }
}

/// One organization, as all threads see it.
pub struct RealmShared {
    pub id: RealmId,
    /// Everything durable, for reading. Written by the shard's thread alone, in log order.
    pub view: RwLock<View>,
    pub trees: Trees,
    pub clock: Arc<dyn Clock>,
    pub credentials: Credentials,
    /// Those of all organizations of the server.
    pub addresses: Arc<AddressIndex>,
    pub linkifiers: LinkifierCache,
    pub presence: Mutex<PresenceTable>,
    /// When bot owners were last notified that their bot's messages reach no one.
    pub owner_alerts: Mutex<HashMap<UserId, Duration>>,
    pub queue_limits: QueueLimits,
    /// Interval of the sweep (message retention, inactive channels), in seconds.
    pub sweep_secs: u64,
    /// How long uploaded files are kept that no message names, in seconds.
    pub unclaimed_secs: u64,
    /// How long uploaded files are kept that messages named and none does any more, in seconds.
    pub released_secs: u64,
    pub outbox: Outbox,
    pub notifications: Notifications,
    /// Event queues registered before a restart whose clients return.
    pub resume: ResumeState,
    pub search: RealmSearch,
    /// Bounds of web sessions.
    pub web_session_limits: WebSessionLimits,
    /// Scheduled messages that are being sent.
    pub scheduled: Claims,
}

impl RealmShared {
    /// Tells those who follow the messages what a frame has changed.
    pub fn note_published(&self, sequence: Sequence, facts: &[Fact]) {
        self.notifications.note(facts);
        self.search.record_changes(sequence, facts);
    }

    /// A snapshot of the directory.
    pub fn directory(&self) -> Directory {
        self.view.read().directory.clone()
    }

    /// A message as it is now, moves and changes included; none if it does not exist.
    pub fn message(&self, id: MessageId) -> Result<Option<Arc<Message>>, StoreError> {
        let (own, relocation) = {
            let view = self.view.read();
            (StoredRecord::find(&view, id), view.relocation(id))
        };
        let Some(own) = self.read_record(id, own)? else { return Ok(None) };
        Ok(Some(relocation.map_or(own.clone(), |relocation| Arc::new(relocation.apply(&own)))))
    }

    /// A message's own record: as sent, with content edits, reactions and submessages, but without moves.
    pub fn own_record(&self, id: MessageId) -> Result<Option<Arc<Message>>, StoreError> {
        let own = StoredRecord::find(&self.view.read(), id);
        self.read_record(id, own)
    }

    /// The record of [`Self::own_record`], for callers that have locked the view.
    pub fn own_record_in(&self, view: &View, id: MessageId) -> Result<Option<Arc<Message>>, StoreError> {
        self.read_record(id, StoredRecord::find(view, id))
    }

    /// The content of a message after one of its edits (0: as sent); none if the message is deleted. The view is not locked
    /// while the trees are read.
    pub fn texts_of(&self, id: MessageId, number: u32) -> Result<Option<Texts>, StoreError> {
        {
            let view = self.view.read();
            if !view.messages.all.contains(id.0) {
                return Ok(None);
            }
            if let Some(version) = view.versions.of(id).get(&number) {
                let (content, rendered) = (version.content.clone(), version.rendered.clone());
                return Ok(Some(Texts { content, rendered }));
            }
        }
        if number == 0 {
            let sent = self.trees.message_as_sent(self.id, id)?;
            return Ok(sent.map(|sent| Texts { content: sent.content, rendered: sent.rendered }));
        }
        let version = self.trees.version(self.id, id, number)?;
        Ok(version.map(|version| Texts { content: version.content, rendered: version.rendered }))
    }

    /// Whether tasks of a kind can be delivered, as the server is configured. Do not add jobs for others.
    pub fn supports(&self, kind: TaskKind) -> bool {
        self.outbox.supports(kind)
    }

    /// Refuses a command that needs a new job of a kind when too many wait already.
    ///
    /// # Errors
    /// `Overloaded`.
    pub fn check_outbox(&self, kind: TaskKind) -> Result<(), DomainError> {
        if self.view.read().jobs.has_room(kind) { Ok(()) } else { Err(DomainError::Overloaded) }
    }

    fn read_record(&self, id: MessageId, own: StoredRecord) -> Result<Option<Arc<Message>>, StoreError> {
        match own {
            StoredRecord::None => Ok(None),
            StoredRecord::InMemory(message) => Ok(Some(message)),
            StoredRecord::InTrees(changes) => Ok(self.trees.message(self.id, id, changes)?.map(Arc::new)),
        }
    }
}

/// The location of a message's own record.
enum StoredRecord {
    None,
    InMemory(Arc<Message>),
    /// With the rows besides the message as sent.
    InTrees(Changes),
}

impl StoredRecord {
    fn find(view: &View, id: MessageId) -> Self {
        match view.recent.get(id) {
            Some(message) => Self::InMemory(message.clone()),
            None if view.messages.all.contains(id.0) => Self::InTrees(view.changes_of(id)),
            None => Self::None,
        }
    }
}
