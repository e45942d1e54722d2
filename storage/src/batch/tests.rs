use super::*;
use crate::fixture::{REALM, channel_message, noise_of};
use crate::view::compression::counted;
use model::Message;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn tree() -> sled::Tree {
    let db = sled::Config::new().temporary(true).cache_capacity(1 << 20).open().unwrap();
    db.open_tree("state").unwrap()
}

fn key_of(first: u32) -> Vec<u8> {
    Key::new(REALM, records::Messages::ID, &MessageId(first)).into_bytes()
}

fn write(tree: &sled::Tree, changes: impl IntoIterator<Item = RowChange>) {
    let mut batch = Batch::new(tree);
    changes.into_iter().for_each(|change| batch.add(change).unwrap());
    for (key, value) in batch.into_rows().unwrap() {
        match value {
            Some(value) => tree.insert(key, value).unwrap(),
            None => tree.remove(key).unwrap(),
        };
    }
}

fn record_of(id: u32, words: usize) -> Vec<u8> {
    let content = noise_of(id, words);
    let rendered = format!("<p>{content}</p>");
    encode(&Message { content, rendered, ..channel_message(id, 1 + id % 3, 1, "tea") }).unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Add(Vec<u8>),
    /// A message with so many characters.
    Message(usize),
    /// A message that the newest chunk has already, as when frames are written again.
    Again,
    NextChunk,
    /// So many messages before the newest one.
    Erase(u32),
    Blank(u32),
    /// The newest chunk is written whole, without one of its messages.
    Replace(u32),
    EndBatch,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0..400_usize).prop_map(Step::Message),
        1 => (4_000..9_000_usize).prop_map(Step::Message),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Add),
        1 => prop::collection::vec(Just(0_u8), 0..3).prop_map(Step::Add),
        1 => Just(Step::Again),
        1 => Just(Step::NextChunk),
        1 => (0..20_u32).prop_map(Step::Erase),
        1 => (0..20_u32).prop_map(Step::Blank),
        1 => (0..20_u32).prop_map(Step::Replace),
        6 => Just(Step::EndBatch),
    ];
    prop::collection::vec(step, 1..90)
}

/// The chunks as they should be, not compressed, by the first message in their keys.
#[derive(Default)]
struct Plain {
    chunks: BTreeMap<u32, Vec<u8>>,
    last: u32,
    ends: bool,
}

impl Plain {
    fn add(&mut self, id: u32, record: Vec<u8>) -> RowChange {
        let is_first = self.ends || self.chunks.last_key_value().is_none_or(|(_, chunk)| chunk.is_empty());
        self.ends = false;
        if is_first {
            self.chunks.insert(id, Vec::new());
        }
        let mut newest = self.chunks.last_entry().unwrap();
        chunk::append(newest.get_mut(), MessageId(id), &record).unwrap();
        RowChange::Append { key: key_of(*newest.key()), is_first, message: MessageId(id), record }
    }

    fn without(&mut self, id: u32) {
        if let Some((_, chunk)) = self.chunks.range_mut(..=id).next_back()
            && !chunk.is_empty()
        {
            match chunk::without(chunk, |own| own.0 == id).unwrap().0 {
                chunk::Rest::Same => {}
                chunk::Rest::Some(rest) => *chunk = rest,
                chunk::Rest::Empty => chunk.clear(),
            }
        }
    }

    /// The change of a step, which is made here, too.
    fn step(&mut self, step: &Step) -> Option<RowChange> {
        let before = |distance: u32| self.last.saturating_sub(distance).max(1);
        match step {
            Step::Add(record) => {
                self.last += 1 + record.len() as u32 % 3;
                Some(self.add(self.last, record.clone()))
            }
            Step::Message(words) => {
                self.last += 1 + *words as u32 % 2;
                Some(self.add(self.last, record_of(self.last, *words)))
            }
            Step::Again if self.ends || self.last == 0 => None,
            Step::Again => Some(self.add(self.last, record_of(self.last, 10))),
            Step::NextChunk => {
                self.ends = true;
                None
            }
            Step::Erase(distance) => {
                let id = before(*distance);
                self.without(id);
                let messages = RoaringBitmap::from([id]);
                Some(RowChange::Erase { realm: REALM, table: records::Messages::ID, messages })
            }
            Step::Blank(distance) => {
                let id = MessageId(before(*distance));
                let (_, chunk) = self.chunks.range_mut(..=id.0).next_back()?;
                if chunk.is_empty() {
                    return None;
                }
                let record = chunk::entries(chunk).map(Result::unwrap).find(|(own, _)| *own == id)?.1;
                // Other bytes are damage, which ends the batch.
                decode::<Message>(record, "message").ok()?;
                *chunk = chunk::with_changed(chunk, id, chunk::blank_message).unwrap().unwrap();
                Some(RowChange::EraseVersions { realm: REALM, versions: vec![(id, 1)] })
            }
            Step::Replace(distance) => {
                let id = before(*distance);
                let (first, chunk) = self.chunks.last_key_value().filter(|(_, chunk)| !chunk.is_empty())?;
                let rest = chunk::without(chunk, |own| own.0 == id).unwrap().0;
                let chunk::Rest::Some(value) = rest else { return None };
                let first = *first;
                self.chunks.insert(first, value.clone());
                Some(RowChange::Put(Row { key: key_of(first), value }))
            }
            Step::EndBatch => None,
        }
    }

    fn check(&self, tree: &sled::Tree) -> Result<(), TestCaseError> {
        for (first, chunk) in &self.chunks {
            let stored = tree.get(key_of(*first)).unwrap().map(|stored| stored.to_vec());
            let expected = (!chunk.is_empty()).then(|| packed_bodies(chunk.clone()).unwrap());
            prop_assert_eq!(stored, expected, "the chunk from message {}", first);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn rows_are_the_same_however_their_messages_came(steps in steps()) {
        let (tree, mut plain, mut batch) = (tree(), Plain::default(), Vec::new());
        for step in steps {
            if matches!(step, Step::EndBatch) {
                write(&tree, batch.drain(..));
                plain.check(&tree)?;
            }
            batch.extend(plain.step(&step));
        }
        write(&tree, batch);
        plain.check(&tree)?;
    }
}

#[test]
fn blocks_of_a_row_that_are_complete_stay_as_they_are() {
    let (tree, mut plain) = (tree(), Plain::default());
    let mut add = |ids: std::ops::RangeInclusive<u32>| {
        let changes: Vec<_> = ids.map(|id| plain.add(id, record_of(id, 100))).collect();
        counted::during(|| write(&tree, changes)).0
    };
    assert_eq!(add(1..=20), 0, "a new row is not read");
    let one = add(21..=21);
    assert!(one > 0 && one < 8 * 200, "{one} bytes: four of twenty messages are decompressed");
    add(22..=24);
    let whole = add(25..=25);
    assert!(whole < 8 * 200, "{whole} bytes");
    plain.check(&tree).unwrap();
}
