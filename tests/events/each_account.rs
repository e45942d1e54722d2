//! Every change of an account by others: who is told what, and that it is all of it.

use super::each_type::kinds;
use super::verify;
use super::verify::Seen;
use crate::api::groups::create_with;
use crate::support::{Params, Person, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

async fn change(who: &Person, whom: &Person, params: Params<'_>) {
    who.patch(&format!("/users/{}", whom.id), params).ok().await;
}

/// What the events about people say of one of them, without `user_id`.
fn said_of(seen: &Seen, name: &str, person: &Person) -> Vec<Value> {
    let about = seen[name].iter().filter(|event| event["type"] == "realm_user");
    let about = about.filter(|event| event["person"]["user_id"] == json!(person.id));
    let said = about.map(|event| {
        let mut said = event["person"].clone();
        said.as_object_mut().expect("a person").remove("user_id");
        said
    });
    said.collect()
}

#[tokio::test]
async fn a_name_and_a_profile() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let field =
        crate::api::realm::profile_fields::create(&iago, &[("name", &"Town"), ("field_type", &1)]).await;
    let seen = verify(&t, &ALL, async {
        let data = json!([{"id": field, "value": "Elsinore"}]);
        change(&iago, &hamlet, &[("full_name", &"Hamlet"), ("profile_data", &data)]).await;
    })
    .await;
    for name in ALL {
        let value = json!({"custom_profile_field": {"id": field, "value": "Elsinore"}});
        let mut said = said_of(&seen, name, &hamlet);
        if let Some(data) = said[1]["custom_profile_field"].as_object_mut() {
            data.remove("rendered_value");
        }
        assert_eq!(said, [json!({"full_name": "Hamlet"}), value], "{name}");
    }
}

#[tokio::test]
async fn a_member_becomes_moderator() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let seen = verify(&t, &ALL, async { change(&iago, &hamlet, &[("role", &300)]).await }).await;
    for name in ["othello", "polonius"] {
        let kinds = kinds(&seen, name);
        assert_eq!(kinds[0], "realm_user update", "{name}");
        assert_eq!(kinds[1..].iter().filter(|kind| kind.starts_with("user_group")).count(), 3, "{kinds:?}");
    }
    assert_eq!(said_of(&seen, "othello", &hamlet), [json!({"role": 300})]);
}

#[tokio::test]
async fn a_guest_becomes_a_member_and_a_guest_again() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    iago.create_channel("Verona").await;
    let inside = iago.create_channel("Padua").with(&polonius).await;
    iago.send(&inside, "t", "x").await;
    iago.create_channel("secret").private().await;
    let default: Params<'_> =
        &[("name", &"welcome"), ("subscribers", &json!([iago.id])), ("is_default_stream", &true)];
    iago.post("/channels/create", default).ok().await;
    let seen = verify(&t, &ALL, async { change(&iago, &polonius, &[("role", &400)]).await }).await;
    let created: Vec<&Value> = seen["polonius"]
        .iter()
        .filter(|event| event["type"] == "stream" && event["op"] == "create")
        .collect();
    assert_eq!(created.len(), 1, "{created:?}");
    let mut names: Vec<&str> =
        created[0]["streams"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Verona", "welcome"]);
    assert!(kinds(&seen, "polonius").contains(&"default_streams".to_owned()));
    let seen = verify(&t, &ALL, async { change(&iago, &polonius, &[("role", &600)]).await }).await;
    assert!(kinds(&seen, "polonius").contains(&"stream delete".to_owned()));
}

#[tokio::test]
async fn a_member_becomes_administrator_and_a_member_again() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    othello.create_channel("secret").private().await;
    let seen = verify(&t, &ALL, async { change(&desdemona, &hamlet, &[("role", &200)]).await }).await;
    assert!(kinds(&seen, "hamlet").contains(&"stream create".to_owned()));
    let seen = verify(&t, &ALL, async { change(&desdemona, &hamlet, &[("role", &400)]).await }).await;
    assert!(kinds(&seen, "hamlet").contains(&"stream delete".to_owned()));
}

#[tokio::test]
async fn an_account_goes_out_of_use_and_comes_back() {
    let t = TestServer::start().await;
    let [desdemona, iago, cordelia, hamlet] = t.users(["desdemona", "iago", "cordelia", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&cordelia).with(&hamlet).await;
    let group = create_with(&iago, "friends", &[&cordelia, &hamlet], json!({})).await;
    let holders = json!({"new": {"direct_members": [cordelia.id, iago.id], "direct_subgroups": []}});
    desdemona.patch("/realm", &[("can_create_groups", &holders)]).ok().await;
    iago.patch(&format!("/user_groups/{group}"), &[("can_mention_group", &holders)]).ok().await;
    iago.patch(&format!("/streams/{}", channel.id), &[("can_send_message_group", &holders)]).ok().await;
    let path = format!("/users/{}", cordelia.id);
    let seen = verify(&t, &ALL, async {
        desdemona.delete(&path, &[]).ok().await;
    })
    .await;
    assert_eq!(said_of(&seen, "polonius", &cordelia), [json!({"is_active": false})]);
    let told = kinds(&seen, "hamlet");
    for kind in [
        "realm_user update",
        "user_group remove_members",
        "subscription peer_remove",
        "realm update_dict",
        "user_group update",
        "stream update",
    ] {
        assert!(told.contains(&kind.to_owned()), "no {kind}: {told:?}");
    }
    let realm = seen["polonius"].iter().find(|event| event["type"] == "realm").unwrap();
    let left = json!({"direct_members": [iago.id], "direct_subgroups": []});
    assert_eq!(realm["data"], json!({"can_create_groups": left}));
    let seen = verify(&t, &ALL, async {
        desdemona.post(&format!("{path}/reactivate"), &[]).ok().await;
    })
    .await;
    assert_eq!(said_of(&seen, "polonius", &cordelia), [json!({"is_active": true})]);
    let told = kinds(&seen, "hamlet");
    for kind in ["user_group add_members", "subscription peer_add", "realm update_dict", "stream update"] {
        assert!(told.contains(&kind.to_owned()), "no {kind}: {told:?}");
    }
}

#[tokio::test]
async fn bots_go_with_their_owner() {
    let t = TestServer::start().await;
    let [iago, aaron, bot] = t.users(["iago", "AARON", "default-bot"]);
    let seen = verify(&t, &ALL, async {
        iago.delete(&format!("/users/{}", aaron.id), &[]).ok().await;
    })
    .await;
    for person in [&aaron, &bot] {
        assert_eq!(said_of(&seen, "othello", person), [json!({"is_active": false})]);
    }
}

/// Guests see nobody but whom they meet.
async fn restrict(t: &TestServer) {
    let desdemona = t.user("desdemona");
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
}

#[tokio::test]
async fn restricted_guests_meet_people_and_lose_sight_of_them() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello, polonius] = t.users(["iago", "hamlet", "othello", "polonius"]);
    let channel = iago.create_channel("Verona").await;
    verify(&t, &ALL, restrict(&t)).await;
    let seen = verify(&t, &ALL, async { iago.subscribe_others(&channel, &[&polonius]).await }).await;
    let met: Vec<&Value> = seen["polonius"].iter().filter(|event| event["type"] == "realm_user").collect();
    assert_eq!((met.len(), &met[0]["op"]), (1, &json!("add")), "{met:?}");
    assert_eq!(met[0]["person"]["full_name"], "Iago");
    let seen = verify(&t, &ALL, async { hamlet.subscribe(&channel).await }).await;
    assert!(kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
    assert!(!kinds(&seen, "othello").contains(&"realm_user add".to_owned()));
    // Others' names are not for those who do not know them.
    let seen = verify(&t, &ALL, async { change(&iago, &othello, &[("full_name", &"The Moor")]).await }).await;
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    let seen = verify(&t, &ALL, async { hamlet.unsubscribe(&channel).await }).await;
    assert_eq!(said_of(&seen, "polonius", &hamlet), [json!({"full_name": "Unknown user"})]);
    // A conversation is a meeting, too.
    let seen = verify(&t, &ALL, async { _ = polonius.send_direct(&[&iago], "x").await }).await;
    assert!(!kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
    let seen = verify(&t, &ALL, async { _ = othello.send_direct(&[&polonius], "x").await }).await;
    assert!(kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
}

/// Registering names nobody's status who is out of use or out of sight.
#[tokio::test]
async fn a_status_comes_back_with_whoever_has_it() {
    let t = TestServer::start().await;
    let [iago, othello, polonius] = t.users(["iago", "othello", "polonius"]);
    let emoji: Params<'_> = &[("status_text", &"at sea"), ("emoji_name", &"boat")];
    othello.post("/users/me/status", emoji).ok().await;
    iago.delete(&format!("/users/{}", othello.id), &[]).ok().await;
    verify(&t, &["iago", "hamlet", "polonius"], async {
        iago.post(&format!("/users/{}/reactivate", othello.id), &[]).ok().await;
    })
    .await;
    restrict(&t).await;
    let othello = t.user("othello");
    verify(&t, &["iago", "polonius"], async { _ = othello.send_direct(&[&polonius], "x").await }).await;
}

/// Old clients need a record of everybody.
#[tokio::test]
async fn restricted_guests_are_told_at_most_that_somebody_came() {
    // Only there is somebody who may let others in.
    let t = TestServer::plan().development().start().await;
    let [desdemona, polonius] = t.users(["desdemona", "polonius"]);
    restrict(&t).await;
    let mut old = polonius.register().events(&["realm_user"]).await;
    let seen = verify(&t, &ALL, async {
        let params: Params<'_> =
            &[("email", &"new@zulip.com"), ("full_name", &"Newcomer"), ("password", &"aHt6!kkqqzz99")];
        desdemona.post("/users", params).ok().await;
    })
    .await;
    assert!(!kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
    let event = old.next().await;
    assert_eq!((&event["op"], &event["person"]["full_name"]), (&json!("add"), &json!("Unknown user")));
    assert!(!event.to_string().contains("new@zulip.com"), "{event}");
}

#[tokio::test]
async fn restricted_guests_are_not_told_who_left() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello, polonius] =
        t.users(["desdemona", "iago", "hamlet", "othello", "polonius"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&polonius).await;
    restrict(&t).await;
    let gone = async |person: &Person| {
        desdemona.delete(&format!("/users/{}", person.id), &[]).ok().await;
    };
    let seen = verify(&t, &["iago", "polonius"], gone(&othello)).await;
    assert_eq!(said_of(&seen, "polonius", &othello), [] as [Value; 0]);
    // Only in the channel did the two meet.
    let seen = verify(&t, &["iago", "polonius"], gone(&hamlet)).await;
    assert_eq!(said_of(&seen, "polonius", &hamlet), [json!({"full_name": "Unknown user"})]);
    assert_eq!(said_of(&seen, "iago", &hamlet), [json!({"is_active": false})]);
    iago.send(&channel, "t", "x").await;
    // Whoever is no guest any more sees everybody.
    let seen = verify(&t, &ALL[..1], async { change(&iago, &polonius, &[("role", &400)]).await }).await;
    assert_eq!(said_of(&seen, "iago", &polonius), [json!({"role": 400})]);
}

#[tokio::test]
async fn a_restricted_guest_becomes_a_member() {
    let t = TestServer::start().await;
    let [iago, polonius] = t.users(["iago", "polonius"]);
    restrict(&t).await;
    let seen = verify(&t, &["polonius", "othello"], async {
        change(&iago, &polonius, &[("role", &400)]).await;
    })
    .await;
    let added = kinds(&seen, "polonius").iter().filter(|kind| *kind == "realm_user add").count();
    assert!(added > 8, "{added}");
    assert!(!kinds(&seen, "othello").contains(&"realm_user add".to_owned()));
}

#[tokio::test]
async fn addresses_that_only_administrators_see() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    othello.patch("/settings", &[("email_address_visibility", &3)]).ok().await;
    let mut queue = hamlet.register().modern().events(&["realm_user"]).await;
    let mut told = async |role: u32| {
        change(&desdemona, &hamlet, &[("role", &role)]).await;
        let mut events = queue.now().await;
        events.retain(|event| {
            event["person"]["user_id"] == json!(othello.id) && event["person"].get("delivery_email").is_some()
        });
        events.iter().map(|event| event["person"]["delivery_email"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(told(200).await, [json!("othello@zulip.com")]);
    assert_eq!(told(100).await, [] as [Value; 0]);
    assert_eq!(told(400).await, [json!(null)]);
}

/// Clients work out the picture of an address that they see; the others are told.
#[tokio::test]
async fn a_picture_that_stands_for_an_address_follows_it() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    let observers = ["desdemona", "shiva", "hamlet", "polonius", "othello"];
    for visibility in [3, 4, 2, 5] {
        let hide = async || {
            othello.patch("/settings", &[("email_address_visibility", &visibility)]).ok().await;
        };
        verify(&t, &observers, hide()).await;
    }
    for role in [200, 400] {
        verify(&t, &observers, change(&desdemona, &hamlet, &[("role", &role)])).await;
    }
}
