//! Concurrent changes of settings and groups: none is lost, and names stay unique.

use crate::api::groups::{create, read};
use crate::support::{Params, TestServer};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn realm_settings_concurrent_changes() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let names = ["invite_required", "digest_emails_enabled", "presence_disabled", "avatar_changes_disabled"];
    let owner = t.user("desdemona");
    let before = owner.register().await.state;
    let realm = names.map(|name| {
        let value = !before[format!("realm_{name}")].as_bool().unwrap();
        owner.call(Method::PATCH, "/realm", &[(name, &value)])
    });
    let own = ["enter_sends", "twenty_four_hour_time", "high_contrast_mode", "left_side_userlist"];
    let own = own.map(|name| hamlet.call(Method::PATCH, "/settings", &[(name, &true)]));
    let name = hamlet.call(Method::PATCH, "/settings", &[("full_name", &"Prince Hamlet")]);
    for answer in join_all(realm.into_iter().chain(own).chain([name]).map(IntoFuture::into_future)).await {
        answer.ok();
    }
    let after = owner.register().await.state;
    for name in names {
        assert_ne!(before[format!("realm_{name}")], after[format!("realm_{name}")], "{name}");
    }
    let state = hamlet.register().modern().await.state;
    for name in ["enter_sends", "twenty_four_hour_time", "high_contrast_mode", "left_side_userlist"] {
        assert_eq!(state["user_settings"][name], true, "{name}");
    }
    assert_eq!(state["full_name"], "Prince Hamlet");
}

#[tokio::test]
async fn group_name_given_once_concurrently() {
    let t = TestServer::start().await;
    let people = t.users(["hamlet", "cordelia", "othello", "iago", "shiva"]);
    let params: Params<'_> = &[("name", &"cooks"), ("description", &""), ("members", &"[]")];
    let answers =
        join_all(people.iter().map(|person| person.post("/user_groups/create", params).into_future())).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(made.len(), 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        assert_eq!(refused.body["msg"], "User group 'cooks' already exists.");
    }
}

#[tokio::test]
async fn group_members_and_subgroups_concurrent_changes() {
    let t = TestServer::start().await;
    let people = t.users(["hamlet", "cordelia", "othello", "iago", "shiva", "prospero"]);
    let owner = t.user("desdemona");
    let (cooks, guards) = (create(&owner, "cooks", &[]).await, create(&owner, "guards", &[]).await);
    let add =
        |person: u32| owner.post(&format!("/user_groups/{cooks}/members"), &[("add", &json!([person]))]);
    let joined = people.iter().map(|person| add(person.id));
    let nest = |outer: u32, inner: u32| {
        owner.post(&format!("/user_groups/{outer}/subgroups"), &[("add", &json!([inner]))])
    };
    let calls = joined.chain([nest(cooks, guards), nest(guards, cooks)]);
    let answers = join_all(calls.map(IntoFuture::into_future)).await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != 200).collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    let text = refused[0].body["msg"].as_str().unwrap();
    assert!(text.ends_with("is already a subgroup of one of the passed subgroups."), "{text}");
    assert_eq!(read(&owner, cooks).await["members"].as_array().unwrap().len(), people.len());
}
