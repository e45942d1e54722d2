//! What is kept of the channels of an organization, as of one directory.

use super::channels::{ChannelTable, EncodedChannels};
use super::subscribers::{Prominent, SubscriberLists};
use super::version::UncachedBytes;
use bytes::Bytes;
use model::event::ChannelSummary;
use model::{ChannelId, Directory, UserId};
use parking_lot::Mutex;
use std::sync::Arc;

/// Maximum bytes of the encoded channels of an organization that are kept.
const CHANNEL_BYTES_MAX: usize = 32 << 20;

/// What is kept for one organization.
pub(super) struct ChannelParts {
    table: Option<Arc<ChannelTable>>,
    lists: SubscriberLists,
    uncached: UncachedBytes,
}

impl ChannelParts {
    /// Nothing is encoded yet.
    pub fn new(uncached: &UncachedBytes) -> Self {
        Self { table: None, lists: SubscriberLists::new(uncached), uncached: uncached.clone() }
    }

    /// Memory of the encoded lists, in bytes.
    pub fn bytes(&self) -> usize {
        self.table.as_ref().map_or(0, |table| table.bytes()) + self.lists.bytes()
    }
}

/// Encoded channels and lists of subscribers, as of one directory.
pub struct ChannelSource {
    parts: Arc<Mutex<ChannelParts>>,
    directory: Directory,
}

impl ChannelSource {
    pub(super) fn new(parts: Arc<Mutex<ChannelParts>>, directory: &Directory) -> Self {
        parts.lock().lists.update_to(directory);
        Self { parts, directory: directory.clone() }
    }

    /// The objects of channels, which have to be ordered by id. The caller checks that the reader may see those that it splices.
    pub fn encode(&self, summaries: &[ChannelSummary]) -> EncodedChannels {
        let (known, uncached) = {
            let parts = self.parts.lock();
            (parts.table.clone(), parts.uncached.clone())
        };
        let encoded = ChannelTable::encode(known, &self.directory, summaries, &uncached);
        if encoded.table().bytes() <= CHANNEL_BYTES_MAX {
            self.parts.lock().table = Some(encoded.table().clone());
        }
        encoded
    }

    /// All subscribers of a channel. The caller checks that the reader may see them.
    pub fn subscribers(&self, id: ChannelId) -> Bytes {
        self.parts.lock().lists.all(&self.directory, id)
    }

    /// Those of `prominent` (ascending) who are subscribed to a channel. The caller checks that the reader may see them.
    pub fn prominent(&self, id: ChannelId, prominent: &Arc<[UserId]>) -> Prominent {
        self.parts.lock().lists.some(&self.directory, id, prominent)
    }
}
