//! Events for every change of another user's account: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use super::verify::Seen;
use crate::api::groups::create_with;
use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

async fn change(who: &TestUser, whom: &TestUser, params: Params<'_>) {
    who.patch(&format!("/users/{}", whom.id), params).ok().await;
}

/// The events about a user, without `user_id`.
fn events_about(seen: &Seen, name: &str, person: &TestUser) -> Vec<Value> {
    let about = seen[name].iter().filter(|event| event["type"] == "realm_user");
    let about = about.filter(|event| event["person"]["user_id"] == json!(person.id));
    let said = about.map(|event| {
        let mut said = event["person"].clone();
        said.as_object_mut().expect("a person").remove("user_id");
        said
    });
    said.collect()
}

fn without(event: &Value, keys: &[&str]) -> Value {
    let mut rest = event.clone();
    rest.as_object_mut().expect("an event").retain(|key, _| !keys.contains(&key.as_str()));
    rest
}

#[tokio::test]
async fn user_name_and_profile_events() {
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
        let mut said = events_about(&seen, name, &hamlet);
        if let Some(data) = said[1]["custom_profile_field"].as_object_mut() {
            data.remove("rendered_value");
        }
        assert_eq!(said, [json!({"full_name": "Hamlet"}), value], "{name}");
    }
}

#[tokio::test]
async fn role_member_to_moderator_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let seen = verify(&t, &ALL, async { change(&iago, &hamlet, &[("role", &300)]).await }).await;
    for name in ["othello", "polonius"] {
        let kinds = kinds(&seen, name);
        assert_eq!(kinds[0], "realm_user update", "{name}");
        assert_eq!(kinds[1..].iter().filter(|kind| kind.starts_with("user_group")).count(), 3, "{kinds:?}");
    }
    assert_eq!(events_about(&seen, "othello", &hamlet), [json!({"role": 300})]);
}

#[tokio::test]
async fn role_guest_to_member_and_back_events() {
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
async fn role_member_to_administrator_and_back_events() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    othello.create_channel("secret").private().await;
    let seen = verify(&t, &ALL, async { change(&desdemona, &hamlet, &[("role", &200)]).await }).await;
    assert!(kinds(&seen, "hamlet").contains(&"stream create".to_owned()));
    let seen = verify(&t, &ALL, async { change(&desdemona, &hamlet, &[("role", &400)]).await }).await;
    assert!(kinds(&seen, "hamlet").contains(&"stream delete".to_owned()));
}

#[tokio::test]
async fn deactivate_and_reactivate_events() {
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
    assert_eq!(events_about(&seen, "polonius", &cordelia), [json!({"is_active": false})]);
    let received = kinds(&seen, "hamlet");
    assert!(
        place(&received, "subscription peer_remove") < place(&received, "realm_user update"),
        "{received:?}"
    );
    // Clients that see the deactivation remove the user from groups themselves.
    assert!(!received.contains(&"user_group remove_members".to_owned()), "{received:?}");
    for kind in ["realm update_dict", "user_group update", "stream update"] {
        assert!(received.contains(&kind.to_owned()), "no {kind}: {received:?}");
    }
    let realm = seen["polonius"].iter().find(|event| event["type"] == "realm").unwrap();
    let left = json!({"direct_members": [iago.id], "direct_subgroups": []});
    assert_eq!(realm["data"], json!({"can_create_groups": left}));
    let seen = verify(&t, &ALL, async {
        desdemona.post(&format!("{path}/reactivate"), &[]).ok().await;
    })
    .await;
    assert_eq!(events_about(&seen, "polonius", &cordelia), [json!({"is_active": true})]);
    let received = kinds(&seen, "hamlet");
    assert!(
        place(&received, "subscription peer_add") < place(&received, "user_group add_members"),
        "{received:?}"
    );
    for kind in ["realm update_dict", "stream update"] {
        assert!(received.contains(&kind.to_owned()), "no {kind}: {received:?}");
    }
}

fn place(received: &[String], kind: &str) -> usize {
    received.iter().position(|one| one == kind).unwrap_or_else(|| panic!("no {kind}: {received:?}"))
}

#[tokio::test]
async fn deactivate_owner_bot_events() {
    let t = TestServer::start().await;
    let [iago, aaron, bot] = t.users(["iago", "AARON", "default-bot"]);
    let seen = verify(&t, &ALL, async {
        iago.delete(&format!("/users/{}", aaron.id), &[]).ok().await;
    })
    .await;
    for person in [&aaron, &bot] {
        assert_eq!(events_about(&seen, "othello", person), [json!({"is_active": false})]);
    }
}

/// Restricted guests see only users with whom they share a channel or a direct message.
async fn restrict(t: &TestServer) {
    let desdemona = t.user("desdemona");
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
}

#[tokio::test]
async fn restricted_guest_visibility_events() {
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
    // Names of unknown users are not sent.
    let seen = verify(&t, &ALL, async { change(&iago, &othello, &[("full_name", &"The Moor")]).await }).await;
    assert_eq!(kinds(&seen, "polonius"), [] as [&str; 0]);
    let seen = verify(&t, &ALL, async { hamlet.unsubscribe(&channel).await }).await;
    assert_eq!(events_about(&seen, "polonius", &hamlet), [json!({"full_name": "Unknown user"})]);
    // A direct message makes its participants visible, too.
    let seen = verify(&t, &ALL, async { _ = polonius.send_direct(&[&iago], "x").await }).await;
    assert!(!kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
    let seen = verify(&t, &ALL, async { _ = othello.send_direct(&[&polonius], "x").await }).await;
    assert!(kinds(&seen, "polonius").contains(&"realm_user add".to_owned()));
}

/// The initial state has no statuses of deactivated or invisible users.
#[tokio::test]
async fn status_after_deactivation_and_reactivation_events() {
    let t = TestServer::start().await;
    let [iago, othello, polonius] = t.users(["iago", "othello", "polonius"]);
    let emoji: Params<'_> = &[("status_text", &"at sea"), ("emoji_name", &"boat")];
    othello.post("/users/me/status", emoji).ok().await;
    othello.patch("/settings", &[("presence_enabled", &false)]).ok().await;
    let seen = verify(&t, &["iago", "hamlet", "polonius"], async {
        iago.delete(&format!("/users/{}", othello.id), &[]).ok().await;
    })
    .await;
    let expected = json!({"user_id": othello.id, "away": false, "status_text": "", "emoji_name": "",
        "emoji_code": "", "reaction_type": "unicode_emoji"});
    for (name, events) in &seen {
        let statuses = events.iter().filter(|event| event["type"] == "user_status");
        let statuses: Vec<Value> = statuses.map(|event| without(event, &["id", "type"])).collect();
        assert_eq!(statuses, std::slice::from_ref(&expected), "{name}");
    }
    verify(&t, &["iago", "hamlet", "polonius"], async {
        iago.post(&format!("/users/{}/reactivate", othello.id), &[]).ok().await;
    })
    .await;
    restrict(&t).await;
    let othello = t.user("othello");
    verify(&t, &["iago", "polonius"], async { _ = othello.send_direct(&[&polonius], "x").await }).await;
}

/// Legacy clients need an entry for every user.
#[tokio::test]
async fn restricted_guest_sees_placeholder_for_new_user() {
    // Only a development server has a user who may create users.
    let t = TestServer::builder().development().start().await;
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
async fn restricted_guest_gets_no_deactivation_events() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello, polonius] =
        t.users(["desdemona", "iago", "hamlet", "othello", "polonius"]);
    let channel = iago.create_channel("Verona").with(&hamlet).with(&polonius).await;
    restrict(&t).await;
    let gone = async |person: &TestUser| {
        desdemona.delete(&format!("/users/{}", person.id), &[]).ok().await;
    };
    let seen = verify(&t, &["iago", "polonius"], gone(&othello)).await;
    assert_eq!(events_about(&seen, "polonius", &othello), [] as [Value; 0]);
    // Groups with members they did not know before.
    assert!(kinds(&seen, "polonius").contains(&"user_group remove_members".to_owned()));
    assert!(!kinds(&seen, "iago").contains(&"user_group remove_members".to_owned()));
    // The channel was all that the two users shared.
    let seen = verify(&t, &["iago", "polonius"], gone(&hamlet)).await;
    assert_eq!(events_about(&seen, "polonius", &hamlet), [json!({"full_name": "Unknown user"})]);
    assert_eq!(events_about(&seen, "iago", &hamlet), [json!({"is_active": false})]);
    iago.send(&channel, "t", "x").await;
    // A user who is no longer a guest sees all users.
    let seen = verify(&t, &ALL[..1], async { change(&iago, &polonius, &[("role", &400)]).await }).await;
    assert_eq!(events_about(&seen, "iago", &polonius), [json!({"role": 400})]);
}

#[tokio::test]
async fn restricted_guest_to_member_events() {
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
async fn email_visible_to_administrators_events() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    othello.patch("/settings", &[("email_address_visibility", &3)]).ok().await;
    let mut queue = hamlet.register().modern().events(&["realm_user"]).await;
    let mut received = async |role: u32| {
        change(&desdemona, &hamlet, &[("role", &role)]).await;
        let mut events = queue.now().await;
        events.retain(|event| {
            event["person"]["user_id"] == json!(othello.id) && event["person"].get("delivery_email").is_some()
        });
        events.iter().map(|event| event["person"]["delivery_email"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(received(200).await, [json!("othello@zulip.com")]);
    assert_eq!(received(100).await, [] as [Value; 0]);
    assert_eq!(received(400).await, [json!(null)]);
}

/// Clients that see an address compute its avatar; other clients get an event.
#[tokio::test]
async fn gravatar_follows_email_events() {
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
