//! What is known of the index for one search. With a rare word it is everything; of frequent words only messages near the
//! ones that an answer shows are looked up, and all others count as candidates until then.

use roaring::RoaringBitmap;
use search::{Query, Reader, SearchError, Topic};

/// How much is looked up at a time.
pub(super) struct Limits {
    /// A word of at most this many messages is looked up for the whole organization.
    pub few: u64,
    /// The newest ids that are looked up first.
    pub newest: u32,
    /// The ids that are looked up together with one that an answer shows: more each time, and in the end all.
    pub steps: &'static [u32],
}

/// The limits of a server.
pub(super) const LIMITS: Limits = Limits { few: 16_384, newest: 4096, steps: &[1024, 8192, 65_536] };

/// A search in an index of which only a part is known.
#[derive(Debug)]
pub(super) struct Partial {
    reader: Reader,
    /// Messages that are read instead.
    missing: RoaringBitmap,
    /// The newest message of the organization. Newer ones were sent after the search began.
    newest: u32,
    /// Messages up to `newest` whose words are known.
    known: RoaringBitmap,
    steps: std::slice::Iter<'static, u32>,
}

impl Partial {
    /// Looks up the words of a query, for each of which there are `topics` that have it, too. `contents` has the messages
    /// of `missing` that have the words, and gets those of the index. None if everything is known then.
    pub fn start(
        reader: Reader,
        query: &Query,
        topics: &[Vec<Topic>],
        (missing, newest): (RoaringBitmap, u32),
        contents: &mut [RoaringBitmap],
        limits: &Limits,
    ) -> Result<Option<Self>, SearchError> {
        if query.is_empty() {
            return Ok(None);
        }
        // A message without this word does not match, because no topic has it either.
        let counts = reader.counts(query)?.into_iter().zip(topics).enumerate();
        let rarest =
            counts.filter(|(_, (_, topics))| topics.is_empty()).map(|(word, (count, _))| (count, word));
        if let Some((_, word)) = rarest.min().filter(|(count, _)| *count <= limits.few) {
            add(contents, reader.find_with(query, word)?, &missing);
            return Ok(None);
        }
        let known = missing.clone();
        let mut partial = Self { reader, missing, newest, known, steps: limits.steps.iter() };
        let mut ids = RoaringBitmap::new();
        ids.insert_range(newest.saturating_sub(limits.newest)..=newest);
        partial.look_up_set(query, &ids, contents)?;
        Ok(Some(partial))
    }

    /// Whether the words of a message are known.
    pub fn knows(&self, id: u32) -> bool {
        id > self.newest || self.known.contains(id)
    }

    /// Those of all messages whose words are not known.
    pub fn unknown(&self, all: &RoaringBitmap) -> RoaringBitmap {
        let mut unknown = all - &self.known;
        if let Some(after) = self.newest.checked_add(1) {
            unknown.remove_range(after..);
        }
        unknown
    }

    /// Looks up the words of some messages and of those around them. False if everything is known then.
    pub fn look_up(
        &mut self,
        query: &Query,
        ids: &[u32],
        contents: &mut [RoaringBitmap],
    ) -> Result<bool, SearchError> {
        let Some(step) = self.steps.next() else {
            add(contents, self.reader.find(query)?, &self.missing);
            return Ok(false);
        };
        let mut around = RoaringBitmap::new();
        for id in ids {
            let first = id / step * step;
            around.insert_range(first..=first.saturating_add(step - 1));
        }
        around -= &self.known;
        self.look_up_set(query, &around, contents)?;
        Ok(true)
    }

    fn look_up_set(
        &mut self,
        query: &Query,
        ids: &RoaringBitmap,
        contents: &mut [RoaringBitmap],
    ) -> Result<(), SearchError> {
        add(contents, self.reader.find_in(query, ids)?, &self.missing);
        self.known |= ids;
        Ok(())
    }
}

/// Adds what the index has, but not of messages that it has as they were.
fn add(contents: &mut [RoaringBitmap], found: Vec<RoaringBitmap>, missing: &RoaringBitmap) {
    for (all, found) in contents.iter_mut().zip(found) {
        *all |= found - missing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{ChannelId, MessageId, Sequence, TopicKey};
    use proptest::prelude::*;
    use roaring::MultiOps;
    use search::{Analyzer, Identity, Index, Language, Merges};

    const SMALL: Limits = Limits { few: 3, newest: 5, steps: &[4, 16] };
    const WORDS: [&str; 3] = ["alpha", "beta", "gamma"];

    /// Ids with the words that they have, in the order of the commits.
    fn any_commits() -> impl Strategy<Value = Vec<Vec<(u32, u8)>>> {
        prop::collection::vec(prop::collection::vec((1_u32..150, 0_u8..8), 0..60), 1..4)
    }

    fn html(words: u8) -> String {
        let words = WORDS.iter().enumerate().filter(|(number, _)| words >> number & 1 == 1);
        words.map(|(_, word)| format!("{word} ")).collect()
    }

    fn joined(contents: &[RoaringBitmap], topics: &[RoaringBitmap]) -> RoaringBitmap {
        contents.iter().zip(topics).map(|(content, topics)| content | topics).intersection()
    }

    /// The nearest messages before and from an anchor, as windows of an answer are.
    fn window(found: &RoaringBitmap, anchor: u32, count: usize) -> Vec<u32> {
        found.range(..anchor).rev().take(count).chain(found.range(anchor..).take(count)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// However little is looked up, windows are those of the sets of all words.
        #[test]
        fn windows_are_those_of_whole_sets(
            commits in any_commits(),
            missing in prop::collection::btree_map(1_u32..150, 0_u8..8, 0..10),
            (in_topics, word) in (prop::collection::btree_set(1_u32..150, 0..20), 0_usize..3),
            scope in prop::collection::btree_set(1_u32..150, 0..150),
            (anchor, count, text) in (0_u32..160, 1_usize..12, prop::sample::subsequence(WORDS.to_vec(), 1..=3)),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let language = Language::of("en");
            let index = Index::create(&folder.path().join("1"), &Identity::new(1, 0, language)).unwrap();
            let mut analyzer = Analyzer::new(language);
            for messages in &commits {
                let messages: std::collections::HashMap<u32, u8> = messages.iter().copied().collect();
                let mut writer = index.writer(Merges::Soon).unwrap();
                writer.remove(messages.keys().copied().collect()).unwrap();
                for (id, words) in &messages {
                    writer.add(MessageId(*id), &html(*words), &mut analyzer).unwrap();
                }
                writer.commit(Sequence(1)).unwrap();
                writer.finish().unwrap();
                index.reload().unwrap();
            }
            let query = Query::parse(&text.join(" "), &mut analyzer);
            let (reader, scope) = (index.reader(), scope.into_iter().collect::<RoaringBitmap>());
            let mut topics = vec![Vec::new(); text.len()];
            let mut sets = vec![RoaringBitmap::new(); text.len()];
            if let Some(set) = sets.get_mut(word).filter(|_| !in_topics.is_empty()) {
                topics[word].push((ChannelId(1), TopicKey::new("topic")));
                set.extend(in_topics);
            }
            let read: Vec<RoaringBitmap> = text.iter().map(|word| {
                missing.iter().filter(|(_, words)| html(**words).contains(word)).map(|(id, _)| *id).collect()
            }).collect();
            let missing: RoaringBitmap = missing.keys().copied().collect();
            let mut whole = read.clone();
            add(&mut whole, reader.find(&query).unwrap(), &missing);
            let expected = window(&(joined(&whole, &sets) & &scope), anchor, count);

            let mut contents = read;
            let all: RoaringBitmap = (1..160).collect();
            let started = Partial::start(reader, &query, &topics, (missing, 150), &mut contents, &SMALL);
            let mut partial = started.unwrap();
            let shown = loop {
                let mut found = joined(&contents, &sets);
                if let Some(partial) = &partial {
                    found |= partial.unknown(&all);
                }
                let shown = window(&(found & &scope), anchor, count);
                let knows = |id: &u32| partial.as_ref().is_none_or(|partial| partial.knows(*id));
                let unknown: Vec<u32> = shown.iter().copied().filter(|id| !knows(id)).collect();
                if unknown.is_empty() {
                    break shown;
                }
                let learned = partial.as_mut().map(|partial| partial.look_up(&query, &unknown, &mut contents));
                if !learned.unwrap().unwrap() {
                    partial = None;
                }
            };
            prop_assert_eq!(shown, expected);
        }
    }
}
