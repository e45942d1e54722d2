//! Looking words up in the index. Parts of it are enough for most searches: the messages that have a rare word, or those of
//! some ids, such as the newest ones.

use crate::error::{SearchError, guarded};
use crate::query::{Query, Word};
use crate::schema::{Fields, ID};
use roaring::RoaringBitmap;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tantivy::columnar::{Cardinality, Column};
use tantivy::index::{InvertedIndexReader, SegmentId};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Searcher, SegmentReader, Term};

/// Documents whose least and greatest ids are kept together.
const BLOCK: u32 = 1024;

/// From this many documents of a block on, all of its ids are read at once.
const DENSE: usize = 64;

/// The content of an index at one point in time.
#[derive(Clone)]
pub struct Reader {
    searcher: Searcher,
    fields: Fields,
    /// Of each segment.
    ids: Arc<[Arc<Ids>]>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Reader").field("messages", &self.len()).finish_non_exhaustive()
    }
}

impl Reader {
    /// A reader of what `searcher` has. Ids of segments that `known` has, too, are not read again.
    pub(crate) fn new(searcher: Searcher, fields: Fields, known: Option<&Self>) -> Result<Self, SearchError> {
        let known = known.map(|known| known.searcher.segment_readers().iter().zip(&*known.ids));
        let known: HashMap<SegmentId, &Arc<Ids>> =
            known.into_iter().flatten().map(|(segment, ids)| (segment.segment_id(), ids)).collect();
        let ids = searcher.segment_readers().iter().map(|segment| match known.get(&segment.segment_id()) {
            Some(ids) => Ok((*ids).clone()),
            None => Ids::open(segment).map(Arc::new),
        });
        let ids = ids.collect::<Result<_, _>>()?;
        Ok(Self { searcher, fields, ids })
    }

    /// Whether it has all these segments.
    pub(crate) fn is_of(&self, segments: &[SegmentId]) -> bool {
        let own: Vec<SegmentId> =
            self.searcher.segment_readers().iter().map(|part| part.segment_id()).collect();
        segments.iter().all(|segment| own.contains(segment))
    }

    /// Those of some messages that it can have: those between others that it has.
    pub(crate) fn near(&self, mut ids: RoaringBitmap) -> RoaringBitmap {
        let mut near = RoaringBitmap::new();
        for (least, greatest) in self.ids.iter().flat_map(|part| &part.blocks) {
            near.insert_range(*least..=*greatest);
        }
        ids &= near;
        ids
    }

    /// How many messages it has.
    pub fn len(&self) -> u64 {
        self.searcher.num_docs()
    }

    /// Whether it has no messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For each word of a query, the messages that have all of its terms.
    ///
    /// # Errors
    /// When files are damaged.
    pub fn find(&self, query: &Query) -> Result<Vec<RoaringBitmap>, SearchError> {
        self.words(query, |part, lists| part.docs(lists, &[part.whole()]))
    }

    /// For each word of a query, those of some messages that have all of its terms; the cost is that of these messages.
    ///
    /// # Errors
    /// When files are damaged.
    pub fn find_in(&self, query: &Query, ids: &RoaringBitmap) -> Result<Vec<RoaringBitmap>, SearchError> {
        let found = self.words(query, |part, lists| part.docs(lists, &part.ids.blocks_of(ids)))?;
        Ok(found.into_iter().map(|found| found & ids).collect())
    }

    /// For each word of a query, the messages that have all of its terms, among those that have one of the words, by its number;
    /// the cost is that of these messages.
    ///
    /// # Errors
    /// When files are damaged.
    pub fn find_with(&self, query: &Query, base: usize) -> Result<Vec<RoaringBitmap>, SearchError> {
        guarded(|| {
            let mut found = vec![Vec::new(); query.words.len()];
            for part in self.parts() {
                let part = part?;
                let Some(word) = query.words.get(base) else { continue };
                let with_base = part.docs(&part.lists(word)?, &[part.whole()])?;
                for (number, (word, found)) in query.words.iter().zip(&mut found).enumerate() {
                    if number == base {
                        part.ids.of(&with_base, found);
                    } else {
                        part.ids.of(&part.among(&part.lists(word)?, with_base.clone())?, found);
                    }
                }
            }
            found.into_iter().map(set_of).collect()
        })
    }

    /// For each word of a query, the number of messages that can have it at most.
    ///
    /// # Errors
    /// When files are damaged.
    pub fn counts(&self, query: &Query) -> Result<Vec<u64>, SearchError> {
        guarded(|| {
            let mut counts = vec![0; query.words.len()];
            for part in self.parts() {
                let part = part?;
                for (word, count) in query.words.iter().zip(&mut counts) {
                    *count += part.lists(word)?.iter().map(frequency).min().unwrap_or(0);
                }
            }
            Ok(counts)
        })
    }

    fn words(
        &self,
        query: &Query,
        docs: impl Fn(&Part<'_>, &[List]) -> Result<Vec<DocId>, SearchError>,
    ) -> Result<Vec<RoaringBitmap>, SearchError> {
        guarded(|| {
            let mut found = vec![Vec::new(); query.words.len()];
            for part in self.parts() {
                let part = part?;
                for (word, found) in query.words.iter().zip(&mut found) {
                    part.ids.of(&docs(&part, &part.lists(word)?)?, found);
                }
            }
            found.into_iter().map(set_of).collect()
        })
    }

    fn parts(&self) -> impl Iterator<Item = Result<Part<'_>, SearchError>> {
        self.searcher.segment_readers().iter().zip(&*self.ids).map(|(segment, ids)| {
            let terms = segment.inverted_index(self.fields.text)?;
            Ok(Part { segment, terms, ids, fields: self.fields })
        })
    }
}

fn set_of(mut ids: Vec<u32>) -> Result<RoaringBitmap, SearchError> {
    if !ids.is_sorted() {
        // Segments and batches are sorted runs, which this sort merges.
        ids.sort();
    }
    ids.dedup();
    RoaringBitmap::from_sorted_iter(ids).map_err(|error| SearchError::Damaged(error.to_string()))
}

/// The ids of a segment's documents, which never change.
struct Ids {
    column: Column<u64>,
    count: u32,
    /// The least and the greatest id of each block of documents.
    blocks: Vec<(u32, u32)>,
}

impl Ids {
    fn open(segment: &SegmentReader) -> Result<Self, SearchError> {
        let column = segment.fast_fields().u64(ID)?;
        let count = segment.max_doc();
        if column.get_cardinality() != Cardinality::Full || column.values.num_vals() != count {
            return Err(SearchError::Damaged("messages without an id".to_owned()));
        }
        let mut ids = Self { column, count, blocks: Vec::new() };
        let mut values = Vec::new();
        for first in (0..count).step_by(BLOCK as usize) {
            ids.read_block(first, &mut values);
            let (least, greatest) = (values.iter().min(), values.iter().max());
            let bounds = least.zip(greatest).map(|(least, greatest)| (to_id(*least), to_id(*greatest)));
            let Some((Some(least), Some(greatest))) = bounds else {
                return Err(SearchError::Damaged("an id is too large".to_owned()));
            };
            ids.blocks.push((least, greatest));
        }
        Ok(ids)
    }

    fn read_block(&self, first: DocId, values: &mut Vec<u64>) {
        values.clear();
        values.resize(self.count.saturating_sub(first).min(BLOCK) as usize, 0);
        self.column.values.get_range(first.into(), values);
    }

    /// Ranges of documents, ascending, that have all documents with some ids.
    fn blocks_of(&self, ids: &RoaringBitmap) -> Vec<Range<DocId>> {
        let mut ranges: Vec<Range<DocId>> = Vec::new();
        let (Some(min), Some(max)) = (ids.min(), ids.max()) else { return ranges };
        for (first, (least, greatest)) in (0..self.count).step_by(BLOCK as usize).zip(&self.blocks) {
            if *greatest < min || *least > max || ids.range_cardinality(*least..=*greatest) == 0 {
                continue;
            }
            let end = first.saturating_add(BLOCK).min(self.count);
            match ranges.last_mut() {
                Some(last) if last.end == first => last.end = end,
                _ => ranges.push(first..end),
            }
        }
        ranges
    }

    /// Adds the ids of documents, which ascend.
    fn of(&self, docs: &[DocId], found: &mut Vec<u32>) {
        found.reserve(docs.len());
        let mut values = Vec::new();
        for docs in docs.chunk_by(|one, other| one / BLOCK == other / BLOCK) {
            if docs.len() < DENSE {
                found.extend(docs.iter().filter_map(|doc| to_id(self.column.values.get_val(*doc))));
                continue;
            }
            let first = docs.first().map_or(0, |doc| doc / BLOCK * BLOCK);
            self.read_block(first, &mut values);
            let ids = docs.iter().filter_map(|doc| values.get((doc - first) as usize));
            found.extend(ids.filter_map(|id| to_id(*id)));
        }
    }
}

fn to_id(value: u64) -> Option<u32> {
    u32::try_from(value).ok()
}

/// Lists of documents, one of which must have a document.
type List = Vec<TermInfo>;

fn frequency(list: &List) -> u64 {
    list.iter().map(|info| u64::from(info.doc_freq)).sum()
}

/// One segment of the index.
struct Part<'r> {
    segment: &'r SegmentReader,
    terms: Arc<InvertedIndexReader>,
    ids: &'r Ids,
    fields: Fields,
}

impl Part<'_> {
    fn whole(&self) -> Range<DocId> {
        0..self.segment.max_doc()
    }

    /// The lists of a word; a document must be in all of them.
    fn lists(&self, word: &Word) -> Result<Vec<List>, SearchError> {
        word.terms().into_iter().map(|term| self.list(term, word.is_prefix())).collect()
    }

    fn list(&self, term: &str, is_prefix: bool) -> Result<List, SearchError> {
        if !is_prefix {
            let term = Term::from_field_text(self.fields.text, term);
            return Ok(self.terms.get_term_info(&term).map_err(damaged)?.into_iter().collect());
        }
        let mut found = Vec::new();
        let range = self.terms.terms().range().ge(term.as_bytes());
        let mut terms = range.into_stream().map_err(damaged)?;
        while terms.advance() && terms.key().starts_with(term.as_bytes()) {
            found.push(terms.value().clone());
        }
        Ok(found)
    }

    /// The documents in some ranges that are in all lists; ascending.
    fn docs(&self, lists: &[List], ranges: &[Range<DocId>]) -> Result<Vec<DocId>, SearchError> {
        let rarest = lists.iter().enumerate().min_by_key(|(_, list)| frequency(list));
        let Some((number, rarest)) = rarest else { return Ok(Vec::new()) };
        let mut docs = Vec::new();
        for info in rarest {
            read(&mut self.postings(info)?, ranges, &mut docs);
        }
        if rarest.len() > 1 {
            docs.sort();
            docs.dedup();
        }
        if let Some(alive) = self.segment.alive_bitset() {
            docs.retain(|doc| alive.is_alive(*doc));
        }
        for (_, list) in lists.iter().enumerate().filter(|(other, _)| *other != number) {
            docs = self.among(std::slice::from_ref(list), docs)?;
        }
        Ok(docs)
    }

    /// Those of some documents, which ascend, that are in all lists; of no lists, none.
    fn among(&self, lists: &[List], mut docs: Vec<DocId>) -> Result<Vec<DocId>, SearchError> {
        if lists.is_empty() {
            docs.clear();
        }
        for list in lists {
            let mut found = Vec::new();
            for info in list {
                let mut postings = self.postings(info)?;
                found.extend(docs.iter().copied().filter(|doc| {
                    let at = postings.seek(*doc);
                    postings.docs().get(at) == Some(doc)
                }));
            }
            if list.len() > 1 {
                found.sort();
                found.dedup();
            }
            docs = found;
        }
        Ok(docs)
    }

    fn postings(&self, info: &TermInfo) -> Result<BlockSegmentPostings, SearchError> {
        let postings = self.terms.read_block_postings_from_terminfo(info, IndexRecordOption::Basic);
        postings.map_err(damaged)
    }
}

/// Adds the documents of a list in some ranges, which ascend.
fn read(postings: &mut BlockSegmentPostings, ranges: &[Range<DocId>], found: &mut Vec<DocId>) {
    for range in ranges {
        let mut at = postings.seek(range.start);
        while let Some(docs) = postings.docs().get(at..).filter(|docs| !docs.is_empty()) {
            let end = docs.partition_point(|doc| *doc < range.end);
            found.extend(docs.iter().take(end));
            if end < docs.len() {
                break;
            }
            postings.advance();
            at = 0;
        }
    }
}

fn damaged(error: std::io::Error) -> SearchError {
    SearchError::Damaged(error.to_string())
}
