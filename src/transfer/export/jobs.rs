//! The exports of a server, one at a time: those of the operator, and those that administrators request by the API.

use super::run::{ExportRequest, Exported};
use super::snapshot::Step;
use super::target::{check_target, export_to_file};
use crate::transfer::problem::TransferError;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex as Turn, oneshot};

/// How far an export is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportProgress {
    /// Messages that were read, of so many.
    pub done: u64,
    pub all: u64,
}

/// The newest export of the operator.
#[derive(Clone, Debug)]
pub enum ExportState {
    /// None was begun since the start.
    None,
    Running(ExportProgress),
    Done(Exported),
    Failed(String),
}

/// The exports of a server. Cheap to clone.
#[derive(Clone)]
pub struct Exports(Arc<Shared>);

struct Shared {
    /// Whose turn it is: one export runs at a time, the others wait.
    turn: Turn<()>,
    stop: Arc<AtomicBool>,
    operator: Mutex<ExportState>,
}

impl Default for Exports {
    fn default() -> Self {
        Self(Arc::new(Shared {
            turn: Turn::new(()),
            stop: Arc::default(),
            operator: Mutex::new(ExportState::None),
        }))
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

    /// How far the operator's export is.
    pub fn state(&self) -> ExportState {
        self.0.operator.lock().clone()
    }

    /// Begins an export of the operator, which goes on when this returns.
    ///
    /// # Errors
    /// `Busy` while another one of the operator runs, `System` for a target that cannot be written.
    pub fn start(&self, request: ExportRequest, to: PathBuf) -> Result<(), TransferError> {
        check_target(&to)?;
        {
            let mut state = self.0.operator.lock();
            if matches!(*state, ExportState::Running(_)) {
                return Err(TransferError::Busy);
            }
            *state = ExportState::Running(ExportProgress::default());
        }
        let own = self.clone();
        actix_rt::spawn(async move {
            let done = own.in_turn(own.to_file(request, to)).await;
            *own.0.operator.lock() = match done {
                Ok(exported) => ExportState::Done(exported),
                Err(error) => ExportState::Failed(error.to_string()),
            };
        });
        Ok(())
    }

    async fn to_file(&self, request: ExportRequest, to: PathBuf) -> Result<Exported, TransferError> {
        let own = self.clone();
        on_thread(move || {
            export_to_file(&request, &to, &|step| {
                if let Step::Messages(done, all) = step {
                    *own.0.operator.lock() = ExportState::Running(ExportProgress { done, all });
                }
            })
        })
        .await
    }

    /// Waits until no other export runs, then runs this one.
    pub async fn in_turn<T>(&self, export: impl Future<Output = T>) -> T {
        let _turn = self.0.turn.lock().await;
        export.await
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
