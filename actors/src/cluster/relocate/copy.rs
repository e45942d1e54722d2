//! Copying the frames of an organization from one log to another, and comparing both by digest.

use super::{Progress, RelocateError, Step, refused};
use crate::opening::OpenLog;
use model::RealmId;
use sha2::{Digest, Sha256};
use std::time::Duration;
use storage::log::{FrameBytes, LogError, Opened, RealmLog};

/// How often the durable position is read while waiting for it.
const POLL: Duration = Duration::from_millis(1);
/// Frames between two reports of progress.
const REPORT_EVERY: u64 = 1024;

/// The digest of the first frames of a log.
#[derive(Clone, Default)]
struct Running {
    hash: Sha256,
    frames: u64,
}

impl Running {
    /// Adds the frames up to `upto`.
    fn extend(
        &mut self,
        log: &dyn RealmLog,
        (realm, upto): (RealmId, u64),
        progress: Progress<'_>,
    ) -> Result<(), LogError> {
        if self.frames >= upto {
            return Ok(());
        }
        for frame in log.read(realm.0, self.frames + 1)? {
            let frame = frame?;
            self.hash.update(frame.sequence.to_le_bytes());
            self.hash.update((frame.payload.len() as u64).to_le_bytes());
            self.hash.update(&frame.payload);
            self.frames = frame.sequence;
            if self.frames.is_multiple_of(REPORT_EVERY) {
                progress(Step::Comparing(self.frames, upto));
            }
            if self.frames == upto {
                break;
            }
        }
        Ok(())
    }
}

/// One organization in two logs.
pub(super) struct Copying<'l> {
    pub realm: RealmId,
    pub source: &'l dyn RealmLog,
    pub target: &'l OpenLog,
    digests: [Running; 2],
}

impl<'l> Copying<'l> {
    /// Begins without having read anything.
    pub fn new(realm: RealmId, source: &'l dyn RealmLog, target: &'l OpenLog) -> Self {
        Self { realm, source, target, digests: Default::default() }
    }

    /// Copies the frames up to `upto` that the target lacks, and compares all up to it. Returns the digest, and the end of the
    /// target's log, which is this process's from then on.
    pub fn copy(&mut self, upto: u64, progress: Progress<'_>) -> Result<(String, Opened), RelocateError> {
        let opened = self.target.0.open(self.realm.0, 0)?;
        if opened.first_sequence > 1 {
            return Err(refused(format!(
                "the target has this organization without its first {} frames; it cannot be continued there",
                opened.first_sequence - 1
            )));
        }
        if opened.last_sequence > upto {
            return Err(refused(format!(
                "the target has {} frames of this organization, the source only {upto}: the source is an older copy, such as a \
                 restored backup",
                opened.last_sequence
            )));
        }
        self.compare(opened.last_sequence, progress)?;
        let ticket = self.append(&opened, upto, progress)?;
        self.wait(ticket)?;
        let digest = self.compare(upto, progress)?;
        Ok((digest, Opened { last_sequence: upto, ..opened }))
    }

    /// Compares the first frames of both, as they are read back.
    fn compare(&mut self, upto: u64, progress: Progress<'_>) -> Result<String, RelocateError> {
        let [of_source, of_target] = &mut self.digests;
        of_source.extend(self.source, (self.realm, upto), progress)?;
        of_target.extend(&*self.target.0, (self.realm, upto), progress)?;
        let [one, other] =
            [of_source, of_target].map(|running| (running.frames, running.hash.clone().finalize()));
        if one != other || one.0 != upto {
            return Err(refused(format!(
                "the first {upto} frames of the organization differ between source and target; they are different histories"
            )));
        }
        Ok(one.1.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn append(&self, opened: &Opened, upto: u64, progress: Progress<'_>) -> Result<u64, RelocateError> {
        let mut ticket = 0;
        if opened.last_sequence == upto {
            return Ok(ticket);
        }
        for frame in self.source.read(self.realm.0, opened.last_sequence + 1)? {
            let frame = FrameBytes { original: None, ..frame? };
            let sequence = frame.sequence;
            ticket = loop {
                match self.target.0.append(frame.clone(), opened.epoch) {
                    Err(LogError::Behind) => {
                        self.check()?;
                        std::thread::sleep(POLL);
                    }
                    appended => break appended?,
                }
            };
            if sequence.is_multiple_of(REPORT_EVERY) {
                progress(Step::Copying(sequence, upto));
            }
            if sequence == upto {
                break;
            }
        }
        Ok(ticket)
    }

    fn wait(&self, ticket: u64) -> Result<(), RelocateError> {
        while self.target.1.upto() < ticket {
            self.check()?;
            std::thread::sleep(POLL);
        }
        self.check()
    }

    /// Whether the target stores what it is given.
    fn check(&self) -> Result<(), RelocateError> {
        if let Some(error) = self.target.1.failure() {
            return Err(error.into());
        }
        if self.target.1.fenced().iter().any(|(realm, _)| *realm == self.realm) {
            return Err(refused("another process writes to this organization; run the command again"));
        }
        Ok(())
    }
}
