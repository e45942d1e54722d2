//! `/realm/emoji`: custom emoji in messages, reactions and statuses.

use super::{fetch_picture, moving, png, set_realm};
use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn emoji_upload_still_and_animated() {
    let t = TestServer::start().await;
    let [hamlet, othello, guest] = t.users(["hamlet", "othello", "polonius"]);
    assert_eq!(hamlet.get("/realm/emoji", &[]).ok().await["emoji"], json!({}));
    hamlet.upload("/realm/emoji/my blob", &[], &[("a.png", png())]).ok().await;
    hamlet.upload("/realm/emoji/dance", &[], &[("a.gif", moving())]).ok().await;
    let all = guest.get("/realm/emoji", &[]).ok().await["emoji"].clone();
    let (blob, dance) = (&all["1"], &all["2"]);
    assert_eq!(
        (&blob["id"], &blob["name"], &blob["deactivated"], &blob["author_id"], &blob["still_url"]),
        (&json!("1"), &json!("my_blob"), &json!(false), &json!(hamlet.id), &Value::Null)
    );
    let url = blob["source_url"].as_str().unwrap();
    assert!(url.starts_with("/user_avatars/1/emoji/images/") && url.ends_with(".png"), "{url}");
    assert_eq!(fetch_picture(&othello, url).await, ("image/png".to_owned(), 64, 64));
    let (moves, still) = (dance["source_url"].as_str().unwrap(), dance["still_url"].as_str().unwrap());
    assert_eq!(fetch_picture(&othello, moves).await, ("image/gif".to_owned(), 64, 64));
    assert!(still.starts_with("/user_avatars/1/emoji/images/still/"), "{still}");
    assert_eq!(fetch_picture(&othello, still).await, ("image/png".to_owned(), 64, 64));
}

#[tokio::test]
async fn emoji_in_messages_reactions_and_statuses() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    hamlet.upload("/realm/emoji/blob", &[], &[("a.png", png())]).ok().await;
    let url = hamlet.get("/realm/emoji", &[]).ok().await["emoji"]["1"]["source_url"].clone();
    let rendered = hamlet.post("/messages/render", &[("content", &":blob:")]).ok().await;
    let html =
        format!(r#"<p><img alt=":blob:" class="emoji" src="{}" title="blob"></p>"#, url.as_str().unwrap());
    assert_eq!(rendered["rendered"], html);
    let channel = hamlet.create_channel("Denmark").await;
    let message = hamlet.send(&channel, "t", "hi :blob:").await;
    let path = format!("/messages/{message}/reactions");
    hamlet.post(&path, &[("emoji_name", &"blob")]).ok().await;
    let reaction = json!([{
        "emoji_name": "blob", "emoji_code": "1", "reaction_type": "realm_emoji", "user_id": hamlet.id,
    }]);
    assert_eq!(hamlet.messages(json!([])).await.last().unwrap()["reactions"], reaction);
    hamlet.post("/users/me/status", &[("emoji_name", &"blob")]).ok().await;
    let status = iago.get(&format!("/users/{}/status", hamlet.id), &[]).ok().await["status"].clone();
    assert_eq!((&status["emoji_code"], &status["reaction_type"]), (&json!("1"), &json!("realm_emoji")));
    let named: [(&str, &str, &str); 3] = [
        ("blob", "7", "Invalid custom emoji."),
        ("other", "1", "Invalid custom emoji name."),
        ("blob", "01", "Invalid custom emoji."),
    ];
    let react = |name: &'static str, code: &'static str| {
        iago.post(
            "/users/me/status",
            &[("emoji_name", &name), ("emoji_code", &code), ("reaction_type", &"realm_emoji")],
        )
    };
    for (name, code, msg) in named {
        react(name, code).bad(msg).await;
    }
    iago.delete("/realm/emoji/blob", &[]).ok().await;
    react("blob", "1").bad("This custom emoji has been deactivated.").await;
    // An existing reaction with a deactivated emoji can be joined; in message text the emoji is not rendered.
    iago.post("/users/me/subscriptions", &[("subscriptions", &json!([{"name": "Denmark"}]))]).ok().await;
    let join = [("emoji_name", "blob"), ("emoji_code", "1"), ("reaction_type", "realm_emoji")];
    let join = join.each_ref().map(|(name, value)| (*name, value as &(dyn std::fmt::Display + Sync)));
    iago.post(&path, &join).ok().await;
    let rendered = hamlet.post("/messages/render", &[("content", &":blob:")]).ok().await;
    assert_eq!(rendered["rendered"], "<p>:blob:</p>");
    assert_eq!(hamlet.get("/realm/emoji", &[]).ok().await["emoji"]["1"]["deactivated"], true);
    assert_eq!(fetch_picture(&iago, url.as_str().unwrap()).await.1, 64, "old messages keep the emoji");
}

#[tokio::test]
async fn emoji_names_are_unique() {
    let t = TestServer::start().await;
    let [hamlet, iago, othello] = t.users(["hamlet", "iago", "othello"]);
    let add = |name: &'static str| hamlet.upload(&format!("/realm/emoji/{name}"), &[], &[("a.png", png())]);
    add("blob").ok().await;
    add("blob").bad("A custom emoji with this name already exists.").await;
    othello
        .delete("/realm/emoji/blob", &[])
        .bad("Must be an organization administrator or emoji author")
        .await;
    hamlet.delete("/realm/emoji/blob", &[]).ok().await;
    let gone = json!({"msg": "Emoji 'blob' does not exist", "code": "BAD_REQUEST"});
    hamlet.delete("/realm/emoji/blob", &[]).refused(404, gone).await;
    add("blob").ok().await;
    add("tada").bad("Only administrators can override default emoji.").await;
    iago.upload("/realm/emoji/tada", &[], &[("a.png", png())]).ok().await;
    let rendered =
        hamlet.post("/messages/render", &[("content", &":tada:")]).ok().await["rendered"].to_string();
    assert!(rendered.contains("/user_avatars/1/emoji/images/"), "{rendered}");
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let all = t.user("hamlet").get("/realm/emoji", &[]).ok().await["emoji"].clone();
    let names: Vec<_> =
        ["1", "2", "3"].map(|id| (all[id]["name"].clone(), all[id]["deactivated"].clone())).into();
    let expected = [("blob", true), ("blob", false), ("tada", false)];
    assert_eq!(names, expected.map(|(name, gone)| (json!(name), json!(gone))));
}

#[tokio::test]
async fn emoji_errors() {
    let t = TestServer::start().await;
    let [hamlet, guest] = t.users(["hamlet", "polonius"]);
    let characters =
        "Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.";
    for (name, msg) in [
        ("my_em*oji", characters),
        ("Blob", characters),
        ("my/emoji", characters),
        ("blob_", "Emoji names must end with either a letter or digit."),
        ("%20", "Emoji name is missing"),
    ] {
        hamlet.upload(&format!("/realm/emoji/{name}"), &[], &[("a.png", png())]).bad(msg).await;
    }
    hamlet.upload("/realm/emoji/a", &[("x", &"1")], &[]).bad("You must upload exactly one file.").await;
    let two = [("a.png", png()), ("b.png", png())];
    hamlet.upload("/realm/emoji/a", &[], &two).bad("You must upload exactly one file.").await;
    guest.upload("/realm/emoji/a", &[], &two).bad("Not allowed for guest users").await;
    let group = t.user("desdemona").get("/user_groups", &[]).ok().await["user_groups"].clone();
    let moderators =
        group.as_array().unwrap().iter().find(|group| group["name"] == "role:moderators").unwrap();
    set_realm(&t, "can_add_custom_emoji_group", json!({"new": moderators["id"]})).await;
    hamlet.upload("/realm/emoji/a", &[], &[("a.png", png())]).bad("Insufficient permission").await;
    t.user("shiva").upload("/realm/emoji/blob", &[], &[("a.png", png())]).ok().await;
}
