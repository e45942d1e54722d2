//! Shared parts of channels and lists of subscribers.

use crate::api::wire::channel::channel;
use crate::api::wire::json::push_value;
use bytes::Bytes;
use model::directory::Subscribers;
use model::event::ChannelSummary;
use model::{ChannelId, Directory, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum bytes of cached lists of subscribers of an organization.
const SUBSCRIBER_BYTES_MAX: usize = 16 << 20;

/// The encoded channels of one organization.
#[derive(Default)]
pub(super) struct ChannelParts {
    /// The directory that they were encoded from; none at first.
    directory: Option<Directory>,
    channels: HashMap<ChannelId, (ChannelSummary, Bytes)>,
    subscribers: HashMap<ChannelId, (Subscribers, Bytes)>,
    channel_bytes: usize,
    subscriber_bytes: usize,
}

impl ChannelParts {
    /// Memory of the encoded lists, in bytes.
    pub fn bytes(&self) -> usize {
        self.channel_bytes + self.subscriber_bytes
    }

    /// Drops what differs in this directory.
    fn update_to(&mut self, directory: &Directory) {
        let known = self.directory.as_ref();
        if !known.is_some_and(|known| known.has_same_groups_as(directory)) {
            self.channels.clear();
            self.channel_bytes = 0;
        }
        if !known.is_some_and(|known| known.has_same_people_as(directory)) {
            self.subscribers.clear();
            self.subscriber_bytes = 0;
        }
        self.directory = Some(directory.clone());
    }
}

/// Encoded channels, as of one directory.
pub struct ChannelSource {
    parts: Arc<Mutex<ChannelParts>>,
    directory: Directory,
}

impl ChannelSource {
    pub(super) fn new(parts: Arc<Mutex<ChannelParts>>, directory: &Directory) -> Self {
        parts.lock().update_to(directory);
        Self { parts, directory: directory.clone() }
    }

    /// The object of a channel without its closing brace.
    pub fn channel(&self, summary: &ChannelSummary) -> Bytes {
        let mut parts = self.parts.lock();
        let parts = &mut *parts;
        // Another response may have updated them to another directory meanwhile.
        let is_current = parts.directory.as_ref().is_some_and(|now| now.has_same_groups_as(&self.directory));
        let id = summary.channel.id;
        let known = parts.channels.get(&id).filter(|(known, _)| is_current && is_same(known, summary));
        if let Some((_, json)) = known {
            return json.clone();
        }
        let mut json = Vec::new();
        push_value(&mut json, &channel(&self.directory, summary));
        json.pop();
        json.shrink_to_fit();
        let json = Bytes::from(json);
        if is_current {
            parts.channel_bytes += json.len();
            let before = parts.channels.insert(id, (summary.clone(), json.clone()));
            parts.channel_bytes -= before.map_or(0, |(_, json)| json.len());
        }
        json
    }

    /// All subscribers of a channel. The caller checks that the reader may see them.
    pub fn subscribers(&self, id: ChannelId) -> Bytes {
        let subscribers = self.directory.subscriptions_of(id);
        let mut parts = self.parts.lock();
        let parts = &mut *parts;
        let is_current = parts.directory.as_ref().is_some_and(|now| now.has_same_people_as(&self.directory));
        let known = parts.subscribers.get(&id).filter(|(known, _)| is_current && known.ptr_eq(&subscribers));
        if let Some((_, json)) = known {
            return json.clone();
        }
        let ids: Vec<UserId> = self.directory.subscriber_ids(id).collect();
        let mut json = Vec::new();
        push_value(&mut json, &ids);
        json.shrink_to_fit();
        let json = Bytes::from(json);
        if is_current && parts.subscriber_bytes + json.len() <= SUBSCRIBER_BYTES_MAX {
            parts.subscriber_bytes += json.len();
            let before = parts.subscribers.insert(id, (subscribers, json.clone()));
            parts.subscriber_bytes -= before.map_or(0, |(_, json)| json.len());
        }
        json
    }
}

/// Whether two summaries are encoded alike, given the same groups.
fn is_same(known: &ChannelSummary, summary: &ChannelSummary) -> bool {
    Arc::ptr_eq(&known.channel, &summary.channel)
        && known.first_message == summary.first_message
        && known.subscriber_count == summary.subscriber_count
        && known.weekly_traffic == summary.weekly_traffic
}
