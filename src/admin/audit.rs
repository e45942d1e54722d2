//! The audit log.

use super::answer::{Answer, Table, time};
use super::find::account;
use super::since::Since;
use crate::cli::error::CliError;
use crate::units::readable_time;
use actors::RealmHandle;
use actors::queries::{AuditFilter, audit_log};
use rules::audit::{client_of, describe, origin_of, who};
use serde_json::json;

/// The newest entries of an organization's audit log, the oldest of them first.
pub(super) fn list(
    realm: &RealmHandle,
    since: Option<Since>,
    user: Option<&str>,
    limit: usize,
) -> Result<Answer, CliError> {
    let about = user.map(|email| account(realm, email)).transpose()?;
    let since = since.map(|since| since.at(realm.now()));
    let mut filter = AuditFilter { before: None, since, user: about.as_ref().map(|user| user.id), limit };
    let mut found = Vec::new();
    // A page may end early where many entries are about other users.
    while found.len() < limit {
        let page = audit_log(realm, &AuditFilter { limit: limit - found.len(), ..filter });
        found.extend(page.entries);
        filter.before = page.next;
        if filter.before.is_none() {
            break;
        }
    }
    let directory = realm.directory();
    let of = about.map(|user| format!(" by or about {}", user.delivery_email)).unwrap_or_default();
    let from = since.and_then(|since| time(since).as_str().map(readable_time));
    let from = from.map(|time| format!(" since {time}")).unwrap_or_default();
    // What was done is a sentence of any length, so it is the last column.
    let columns = ["id", "time", "timestamp", "user_id", "who", "origin", "client", "address", "what"];
    let mut table = Table::new(&columns)
        .with_times("time")
        .with_programs_only(&["id", "timestamp", "user_id", "origin"])
        .or_sentence(format!("The audit log has no entries{of}{from}."));
    for (id, recorded) in found.iter().rev() {
        let entry = &recorded.entry;
        for action in &entry.actions {
            table.push(vec![
                json!(id),
                time(recorded.at),
                json!(recorded.at.secs()),
                json!(entry.by),
                json!(who(&directory, entry)),
                json!(origin_of(entry)),
                json!(client_of(entry)),
                json!(entry.address.map(|address| address.to_string())),
                json!(describe(&directory, action)),
            ]);
        }
    }
    Ok(Answer::list(table))
}
