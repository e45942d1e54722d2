//! Organizations: create, list, deactivate, reactivate.

use super::answer::{Answer, Table};
use super::request::NewAccount;
use crate::cli::error::CliError;
use actors::{IMPORT_REMEDY, NewRealm, NewUser, RealmHandle, Server, UnfinishedImport, commands};
use model::Role;
use serde_json::json;

/// Creates an organization and its first owner.
pub(super) async fn create(
    server: &Server,
    name: String,
    subdomain: String,
    email_domain: String,
    owner: NewAccount,
) -> Result<Answer, CliError> {
    if server.realm_by_subdomain(&subdomain).is_some() {
        let why = "an organization with this subdomain exists already; choose another one with --subdomain";
        return Err(CliError::Refused(why.to_owned()));
    }
    let owner = NewUser {
        email: owner.email,
        full_name: owner.full_name,
        role: Role::Owner,
        bot: None,
        password_hash: Some(owner.password_hash),
        timezone: String::new(),
        channels: Vec::new(),
    };
    let value = json!({"subdomain": subdomain, "name": name, "owner": owner.email});
    server.create_owned_realm(NewRealm { subdomain, name, email_domain }, &owner).await?;
    Ok(Answer::of(format!("Organization created; {} is its owner.", owner.email), value))
}

/// All organizations of the server, the one of an import that is not finished, whose subdomain is taken, and those that are not served
/// because the server ended while they were made or reset.
pub(super) fn list(server: &Server) -> Answer {
    let none = "There is no organization yet; `millstream realm create` creates one.";
    let mut table = Table::new(&["subdomain", "name", "people", "state", "archive"])
        .with_programs_only(&["archive"])
        // Earlier versions did not note that of an import.
        .with_unknowns("subdomain")
        .or_sentence(none);
    let unfinished = server.unfinished_realms();
    for realm in server.realms() {
        let directory = realm.directory();
        let people = directory.users().filter(|user| user.is_active && !user.is_bot()).count();
        let realm = directory.realm();
        let state = if realm.is_active { "open" } else { "deactivated" };
        table.push(vec![json!(realm.subdomain), json!(realm.name), json!(people), json!(state), json!(null)]);
    }
    // A file that cannot be read would have ended the start.
    let import = server.unfinished_import().ok().flatten();
    if let Some(UnfinishedImport { origin, .. }) = &import {
        let (subdomain, archive) = origin.as_ref().map(|at| (&at.subdomain, &at.archive)).unzip();
        table.push(vec![json!(subdomain), json!(""), json!(0), json!("importing"), json!(archive)]);
    }
    for realm in &unfinished {
        table.push(vec![json!(realm.subdomain), json!(""), json!(0), json!("unfinished"), json!(null)]);
    }
    let imports = import.iter().map(|import| format!("{import} is not finished; {IMPORT_REMEDY}."));
    let lines = imports.chain(unfinished.iter().map(|realm| format!("{realm}."))).collect();
    Answer { lines, ..Answer::list(table) }
}

/// Deactivates or reactivates an organization.
pub(super) async fn set_active(realm: &RealmHandle, is_active: bool) -> Result<Answer, CliError> {
    let (name, was_active) = {
        let directory = realm.directory();
        (directory.realm().name.clone(), directory.realm().is_active)
    };
    let line = match (was_active, is_active) {
        (true, false) => {
            realm.deactivate(None).await?;
            format!("{name} is deactivated. Its users can no longer log in; its data is kept.")
        }
        (false, true) => {
            realm.execute(commands::SetRealmActive { by: None, is_active: true }).await?;
            format!("{name} is reactivated, with all of its data.")
        }
        (true, true) => format!("{name} is already active."),
        (false, false) => format!("{name} is already deactivated."),
    };
    Ok(Answer::of(line, json!({"name": name, "is_active": is_active})))
}
