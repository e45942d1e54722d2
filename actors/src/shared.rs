//! What the threads of the server share of one organization: the view that reads go to, and the
//! addresses of its actors.

use crate::channel::ChannelActor;
use crate::clock::Clock;
use crate::direct::DirectActor;
use crate::linkifiers::LinkifierCache;
use crate::login::Credentials;
use crate::noticing::Noticing;
use crate::outbox::Outbox;
use crate::presence::PresenceTable;
use crate::realm::RealmActor;
use crate::session::SessionActor;
use actix::Addr;
use model::{ChannelId, Directory, Message, MessageId, QueueId, RealmId, Timestamp, UserId};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use storage::{StoreError, Trees, View};

/// Bounds of event queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Events that a client may leave unacknowledged. Past it the queue ends.
    pub events_max: usize,
    /// Queues that one user may have at once.
    pub queues_per_user_max: usize,
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
            queues_per_user_max: 1_000,
            idle_secs: 600,
            idle_secs_max: 7 * 24 * 3600,
            heartbeat_secs: 45,
        }
    }
}

/// Where a queue lives, and whose it is.
#[derive(Clone, Debug)]
pub struct QueueAddress {
    /// Its owner.
    pub user: UserId,
    /// Its actor.
    pub session: Addr<SessionActor>,
}

/// One organization, as all threads see it.
pub struct RealmShared {
    /// Which.
    pub id: RealmId,
    /// Everything durable, for reading. Written by the shard's thread alone, in log order.
    pub view: RwLock<View>,
    /// Bodies of older messages.
    pub trees: Trees,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Who may log in with which key.
    pub credentials: Credentials,
    /// Patterns that become links.
    pub linkifiers: LinkifierCache,
    /// Who is here.
    pub presence: Mutex<PresenceTable>,
    /// When owners of bots were last told that nobody reads what those write.
    pub owner_alerts: Mutex<HashMap<UserId, Timestamp>>,
    /// Bounds of event queues.
    pub queue_limits: QueueLimits,
    /// Seconds between two looks for messages that have been kept long enough.
    pub sweep_secs: u64,
    /// What is owed to the world outside.
    pub outbox: Outbox,
    /// Who is told of messages outside of a client.
    pub noticing: Noticing,
    /// The realm actor; set once, when it starts.
    pub realm: OnceLock<Addr<RealmActor>>,
    /// Running channel actors.
    pub channels: RwLock<HashMap<ChannelId, Addr<ChannelActor>>>,
    /// Running actors of direct conversations, by everybody in them (sorted).
    pub directs: RwLock<HashMap<Vec<UserId>, Addr<DirectActor>>>,
    /// Running sessions.
    pub queues: RwLock<HashMap<QueueId, QueueAddress>>,
}

impl RealmShared {
    /// A snapshot of everything but the messages.
    pub fn directory(&self) -> Directory {
        self.view.read().directory.clone()
    }

    /// A message as it is now, moves and changes included; none where there is no such message.
    ///
    /// # Errors
    /// [`StoreError`] when the trees cannot be read.
    pub fn message(&self, id: MessageId) -> Result<Option<Arc<Message>>, StoreError> {
        let (own, relocation) = {
            let view = self.view.read();
            (StoredRecord::find(&view, id), view.relocation(id))
        };
        let Some(own) = self.read_record(id, own)? else { return Ok(None) };
        Ok(Some(relocation.map_or(own.clone(), |relocation| Arc::new(relocation.apply(&own)))))
    }

    /// A message's own record: as sent, with what was done to this message alone (content edits, reactions,
    /// submessages). Facts carry it, changed; where moves have brought the message is not in it.
    ///
    /// # Errors
    /// [`StoreError`] when the trees cannot be read.
    pub fn own_record(&self, id: MessageId) -> Result<Option<Arc<Message>>, StoreError> {
        let own = StoredRecord::find(&self.view.read(), id);
        self.read_record(id, own)
    }

    fn read_record(&self, id: MessageId, own: StoredRecord) -> Result<Option<Arc<Message>>, StoreError> {
        match own {
            StoredRecord::None => Ok(None),
            StoredRecord::InMemory(message) => Ok(Some(message)),
            StoredRecord::InTrees { is_changed } => {
                Ok(self.trees.message(self.id, id, is_changed)?.map(Arc::new))
            }
        }
    }
}

/// Where a message's own record is.
enum StoredRecord {
    /// Nowhere.
    None,
    /// Here.
    InMemory(Arc<Message>),
    /// In the trees, among those that changed or those as sent.
    InTrees { is_changed: bool },
}

impl StoredRecord {
    fn find(view: &View, id: MessageId) -> Self {
        match view.recent.get(id) {
            Some(message) => Self::InMemory(message.clone()),
            None if view.messages.all.contains(id.0) => Self::InTrees { is_changed: view.is_changed(id) },
            None => Self::None,
        }
    }
}
