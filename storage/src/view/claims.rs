//! Which messages name which uploaded files. Both directions are looked up: who may read a file follows from its messages,
//! and a message that is edited or deleted releases its files.

use model::{AttachmentId, AttachmentUse, MessageId, Timestamp};
use roaring::RoaringBitmap;
use std::collections::{BTreeMap, HashMap};

/// The messages of one file.
#[derive(Clone, Debug, Default, PartialEq)]
struct Uses {
    /// The messages, for set algebra.
    ids: RoaringBitmap,
    /// When each of them was sent.
    sent: BTreeMap<MessageId, Timestamp>,
}

/// The messages of all uploaded files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    files: HashMap<AttachmentId, Uses>,
    messages: HashMap<MessageId, Vec<AttachmentId>>,
}

impl Claims {
    /// The files that a message names, by id.
    pub fn of_message(&self, message: MessageId) -> &[AttachmentId] {
        self.messages.get(&message).map(Vec::as_slice).unwrap_or_default()
    }

    /// The messages that name a file; none if there is none.
    pub fn messages(&self, file: AttachmentId) -> Option<&RoaringBitmap> {
        self.files.get(&file).map(|uses| &uses.ids)
    }

    /// The messages that name a file, the newest first.
    pub fn uses(&self, file: AttachmentId) -> impl Iterator<Item = AttachmentUse> {
        let sent = self.files.get(&file).into_iter().flat_map(|uses| uses.sent.iter().rev());
        sent.map(|(message, sent)| AttachmentUse { message: *message, sent: *sent })
    }

    /// When a message that names a file was sent.
    pub fn sent(&self, file: AttachmentId, message: MessageId) -> Option<Timestamp> {
        self.files.get(&file)?.sent.get(&message).copied()
    }

    /// Records that a message names a file.
    pub(super) fn put(&mut self, file: AttachmentId, message: MessageId, sent: Timestamp) {
        let uses = self.files.entry(file).or_default();
        uses.ids.insert(message.0);
        uses.sent.insert(message, sent);
        let files = self.messages.entry(message).or_default();
        if let Err(position) = files.binary_search(&file) {
            files.insert(position, file);
        }
    }

    /// Records that a message does not name a file.
    pub(super) fn remove(&mut self, file: AttachmentId, message: MessageId) {
        if let Some(uses) = self.files.get_mut(&file) {
            uses.ids.remove(message.0);
            uses.sent.remove(&message);
            if uses.sent.is_empty() {
                self.files.remove(&file);
            }
        }
        self.remove_from_message(file, message);
    }

    /// Forgets a file.
    pub(super) fn forget(&mut self, file: AttachmentId) {
        let Some(uses) = self.files.remove(&file) else { return };
        for message in uses.sent.keys() {
            self.remove_from_message(file, *message);
        }
    }

    fn remove_from_message(&mut self, file: AttachmentId, message: MessageId) {
        let Some(files) = self.messages.get_mut(&message) else { return };
        files.retain(|other| *other != file);
        if files.is_empty() {
            self.messages.remove(&message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_directions_agree() {
        let (one, two) = (AttachmentId(1), AttachmentId(2));
        let mut claims = Claims::default();
        for (file, message) in [(two, 7), (one, 7), (one, 9), (one, 9)] {
            claims.put(file, MessageId(message), Timestamp(u64::from(message) * 10));
        }
        assert_eq!(claims.of_message(MessageId(7)), [one, two]);
        let newest = AttachmentUse { message: MessageId(9), sent: Timestamp(90) };
        assert_eq!((claims.uses(one).next(), claims.uses(one).count()), (Some(newest), 2));
        assert_eq!(claims.sent(two, MessageId(7)), Some(Timestamp(70)));
        claims.forget(two);
        assert_eq!((claims.of_message(MessageId(7)), claims.messages(two)), (&[one][..], None));
        claims.remove(one, MessageId(7));
        claims.remove(one, MessageId(9));
        assert_eq!(claims, Claims::default());
    }
}
