//! Polls and to-do lists: creation by command, and `POST /submessage`.

use super::one;
use crate::support::{Call, Params, TestServer, TestUser};
use serde_json::{Value, json};

fn add(person: &TestUser, id: u64, content: &Value) -> Call {
    person.post(
        "/submessage",
        &[("message_id", &id), ("msg_type", &"widget"), ("content", &content.to_string())],
    )
}

fn content(submessage: &Value) -> Value {
    serde_json::from_str(submessage["content"].as_str().expect("a text")).expect("JSON")
}

#[tokio::test]
async fn widget_command_and_submessage_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let mut queue = hamlet.register().modern().events(&["message", "submessage"]).await;
    let id = iago.send(&verona, "t", "/poll Lunch?\n- pizza\n* salad").await;
    let event = queue.next().await;
    let parts = event["message"]["submessages"].clone();
    assert_eq!(parts, one(&hamlet, id).await["submessages"]);
    let expected =
        json!({"widget_type": "poll", "extra_data": {"question": "Lunch?", "options": ["pizza", "salad"]}});
    assert_eq!(content(&parts[0]), expected);
    assert_eq!((&parts[0]["msg_type"], &parts[0]["sender_id"]), (&json!("widget"), &json!(iago.id)));
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1});
    add(&hamlet, id, &vote).ok().await;
    let event = queue.next().await;
    assert_eq!((&event["type"], &event["message_id"]), (&json!("submessage"), &json!(id)));
    let parts = one(&iago, id).await["submessages"].clone();
    assert_eq!(content(&parts[1]), vote);
    assert!(parts[1]["id"].as_u64() > parts[0]["id"].as_u64());
    let todo = iago.send_direct(&[&hamlet], "/todo Today\nshop: milk").await;
    let parts = one(&hamlet, todo).await["submessages"].clone();
    assert_eq!(content(&parts[0])["extra_data"]["tasks"], json!([{"task": "shop", "desc": "milk"}]));
}

#[tokio::test]
async fn given_widget_is_a_submessage() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    iago.create_channel("Verona").with(&hamlet).await;
    let mut queue = hamlet.register().modern().events(&["message", "submessage"]).await;
    let choice = json!({"short_name": "A", "long_name": "Apple", "reply": "answer A"});
    let form = json!({"type": "choices", "heading": "Eat", "choices": [choice]});
    let widget = json!({"widget_type": "zform", "extra_data": form});
    let send = |to: &str, widget: &str| {
        let kind = if to == "Verona" { "stream" } else { "direct" };
        let (to, widget) = (to.to_owned(), widget.to_owned());
        iago.post(
            "/messages",
            &[
                ("type", &kind),
                ("to", &to),
                ("topic", &"t"),
                ("content", &"Pick"),
                ("widget_content", &widget),
            ],
        )
    };
    for to in ["Verona", &format!("[{}]", hamlet.id)] {
        let id = send(to, &widget.to_string()).ok().await["id"].as_u64().expect("an id");
        let event = queue.next().await;
        let parts = event["message"]["submessages"].clone();
        assert_eq!(content(&parts[0]), widget);
        assert_eq!(parts, one(&hamlet, id).await["submessages"]);
        assert_eq!((&parts[0]["msg_type"], &parts[0]["sender_id"]), (&json!("widget"), &json!(iago.id)));
    }
    send("Verona", "no JSON").bad("Widgets: API programmer sent invalid JSON content").await;
    let poll = json!({"widget_type": "poll", "extra_data": {}}).to_string();
    send("Verona", &poll).bad("Widgets: unknown widget type: poll").await;
    send("Verona", &"1".repeat(10_001)).bad("widget_content is too long (limit: 10000 characters)").await;
}

#[tokio::test]
async fn submessage_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let secret = iago.create_channel("secret").private().await;
    let poll = iago.send(&verona, "t", "/poll Lunch?").await;
    let plain = iago.send(&verona, "t", "x").await;
    let hidden = iago.send(&secret, "t", "/poll Lunch?").await;
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1});
    add(&hamlet, plain, &vote).bad("You cannot attach a submessage to this message.").await;
    add(&hamlet, hidden, &vote).bad("Invalid message(s)").await;
    let question = json!({"type": "question", "question": "Dinner?"});
    add(&hamlet, poll, &question).bad("You can't edit a question unless you are the author.").await;
    add(&iago, poll, &question).ok().await;
    add(&hamlet, poll, &json!({"type": "dance"})).bad("Unknown type for poll data: dance").await;
    let params: crate::support::Params<'_> =
        &[("message_id", &poll), ("msg_type", &"widget"), ("content", &"{")];
    hamlet.post("/submessage", params).bad("Invalid json for submessage").await;
}

/// Parts of widgets count in the size of a page: one that is too large to be held as a whole is sent in parts.
#[tokio::test]
async fn page_with_large_poll_is_sent_in_parts() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let page = async |reader: &TestUser| {
        let params: Params<'_> = &[("anchor", &"newest"), ("num_before", &10), ("num_after", &0)];
        let page = reader.get("/messages", params).await;
        let poll = page.body["messages"].as_array().and_then(|messages| messages.last()).expect("a message");
        let parts = poll["submessages"].as_array().map_or(0, Vec::len);
        (parts, page.header("Content-Length").is_empty())
    };
    let id = iago.send(&verona, "t", "/poll Lunch?").await;
    assert_eq!(page(&hamlet).await, (1, false));
    for index in 0..60 {
        add(&iago, id, &json!({"type": "new_option", "idx": index, "option": "x".repeat(9_900)})).ok().await;
    }
    assert_eq!(page(&hamlet).await, (61, true));
    // From the trees.
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(page(&t.user("hamlet")).await, (61, true));
}
