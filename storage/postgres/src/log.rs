//! The log of a node in PostgreSQL.

use crate::append_queue::{Owner, Shared};
use crate::connect::Database;
use crate::error::PgError;
use crate::queries::{Param, Queries};
use crate::reader::{READ_PATIENCE, Reader, params};
use crate::schema::{self, Requirements};
use crate::writer::Writer;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use storage::log::{Compacted, Durable, FrameBytes, Frames, LogError, Opened, RealmLog, Ticket};
use tokio::sync::oneshot;

/// How long `open` and `close` wait for what is queued.
const DRAIN_SECS_MAX: u64 = 30;

const CREATE: &str =
    "INSERT INTO millstream.realm_head (realm, epoch, first, seq, chain) VALUES ($1, 0, 1, 0, 0)
    ON CONFLICT DO NOTHING";

/// Fences all earlier owners.
const OPEN: &str = "UPDATE millstream.realm_head SET epoch = greatest(epoch + 1, $2) WHERE realm = $1
    RETURNING epoch, first, seq, chain";

/// Fences all earlier owners if the slot of the realm is the node's, and the realm is served here. Both rows are locked against
/// changes meanwhile.
const OPEN_GUARDED: &str = "
WITH slot AS (
    SELECT s.slot FROM millstream.slot s JOIN millstream.realm r ON r.slot = s.slot
    WHERE r.realm = $1 AND s.node = $3 AND s.incarnation = $4
        AND (r.place = 'here' OR (r.place = 'leaving' AND r.leaving_until <= clock_timestamp()))
    FOR SHARE OF s, r)
UPDATE millstream.realm_head SET epoch = greatest(epoch + 1, $2)
WHERE realm = $1 AND EXISTS (SELECT 1 FROM slot) RETURNING epoch, first, seq, chain";

const HEAD: &str = "SELECT first, seq FROM millstream.realm_head WHERE realm = $1";

const REALMS: &str = "SELECT realm FROM millstream.realm_head WHERE seq > 0 ORDER BY realm";

/// Who opens realms: only a node that owns their slots can.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    pub node: String,
    pub incarnation: i64,
}

/// Options of a log.
#[derive(Clone, Debug)]
pub struct PgLogOptions {
    /// Frames and bytes that may be queued; beyond it appends are refused.
    pub queue_frames_max: usize,
    pub queue_bytes_max: usize,
    /// None for tools that have the database to themselves.
    pub guard: Option<Guard>,
    pub requirements: Requirements,
}

impl Default for PgLogOptions {
    fn default() -> Self {
        Self {
            queue_frames_max: 16_384,
            queue_bytes_max: 64 * 1024 * 1024,
            guard: None,
            requirements: Requirements { allow_single_copy: false },
        }
    }
}

/// A log whose frames are in PostgreSQL.
pub struct PgLog {
    shared: Arc<Shared>,
    queries: Queries,
    guard: Option<Guard>,
    /// Ends the runtime when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl PgLog {
    /// Connects, checks the settings of the server, and starts the log's thread.
    ///
    /// # Errors
    /// Those of connecting; [`PgError::Unsafe`] for a server that could lose what it acknowledged.
    pub fn open(database: Database, options: &PgLogOptions, sink: Box<dyn Durable>) -> Result<Self, PgError> {
        let database = Arc::new(database);
        let shared = Arc::new(Shared::new(options.queue_frames_max, options.queue_bytes_max));
        let (started, starting) = sync_channel(1);
        let (stop, stopped) = oneshot::channel::<()>();
        let (thread_shared, thread_database) = (shared.clone(), database.clone());
        let requirements = options.requirements;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        std::thread::Builder::new().name("pg-log".to_owned()).spawn(move || {
            runtime.block_on(async move {
                let ready = schema::prepare(&thread_database, requirements).await;
                let is_ready = ready.is_ok();
                let _ = started.send(ready);
                if is_ready {
                    Writer::new(thread_shared, thread_database, sink).run().await;
                    // Reading stays possible until the log is dropped.
                    let _ = stopped.await;
                }
            });
        })?;
        starting.recv().map_err(|_| PgError::Closed)??;
        let queries = Queries::new(database, handle);
        let guard = options.guard.clone();
        Ok(Self { shared, queries, guard, _stop: stop })
    }

    /// Waits until everything that is queued now was reported.
    fn drain(&self) -> Result<(), LogError> {
        let deadline = Instant::now() + Duration::from_secs(DRAIN_SECS_MAX);
        let mut appends = self.shared.appends.lock();
        let upto = appends.last_ticket;
        while appends.reported < upto {
            if self.shared.progress.wait_until(&mut appends, deadline).timed_out() {
                return Err(LogError::Unavailable("the database does not store what is queued".into()));
            }
        }
        Ok(())
    }

    fn bounds(&self, realm: u32) -> Result<(u64, u64), LogError> {
        let rows = self.queries.run(HEAD, params([i64::from(realm)]), READ_PATIENCE)?;
        Ok(rows.first().map_or((1, 0), |row| (unsigned(row.get(0)), unsigned(row.get(1)))))
    }

    fn opening(&self, realm: u32, min_epoch: u64) -> (&'static str, Vec<Param>) {
        let mut of = params([i64::from(realm), min_epoch.cast_signed()]);
        match &self.guard {
            None => (OPEN, of),
            Some(guard) => {
                of.push(Box::new(guard.node.clone()));
                of.push(Box::new(guard.incarnation));
                (OPEN_GUARDED, of)
            }
        }
    }
}

impl RealmLog for PgLog {
    fn open(&self, realm: u32, min_epoch: u64) -> Result<Opened, LogError> {
        if self.shared.appends.lock().is_closed {
            return Err(LogError::Unavailable("the log is closed".into()));
        }
        self.drain()?;
        self.queries.run(CREATE, params([i64::from(realm)]), READ_PATIENCE)?;
        let (sql, of) = self.opening(realm, min_epoch);
        let rows = self.queries.run(sql, of, READ_PATIENCE)?;
        let Some(row) = rows.first() else {
            return Err(LogError::Fenced { realm, epoch: min_epoch, current: min_epoch + 1 });
        };
        let [epoch, first_sequence, last_sequence, chain] =
            [0, 1, 2, 3].map(|column| unsigned(row.get(column)));
        let owner = Owner { epoch, last: last_sequence, chain, fenced: None };
        self.shared.appends.lock().owners.insert(realm, owner);
        Ok(Opened { epoch, first_sequence, last_sequence })
    }

    fn append(&self, frame: FrameBytes, epoch: u64) -> Result<Ticket, LogError> {
        self.shared.append(frame, epoch)
    }

    fn read(&self, realm: u32, from_sequence: u64) -> Result<Frames, LogError> {
        let (first, last) = self.bounds(realm)?;
        if from_sequence < first || from_sequence > last + 1 {
            return Err(LogError::OutOfRange { realm, first, last, asked: from_sequence });
        }
        Ok(Box::new(Reader::new(self.queries.clone(), realm, (from_sequence, last))?))
    }

    fn trim(&self, realm: u32, before_sequence: u64) -> Result<Ticket, LogError> {
        if !self.shared.appends.lock().owners.contains_key(&realm) {
            return Err(LogError::NotOpen { realm });
        }
        let (first, last) = self.bounds(realm)?;
        if before_sequence > last + 1 {
            return Err(LogError::OutOfRange { realm, first, last, asked: before_sequence });
        }
        self.shared.trim(realm, before_sequence)
    }

    fn compact(&self, _: &mut dyn FnMut(u64) -> bool) -> Result<Compacted, LogError> {
        // The database stores frames in its own way.
        Ok(Compacted::Nothing)
    }

    fn realms(&self) -> Vec<u32> {
        let rows = self.queries.run(REALMS, Vec::new(), READ_PATIENCE);
        let rows = rows.inspect_err(|error| tracing::error!(%error, "the organizations cannot be listed"));
        rows.unwrap_or_default().iter().map(|row| row.get::<_, i64>(0) as u32).collect()
    }

    fn recover(&self) -> Result<(), LogError> {
        // The writer recovers by itself.
        if self.shared.appends.lock().is_closed {
            return Err(LogError::Unavailable("the log is closed".into()));
        }
        Ok(())
    }

    fn close(&self) {
        self.shared.appends.lock().is_closed = true;
        self.shared.queued.notify_one();
        if let Err(error) = self.drain() {
            tracing::error!(%error, "the log in the database was closed before everything was stored");
        }
    }
}

impl Drop for PgLog {
    fn drop(&mut self) {
        self.shared.appends.lock().is_closed = true;
        // The thread ends by itself: it may be waiting for a database that does not come back.
        self.shared.queued.notify_one();
    }
}

fn unsigned(column: i64) -> u64 {
    column.cast_unsigned()
}
