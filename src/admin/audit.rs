//! The log of administrative acts.

use super::answer::{Answer, Table, time};
use super::find::account;
use crate::cli::error::CliError;
use actors::RealmHandle;
use actors::queries::{ActFilter, acts};
use model::Timestamp;
use rules::audit::{client_of, describe, who};
use serde_json::json;

/// The newest acts of an organization, the oldest of them first.
pub(super) fn list(
    realm: &RealmHandle,
    since: Option<u64>,
    user: Option<&str>,
    limit: usize,
) -> Result<Answer, CliError> {
    let user = user.map(|email| account(realm, email)).transpose()?.map(|user| user.id);
    let mut filter = ActFilter { before: None, since: since.map(Timestamp), user, limit };
    let mut found = Vec::new();
    // A page may end early where many acts are of other users.
    while found.len() < limit {
        let page = acts(realm, &ActFilter { limit: limit - found.len(), ..filter });
        found.extend(page.acts);
        filter.before = page.next;
        if filter.before.is_none() {
            break;
        }
    }
    let directory = realm.directory();
    let mut table = Table::new(&["time", "who", "what", "client", "address"]).with_times("time");
    for (_, recorded) in found.iter().rev() {
        let act = &recorded.act;
        for deed in &act.deeds {
            table.push(vec![
                time(recorded.at),
                json!(who(&directory, act)),
                json!(describe(&directory, deed)),
                json!(client_of(act)),
                json!(act.address.map(|address| address.to_string())),
            ]);
        }
    }
    Ok(Answer::list(table))
}
