//! The exports of a server, one at a time: those of the operator, and those that administrators request by the API.

use super::run::{ExportRequest, Exported, export};
use super::snapshot::Step;
use super::target::BUFFER_BYTES;
use crate::transfer::problem::TransferError;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard, mpsc, oneshot};

/// The bytes of an archive that are sent at a time.
pub const PART_BYTES_MAX: usize = BUFFER_BYTES;

/// How far an export is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportProgress {
    /// Messages that were read, of this total.
    pub done: u64,
    pub all: u64,
}

/// The exports of a server. Cheap to clone.
#[derive(Clone)]
pub struct Exports(Arc<Shared>);

struct Shared {
    /// Whose turn it is: one export runs at a time, the others wait.
    turn: Turn<()>,
    /// Held while there is an export of the operator.
    operator: Arc<Turn<()>>,
    stop: Arc<AtomicBool>,
}

impl Default for Exports {
    fn default() -> Self {
        Self(Arc::new(Shared { turn: Turn::new(()), operator: Arc::default(), stop: Arc::default() }))
    }
}

impl Exports {
    /// What ends the running export early.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.0.stop.clone()
    }

    /// Ends the running export early; the server stops.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the server stops.
    pub(super) fn is_stopping(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }

    /// The right to make an export of the operator, until it is dropped.
    ///
    /// # Errors
    /// `Busy` while there is another one.
    pub fn of_operator(&self) -> Result<OwnedMutexGuard<()>, TransferError> {
        self.0.operator.clone().try_lock_owned().map_err(|_| TransferError::Busy)
    }

    /// Makes an export in its turn, and sends the bytes of the archive to `parts`. It ends when nothing receives them.
    ///
    /// # Errors
    /// Those of [`export`].
    pub async fn in_parts(
        &self,
        request: ExportRequest,
        parts: mpsc::Sender<Vec<u8>>,
        progress: Arc<Mutex<ExportProgress>>,
    ) -> Result<Exported, TransferError> {
        self.in_turn(on_thread(move || {
            let out = BufWriter::with_capacity(BUFFER_BYTES, Parts(parts));
            let (out, exported) = export(&request, out, &|step| {
                if let Step::Messages(done, all) = step {
                    *progress.lock() = ExportProgress { done, all };
                }
            })?;
            let failed = |reason| TransferError::system(&request.folder, reason);
            out.into_inner().map_err(|error| failed(error.into_error()))?;
            Ok(exported)
        }))
        .await
    }

    /// Waits until no other export runs, then runs this one.
    pub async fn in_turn<T>(&self, export: impl Future<Output = T>) -> T {
        let _turn = self.0.turn.lock().await;
        export.await
    }
}

/// Sends what is written. Blocks while the receiver is behind.
struct Parts(mpsc::Sender<Vec<u8>>);

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = bytes.get(..PART_BYTES_MAX).unwrap_or(bytes);
        let sent = self.0.blocking_send(part.to_vec());
        sent.map_err(|_| io::Error::new(ErrorKind::BrokenPipe, "nothing receives the archive any more"))?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs an export on a thread of its own, at ordinary priority: a thread of low priority could keep a lock for long.
///
/// # Errors
/// Those of `work`; `Stopped` when it panicked.
pub async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TransferError> + Send + 'static,
) -> Result<T, TransferError> {
    let (answer, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("export".into());
    let spawned = thread.spawn(move || drop(answer.send(work())));
    spawned.map_err(|reason| TransferError::system(Path::new("a thread"), reason))?;
    done.await.map_err(|_| TransferError::Stopped)?
}
