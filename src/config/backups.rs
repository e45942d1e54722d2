//! The section `[backups]`.

use model::redacted::Redacted;
use serde::Deserialize;
use std::num::NonZeroU64;

/// The section `[backups]`: access to the S3 service of `millstream backup --to s3://…`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupSettings {
    /// URL of the S3 service; empty for Amazon S3.
    pub endpoint: String,
    pub region: String,
    pub path_style: bool,
    /// Access key ID; empty for the instance's own credentials.
    pub access_key_id: String,
    pub secret_access_key: Redacted<String>,
    pub request_secs_max: NonZeroU64,
}
