//! Queues that are rebuilt after a restart: the events then lead clients to the state that they would have without it.

use super::apply::State;
use super::verify::{Seen, compare, modern, plain};
use crate::api::bots::make;
use crate::support::{Channel, Param, Params, TestServer, TestUser};
use reqwest::Method;
use serde_json::{Value, json};

const ALL: [&str; 5] = ["iago", "hamlet", "othello", "cordelia", "polonius"];
const QUIET: Params<'static> =
    &[("send_notification_to_old_thread", &false), ("send_notification_to_new_thread", &false)];

async fn edit(who: &TestUser, id: u64, params: Params<'_>) {
    let all: Vec<Param<'_>> = params.iter().chain(QUIET).copied().collect();
    who.call(Method::PATCH, &format!("/messages/{id}"), &all).ok().await;
}

async fn change(who: &TestUser, channel: &Channel, params: Params<'_>) {
    who.call(Method::PATCH, &format!("/streams/{}", channel.id), params).ok().await;
}

/// The state before any queue was registered.
struct World {
    verona: Channel,
    secret: Channel,
    messages: Vec<u64>,
    group: u64,
}

async fn world(t: &TestServer) -> World {
    let [iago, hamlet, othello, polonius] = t.users(["iago", "hamlet", "othello", "polonius"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&othello).with(&polonius).await;
    let secret = hamlet.create_channel("secret").private().with(&iago).await;
    let mut messages = Vec::new();
    for text in ["a", "b @**King Hamlet**", "c", "d", "e"] {
        messages.push(iago.send(&verona, "pens", text).await);
    }
    let params: Params<'_> =
        &[("name", &"players"), ("description", &""), ("members", &json!([iago.id, hamlet.id]))];
    let group = iago.post("/user_groups/create", params).ok().await["group_id"].as_u64().unwrap();
    World { verona, secret, messages, group }
}

/// Changes of every kind, some of which undo others.
async fn changes(t: &TestServer, world: &World) {
    let [iago, hamlet, othello, cordelia] = t.users(["iago", "hamlet", "othello", "cordelia"]);
    let World { verona, secret, messages, group } = world;
    edit(&iago, messages[0], &[("content", &"A @**King Hamlet**")]).await;
    edit(&iago, messages[2], &[("topic", &"ink"), ("propagate_mode", &"change_one")]).await;
    edit(&iago, messages[1], &[("stream_id", &secret.id), ("propagate_mode", &"change_one")]).await;
    iago.delete(&format!("/messages/{}", messages[3]), &[]).ok().await;
    hamlet.post(&format!("/messages/{}/reactions", messages[0]), &[("emoji_name", &"tada")]).ok().await;
    change(&iago, verona, &[("description", &"new")]).await;
    change(&iago, verona, &[("new_name", &"Mantua")]).await;
    change(&iago, verona, &[("is_private", &true)]).await;
    change(&iago, verona, &[("is_private", &false)]).await;
    change(&hamlet, secret, &[("can_subscribe_group", &json!({"new": group}))]).await;
    let members = format!("/user_groups/{group}/members");
    iago.post(&members, &[("add", &json!([othello.id, cordelia.id]))]).ok().await;
    iago.post(&members, &[("delete", &json!([othello.id]))]).ok().await;
    let name: Params<'_> = &[("name", &"actors")];
    iago.call(Method::PATCH, &format!("/user_groups/{group}"), name).ok().await;
    let folder: Params<'_> = &[("name", &"Cities"), ("description", &"")];
    let folder = iago.post("/channel_folders/create", folder).ok().await;
    change(&iago, verona, &[("folder_id", &folder["channel_folder_id"])]).await;
    let data = json!([{"stream_id": verona.id, "property": "is_muted", "value": true}]);
    hamlet.post("/users/me/subscriptions/properties", &[("subscription_data", &data)]).ok().await;
    cordelia.post("/users/me/alert_words", &[("alert_words", &json!(["skull"]))]).ok().await;
    let mantua = Channel { name: "Mantua".to_owned(), ..verona.clone() };
    othello.unsubscribe(&mantua).await;
    cordelia.subscribe(&mantua).await;
    let made = iago.create_channel("Rome").with(&hamlet).await;
    iago.send(&made, "t", "all roads lead there").await;
    hamlet
        .call(Method::PATCH, "/settings", &[("full_name", &"Hamlet"), ("twenty_four_hour_time", &true)])
        .ok()
        .await;
    iago.call(Method::PATCH, "/realm", &[("digest_weekday", &3)]).ok().await;
}

/// Runs `act` while all observers have two queues, restarts the server, and returns the events that each observer's modern
/// queue then has. For each queue, its state with all events applied must equal the state of a new registration.
async fn verify_after_restart(t: TestServer, observers: &[&str], act: impl AsyncFnOnce(&TestServer)) -> Seen {
    let mut queues = Vec::new();
    for name in observers {
        let person = t.user(name);
        queues.push((*name, true, modern(&person).await));
        queues.push((*name, false, plain(&person).await));
    }
    act(&t).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let mut seen = Seen::new();
    for (name, is_modern, mut queue) in queues {
        queue.person = t.user(name);
        let now = if is_modern { modern(&queue.person).await } else { plain(&queue.person).await };
        let events = queue.now().await;
        let mut state = State::new(queue.state.clone(), queue.person.id);
        for event in &events {
            state.apply(event);
        }
        // The server has another address now.
        state.unknowable.extend(["realm_url", "realm_uri", "server_emoji_data_url", "server_generation"]);
        compare(name, is_modern, state, State::new(now.state, queue.person.id), &events);
        if is_modern {
            seen.insert(name.to_owned(), events);
        }
    }
    seen
}

#[tokio::test]
async fn events_from_before_restart_are_delivered() {
    let t = TestServer::start().await;
    let world = world(&t).await;
    verify_after_restart(t, &ALL, async |t| changes(t, &world).await).await;
}

#[tokio::test]
async fn restart_does_not_reveal_lost_access() {
    let t = TestServer::start().await;
    let World { verona, secret, .. } = world(&t).await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let mut queue = othello.register().modern().await;
    iago.send(&verona, "pens", "for all subscribers").await;
    // None of this was fetched before access to it was lost.
    let gone = iago.send(&verona, "pens", "taken back").await;
    let moved = iago.send(&verona, "pens", "taken away").await;
    edit(&iago, moved, &[("content", &"taken away and changed")]).await;
    edit(&iago, moved, &[("stream_id", &secret.id), ("propagate_mode", &"change_one")]).await;
    iago.delete(&format!("/messages/{gone}"), &[]).ok().await;
    hamlet.subscribe_others(&secret, &[&othello]).await;
    hamlet.send(&secret, "plot", "for insiders").await;
    othello.unsubscribe(&secret).await;
    hamlet.call(Method::PATCH, &format!("/streams/{}", secret.id), &[("new_name", &"newname")]).ok().await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    queue.person = t.user("othello");
    let events = queue.now().await;
    let received: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert!(received.iter().any(|event| event.contains("for all subscribers")), "{received:#?}");
    for hidden in ["taken", "insiders"] {
        assert!(!received.iter().any(|event| event.contains(hidden)), "{hidden}: {received:#?}");
    }
    assert!(
        !events.iter().any(|event| event["type"] == "stream" && event["op"] == "create"),
        "{received:#?}"
    );
}

#[tokio::test]
async fn move_event_after_restart_does_not_name_a_channel_that_is_not_seen() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let team = hamlet.create_channel("team").protected_history().with(&othello).await;
    let secret = hamlet.create_channel("layoffs").private().await;
    let id = hamlet.send(&secret, "pens", "a").await;
    hamlet.send(&team, "ink", "newer").await;
    let seen = verify_after_restart(t, &["hamlet", "othello"], async |_| {
        edit(&hamlet, id, &[("topic", &"ink")]).await;
        edit(&hamlet, id, &[("stream_id", &team.id)]).await;
    })
    .await;
    let updates = |person: &str| -> Vec<&Value> {
        seen[person].iter().filter(|event| event["type"] == "update_message").collect()
    };
    assert!(updates("hamlet").iter().all(|event| event["stream_name"] == "layoffs"), "{seen:?}");
    assert_eq!(updates("othello").last().expect("the move")["new_stream_id"], json!(team.id));
    assert!(updates("othello").iter().all(|event| event.get("stream_name").is_none()), "{seen:?}");
}

#[tokio::test]
async fn move_events_after_restart_when_mover_is_deactivated() {
    let t = TestServer::start().await;
    let World { verona, .. } = world(&t).await;
    let [iago, othello] = t.users(["iago", "othello"]);
    let kept = iago.send(&verona, "plans", "one").await;
    let target = iago.send(&verona, "plans", "two").await;
    let mut queue = othello.register().modern().events(&["update_message", "delete_message"]).await;
    let all = ("propagate_mode", &"change_all" as &(dyn std::fmt::Display + Sync));
    edit(&iago, target, &[("topic", &"deeds"), ("content", &"taken back"), all]).await;
    iago.delete(&format!("/messages/{target}"), &[]).ok().await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    queue.person = t.user("othello");
    let events = queue.now().await;
    let [update, delete] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((&update["message_ids"], &update["subject"]), (&json!([kept, target]), &json!("deeds")));
    assert_eq!(update.get("content"), None, "what is gone stays gone");
    assert_eq!(delete["message_ids"], json!([target]));
}

/// Administrators see the keys of all bots; a former administrator gets none of them later.
#[tokio::test]
async fn bot_events_after_restart_follow_role() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, othello] = t.users(["desdemona", "iago", "hamlet", "othello"]);
    let (early, _) = make(&iago, "early", &[]).await;
    let mut queues = Vec::new();
    for (name, person) in [("hamlet", &hamlet), ("othello", &othello)] {
        queues.push((name, true, modern(person).await));
        queues.push((name, false, plain(person).await));
    }
    let change = async |person: &TestUser, role: u32| {
        desdemona.patch(&format!("/users/{}", person.id), &[("role", &role)]).ok().await;
    };
    change(&hamlet, 200).await;
    change(&othello, 200).await;
    let (late, _) = make(&iago, "late", &[]).await;
    change(&othello, 400).await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    for (name, is_modern, mut queue) in queues {
        queue.person = t.user(name);
        let now = if is_modern { modern(&queue.person).await } else { plain(&queue.person).await };
        let events = queue.now().await;
        let received: Vec<&Value> = events.iter().filter(|event| event["type"] == "realm_bot").collect();
        if name == "othello" {
            // The role change itself proves that the queue has events.
            assert!(events.iter().any(|event| event["type"] == "realm_user"), "{events:?}");
            assert!(received.iter().all(|event| event["op"] == "delete"), "{received:?}");
            for bot in [&early, &late] {
                assert!(!events.iter().any(|event| event.to_string().contains(&bot.key)), "{events:?}");
            }
            continue;
        }
        let mut state = State::new(queue.state.clone(), queue.person.id);
        state.is_modern = is_modern;
        events.iter().for_each(|event| state.apply(event));
        // The server has another address now.
        state.unknowable.extend(["realm_url", "realm_uri", "server_emoji_data_url", "server_generation"]);
        compare(name, is_modern, state, State::new(now.state, queue.person.id), &events);
        for bot in [&early, &late] {
            let added =
                received.iter().filter(|event| event["bot"]["user_id"] == bot.id && event["op"] == "add");
            assert_eq!(added.count(), 1, "{received:?}");
        }
    }
}

/// A former administrator gets no address that only administrators see, however late the events are fetched.
#[tokio::test]
async fn addresses_after_restart_follow_role() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    let show_to = async |who: u8| {
        hamlet.patch("/settings", &[("email_address_visibility", &who)]).ok().await;
    };
    let change = async |role: u32| {
        desdemona.patch(&format!("/users/{}", othello.id), &[("role", &role)]).ok().await;
    };
    let (nobody, administrators) = (4, 3);
    show_to(nobody).await;
    change(200).await;
    let mut queue = modern(&othello).await;
    show_to(administrators).await;
    change(400).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    queue.person = t.user("othello");
    let events = queue.now().await;
    assert!(events.iter().any(|event| event["person"]["role"] == 400), "{events:?}");
    assert!(!events.iter().any(|event| event.to_string().contains(&hamlet.email)), "{events:?}");
}

/// A restricted guest gets nothing about people whom the guest cannot see any more.
#[tokio::test]
async fn people_after_restart_are_those_that_a_guest_sees() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet, polonius] = t.users(["desdemona", "iago", "hamlet", "polonius"]);
    let othello = t.user("othello");
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    let verona = iago.create_channel("Verona").with(&polonius).with(&hamlet).await;
    let mut queue = polonius.register().modern().events(&["realm_user", "user_status"]).await;
    let status = async |who: &TestUser, text: &str| {
        who.post("/users/me/status", &[("status_text", &text)]).ok().await;
    };
    status(&hamlet, "gone tomorrow").await;
    status(&iago, "still here").await;
    hamlet.patch("/settings", &[("full_name", &"The Prince")]).ok().await;
    hamlet.unsubscribe(&verona).await;
    // Someone who came and went.
    othello.subscribe(&verona).await;
    othello.unsubscribe(&verona).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    queue.person = t.user("polonius");
    let events = queue.now().await;
    let received: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert!(received.iter().any(|event| event.contains("still here")), "{received:#?}");
    let people = events.iter().filter(|event| event["type"] == "realm_user" && event["op"] != "update");
    let people: Vec<_> = people.map(|event| (&event["op"], &event["person"]["user_id"])).collect();
    assert_eq!(people, [(&json!("remove"), &json!(hamlet.id))], "{received:#?}");
    for hidden in ["gone tomorrow", "The Prince"] {
        assert!(!received.iter().any(|event| event.contains(hidden)), "{hidden}: {received:#?}");
    }
}

/// An event about several channels keeps those that its recipient still sees.
#[tokio::test]
async fn channels_after_restart_are_those_that_are_still_seen() {
    let t = TestServer::start().await;
    let [desdemona, iago, polonius] = t.users(["desdemona", "iago", "polonius"]);
    let mut channels = Vec::new();
    for name in ["one", "two", "three"] {
        channels.push(iago.create_channel(name).await);
    }
    let seen = verify_after_restart(t, &["polonius"], async |_| {
        // All public channels become visible in one event.
        desdemona.patch(&format!("/users/{}", polonius.id), &[("role", &400)]).ok().await;
        change(&iago, &channels[0], &[("is_private", &true)]).await;
    })
    .await;
    let created: Vec<&Value> = seen["polonius"].iter().filter(|event| event["op"] == "create").collect();
    let created = json!(created).to_string();
    assert!(
        created.contains("\"two\"") && created.contains("\"three\"") && !created.contains("\"one\""),
        "{created}"
    );
}

#[tokio::test]
async fn default_channels_after_restart_are_those_of_now() {
    let t = TestServer::start().await;
    let [desdemona, iago, polonius] = t.users(["desdemona", "iago", "polonius"]);
    let [kept, removed] = [iago.create_channel("kept").await, iago.create_channel("removed").await];
    for channel in [&kept, &removed] {
        iago.post("/default_streams", &[("stream_id", &channel.id)]).ok().await;
    }
    verify_after_restart(t, &["polonius", "hamlet"], async |_| {
        // Its frame has the organization's record of before, with the list of that time.
        desdemona.patch("/realm", &[("description", &"new")]).ok().await;
        iago.delete("/default_streams", &[("stream_id", &removed.id)]).ok().await;
        desdemona.patch(&format!("/users/{}", polonius.id), &[("role", &400)]).ok().await;
    })
    .await;
}

/// A restricted guest gets to know the other side of a conversation that began while the guest was away.
#[tokio::test]
async fn people_of_new_conversations_after_restart() {
    let t = TestServer::start().await;
    let [desdemona, othello, polonius] = t.users(["desdemona", "othello", "polonius"]);
    let members = t.realm().directory().group_by_name("role:members").expect("a group").id.0;
    desdemona.patch("/realm", &[("can_access_all_users_group", &json!({"new": members}))]).ok().await;
    let seen = verify_after_restart(t, &["polonius"], async |_| {
        othello.send_direct(&[&polonius], "good day").await;
    })
    .await;
    let kinds: Vec<&Value> = seen["polonius"].iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["message", "realm_user"]);
}

/// Messages leave the place where a client has them, whatever happened after they were moved.
#[tokio::test]
async fn moved_messages_after_restart_leave_their_place() {
    let t = TestServer::start().await;
    let [desdemona, iago, othello] = t.users(["desdemona", "iago", "othello"]);
    let verona = iago.create_channel("Verona").with(&othello).await;
    let [open, opened] = [iago.create_channel("open").await, iago.create_channel("opened").await];
    let closed = iago.create_channel("closed").private().await;
    let mut ids = Vec::new();
    for topic in ["deleted", "moved back", "hidden", "seen", "hidden from guests"] {
        ids.push(iago.send(&verona, topic, "text").await);
    }
    let seen = verify_after_restart(t, &["othello", "hamlet"], async |_| {
        let to = async |id: u64, channel: &Channel| edit(&iago, id, &[("stream_id", &channel.id)]).await;
        to(ids[0], &closed).await;
        iago.delete(&format!("/messages/{}", ids[0]), &[]).ok().await;
        to(ids[1], &closed).await;
        to(ids[1], &verona).await;
        to(ids[2], &opened).await;
        change(&iago, &opened, &[("is_private", &true)]).await;
        to(ids[3], &open).await;
        to(ids[4], &open).await;
        desdemona.patch(&format!("/users/{}", othello.id), &[("role", &600)]).ok().await;
    })
    .await;
    let deleted: Vec<&Value> =
        seen["othello"].iter().filter(|event| event["type"] == "delete_message").collect();
    for id in [ids[0], ids[2], ids[4]] {
        assert!(deleted.iter().any(|event| event["message_ids"] == json!([id])), "{id}: {deleted:?}");
    }
}
