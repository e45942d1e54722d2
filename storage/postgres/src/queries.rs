//! Single statements, for callers that wait on ordinary threads.

use crate::connect::{Database, Session};
use crate::error::PgError;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::time::{sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// How long a statement may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections that are kept for later statements.
const IDLE_MAX: usize = 4;

/// A parameter of a statement.
pub(crate) type Param = Box<dyn ToSql + Sync + Send>;

/// Runs statements on the runtime of a log or of the control tables.
#[derive(Clone)]
pub(crate) struct Queries {
    database: Arc<Database>,
    handle: Handle,
    idle: Arc<Mutex<Vec<Session>>>,
}

impl Queries {
    pub(crate) fn new(database: Arc<Database>, handle: Handle) -> Self {
        Self { database, handle, idle: Arc::default() }
    }

    /// Runs a statement that may be repeated: it is, on another connection, until `limit` is over.
    pub(crate) fn run(
        &self,
        sql: &'static str,
        params: Vec<Param>,
        limit: Duration,
    ) -> Result<Vec<Row>, PgError> {
        let (answer, answered) = sync_channel(1);
        let queries = self.clone();
        self.handle.spawn(async move {
            let _ = answer.send(queries.repeat(sql, &params, limit).await);
        });
        answered.recv().map_err(|_| PgError::Closed)?
    }

    /// Runs a statement as [`Self::run`] does, for callers on the runtime.
    pub(crate) async fn repeat(
        &self,
        sql: &'static str,
        params: &[Param],
        limit: Duration,
    ) -> Result<Vec<Row>, PgError> {
        let start = Instant::now();
        loop {
            let error = match self.attempt(sql, params).await {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            if start.elapsed() > limit || is_final(&error) {
                return Err(error);
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    async fn attempt(&self, sql: &'static str, params: &[Param]) -> Result<Vec<Row>, PgError> {
        let kept = self.idle.lock().pop().filter(|session| !session.client.is_closed());
        let session = match kept {
            Some(session) => session,
            None => self.database.connect(None).await?,
        };
        let params: Vec<&(dyn ToSql + Sync)> =
            params.iter().map(|param| &**param as &(dyn ToSql + Sync)).collect();
        let answer = timeout(STATEMENT_TIMEOUT, session.client.query(sql, &params)).await;
        let rows = answer.map_err(|_| PgError::Timeout(STATEMENT_TIMEOUT.as_secs()))??;
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push(session);
        }
        Ok(rows)
    }
}

/// Whether repeating the statement cannot help: it is refused for what it says, not for the state of the server.
fn is_final(error: &PgError) -> bool {
    let PgError::Database(error) = error else { return false };
    // Classes 22 (data), 23 (integrity), 42 (syntax, access rights).
    error.code().is_some_and(|code| ["22", "23", "42"].iter().any(|class| code.code().starts_with(class)))
}
