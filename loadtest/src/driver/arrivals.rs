//! What one receiver got of a channel: the ids of messages in their order, and their contents, each of which was written once.

use std::collections::{HashMap, HashSet};

use super::send::Message;

/// Why a receipt fails whose content is not that of the message.
pub const CHANGED: &str = "other content than was sent";
/// Why a receipt fails whose content is that of the message, and whose id is not.
pub const OTHER_ID: &str = "another id than was acknowledged";

/// The messages of a channel that arrived.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Ascending, duplicates left out.
    ids: Vec<u64>,
    /// The id by the hash of the content, for contents of this run.
    contents: HashMap<u64, u64>,
    /// Messages whose content is not one of this run: those of others, or changed ones.
    with_other_content: HashSet<u64>,
}

/// How a message compares with earlier ones.
#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    New,
    /// The id or the content was there before.
    Duplicate,
    /// A message with a larger id was there before.
    Late,
}

impl Arrivals {
    /// Adds a message: its id, and the hash of its content if that is one of this run.
    pub fn add(&mut self, id: u64, content: Option<u64>) -> Arrival {
        let Err(place) = self.ids.binary_search(&id) else { return Arrival::Duplicate };
        let arrival = if place < self.ids.len() { Arrival::Late } else { Arrival::New };
        match content {
            Some(content) if self.contents.contains_key(&content) => return Arrival::Duplicate,
            Some(content) => {
                self.contents.insert(content, id);
            }
            None => {
                self.with_other_content.insert(id);
            }
        }
        self.ids.insert(place, id);
        arrival
    }

    /// Messages without duplicates.
    pub fn count(&self) -> u64 {
        self.ids.len() as u64
    }

    /// Whether a message that was acknowledged arrived as it was sent; an error is the reason why it arrived otherwise.
    pub fn check(&self, message: &Message) -> Result<bool, &'static str> {
        match self.contents.get(&message.content) {
            Some(id) if *id == message.id => Ok(true),
            Some(_) => Err(OTHER_ID),
            None if self.with_other_content.contains(&message.id) => Err(CHANGED),
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_and_late_messages_are_distinguished() {
        let mut seen = Arrivals::default();
        // The content of the message 5 is that of the message 4.
        let events = [(1, 10), (3, 30), (3, 30), (2, 20), (2, 20), (4, 40), (5, 40)];
        let arrivals: Vec<Arrival> =
            events.into_iter().map(|(id, content)| seen.add(id, Some(content))).collect();
        let wanted = [
            Arrival::New,
            Arrival::New,
            Arrival::Duplicate,
            Arrival::Late,
            Arrival::Duplicate,
            Arrival::New,
            Arrival::Duplicate,
        ];
        assert_eq!(arrivals, wanted);
        assert_eq!(seen.ids, [1, 2, 3, 4]);
    }

    #[test]
    fn messages_are_found_by_id_and_content() {
        let mut seen = Arrivals::default();
        for (id, content) in [(1, Some(10)), (2, None), (3, Some(30)), (4, None)] {
            assert_eq!(seen.add(id, content), Arrival::New);
        }
        let check = |id, content| seen.check(&Message { id, content });
        assert_eq!(check(1, 10), Ok(true));
        assert_eq!(check(2, 20), Err(CHANGED));
        assert_eq!(check(5, 30), Err(OTHER_ID));
        assert_eq!(check(1, 11), Ok(false), "acknowledged with the id of an earlier message, and lost");
        assert_eq!(check(6, 60), Ok(false));
    }
}
