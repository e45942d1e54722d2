//! The journal and the log in memory under the conformance suite.

use super::conformance::{Recorder, Subject};
use super::{Journal, JournalOptions, MemoryLog, RealmLog, SyncPolicy};
use crate::log_conformance;
use std::sync::Arc;
use tempfile::TempDir;

struct JournalSubject {
    folder: TempDir,
    options: JournalOptions,
    recorder: Recorder,
    log: Option<Arc<Journal>>,
}

impl JournalSubject {
    fn new(sync: SyncPolicy) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        // Small segments, so that every test crosses some.
        let options = JournalOptions {
            sync,
            segment_bytes: 64 * 1024,
            first_segment_bytes: 16 * 1024,
            queue_frames_max: 256,
            ..JournalOptions::default()
        };
        Self { folder, options, recorder: Recorder::default(), log: None }
    }
}

impl Subject for JournalSubject {
    fn open(&mut self) -> (Arc<dyn RealmLog>, Recorder) {
        if let Some(log) = self.log.take() {
            log.close();
        }
        self.recorder = Recorder::default();
        let sink = Box::new(self.recorder.clone());
        let log = Arc::new(Journal::open(self.folder.path(), &self.options, sink).expect("opens"));
        self.log = Some(log.clone());
        (log, self.recorder.clone())
    }

    fn stall(&mut self) {
        self.recorder.gate(true);
    }

    fn resume(&mut self) {
        self.recorder.gate(false);
    }
}

#[derive(Default)]
struct MemorySubject {
    log: Option<Arc<MemoryLog>>,
}

impl Subject for MemorySubject {
    fn open(&mut self) -> (Arc<dyn RealmLog>, Recorder) {
        let recorder = Recorder::default();
        let sink = Box::new(recorder.clone());
        let log = Arc::new(match self.log.take() {
            Some(log) => {
                log.close();
                log.reopen(sink)
            }
            None => MemoryLog::new(sink),
        });
        self.log = Some(log.clone());
        (log, recorder)
    }

    fn stall(&mut self) {
        self.log.as_ref().expect("open").hold();
    }

    fn resume(&mut self) {
        self.log.as_ref().expect("open").resume();
    }
}

log_conformance!(journal, JournalSubject::new(SyncPolicy::Fdatasync));
log_conformance!(journal_without_sync, JournalSubject::new(SyncPolicy::None));
log_conformance!(memory, MemorySubject::default());
