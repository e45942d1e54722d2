//! `POST` and `DELETE /messages/{id}/reactions`.

use super::one;
use crate::support::{Call, Param, Params, TestServer, TestUser};
use serde_json::json;

fn react(person: &TestUser, id: u64, params: Params<'_>) -> Call {
    person.post(&format!("/messages/{id}/reactions"), params)
}

fn remove(person: &TestUser, id: u64, params: Params<'_>) -> Call {
    person.delete(&format!("/messages/{id}/reactions"), params)
}

#[tokio::test]
async fn reaction_add_and_remove() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "t", "x").await;
    // Users who can read a message can react to it.
    react(&hamlet, id, &[("emoji_name", &"+1")]).ok().await;
    react(
        &iago,
        id,
        &[("emoji_name", &"thumbs_up"), ("emoji_code", &"1f44d"), ("reaction_type", &"unicode_emoji")],
    )
    .ok()
    .await;
    react(&iago, id, &[("emoji_name", &"zulip")]).ok().await;
    let reaction = |name: &str, code: &str, kind: &str, person: &TestUser| json!({"emoji_name": name, "emoji_code": code, "reaction_type": kind, "user_id": person.id});
    let thumb = |person| reaction("+1", "1f44d", "unicode_emoji", person);
    let own = reaction("zulip", "zulip", "zulip_extra_emoji", &iago);
    assert_eq!(one(&hamlet, id).await["reactions"], json!([thumb(&hamlet), thumb(&iago), own]));
    assert_eq!(hamlet.message_ids(json!([["channel", "Verona"], ["has", "reaction"]])).await, [id]);
    remove(&hamlet, id, &[("emoji_name", &"thumbs_up")]).ok().await;
    remove(&iago, id, &[("emoji_code", &"1f44d")]).ok().await;
    remove(&iago, id, &[("emoji_name", &"zulip"), ("reaction_type", &"zulip_extra_emoji")]).ok().await;
    assert_eq!(one(&hamlet, id).await["reactions"], json!([]));
    assert!(hamlet.message_ids(json!([["channel", "Verona"], ["has", "reaction"]])).await.is_empty());
}

#[tokio::test]
async fn reaction_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let secret = iago.create_channel("secret").private().await;
    let id = iago.send(&verona, "t", "x").await;
    let hidden = iago.send(&secret, "t", "x").await;
    let missing = json!({
        "msg": "Missing 'emoji_name' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "emoji_name",
    });
    react(&iago, id, &[]).refused(400, missing).await;
    for gone in [hidden, 99_999] {
        react(&hamlet, gone, &[("emoji_name", &"heart")]).bad("Invalid message(s)").await;
        remove(&hamlet, gone, &[("emoji_name", &"heart")]).bad("Invalid message(s)").await;
    }
    for (name, code, kind, msg) in [
        ("nopenope", None, None, "Emoji 'nopenope' does not exist"),
        ("heart", Some("zzz"), Some("unicode_emoji"), "Invalid emoji code."),
        ("heart", Some("1f44d"), Some("unicode_emoji"), "Invalid emoji name."),
        ("heart", Some("2764"), Some("smoke"), "Invalid emoji type."),
        ("heart", Some("1"), Some("realm_emoji"), "Invalid custom emoji."),
    ] {
        let mut params: Vec<Param<'_>> = vec![("emoji_name", &name)];
        params.extend(code.iter().map(|code| ("emoji_code", code as _)));
        params.extend(kind.iter().map(|kind| ("reaction_type", kind as _)));
        react(&iago, id, &params).bad(msg).await;
    }
    react(&iago, id, &[("emoji_name", &"heart")]).ok().await;
    let exists = json!({"msg": "Reaction already exists.", "code": "REACTION_ALREADY_EXISTS"});
    react(&iago, id, &[("emoji_name", &"heart")]).refused(400, exists).await;
    let absent = json!({"msg": "Reaction doesn't exist.", "code": "REACTION_DOES_NOT_EXIST"});
    remove(&hamlet, id, &[("emoji_name", &"heart")]).refused(400, absent).await;
    let neither = "At least one of the following arguments must be present: emoji_name, emoji_code";
    remove(&iago, id, &[]).bad(neither).await;
}

#[tokio::test]
async fn reaction_follows_topic_by_setting() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").with(&hamlet).await;
    let id = iago.send(&verona, "lunch", "x").await;
    let mut queue = hamlet.register().modern().events(&["user_topic"]).await;
    react(&hamlet, id, &[("emoji_name", &"heart")]).ok().await;
    assert!(queue.now().await.is_empty());
    hamlet.patch("/settings", &[("automatically_follow_topics_policy", &1)]).ok().await;
    react(&hamlet, id, &[("emoji_name", &"+1")]).ok().await;
    let event = queue.next().await;
    assert_eq!((&event["topic_name"], &event["visibility_policy"]), (&json!("lunch"), &json!(3)));
}

/// Names are those of the emoji table of the server: `smile` and `slight_smile` have different codes.
#[tokio::test]
async fn reaction_name_must_match_code() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let verona = iago.create_channel("Verona").await;
    let id = iago.send(&verona, "lunch", "x").await;
    react(&iago, id, &[("emoji_name", &"smile"), ("emoji_code", &"1f642")]).bad("Invalid emoji name.").await;
    react(&iago, id, &[("emoji_name", &"smile"), ("emoji_code", &"1f604")]).ok().await;
    react(&iago, id, &[("emoji_name", &"slight_smile"), ("emoji_code", &"1f642")]).ok().await;
}
