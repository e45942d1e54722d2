//! Errors of the database.

use std::sync::Arc;
use storage::log::LogError;

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PgError {
    #[error("`cluster.database` is not a valid URL of a database: {0}")]
    Url(String),
    #[error("the certificates of the database's authorities (`sslrootcert`) cannot be used: {0}")]
    Certificates(String),
    /// No host accepts changes.
    #[error("no host in `cluster.database` can be reached and accepts changes: {0}")]
    Unreachable(String),
    #[error("the database did not answer within {0} seconds")]
    Timeout(u64),
    #[error("{}", describe(.0))]
    Database(#[from] tokio_postgres::Error),
    /// The server could lose what it acknowledged.
    #[error("the database could lose what it acknowledged: {0}")]
    Unsafe(String),
    #[error(
        "the tables in the database have format {found}, this version knows {known}; start the version that made them"
    )]
    Format { found: i64, known: i64 },
    /// The cluster has records that this program cannot read.
    #[error(
        "the cluster may have records of version {found}, this program reads up to {known}; start the version that the other \
         nodes have"
    )]
    TooOld { found: i32, known: i32 },
    #[error("cannot start a thread for the database: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the connection to the database is closed")]
    Closed,
}

fn describe(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("the database refused: {} ({})", error.message(), error.code().code()),
        None => format!("the connection to the database failed: {error}"),
    }
}

impl From<PgError> for LogError {
    fn from(error: PgError) -> Self {
        Self::Unavailable(Arc::from(error.to_string()))
    }
}
