//! The log of administrative acts.

use super::answer::{Answer, Table, time};
use super::find::account;
use super::since::Since;
use crate::cli::error::CliError;
use crate::units::readable_time;
use actors::RealmHandle;
use actors::queries::{ActFilter, acts};
use rules::audit::{client_of, describe, origin_of, who};
use serde_json::json;

/// The newest acts of an organization, the oldest of them first.
pub(super) fn list(
    realm: &RealmHandle,
    since: Option<Since>,
    user: Option<&str>,
    limit: usize,
) -> Result<Answer, CliError> {
    let about = user.map(|email| account(realm, email)).transpose()?;
    let since = since.map(|since| since.at(realm.now()));
    let mut filter = ActFilter { before: None, since, user: about.as_ref().map(|user| user.id), limit };
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
    let of = about.map(|user| format!(" by or about {}", user.delivery_email)).unwrap_or_default();
    let from = since.and_then(|since| time(since).as_str().map(readable_time));
    let from = from.map(|time| format!(" since {time}")).unwrap_or_default();
    let mut table = Table::new(&["time", "who", "what", "client", "address"])
        .with_times("time")
        .or_sentence(format!("There are no administrative acts{of}{from}."));
    let mut listed = Vec::new();
    for (id, recorded) in found.iter().rev() {
        let entry = &recorded.entry;
        let deeds: Vec<String> = entry.actions.iter().map(|action| describe(&directory, action)).collect();
        let (who, client) = (who(&directory, entry), client_of(entry));
        let address = entry.address.map(|address| address.to_string());
        for deed in &deeds {
            table.push(vec![time(recorded.at), json!(who), json!(deed), json!(client), json!(address)]);
        }
        listed.push(json!({
            "id": id, "time": time(recorded.at), "timestamp": recorded.at.secs(), "user_id": entry.by, "who": who,
            "origin": origin_of(entry), "client": client, "address": address, "deeds": deeds,
        }));
    }
    // Programs read one object for each act, as from `GET /realm/audit`.
    let lines = Answer::list(table).text().lines().map(str::to_owned).collect();
    Ok(Answer { table: None, lines, value: listed.into() })
}
