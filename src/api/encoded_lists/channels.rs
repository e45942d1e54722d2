//! Shared parts of channels: their objects, which all readers see alike.
//!
//! The objects of an organization are one text, so that the list of a reader who sees all of them is one part. Which channels a
//! reader may see is decided for each response: only the objects that it asks for are spliced into it.

use super::version::{UncachedBytes, Version};
use crate::api::wire::channel::channel;
use crate::api::wire::json::push_value;
use crate::http::Envelope;
use bytes::Bytes;
use model::event::ChannelSummary;
use model::{ChannelId, Directory};
use std::sync::Arc;

/// Encoded channels, as of one directory.
pub(super) struct ChannelTable {
    directory: Directory,
    /// The objects with commas between them, and after the last.
    json: Version,
    /// One for each channel, by id.
    entries: Vec<Entry>,
}

struct Entry {
    summary: ChannelSummary,
    /// The place of the object without its closing brace.
    start: usize,
    end: usize,
}

impl Entry {
    fn id(&self) -> ChannelId {
        self.summary.channel.id
    }
}

impl ChannelTable {
    /// The objects of channels (by id), from `known` if that has them.
    pub fn encode(
        known: Option<Arc<Self>>,
        directory: &Directory,
        summaries: &[ChannelSummary],
        uncached: &UncachedBytes,
    ) -> EncodedChannels {
        let known = known.filter(|table| table.directory.shows_permissions_as(directory));
        if let Some(table) = &known
            && let Some(places) = table.places(summaries)
        {
            return EncodedChannels { table: table.clone(), places };
        }
        let table = Arc::new(Self::new(directory, summaries, known.as_deref(), uncached));
        let places = table.places(summaries).unwrap_or_default();
        EncodedChannels { table, places }
    }

    /// Encodes channels (by id). Those that `known` has are copied, if it shows permissions alike; it may have further ones, which
    /// stay.
    fn new(
        directory: &Directory,
        summaries: &[ChannelSummary],
        known: Option<&Self>,
        uncached: &UncachedBytes,
    ) -> Self {
        let mut made = Writer::default();
        let mut kept = known.map(|known| (known, known.entries.iter().peekable()));
        for summary in summaries {
            let id = summary.channel.id;
            let mut same = None;
            if let Some((known, kept)) = &mut kept {
                while let Some(other) = kept.next_if(|entry| entry.id() < id) {
                    made.copy(known, other);
                }
                let before = kept.next_if(|entry| entry.id() == id);
                same = before.filter(|entry| is_same(&entry.summary, summary)).map(|entry| (*known, entry));
            }
            match same {
                Some((known, entry)) => made.copy(known, entry),
                None => made.encode(directory, summary),
            }
        }
        if let Some((known, rest)) = kept {
            rest.for_each(|entry| made.copy(known, entry));
        }
        Self { directory: directory.clone(), json: uncached.version(made.json), entries: made.entries }
    }

    /// Its memory in bytes.
    pub fn bytes(&self) -> usize {
        self.json.json().len() + self.entries.len() * size_of::<Entry>()
    }

    /// The places of channels (by id); none if one of them is missing or reads otherwise now.
    fn places(&self, summaries: &[ChannelSummary]) -> Option<Vec<usize>> {
        let mut entries = self.entries.iter().enumerate();
        let mut place = |summary: &ChannelSummary| {
            let (place, entry) = entries.find(|(_, entry)| entry.id() >= summary.channel.id)?;
            is_same(&entry.summary, summary).then_some(place)
        };
        summaries.iter().map(&mut place).collect()
    }
}

/// A table that is being written.
#[derive(Default)]
struct Writer {
    json: Vec<u8>,
    entries: Vec<Entry>,
}

impl Writer {
    fn copy(&mut self, known: &ChannelTable, entry: &Entry) {
        let start = self.json.len();
        self.json.extend_from_slice(&known.json.json()[entry.start..entry.end]);
        self.finish(entry.summary.clone(), start);
    }

    fn encode(&mut self, directory: &Directory, summary: &ChannelSummary) {
        let start = self.json.len();
        push_value(&mut self.json, &channel(directory, summary));
        self.json.pop();
        self.finish(summary.clone(), start);
    }

    fn finish(&mut self, summary: ChannelSummary, start: usize) {
        self.entries.push(Entry { summary, start, end: self.json.len() });
        self.json.extend_from_slice(b"},");
    }
}

/// The objects of some channels.
pub struct EncodedChannels {
    table: Arc<ChannelTable>,
    /// Of each channel, in the order in which they were given.
    places: Vec<usize>,
}

impl EncodedChannels {
    /// The table that has them.
    pub(super) fn table(&self) -> &Arc<ChannelTable> {
        &self.table
    }

    /// The object of a channel without its closing brace.
    pub fn object(&self, index: usize) -> Bytes {
        let entry = self.places.get(index).and_then(|place| self.table.entries.get(*place));
        entry.map(|entry| self.table.json.json().slice(entry.start..entry.end)).unwrap_or_default()
    }

    /// Adds the objects of some channels to a list, with commas between them.
    pub fn add_to(&self, envelope: &mut Envelope, indexes: impl IntoIterator<Item = usize>) {
        let mut places = indexes.into_iter().filter_map(|index| self.places.get(index).copied()).peekable();
        while let Some(first) = places.next() {
            // Objects that are neighbors are one part. Nothing between them was not asked for.
            let mut last = first;
            while let Some(next) = places.next_if_eq(&(last + 1)) {
                last = next;
            }
            let entries = (self.table.entries.get(first), self.table.entries.get(last));
            let (Some(first), Some(last)) = entries else { return };
            envelope.splice(self.table.json.json().slice(first.start..=last.end));
            if places.peek().is_some() {
                envelope.buffer().push(b',');
            }
        }
    }
}

/// Whether two summaries are encoded alike, given that permissions are.
fn is_same(known: &ChannelSummary, summary: &ChannelSummary) -> bool {
    Arc::ptr_eq(&known.channel, &summary.channel)
        && known.first_message == summary.first_message
        && known.subscriber_count == summary.subscriber_count
        && known.weekly_traffic == summary.weekly_traffic
}
