//! Errors of resumable uploads.

use crate::http::{ApiError, Code};
use crate::integrations::partial_uploads::PartialError;
use actix_web::http::StatusCode;

/// An error whose text is also in the field that tus clients show.
pub(super) fn with_message(error: ApiError) -> ApiError {
    let msg = error.msg().to_owned();
    error.with("message", msg)
}

impl From<PartialError> for ApiError {
    fn from(error: PartialError) -> Self {
        let error = match error {
            PartialError::Missing => Self::new(Code::NOT_FOUND, "This upload does not exist or has expired"),
            PartialError::Busy => {
                Self::bad_request("Another request is writing to this upload").status(StatusCode::LOCKED)
            }
            PartialError::AccountFull => Self::retry_later(
                Code::RATE_LIMIT_HIT,
                "You have too many unfinished uploads; finish or cancel one of them",
                60.0,
            ),
            PartialError::Full => Self::unavailable("The server has too many unfinished uploads"),
            PartialError::Io(reason) if reason.kind() == std::io::ErrorKind::StorageFull => {
                tracing::error!(%reason, "an upload failed because the disk is full");
                Self::retry_later(Code::STORAGE_FULL, "The server has no room to store files", 10.0)
            }
            PartialError::Io(reason) => {
                tracing::error!(%reason, "an unfinished upload cannot be stored or read");
                Self::retry_later(
                    Code::FILES_UNAVAILABLE,
                    "The server cannot store or read files at the moment",
                    10.0,
                )
            }
        };
        with_message(error)
    }
}
