//! The writer of a log: one task that commits everything queued as one statement, and one statement after the other.
//!
//! When the connection fails, it is unknown whether the statement was committed. The heads of the realms are read then, by an
//! update that changes nothing: it waits for a transaction that is still running, and its own commit waits for the standbys,
//! so what it sees is as durable as what was acknowledged. A row with our epoch and chain is ours; a head that has not moved is
//! written again; everything else is another owner's.

use crate::append_queue::{Job, JobKind, Shared};
use crate::connect::{Database, Session};
use crate::error::PgError;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use storage::log::{Durable, LogError, Ticket};
use tokio::time::timeout;
use tokio_postgres::Statement;

/// At most this many frames and bytes are one statement.
const FRAMES_MAX: usize = 256;
const BYTES_MAX: usize = 1024 * 1024;

/// After so long an answer counts as lost.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(8);

/// Moves the heads whose epoch and sequence are the expected ones, and adds their frames. Returns the realms.
const APPEND: &str = "
WITH wanted AS (
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
        AS w(realm, epoch, before, after, chain)),
moved AS (
    UPDATE millstream.realm_head h SET seq = w.after, chain = w.chain FROM wanted w
    WHERE h.realm = w.realm AND h.epoch = w.epoch AND h.seq = w.before RETURNING h.realm),
added AS (
    INSERT INTO millstream.realm_log (realm, seq, epoch, chain, frame)
    SELECT f.realm, f.seq, f.epoch, f.chain, f.frame
    FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[]) AS f(realm, seq, epoch, chain, frame)
    JOIN moved USING (realm))
SELECT realm FROM moved";

/// The heads, read by an update that changes nothing.
const HEADS: &str =
    "UPDATE millstream.realm_head SET seq = seq WHERE realm = ANY($1) RETURNING realm, epoch, seq";

/// The frames at the ends of what was appended.
const ENDS: &str = "
SELECT l.realm, l.epoch, l.chain FROM millstream.realm_log l
JOIN unnest($1::bigint[], $2::bigint[]) AS e(realm, seq) ON l.realm = e.realm AND l.seq = e.seq";

const TRIM: &str = "
WITH moved AS (
    UPDATE millstream.realm_head SET first = greatest(first, $3) WHERE realm = $1 AND epoch = $2 RETURNING realm),
removed AS (
    DELETE FROM millstream.realm_log l USING moved m WHERE l.realm = m.realm AND l.seq < $3 RETURNING 1)
SELECT realm FROM moved";

/// The frames of one realm in a statement, one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    realm: u32,
    epoch: u64,
    /// The head before and after.
    before: u64,
    after: u64,
    /// Of the last frame.
    chain: u64,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Stored,
    /// The head has not moved.
    Pending,
    /// By the owner with this epoch.
    Fenced(u64),
}

struct Connected {
    session: Session,
    append: Statement,
}

/// The writer's task.
pub(crate) struct Writer {
    pub shared: Arc<Shared>,
    pub database: Arc<Database>,
    pub sink: Box<dyn Durable>,
    connected: Option<Connected>,
}

impl Writer {
    pub(crate) fn new(shared: Arc<Shared>, database: Arc<Database>, sink: Box<dyn Durable>) -> Self {
        Self { shared, database, sink, connected: None }
    }

    /// Commits what is queued until the log is closed.
    pub(crate) async fn run(mut self) {
        loop {
            let jobs = self.shared.take(FRAMES_MAX, BYTES_MAX);
            if jobs.is_empty() {
                if self.shared.is_done() {
                    return;
                }
                self.shared.queued.notified().await;
                continue;
            }
            let start = Instant::now();
            let results = self.store(jobs).await;
            metrics::histogram!("millstream_cluster_append_seconds").record(start.elapsed().as_secs_f64());
            self.shared.report(&mut *self.sink, results);
        }
    }

    async fn store(&mut self, jobs: Vec<Job>) -> Vec<(Ticket, Result<(), LogError>)> {
        let runs = self.runs(&jobs);
        let mut outcomes: HashMap<u32, Outcome> = HashMap::new();
        let mut pending = runs;
        let mut is_unknown = false;
        while !pending.is_empty() {
            let outcome = match jobs.first() {
                Some(Job { kind: JobKind::Trim, sequence, .. }) => self.trim(pending[0], *sequence).await,
                _ if is_unknown => self.resolve(&pending).await,
                _ => self.append(&jobs, &pending).await,
            };
            match outcome {
                Ok(found) => {
                    // What an append did not move must be explained before it is tried again.
                    is_unknown = !is_unknown && found.len() < pending.len();
                    outcomes.extend(
                        found
                            .iter()
                            .filter(|(_, outcome)| **outcome != Outcome::Pending)
                            .map(|(realm, outcome)| (*realm, *outcome)),
                    );
                    pending.retain(|run| !outcomes.contains_key(&run.realm));
                }
                Err(error) => {
                    metrics::counter!("millstream_cluster_appends_ambiguous_total").increment(1);
                    tracing::warn!(%error, "it is unknown whether a commit to the database was stored; the logs are read to find out");
                    self.connected = None;
                    is_unknown = true;
                }
            }
        }
        self.results(jobs, &outcomes)
    }

    /// The frames by realm, but for those that are fenced already.
    fn runs(&self, jobs: &[Job]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut places: HashMap<u32, usize> = HashMap::new();
        for job in jobs {
            if self.shared.fenced(job.realm, job.epoch).is_some() {
                continue;
            }
            let chain = match &job.kind {
                JobKind::Frame { chain, .. } => *chain,
                JobKind::Trim => 0,
            };
            match places.get(&job.realm) {
                Some(at) => (runs[*at].after, runs[*at].chain) = (job.sequence, chain),
                None => {
                    places.insert(job.realm, runs.len());
                    let before = job.sequence.saturating_sub(1);
                    runs.push(Run { realm: job.realm, epoch: job.epoch, before, after: job.sequence, chain });
                }
            }
        }
        // One order for all writers, so that two that compete do not wait for each other.
        runs.sort_by_key(|run| run.realm);
        runs
    }

    async fn connected(&mut self) -> Result<&Connected, PgError> {
        let kept = self.connected.take().filter(|connected| !connected.session.client.is_closed());
        let connected = match kept {
            Some(connected) => connected,
            None => {
                let session = self.database.connect_at_last().await;
                let append = within(session.client.prepare(APPEND)).await?;
                Connected { session, append }
            }
        };
        Ok(self.connected.insert(connected))
    }

    /// Appends the frames of `runs`; returns those that are stored.
    async fn append(&mut self, jobs: &[Job], runs: &[Run]) -> Result<HashMap<u32, Outcome>, PgError> {
        let (mut realms, mut sequences, mut epochs, mut chains, mut frames) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let wanted: Vec<u32> = runs.iter().map(|run| run.realm).collect();
        for job in jobs.iter().filter(|job| wanted.binary_search(&job.realm).is_ok()) {
            let JobKind::Frame { payload, chain, .. } = &job.kind else { continue };
            realms.push(i64::from(job.realm));
            sequences.push(job.sequence.cast_signed());
            epochs.push(job.epoch.cast_signed());
            chains.push(chain.cast_signed());
            frames.push(&payload[..]);
        }
        let column =
            |of: fn(&Run) -> u64| -> Vec<i64> { runs.iter().map(|run| of(run).cast_signed()).collect() };
        let heads = [
            column(|run| u64::from(run.realm)),
            column(|run| run.epoch),
            column(|run| run.before),
            column(|run| run.after),
            column(|run| run.chain),
        ];
        let Connected { session, append } = self.connected().await?;
        let rows = within(session.client.query(
            append,
            &[
                &heads[0], &heads[1], &heads[2], &heads[3], &heads[4], &realms, &sequences, &epochs, &chains,
                &frames,
            ],
        ))
        .await?;
        Ok(rows.iter().map(|row| (realm_of(row.get(0)), Outcome::Stored)).collect())
    }

    /// Reads what became of `runs`.
    async fn resolve(&mut self, runs: &[Run]) -> Result<HashMap<u32, Outcome>, PgError> {
        let realms: Vec<i64> = runs.iter().map(|run| i64::from(run.realm)).collect();
        let ends: Vec<i64> = runs.iter().map(|run| run.after.cast_signed()).collect();
        let client = &self.connected().await?.session.client;
        let heads = within(client.query(HEADS, &[&realms])).await?;
        let ends = within(client.query(ENDS, &[&realms, &ends])).await?;
        let stored: HashMap<u32, (u64, u64)> = ends
            .iter()
            .map(|row| (realm_of(row.get(0)), (unsigned(row.get(1)), unsigned(row.get(2)))))
            .collect();
        let heads: HashMap<u32, (u64, u64)> = heads
            .iter()
            .map(|row| (realm_of(row.get(0)), (unsigned(row.get(1)), unsigned(row.get(2)))))
            .collect();
        Ok(runs
            .iter()
            .map(|run| (run.realm, outcome(run, heads.get(&run.realm), stored.get(&run.realm))))
            .collect())
    }

    async fn trim(&mut self, run: Run, before: u64) -> Result<HashMap<u32, Outcome>, PgError> {
        let client = &self.connected().await?.session.client;
        let (realm, epoch) = (i64::from(run.realm), run.epoch.cast_signed());
        let rows = within(client.query(TRIM, &[&realm, &epoch, &before.cast_signed()])).await?;
        let outcome = if rows.is_empty() { Outcome::Fenced(run.epoch + 1) } else { Outcome::Stored };
        Ok(HashMap::from([(run.realm, outcome)]))
    }

    /// The results of jobs, in their order. Realms that were fenced accept nothing from here on.
    fn results(
        &self,
        jobs: Vec<Job>,
        outcomes: &HashMap<u32, Outcome>,
    ) -> Vec<(Ticket, Result<(), LogError>)> {
        for (realm, outcome) in outcomes {
            let Outcome::Fenced(current) = outcome else { continue };
            let epoch = jobs.iter().find(|job| job.realm == *realm).map_or(0, |job| job.epoch);
            metrics::counter!("millstream_cluster_appends_fenced_total").increment(1);
            self.shared.fence(*realm, epoch, *current);
        }
        let result = |job: &Job| match outcomes.get(&job.realm) {
            Some(Outcome::Stored) => Ok(()),
            Some(Outcome::Fenced(current)) => {
                Err(LogError::Fenced { realm: job.realm, epoch: job.epoch, current: *current })
            }
            Some(Outcome::Pending) | None => {
                let current = self.shared.fenced(job.realm, job.epoch).unwrap_or_default();
                Err(LogError::Fenced { realm: job.realm, epoch: job.epoch, current })
            }
        };
        jobs.into_iter().map(|job| (job.ticket, result(&job))).collect()
    }
}

/// What became of a run, by the head of its realm and the frame at its end.
fn outcome(run: &Run, head: Option<&(u64, u64)>, end: Option<&(u64, u64)>) -> Outcome {
    // An epoch belongs to one owner, so a frame with ours is ours.
    if end == Some(&(run.epoch, run.chain)) {
        return Outcome::Stored;
    }
    match head {
        Some((epoch, sequence)) if *epoch == run.epoch && *sequence == run.before => Outcome::Pending,
        Some((epoch, _)) => Outcome::Fenced(*epoch),
        None => Outcome::Fenced(0),
    }
}

async fn within<T>(answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T, PgError> {
    let answer = timeout(COMMIT_TIMEOUT, answer).await;
    Ok(answer.map_err(|_| PgError::Timeout(COMMIT_TIMEOUT.as_secs()))??)
}

fn realm_of(column: i64) -> u32 {
    column as u32
}

fn unsigned(column: i64) -> u64 {
    column.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcome_follows_from_head_and_frame() {
        let run = Run { realm: 1, epoch: 7, before: 10, after: 12, chain: 99 };
        let cases = [
            (Some((7, 12)), Some((7, 99)), Outcome::Stored),
            // Stored, and another owner came after it.
            (Some((8, 15)), Some((7, 99)), Outcome::Stored),
            (Some((7, 10)), None, Outcome::Pending),
            (Some((8, 10)), None, Outcome::Fenced(8)),
            // Another owner's frame at our place.
            (Some((8, 12)), Some((8, 98)), Outcome::Fenced(8)),
            (None, None, Outcome::Fenced(0)),
        ];
        for (head, end, expected) in cases {
            assert_eq!(outcome(&run, head.as_ref(), end.as_ref()), expected, "{head:?} {end:?}");
        }
    }
}
