//! `/saved_snippets`.

use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/saved_snippets";

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["saved_snippets"].clone()
}

async fn save(who: &TestUser, title: &str, content: &str) -> u64 {
    let saved = who.post(PATH, &[("title", &title), ("content", &content)]).ok().await;
    saved["saved_snippet_id"].as_u64().unwrap()
}

#[tokio::test]
async fn snippets_are_saved_changed_and_deleted() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    assert_eq!(listed(&hamlet).await, json!([]));
    let id = save(&hamlet, " Greeting ", "Hello **there**\n").await;
    let one = listed(&hamlet).await[0].clone();
    let created = one["date_created"].as_u64().unwrap();
    let expected =
        json!({"id": id, "title": "Greeting", "content": "Hello **there**", "date_created": created});
    assert_eq!(one, expected);
    assert_eq!(hamlet.register().await.state["saved_snippets"], json!([expected]));
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    assert_eq!(iago.register().await.state["saved_snippets"], json!([]));
    let path = format!("{PATH}/{id}");
    hamlet.patch(&path, &[("title", &"Salute")]).ok().await;
    hamlet.patch(&path, &[("content", &"Hi")]).ok().await;
    hamlet.patch(&path, &[]).ok().await;
    let expected = json!({"id": id, "title": "Salute", "content": "Hi", "date_created": created});
    assert_eq!(listed(&hamlet).await, json!([expected]));
    hamlet.delete(&path, &[]).ok().await;
    assert_eq!(listed(&hamlet).await, json!([]));
}

#[tokio::test]
async fn snippet_ids_are_not_used_again() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let first = save(&hamlet, "a", "b").await;
    hamlet.delete(&format!("{PATH}/{first}"), &[]).ok().await;
    let second = save(&hamlet, "c", "d").await;
    let before = listed(&hamlet).await;
    hamlet.delete(&format!("{PATH}/{second}"), &[]).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let hamlet = t.user("hamlet");
    assert_eq!(listed(&hamlet).await, json!([]));
    assert_eq!((save(&hamlet, "c", "d").await, before[0]["id"].as_u64()), (first + 2, Some(first + 1)));
}

#[tokio::test]
async fn snippet_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let id = save(&hamlet, "Greeting", "Hello").await;
    let path = format!("{PATH}/{id}");
    let long_title = "t".repeat(61);
    let long_content = "c".repeat(10_001);
    for (title, content, msg) in [
        (" ", "x", "title cannot be blank"),
        ("x", " \n", "content cannot be blank"),
        (&long_title, "x", "title is too long (limit: 60 characters)"),
        ("x", &long_content, "content is too long (limit: 10000 characters)"),
    ] {
        hamlet.post(PATH, &[("title", &title), ("content", &content)]).bad(msg).await;
        hamlet.patch(&path, &[("title", &title), ("content", &content)]).bad(msg).await;
    }
    let missing = json!({"msg": "Saved snippet does not exist.", "code": "BAD_REQUEST"});
    for path in [&path, "/saved_snippets/99999", "/saved_snippets/99999999999999999999"] {
        iago.patch(path, &[("title", &"x")]).refused(404, missing.clone()).await;
        iago.delete(path, &[]).refused(404, missing.clone()).await;
    }
    assert_eq!(listed(&hamlet).await[0]["title"], "Greeting");
}

#[tokio::test]
async fn snippets_of_an_account_are_bounded_in_bytes() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    // Ten thousand characters of four bytes each.
    let content = "🎉".repeat(10_000);
    for _ in 0..26 {
        save(&hamlet, "t", &content).await;
    }
    let full = "Too much text in saved snippets (maximum 1048576 bytes).";
    hamlet.post(PATH, &[("title", &"t"), ("content", &content)]).bad(full).await;
    save(&hamlet, "t", "short").await;
    save(&t.user("iago"), "t", &content).await;
}
