//! `/user_groups`: mirrors `src/api/groups`.

mod create;
mod deactivate;
mod list;
mod members;
mod mention;
mod subgroups;
mod update;

use crate::support::{TestServer, TestUser, as_params};
use serde_json::{Value, json};

/// The id of a group by name.
pub fn group_id(t: &TestServer, name: &str) -> u32 {
    let directory = t.realm().directory();
    directory.group_by_name(name).unwrap_or_else(|| panic!("no group is called {name}")).id.0
}

/// Creates a group; returns its id.
pub async fn create(by: &TestUser, name: &str, members: &[&TestUser]) -> u32 {
    create_with(by, name, members, json!({})).await
}

/// Creates a group with additional parameters; returns its id.
pub async fn create_with(by: &TestUser, name: &str, members: &[&TestUser], more: Value) -> u32 {
    let members: Vec<u32> = members.iter().map(|member| member.id).collect();
    let mut params = vec![("name", json!(name)), ("description", json!("")), ("members", json!(members))];
    let more = more.as_object().expect("parameters").clone();
    params.extend(more.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let texts: Vec<(&str, String)> = params.iter().map(|(name, value)| (*name, plain(value))).collect();
    let pairs = as_params(&texts);
    let body = by.post("/user_groups/create", &pairs).ok().await;
    body["group_id"].as_u64().and_then(|id| id.try_into().ok()).expect("a group id")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A group as a user sees it, whether deactivated or not.
pub async fn read(by: &TestUser, id: u32) -> Value {
    let body = by.get("/user_groups", &[("include_deactivated_groups", &true)]).ok().await;
    let groups = body["user_groups"].as_array().expect("groups");
    groups.iter().find(|group| group["id"] == id).expect("the group").clone()
}

/// An anonymous group of these users only, as the value of a group setting.
pub fn only(people: &[&TestUser]) -> Value {
    let ids: Vec<u32> = people.iter().map(|person| person.id).collect();
    json!({"direct_members": ids, "direct_subgroups": []})
}
