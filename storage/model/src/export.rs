//! Exports of the organization that administrators request (docs/api/organization.md#exports).

use crate::ids::UserId;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};

/// What an export contains that administrators may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestedExport {
    /// Messages of public channels.
    Public,
    /// Also the private data of those who allow it.
    WithConsent,
}

impl RequestedExport {
    /// The number in the API.
    pub fn code(self) -> u8 {
        self as u8 + 1
    }

    /// The kind with a number of the API.
    pub fn from_code(code: i64) -> Option<Self> {
        [Self::Public, Self::WithConsent].into_iter().find(|kind| i64::from(kind.code()) == code)
    }
}

/// What became of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportStatus {
    /// It waits or is being made.
    Pending,
    Succeeded {
        /// Where its file is below the folder of exports; it cannot be guessed.
        path: String,
        bytes: u64,
    },
    Failed {
        at: Timestamp,
    },
    /// Its file was deleted by an administrator.
    Deleted {
        at: Timestamp,
    },
}

/// An export that an administrator requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealmExport {
    pub id: u32,
    pub kind: RequestedExport,
    pub requested: Timestamp,
    pub by: UserId,
    /// The organization's URL when it was requested, for the address of its file.
    pub url: String,
    pub status: ExportStatus,
}

impl RealmExport {
    /// Whether it waits or is being made.
    pub fn is_pending(&self) -> bool {
        self.status == ExportStatus::Pending
    }

    /// Where its file is below the folder of exports; none if it has no file.
    pub fn path(&self) -> Option<&str> {
        match &self.status {
            ExportStatus::Succeeded { path, .. } => Some(path),
            ExportStatus::Pending | ExportStatus::Failed { .. } | ExportStatus::Deleted { .. } => None,
        }
    }
}
