//! Channels and lists of their subscribers.

use crate::api::wire::channel::channel;
use crate::api::wire::json::push_value;
use bytes::Bytes;
use model::directory::Subscribers;
use model::event::ChannelSummary;
use model::{ChannelId, Directory, UserId};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// Most bytes of lists of subscribers that are kept for one organization.
const SUBSCRIBER_BYTES_MAX: usize = 16 << 20;

/// The encoded channels of one organization.
#[derive(Default)]
pub(super) struct ChannelParts {
    /// What they were made from; none before the first.
    directory: Option<Directory>,
    channels: HashMap<ChannelId, (ChannelSummary, Bytes)>,
    subscribers: HashMap<ChannelId, (Subscribers, Bytes)>,
    channel_bytes: usize,
    subscriber_bytes: usize,
}

impl ChannelParts {
    pub fn bytes(&self) -> usize {
        self.channel_bytes + self.subscriber_bytes
    }

    /// Forgets what is not true of this directory.
    fn bring_to(&mut self, directory: &Directory) {
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
        parts.lock().bring_to(directory);
        Self { parts, directory: directory.clone() }
    }

    /// The object of a channel, without the brace at its end.
    pub fn channel(&self, summary: &ChannelSummary) -> Bytes {
        let mut parts = self.parts.lock();
        let parts = &mut *parts;
        // Another answer may have brought them to another directory meanwhile.
        let is_current = parts.directory.as_ref().is_some_and(|now| now.has_same_groups_as(&self.directory));
        let id = summary.channel.id;
        match parts.channels.get(&id) {
            Some((known, json)) if is_current && is_same(known, summary) => return json.clone(),
            _ => {}
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

    /// Everybody who subscribes to a channel. That the reader may know is for the caller to have asked.
    pub fn subscribers(&self, id: ChannelId) -> Bytes {
        let subscribers = self.directory.subscriptions_of(id);
        let mut parts = self.parts.lock();
        let parts = &mut *parts;
        let is_current = parts.directory.as_ref().is_some_and(|now| now.has_same_people_as(&self.directory));
        match parts.subscribers.get(&id) {
            Some((known, json)) if is_current && known.ptr_eq(&subscribers) => {
                return json.clone();
            }
            _ => {}
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

/// Whether two summaries read the same, given the same groups.
fn is_same(known: &ChannelSummary, summary: &ChannelSummary) -> bool {
    Arc::ptr_eq(&known.channel, &summary.channel)
        && known.first_message == summary.first_message
        && known.subscriber_count == summary.subscriber_count
        && known.weekly_traffic == summary.weekly_traffic
}
