//! `GET /messages`: the searched messages: whole channels, or the user's own history
//! (docs/api/narrow.md#searched-messages).

use crate::support::{Channel, TestServer, TestUser};
use serde_json::{Value, json};

async fn found(who: &TestUser, narrow: Value, known: &[u64]) -> Vec<u64> {
    who.message_ids(narrow).await.into_iter().filter(|id| known.contains(id)).collect()
}

fn topic(channel: &Channel) -> Value {
    json!([["channel", channel.name], ["topic", "t"]])
}

#[tokio::test]
async fn narrow_searches_whole_public_channel_history() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let open = iago.create_channel("Verona").await;
    let before = iago.send(&open, "t", "before").await;
    iago.subscribe_others(&open, &[&hamlet, &polonius]).await;
    let during = iago.send(&open, "t", "during").await;
    let known = [before, during];
    assert_eq!(found(&hamlet, topic(&open), &known).await, [before, during]);
    assert_eq!(found(&hamlet, json!([["topic", "t"]]), &known).await, [during]);
    // Terms about the user's own flags search the user's own messages only.
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
    // A negated channel term does not select the history of a channel.
    let not_here = json!([{"operator": "channel", "operand": "Rome", "negated": true}]);
    iago.create_channel("Rome").await;
    assert_eq!(found(&hamlet, not_here, &known).await, [during]);
    assert_eq!(found(&hamlet, json!([["channels", "public"]]), &known).await, [before, during]);
    // A guest sees a public channel only if subscribed, but then its whole history.
    assert_eq!(found(&polonius, topic(&open), &known).await, [before, during]);
    assert_eq!(found(&polonius, json!([["channels", "public"]]), &known).await, [during]);
    // After unsubscribing, a user keeps the messages delivered before; a guest does not.
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
async fn narrow_searches_private_channels_for_subscribers() {
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
    // Flagging a message without a row adds it to the user's history.
    assert_eq!(found(&hamlet, json!([]), &known).await, [old[0], new[0], new[1]]);
    let desdemona = t.user("desdemona");
    for channel in [&club, &vault] {
        // Owners, who know the channel, get an empty result; others get an unknown channel.
        assert_eq!(found(&desdemona, topic(channel), &known).await, [] as [u64; 0]);
        let narrow = topic(channel);
        let window: crate::support::Params<'_> =
            &[("anchor", &"newest"), ("num_before", &5), ("num_after", &0), ("narrow", &narrow)];
        let answer = cordelia.get("/messages", window).await;
        let expected = format!("Invalid narrow operator: unknown channel {}", channel.name);
        assert_eq!((answer.status, answer.body["msg"].as_str()), (400, Some(expected.as_str())));
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
async fn narrow_with_content_access_by_group() {
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
async fn narrow_excludes_deleted_and_moved_messages() {
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
