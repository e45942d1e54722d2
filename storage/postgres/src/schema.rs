//! The tables, and the settings of the server that they need.

use crate::connect::{Database, Session};
use crate::error::PgError;
use storage::codec::RECORDS;
use storage::folder::SECRET_BYTES;

/// The format of the tables.
const FORMAT: i64 = 1;

/// How many slots a new cluster has. Leases are per node, so a slot costs one small row; the number bounds how evenly
/// organizations can be spread, and with it how many nodes are useful.
const SLOTS: i32 = 1024;

/// Ids of organizations begin with 1001: those before are left to organizations that are carried here from single servers, which
/// keep their ids. `records` is the newest version of records that a node reads, and that the cluster lets nodes write. `place` is where the organization is served: not yet here, here, here but about to be carried away, or in a
/// data folder, which `home` names; `secret` is what its keys are derived from, if that is not the secret of the cluster.
const TABLES: &str = "
CREATE SCHEMA IF NOT EXISTS millstream;
CREATE TABLE IF NOT EXISTS millstream.cluster (
    id int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
    format bigint NOT NULL, name text NOT NULL, secret bytea NOT NULL, version bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS millstream.node (
    name text PRIMARY KEY, incarnation bigint NOT NULL, advertise text NOT NULL, lease_until timestamptz NOT NULL,
    is_draining boolean NOT NULL DEFAULT false, changed bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS millstream.slot (
    slot int PRIMARY KEY, node text, incarnation bigint NOT NULL DEFAULT 0, epoch bigint NOT NULL DEFAULT 0,
    target text, is_prepared boolean NOT NULL DEFAULT false, changed bigint NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS slot_changed ON millstream.slot (changed);
CREATE SEQUENCE IF NOT EXISTS millstream.realm_ids AS int MINVALUE 1 START 1001;
CREATE TABLE IF NOT EXISTS millstream.realm (
    realm bigint PRIMARY KEY, subdomain text NOT NULL UNIQUE, slot int NOT NULL, changed bigint NOT NULL DEFAULT 0);
ALTER TABLE millstream.realm ADD COLUMN IF NOT EXISTS place text NOT NULL DEFAULT 'here',
    ADD COLUMN IF NOT EXISTS leaving_until timestamptz, ADD COLUMN IF NOT EXISTS is_closed boolean NOT NULL DEFAULT false,
    ADD COLUMN IF NOT EXISTS home text, ADD COLUMN IF NOT EXISTS secret bytea;
CREATE INDEX IF NOT EXISTS realm_leaving ON millstream.realm (realm) WHERE place = 'leaving';
ALTER TABLE millstream.cluster ADD COLUMN IF NOT EXISTS records int NOT NULL DEFAULT 1;
ALTER TABLE millstream.node ADD COLUMN IF NOT EXISTS records int NOT NULL DEFAULT 1;
CREATE INDEX IF NOT EXISTS realm_changed ON millstream.realm (changed);
CREATE TABLE IF NOT EXISTS millstream.realm_head (
    realm bigint PRIMARY KEY, epoch bigint NOT NULL, first bigint NOT NULL, seq bigint NOT NULL, chain bigint NOT NULL
    ) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS millstream.realm_log (
    realm bigint NOT NULL, seq bigint NOT NULL, epoch bigint NOT NULL, chain bigint NOT NULL, frame bytea NOT NULL,
    PRIMARY KEY (realm, seq));
CREATE TABLE IF NOT EXISTS millstream.standby (
    slot int NOT NULL, node text NOT NULL, incarnation bigint NOT NULL, lag bigint NOT NULL, PRIMARY KEY (slot, node));
";

/// Whether the tables have what was added last: what an earlier version made is completed.
const IS_COMPLETE: &str = "
SELECT EXISTS (
    SELECT 1 FROM information_schema.columns
    WHERE table_schema = 'millstream' AND table_name = 'node' AND column_name = 'records')
    AND to_regclass('millstream.standby') IS NOT NULL";

const FIRST_ROW: &str = "
INSERT INTO millstream.cluster (format, name, secret, records) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";

const SLOT_ROWS: &str =
    "INSERT INTO millstream.slot (slot) SELECT generate_series(0, $1::int - 1) ON CONFLICT DO NOTHING";

/// Random bytes of the cluster's name.
const NAME_BYTES: usize = 8;

/// Held while the tables are made: two nodes may start at once.
const LOCK: i64 = 0x6d69_6c6c;

/// What is asked of the server.
#[derive(Clone, Copy, Debug)]
pub struct Requirements {
    /// Whether a server without synchronous standbys is accepted.
    pub allow_single_copy: bool,
}

/// Checks the server, and makes the tables unless they exist. Retries nothing: an operator who starts a node wants to know at
/// once why it cannot run.
pub(crate) async fn prepare(database: &Database, requirements: Requirements) -> Result<(), PgError> {
    let session = database.connect(None).await?;
    check_settings(&session, requirements).await?;
    if !session.client.query_one(IS_COMPLETE, &[]).await?.get::<_, bool>(0) {
        create(&session).await?;
    }
    match session.client.query_one("SELECT format FROM millstream.cluster", &[]).await?.get(0) {
        FORMAT => Ok(()),
        found => Err(PgError::Format { found, known: FORMAT }),
    }
}

async fn create(session: &Session) -> Result<(), PgError> {
    let mut random = [0u8; SECRET_BYTES + NAME_BYTES];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let (secret, name) = random.split_at(SECRET_BYTES);
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    let client = &session.client;
    client.batch_execute("BEGIN").await?;
    client.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    client.batch_execute(TABLES).await?;
    client.execute(FIRST_ROW, &[&FORMAT, &name, &secret, &RECORDS]).await?;
    client.execute(SLOT_ROWS, &[&SLOTS]).await?;
    client.batch_execute("COMMIT").await?;
    Ok(())
}

/// Refuses a server whose settings would lose what it acknowledged.
async fn check_settings(session: &Session, requirements: Requirements) -> Result<(), PgError> {
    let mut wrong = Vec::new();
    for (name, accepted, why) in [
        ("fsync", &["on"][..], "a crash of the machine loses or damages everything"),
        ("full_page_writes", &["on"][..], "a crash of the machine leaves torn pages"),
        (
            "synchronous_commit",
            &["on", "remote_apply"][..],
            "a commit is acknowledged before it is on the disks",
        ),
    ] {
        let value = show(session, name).await?;
        if !accepted.contains(&value.as_str()) {
            wrong.push(format!("{name} is {value}, so {why}; set it to {}", accepted[0]));
        }
    }
    if show(session, "synchronous_standby_names").await?.trim().is_empty() {
        match requirements.allow_single_copy {
            true => tracing::warn!("the database has no synchronous standby: what it acknowledged is in one place"),
            false => wrong.push(
                "synchronous_standby_names is empty, so a failover loses the newest commits; name the standbys, or, if the \
                 storage below the database is replicated, set cluster.allow_single_copy"
                    .to_owned(),
            ),
        }
    }
    if show(session, "data_checksums").await? != "on" {
        tracing::warn!("the database has no data checksums: disk corruption would not be detected");
    }
    if wrong.is_empty() { Ok(()) } else { Err(PgError::Unsafe(wrong.join("; "))) }
}

async fn show(session: &Session, name: &str) -> Result<String, PgError> {
    Ok(session.client.query_one(&format!("SHOW {name}"), &[]).await?.get(0))
}
