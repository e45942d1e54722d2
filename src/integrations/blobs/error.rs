//! Why files cannot be stored or read.

use super::problem::{causes, problem_text};
use std::io::ErrorKind;

/// Why a file could not be stored or read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BlobError {
    #[error("there is no such file")]
    Missing,
    /// The folder or service failed. Contains no keys.
    #[error("files cannot be stored or read: {0}")]
    Store(String),
    #[error("the disk for files is full: {0}")]
    Full(String),
    /// The bucket has the files of another data folder or cluster, which would be deleted as unused.
    #[error(
        "the bucket belongs to another data folder or cluster, so files are neither stored nor deleted; choose another bucket, or, \
         if nothing else uses this one any more, delete its object `owner`"
    )]
    Owned,
}

impl From<object_store::Error> for BlobError {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { source, .. } if !is_missing_bucket(&*source) => Self::Missing,
            other if is_full(&other) => Self::Full(problem_text(&other)),
            other => Self::Store(problem_text(&other)),
        }
    }
}

impl From<std::io::Error> for BlobError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full(error.to_string()),
            _ => Self::Store(error.to_string()),
        }
    }
}

impl BlobError {
    /// The error of a write. If a write misses something, it is the folder or bucket itself.
    pub(super) fn of_write(error: object_store::Error) -> Self {
        match error {
            missing @ object_store::Error::NotFound { .. } => Self::Store(problem_text(&missing)),
            other => other.into(),
        }
    }
}

/// S3 responds with 404 for a missing bucket as for a missing object; only the body distinguishes them.
fn is_missing_bucket(source: &(dyn std::error::Error + 'static)) -> bool {
    causes(source).any(|cause| cause.to_string().contains("NoSuchBucket"))
}

fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let kinds =
        causes(error).filter_map(|cause| cause.downcast_ref::<std::io::Error>()).map(std::io::Error::kind);
    kinds.into_iter().any(|kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}
