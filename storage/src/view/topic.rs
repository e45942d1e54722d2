//! The messages of one topic. Topics are compared without case, so a topic may have several spellings: its name is the
//! spelling on its newest message, also after moves and deletions.

use super::newest::add_newest;
use crate::checkpoint::codec::saved;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// Messages of one topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopicMessages {
    /// The spelling on the newest message.
    pub name: String,
    pub ids: RoaringBitmap,
    /// Messages by spelling if there are several; empty if all are spelled like `name`.
    spellings: BTreeMap<String, RoaringBitmap>,
}

saved!(TopicMessages { name, ids, spellings });

/// Messages with the same spelling of their topic.
pub(super) type Spelling = (String, RoaringBitmap);

impl TopicMessages {
    /// Adds one message.
    pub(super) fn add(&mut self, name: &str, id: u32) {
        if self.ids.is_empty() {
            self.name.clear();
            self.name.push_str(name);
        } else if self.distinguishes_spellings(name) {
            if let Some(ids) = self.spellings.get_mut(name) {
                ids.insert(id);
            } else {
                self.spellings.insert(name.into(), [id].into_iter().collect());
            }
            if self.name != name && self.ids.max().is_none_or(|newest| newest <= id) {
                self.name = name.into();
            }
        }
        add_newest(&mut self.ids, id);
    }

    /// Adds messages that were moved here.
    pub(super) fn put(&mut self, name: &str, ids: &RoaringBitmap) {
        if self.ids.is_empty() {
            name.clone_into(&mut self.name);
        } else if self.distinguishes_spellings(name) {
            *self.spellings.entry(name.into()).or_default() |= ids;
            if self.name != name && ids.max() > self.ids.max() {
                self.name = name.into();
            }
        }
        self.ids |= ids;
    }

    /// Whether spellings have to be distinguished when a message spelled `name` is added.
    fn distinguishes_spellings(&mut self, name: &str) -> bool {
        if self.spellings.is_empty() {
            if self.name == name {
                return false;
            }
            self.spellings.insert(self.name.clone(), self.ids.clone());
        }
        true
    }

    /// Removes messages, all of which are in the topic, and returns them by spelling.
    pub(super) fn take(&mut self, ids: &RoaringBitmap) -> Vec<Spelling> {
        self.ids -= ids;
        if self.spellings.is_empty() {
            return vec![(self.name.clone(), ids.clone())];
        }
        let mut taken = Vec::new();
        for (name, spelled) in &mut self.spellings {
            let hit = &*spelled & ids;
            if !hit.is_empty() {
                *spelled -= &hit;
                taken.push((name.clone(), hit));
            }
        }
        self.spellings.retain(|_, spelled| !spelled.is_empty());
        let newest = self.ids.max();
        let named = self.spellings.iter().find(|(_, spelled)| spelled.max() == newest);
        if let Some((name, _)) = named {
            name.clone_into(&mut self.name);
        }
        if self.spellings.len() < 2 {
            self.spellings.clear();
        }
        taken
    }

    /// The spelling of the topic on one of its messages.
    pub fn spelling_of(&self, id: model::MessageId) -> &str {
        let spelled = self.spellings.iter().find(|(_, ids)| ids.contains(id.0));
        spelled.map_or(&self.name, |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[u32]) -> RoaringBitmap {
        ids.iter().copied().collect()
    }

    #[test]
    fn newest_message_names_the_topic() {
        let mut topic = TopicMessages::default();
        for (id, name) in [(1, "tea"), (2, "Tea"), (3, "tea"), (5, "TEA")] {
            topic.add(name, id);
        }
        assert_eq!(topic.name, "TEA");
        assert_eq!(topic.take(&set(&[5])), [("TEA".into(), set(&[5]))]);
        assert_eq!(topic.name, "tea");
        topic.put("Tea", &set(&[4]));
        assert_eq!(topic.name, "Tea");
        assert_eq!(topic.spelling_of(model::MessageId(3)), "tea");
        assert_eq!(topic.take(&set(&[2, 4, 3])).len(), 2);
        // One spelling is left: `spellings` is empty again.
        let mut plain = TopicMessages::default();
        plain.add("tea", 1);
        assert_eq!(topic, plain);
        topic.take(&set(&[1]));
        topic.add("Milk", 9);
        assert_eq!((topic.name.as_str(), topic.spellings.len()), ("Milk", 0));
    }
}
