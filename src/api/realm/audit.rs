//! `GET /realm/audit`: who changed what, for owners (docs/api/organization.md#audit-log).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params, reply};
use actors::queries::{AuditFilter, audit_log};
use model::{Directory, RecordedAuditEntry, Sequence, UserId};
use rules::audit::{client_of, describe, origin_of, who};
use serde::Serialize;

/// Entries in one answer.
const PAGE_MAX: usize = 100;

/// Which entries are wanted.
pub struct AuditQuery {
    before: Option<u64>,
    user: Option<u32>,
    limit: usize,
}

impl FromFields for AuditQuery {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let limit = fields.int_or("limit", PAGE_MAX)?;
        if !(1..=PAGE_MAX).contains(&limit) {
            return Err(ApiError::invalid_parameter("limit"));
        }
        Ok(Self { before: fields.optional_int("before")?, user: fields.optional_id("user_id")?, limit })
    }
}

#[derive(Serialize)]
struct Listed {
    acts: Vec<ListedEntry>,
    next_before: Option<Sequence>,
}

#[derive(Serialize)]
struct ListedEntry {
    id: Sequence,
    /// Seconds since 1970.
    timestamp: u64,
    user_id: Option<UserId>,
    who: String,
    origin: &'static str,
    client: String,
    address: Option<String>,
    deeds: Vec<String>,
}

impl ListedEntry {
    fn new(directory: &Directory, (id, recorded): &(Sequence, std::sync::Arc<RecordedAuditEntry>)) -> Self {
        let entry = &recorded.entry;
        Self {
            id: *id,
            timestamp: recorded.at.secs(),
            user_id: entry.by,
            who: who(directory, entry),
            origin: origin_of(entry),
            client: client_of(entry),
            address: entry.address.map(|address| address.to_string()),
            deeds: entry.actions.iter().map(|action| describe(directory, action)).collect(),
        }
    }
}

/// The newest entries, or those before one.
pub async fn list(caller: Caller, Params(query): Params<AuditQuery>) -> HandlerResult {
    let filter = AuditFilter {
        before: query.before.map(Sequence),
        since: None,
        user: query.user.map(UserId),
        limit: query.limit,
    };
    let page = audit_log(&caller.realm, &filter);
    let directory = caller.realm.directory();
    let acts = page.entries.iter().map(|entry| ListedEntry::new(&directory, entry)).collect();
    reply(&Listed { acts, next_before: page.next })
}
