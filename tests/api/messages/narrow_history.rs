//! `GET /messages`: which messages are searched at all: whole channels, or what one was given and can still reach
//! (endpoints.md 3, searched set).

use crate::support::{Channel, Person, TestServer};
use serde_json::{Value, json};

async fn found(who: &Person, narrow: Value, known: &[u64]) -> Vec<u64> {
    who.message_ids(narrow).await.into_iter().filter(|id| known.contains(id)).collect()
}

fn topic(channel: &Channel) -> Value {
    json!([["channel", channel.name], ["topic", "t"]])
}

#[tokio::test]
async fn public_channels_are_searched_whole() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let open = iago.create_channel("Verona").await;
    let before = iago.send(&open, "t", "before").await;
    iago.subscribe_others(&open, &[&hamlet, &polonius]).await;
    let during = iago.send(&open, "t", "during").await;
    let known = [before, during];
    assert_eq!(found(&hamlet, topic(&open), &known).await, [before, during]);
    assert_eq!(found(&hamlet, json!([["topic", "t"]]), &known).await, [during]);
    // Anything about one's own flags is about what one was given.
    let unread = json!([["channel", "Verona"], ["is", "unread"]]);
    assert_eq!(found(&hamlet, unread, &known).await, [during]);
    let read = json!([["channel", "Verona"], {"operator": "is", "operand": "unread", "negated": true}]);
    assert_eq!(found(&hamlet, read, &known).await, [] as [u64; 0]);
    let not_starred =
        json!([["channel", "Verona"], {"operator": "is", "operand": "starred", "negated": true}]);
    assert_eq!(found(&hamlet, not_starred, &known).await, [during]);
    for operand in ["resolved", "followed"] {
        let not = json!([["channel", "Verona"], {"operator": "is", "operand": operand, "negated": true}]);
        assert_eq!(found(&hamlet, not, &known).await, [before, during], "{operand}");
    }
    // A negated channel is none that is searched.
    let not_here = json!([{"operator": "channel", "operand": "Rome", "negated": true}]);
    iago.create_channel("Rome").await;
    assert_eq!(found(&hamlet, not_here, &known).await, [during]);
    assert_eq!(found(&hamlet, json!([["channels", "public"]]), &known).await, [before, during]);
    // A guest sees a public channel from inside only, and all of it there.
    assert_eq!(found(&polonius, topic(&open), &known).await, [before, during]);
    assert_eq!(found(&polonius, json!([["channels", "public"]]), &known).await, [during]);
    // Having left, one keeps what one was given; a guest does not.
    for person in [&hamlet, &polonius] {
        person.unsubscribe(&open).await;
    }
    assert_eq!(found(&hamlet, topic(&open), &known).await, [before, during]);
    assert_eq!(found(&hamlet, json!([]), &known).await, [during]);
    for narrow in
        [topic(&open), json!([]), json!([["channels", "public"]]), json!([["id", during.to_string()]])]
    {
        assert_eq!(found(&polonius, narrow, &known).await, [] as [u64; 0]);
    }
}

#[tokio::test]
async fn private_channels_are_searched_by_those_inside() {
    let t = TestServer::start().await;
    let [iago, hamlet, cordelia] = t.users(["iago", "hamlet", "cordelia"]);
    let club = iago.create_channel("club").shared_history().await;
    let vault = iago.create_channel("vault").protected_history().await;
    let old = [iago.send(&club, "t", "x").await, iago.send(&vault, "t", "x").await];
    for channel in [&club, &vault] {
        iago.subscribe_others(channel, &[&hamlet]).await;
    }
    let new = [iago.send(&club, "t", "x").await, iago.send(&vault, "t", "x").await];
    let known = [old, new].concat();
    assert_eq!(found(&hamlet, topic(&club), &known).await, [old[0], new[0]]);
    assert_eq!(found(&hamlet, topic(&vault), &known).await, [new[1]]);
    assert_eq!(found(&hamlet, json!([]), &known).await, new);
    hamlet.flag("add", "starred", &[old[0], new[0], new[1]]).await;
    assert_eq!(found(&hamlet, json!([["is", "starred"]]), &known).await, [old[0], new[0], new[1]]);
    // What was flagged without having been given is in one's history from then on.
    assert_eq!(found(&hamlet, json!([]), &known).await, [old[0], new[0], new[1]]);
    let desdemona = t.user("desdemona");
    for person in [&cordelia, &desdemona] {
        // Nothing is there for those outside, owners of the organization or not; and it is no error.
        for channel in [&club, &vault] {
            assert_eq!(found(person, topic(channel), &known).await, [] as [u64; 0]);
        }
    }
    for channel in [&club, &vault] {
        hamlet.unsubscribe(channel).await;
    }
    for narrow in
        [json!([]), topic(&club), topic(&vault), json!([["is", "starred"]]), json!([["topic", "t"]])]
    {
        assert_eq!(found(&hamlet, narrow, &known).await, [] as [u64; 0]);
    }
    iago.subscribe_others(&club, &[&hamlet]).await;
    assert_eq!(found(&hamlet, json!([["is", "starred"]]), &known).await, [old[0], new[0]]);
}

#[tokio::test]
async fn those_who_may_subscribe_read_without() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let open_to_hamlet = json!({"direct_members": [hamlet.id], "direct_subgroups": []});
    let club = iago.create_channel("club").shared_history().set("can_subscribe_group", open_to_hamlet).await;
    let before = iago.send(&club, "t", "x").await;
    assert_eq!(found(&hamlet, topic(&club), &[before]).await, [before]);
    assert_eq!(found(&hamlet, json!([]), &[before]).await, [] as [u64; 0]);
    hamlet.subscribe(&club).await;
    let during = iago.send(&club, "t", "x").await;
    hamlet.unsubscribe(&club).await;
    assert_eq!(found(&hamlet, json!([]), &[before, during]).await, [during]);
}

#[tokio::test]
async fn deleted_and_moved_messages_are_in_no_set() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let secret = iago.create_channel("secret").private().await;
    let text = "@**King Hamlet** https://example.com";
    let (gone, moved) = (iago.send(&verona, "t", text).await, iago.send(&verona, "t", text).await);
    let stays = iago.send(&verona, "t", text).await;
    let known = [gone, moved, stays];
    hamlet.flag("add", "starred", &known).await;
    iago.delete(&format!("/messages/{gone}"), &[]).ok().await;
    iago.edit(moved, &[("stream_id", &secret.id), ("send_notification_to_new_thread", &false)]).ok().await;
    for narrow in [
        json!([]),
        json!([["is", "starred"]]),
        json!([["is", "mentioned"]]),
        json!([["is", "unread"]]),
        json!([["has", "link"]]),
        json!([{"operator": "sender", "operand": iago.id}]),
        topic(&verona),
        json!([["channels", "public"]]),
        json!([["topic", "t"]]),
    ] {
        assert_eq!(found(&hamlet, narrow.clone(), &known).await, [stays], "{narrow}");
    }
    let state = hamlet.register().modern().await.state;
    assert_eq!(state["starred_messages"], json!([stays]));
    let mentions = state["unread_msgs"]["mentions"].as_array().unwrap();
    assert_eq!(mentions, &[json!(stays)]);
    assert_eq!(found(&iago, json!([["channel", "secret"], ["topic", "t"]]), &known).await, [moved]);
}
