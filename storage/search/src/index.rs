//! The index on disk: for each term, the messages that have it. It has ids and terms, no texts and no positions: who finds
//! a phrase reads the messages.

use crate::analyzer::Analyzer;
use crate::document::{END, MessageDocument, TermTokenizer};
use crate::error::{SearchError, guarded};
use crate::files::Files;
use crate::language::Language;
use crate::reader::Reader;
use crate::schema::{Fields, ID, TOKENIZER, schema};
use model::{MessageId, Sequence};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::index::SegmentId;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, UserOperation};
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query as TantivyQuery, Scorer, Weight,
};
use tantivy::{BitSet, DocId, IndexReader, IndexWriter, ReloadPolicy, Score, SegmentReader};

/// The version of the index's content. An index of another version is made anew.
pub const VERSION: u32 = 1;

/// Memory for messages that are being added, in bytes: the smallest that the library accepts.
const WRITER_BYTES: usize = 15_000_000;

/// Messages that the library gets together, and their bytes.
const GROUP_MESSAGES: usize = 256;
const GROUP_BYTES: usize = 256 * 1024;

/// A message's bytes beside its terms.
const DOCUMENT_BYTES: usize = size_of::<UserOperation<MessageDocument>>();

/// A part of the index in which more than this share is deleted is rewritten.
const DELETED_SHARE_MAX: f32 = 0.2;

/// When the parts that commits make are merged: as soon as there are this many of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merges {
    /// At eight parts, so that look-ups have few of them.
    Soon,
    /// At 64: while many messages arrive, merges would take nearly as much CPU time as adding them, and the larger parts are
    /// merged once more for it. A look-up in one more part takes a microsecond. Some later writer has to merge soon.
    Late,
}

impl Merges {
    fn parts_min(self) -> usize {
        match self {
            Self::Soon => 8,
            Self::Late => 64,
        }
    }
}

/// What an index is about; one of another organization, version or language is made anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub version: u32,
    /// The stemmer's name.
    pub language: String,
    pub realm: u32,
    /// When the organization was created, in milliseconds since 1970.
    pub created_millis: u64,
}

impl Identity {
    /// The identity of the index of an organization.
    pub fn new(realm: u32, created_millis: u64, language: Language) -> Self {
        Self { version: VERSION, language: language.name().to_owned(), realm, created_millis }
    }
}

/// The payload that each commit of the index carries.
#[derive(Serialize, Deserialize)]
pub(crate) struct CommitPayload {
    pub identity: Identity,
    pub sequence: u64,
}

/// The index of one organization.
#[derive(Clone)]
pub struct Index {
    index: tantivy::Index,
    reader: IndexReader,
    /// As of the last `reload`.
    current: Arc<Mutex<Reader>>,
    fields: Fields,
    identity: Identity,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Index").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Index {
    /// Opens an index, if there is one with this identity, and checks the checksums of its files. Returns the newest frame
    /// that it reflects, too.
    ///
    /// # Errors
    /// When it is damaged or cannot be read.
    pub fn open(folder: &Path, identity: &Identity) -> Result<Option<(Self, Sequence)>, SearchError> {
        if !folder.join("meta.json").exists() {
            return Ok(None);
        }
        guarded(|| {
            let index = tantivy::Index::open(Files::new(folder))?;
            let (expected, fields) = schema();
            let stored = index.load_metas()?.payload.unwrap_or_default();
            let payload = serde_json::from_str::<CommitPayload>(&stored)
                .ok()
                .filter(|payload| payload.identity == *identity);
            let Some(payload) = payload.filter(|_| index.schema() == expected) else { return Ok(None) };
            let damaged = index.validate_checksum()?;
            if let Some(file) = damaged.iter().next() {
                return Err(SearchError::Damaged(format!("the checksum of {} differs", file.display())));
            }
            Ok(Some((Self::new(index, fields, identity)?, Sequence(payload.sequence))))
        })
    }

    /// Creates an empty index in a folder, whose content is removed.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn create(folder: &Path, identity: &Identity) -> Result<Self, SearchError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(SearchError::io("cannot remove", folder, error));
            }
            _ => {}
        }
        let created = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        created.map_err(|error| SearchError::io("cannot create", folder, error))?;
        guarded(|| {
            let (schema, fields) = schema();
            let index =
                tantivy::Index::create(Files::new(folder), schema, tantivy::IndexSettings::default())?;
            Self::new(index, fields, identity)
        })
    }

    fn new(index: tantivy::Index, fields: Fields, identity: &Identity) -> Result<Self, SearchError> {
        index.tokenizers().register(TOKENIZER, TermTokenizer::default());
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let current = Arc::new(Mutex::new(Reader::new(reader.searcher(), fields, None)?));
        Ok(Self { index, reader, current, fields, identity: identity.clone() })
    }

    /// What it is about.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Its content as of the last `reload`.
    pub fn reader(&self) -> Reader {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the last commit visible to readers.
    ///
    /// # Errors
    /// When its files cannot be read.
    pub fn reload(&self) -> Result<(), SearchError> {
        guarded(|| {
            self.reader.reload()?;
            let new = Reader::new(self.reader.searcher(), self.fields, Some(&self.reader()))?;
            *self.current.lock().unwrap_or_else(PoisonError::into_inner) = new;
            Ok(())
        })
    }

    /// Starts writing. At most one writer at a time.
    ///
    /// # Errors
    /// When a thread cannot be started, or files cannot be read.
    pub fn writer(&self, merges: Merges) -> Result<Writer, SearchError> {
        guarded(|| {
            let options = IndexWriterOptions::builder()
                .num_worker_threads(1)
                .num_merge_threads(1)
                .memory_budget_per_thread(WRITER_BYTES)
                .build();
            let writer = self.index.writer_with_options(options)?;
            let mut policy = LogMergePolicy::default();
            policy.set_min_num_segments(merges.parts_min());
            policy.set_del_docs_ratio_before_merge(DELETED_SHARE_MAX);
            writer.set_merge_policy(Box::new(policy));
            let (fields, identity) = (self.fields, self.identity.clone());
            Ok(Writer { writer, fields, identity, known: self.known()?, group: Group::default() })
        })
    }

    /// A reader of everything that was committed, if the last `reload` was after that.
    fn known(&self) -> Result<Option<Reader>, SearchError> {
        let (reader, committed) = (self.reader(), self.index.searchable_segment_ids()?);
        Ok(reader.is_of(&committed).then_some(reader))
    }
}

/// Adds and removes messages. Nothing is visible before `commit`.
pub struct Writer {
    writer: IndexWriter<MessageDocument>,
    fields: Fields,
    identity: Identity,
    /// What was committed before; none if readers do not know it, or messages were added since.
    known: Option<Reader>,
    group: Group,
}

/// Messages that the library gets together, because it wakes a thread each time.
#[derive(Default)]
struct Group {
    added: Vec<UserOperation<MessageDocument>>,
    bytes: usize,
    /// The terms of the message that is being added.
    terms: String,
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Writer").field("identity", &self.identity).finish_non_exhaustive()
    }
}

impl Writer {
    /// Removes messages that were added before.
    ///
    /// # Errors
    /// When the index is closed after an error.
    pub fn remove(&mut self, mut ids: RoaringBitmap) -> Result<(), SearchError> {
        if let Some(known) = &self.known {
            // To remove something, the library opens all parts of the index: not for messages that are all new.
            ids = known.near(ids);
        }
        if ids.is_empty() {
            return Ok(());
        }
        self.send()?;
        guarded(|| Ok(self.writer.delete_query(Box::new(WithIds(Arc::new(ids)))).map(|_| ())?))
    }

    /// Adds a message, given as HTML.
    ///
    /// # Errors
    /// When the index is closed after an error, such as a full disk.
    pub fn add(&mut self, id: MessageId, rendered: &str, analyzer: &mut Analyzer) -> Result<(), SearchError> {
        self.known = None;
        let Group { added, bytes, terms } = &mut self.group;
        terms.clear();
        analyzer.each_term_of_html(rendered, |term| {
            terms.push_str(term);
            terms.push(END);
        });
        *bytes += terms.len() + DOCUMENT_BYTES;
        added.push(UserOperation::Add(MessageDocument::new(self.fields, id, terms)));
        if added.len() < GROUP_MESSAGES && *bytes < GROUP_BYTES { Ok(()) } else { self.send() }
    }

    /// Gives the library what was added.
    fn send(&mut self) -> Result<(), SearchError> {
        self.group.bytes = 0;
        guarded(|| Ok(self.writer.run(self.group.added.drain(..)).map(|_| ())?))
    }

    /// Stores what was added and removed, as the state after a frame.
    ///
    /// # Errors
    /// When the disk cannot be written; then the last commit stays.
    pub fn commit(&mut self, sequence: Sequence) -> Result<(), SearchError> {
        let payload = CommitPayload { identity: self.identity.clone(), sequence: sequence.0 };
        self.send()?;
        let payload =
            serde_json::to_string(&payload).map_err(|error| SearchError::Damaged(error.to_string()))?;
        guarded(|| {
            let mut prepared = self.writer.prepare_commit()?;
            prepared.set_payload(&payload);
            prepared.commit()?;
            Ok(())
        })
    }

    /// Rewrites all parts of the index that have removed messages, so that their words are gone from the disk, too.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn expunge(&mut self) -> Result<(), SearchError> {
        guarded(|| {
            let parts = self.writer.index().searchable_segment_metas()?;
            let with_removed: Vec<SegmentId> =
                parts.iter().filter(|part| part.num_deleted_docs() > 0).map(|part| part.id()).collect();
            for part in with_removed {
                self.writer.merge(&[part]).wait()?;
            }
            Ok(())
        })
    }

    /// Waits until parts that are being merged are written, and ends.
    ///
    /// # Errors
    /// When the disk cannot be written.
    pub fn finish(self) -> Result<(), SearchError> {
        guarded(|| {
            self.writer.garbage_collect_files().wait()?;
            Ok(self.writer.wait_merging_threads()?)
        })
    }
}

/// Finds messages by their ids, to remove them. The ids are not indexed: that would cost more than their words.
#[derive(Clone, Debug)]
struct WithIds(Arc<RoaringBitmap>);

impl TantivyQuery for WithIds {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for WithIds {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let ids = reader.fast_fields().u64(ID)?;
        let mut docs = BitSet::with_max_value(reader.max_doc());
        if let Some(wanted) = between(&self.0, ids.min_value(), ids.max_value()) {
            for doc in 0..reader.max_doc() {
                if ids.first(doc).and_then(|id| u32::try_from(id).ok()).is_some_and(|id| wanted.contains(id))
                {
                    docs.insert(doc);
                }
            }
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(docs), boost)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("WithIds", 1.0))
    }
}

/// The ids that a part of the index can have; none if it has none of them.
fn between(ids: &RoaringBitmap, min: u64, max: u64) -> Option<RoaringBitmap> {
    let (min, max) = (u32::try_from(min).ok()?, u32::try_from(max).unwrap_or(u32::MAX));
    let mut here = ids.clone();
    here.remove_range(..min);
    if let Some(above) = max.checked_add(1) {
        here.remove_range(above..);
    }
    (!here.is_empty()).then_some(here)
}
