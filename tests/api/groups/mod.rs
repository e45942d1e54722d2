//! `/user_groups`: mirrors `src/api/groups`.

mod create;
mod deactivate;
mod list;
mod members;
mod mention;
mod subgroups;
mod update;

use crate::support::{Person, TestServer};
use serde_json::{Value, json};

/// The id of a group by its name.
pub fn group_id(t: &TestServer, name: &str) -> u32 {
    let directory = t.realm().directory();
    directory.group_by_name(name).unwrap_or_else(|| panic!("no group is called {name}")).id.0
}

/// Makes a group; gives its id.
pub async fn create(by: &Person, name: &str, members: &[&Person]) -> u32 {
    create_with(by, name, members, json!({})).await
}

/// Makes a group with more parameters; gives its id.
pub async fn create_with(by: &Person, name: &str, members: &[&Person], more: Value) -> u32 {
    let members: Vec<u32> = members.iter().map(|member| member.id).collect();
    let mut params = vec![("name", json!(name)), ("description", json!("")), ("members", json!(members))];
    let more = more.as_object().expect("parameters").clone();
    params.extend(more.iter().map(|(name, value)| (name.as_str(), value.clone())));
    let texts: Vec<(&str, String)> = params.iter().map(|(name, value)| (*name, plain(value))).collect();
    let pairs: Vec<(&str, &(dyn std::fmt::Display + Sync))> =
        texts.iter().map(|(name, value)| (*name, value as _)).collect();
    let body = by.post("/user_groups/create", &pairs).ok().await;
    body["group_id"].as_u64().and_then(|id| id.try_into().ok()).expect("a group id")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A group as somebody reads it, be it in use or not.
pub async fn read(by: &Person, id: u32) -> Value {
    let body = by.get("/user_groups", &[("include_deactivated_groups", &true)]).ok().await;
    let groups = body["user_groups"].as_array().expect("groups");
    groups.iter().find(|group| group["id"] == id).expect("the group").clone()
}

/// Only these people.
pub fn only(people: &[&Person]) -> Value {
    let ids: Vec<u32> = people.iter().map(|person| person.id).collect();
    json!({"direct_members": ids, "direct_subgroups": []})
}
