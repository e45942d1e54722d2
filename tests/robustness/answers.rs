//! Large responses: bounded memory per account, closed when the client does not read, and equal for equal readers.

use crate::api::bots::make;
use crate::support::raw_connection::RawConnection;
use crate::support::{Channel, TestServer, TestUser, wait_until};
use actors::budget::{Holder, Purpose};
use futures_util::future::join_all;
use model::UserId;
use serde_json::json;

/// The number of messages, whose HTML is about 6 MB: more than the system's socket buffers take.
const MESSAGES: usize = 200;

async fn send_many(t: &TestServer) -> [TestUser; 2] {
    let people = t.users(["iago", "hamlet"]);
    let [iago, hamlet] = &people;
    let channel = iago.create_channel("long").with(hamlet).await;
    fill(iago, &channel).await;
    people
}

/// Sends the messages.
async fn fill(iago: &TestUser, channel: &Channel) {
    let content = "**a** ".repeat(1600);
    for _ in 0..MESSAGES / 10 {
        join_all((0..10).map(|_| iago.send(channel, "t", &content))).await;
    }
}

/// Requests all messages and reads no byte of the response.
async fn ask_only(t: &TestServer, person: &TestUser) -> RawConnection {
    let mut wire = RawConnection::connect_narrow(&t.url).await;
    let path = "/api/v1/messages?anchor=newest&num_before=5000&num_after=0";
    let authorization = person.authorization();
    wire.write(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {authorization}\r\n\r\n"))
        .await;
    wire
}

/// Waits until the bytes reserved in the memory budget meet a condition.
async fn until_held(t: &TestServer, is_enough: impl Fn(u64) -> bool) {
    wait_until("the reserved memory changes", || is_enough(t.server().budget().used_bytes())).await;
}

#[tokio::test]
async fn unread_response_is_closed_after_timeout() {
    let t = TestServer::builder().set("http.write_secs_max", 1).start().await;
    let [_, hamlet] = send_many(&t).await;
    let mut wire = ask_only(&t, &hamlet).await;
    until_held(&t, |held| held > 0).await;
    // Only a part of the response is in memory.
    assert!(t.server().budget().used_bytes() < 1 << 20);
    until_held(&t, |held| held == 0).await;
    assert!(!wire.read_to_end().await.contains("found_newest"), "the answer was cut off");
    let metrics = t.anonymous().get("/metrics", &[]).await.body;
    let metrics = metrics.as_str().unwrap();
    assert!(metrics.contains("millstream_http_connections_unread_total"), "{metrics}");
}

#[tokio::test]
async fn response_bytes_per_user_are_bounded() {
    let share = 1_000_000;
    let plan = TestServer::builder().set("memory.share_bytes_max", share).set("memory.wait_secs_max", 0);
    let t = plan.start().await;
    let [iago, hamlet] = send_many(&t).await;
    let unread = join_all((0..6).map(|_| ask_only(&t, &hamlet))).await;
    until_held(&t, |held| held > share / 2).await;
    let holder = Holder::Account(t.realm().id(), UserId(hamlet.id));
    assert!(t.server().budget().share_bytes(holder) <= share);
    let all = |person: &TestUser| {
        person.get("/messages", &[("anchor", &"newest"), ("num_before", &5000), ("num_after", &0)])
    };
    let refused = all(&hamlet).await;
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("RATE_LIMIT_HIT")), "{refused:?}");
    assert_eq!(refused.header("Retry-After"), "1.0");
    // Small responses and other users are not affected.
    hamlet.get("/users/me", &[]).ok().await;
    assert!(all(&iago).ok().await["messages"].as_array().unwrap().len() >= MESSAGES);
    drop(unread);
    until_held(&t, |held| held == 0).await;
    assert!(all(&hamlet).ok().await["messages"].as_array().unwrap().len() >= MESSAGES);
}

/// A list is counted before it is made, by the number of its items.
#[tokio::test]
async fn memory_of_lists_is_reserved_before_they_are_made() {
    let plan = TestServer::builder().set("memory.share_bytes_max", 1_000_000);
    let t = plan.set("memory.wait_secs_max", 0).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let [long, short] = [iago.create_channel("long").await, iago.create_channel("short").await];
    iago.send(&short, "t", "a").await;
    for tens in 0..70 {
        join_all((0..10).map(|ones| {
            let (iago, long) = (&iago, &long);
            async move { iago.send(long, &format!("{tens}{ones}"), "a").await }
        }))
        .await;
    }
    let topics = |channel: &Channel| {
        let (hamlet, path) = (hamlet.clone(), format!("/users/me/{}/topics", channel.id));
        async move { hamlet.get(&path, &[]).await }
    };
    let holder = Holder::Account(t.realm().id(), UserId(hamlet.id));
    let held = t.server().budget().reserve(holder, Purpose::Answer, 999_000).unwrap();
    let refused = topics(&long).await;
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("RATE_LIMIT_HIT")), "{refused:?}");
    // With the notice that the channel was created.
    assert_eq!(topics(&short).await.ok()["topics"].as_array().unwrap().len(), 2);
    drop(held);
    assert_eq!(topics(&long).await.ok()["topics"].as_array().unwrap().len(), 701);
    until_held(&t, |held| held == 0).await;
}

/// Many bots do not give one person many shares.
#[tokio::test]
async fn response_bytes_of_bots_are_charged_to_their_owner() {
    let plan = TestServer::builder().set("memory.share_bytes_max", 1_000_000);
    let t = plan.set("memory.wait_secs_max", 0).start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("long").await;
    let bots = [make(&hamlet, "one", &[]).await.0, make(&hamlet, "two", &[]).await.0];
    iago.subscribe_others(&channel, &[&bots[0], &bots[1]]).await;
    fill(&iago, &channel).await;
    let unread = join_all(bots.iter().flat_map(|bot| (0..3).map(|_| ask_only(&t, bot)))).await;
    let of = |id: u32| t.server().budget().share_bytes(Holder::Account(t.realm().id(), UserId(id)));
    until_held(&t, |held| held > 500_000).await;
    assert_eq!((of(bots[0].id), of(bots[1].id)), (0, 0));
    let owned = of(hamlet.id);
    assert!(owned > 0 && owned <= 1_000_000, "{owned}");
    drop(unread);
    until_held(&t, |held| held == 0).await;
}

#[tokio::test]
async fn large_response_equals_small_responses() {
    let t = TestServer::start().await;
    let [_, hamlet] = send_many(&t).await;
    let window = |anchor: String, count: usize| {
        let hamlet = hamlet.clone();
        async move {
            let path =
                format!("/messages?anchor={anchor}&num_before={count}&num_after=0&include_anchor=false");
            hamlet.get(&path, &[("ignore_me", &1)]).ok().await
        }
    };
    let whole = window("newest".to_owned(), 1000).await;
    let mut paged = Vec::new();
    let mut anchor = "newest".to_owned();
    loop {
        let page = window(anchor, 90).await;
        let messages = page["messages"].as_array().unwrap().clone();
        anchor = messages[0]["id"].to_string();
        paged.splice(0..0, messages);
        if page["found_oldest"] == true {
            break;
        }
    }
    assert_eq!(whole["messages"], json!(paged));
    assert_eq!((&whole["found_newest"], &whole["found_oldest"]), (&json!(true), &json!(true)));
    assert_eq!(whole["ignored_parameters_unsupported"], json!(["ignore_me"]));
}

#[tokio::test]
async fn concurrent_registrations_are_bounded() {
    let t = TestServer::builder().set("http.registers_waiting_max", 1).start().await;
    let hamlet = t.user("hamlet");
    let place = t.app().registers.enter().unwrap();
    let refused = hamlet.post("/register", &[]).await;
    assert_eq!((refused.status, &refused.body["code"]), (503, &json!("SERVER_OVERLOADED")), "{refused:?}");
    assert_eq!(refused.header("Retry-After"), "1.0");
    drop(place);
    hamlet.post("/register", &[]).ok().await;
}

/// Users of the same kind share parts of a response, and each part equals the response about that user alone.
#[tokio::test]
async fn shared_response_parts_respect_visibility() {
    let t = TestServer::start().await;
    for (name, visibility) in [("hamlet", 2), ("othello", 3), ("cordelia", 4), ("shiva", 5)] {
        t.user(name).patch("/settings", &[("email_address_visibility", &visibility)]).ok().await;
    }
    let readers = ["desdemona", "iago", "shiva", "hamlet", "othello", "cordelia", "polonius", "default-bot"];
    for round in 0..2 {
        for name in readers {
            let reader = t.user(name);
            let params: crate::support::Params<'_> =
                &[("client_gravatar", &true), ("fetch_event_types", &r#"["realm_user"]"#)];
            let state = reader.post("/register", params).ok().await;
            let listed = state["realm_users"].as_array().unwrap();
            assert!(listed.len() > 10, "{listed:?}");
            for shown in listed {
                let path = format!("/users/{}", shown["user_id"]);
                let params: crate::support::Params<'_> =
                    &[("client_gravatar", &true), ("include_custom_profile_fields", &true)];
                let mut alone = reader.get(&path, params).ok().await["user"].clone();
                alone.as_object_mut().unwrap().remove("is_active");
                assert_eq!(*shown, alone, "round {round}: {name}");
            }
        }
        // The second round starts with another state.
        t.user("hamlet").patch("/settings", &[("email_address_visibility", &4)]).ok().await;
    }
}
