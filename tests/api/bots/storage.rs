//! `GET`, `PUT` and `DELETE /bot_storage`.

use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn account_stores_entries_of_its_own() {
    let t = TestServer::start().await;
    let [bot, hamlet] = t.users(["default-bot", "hamlet"]);
    assert_eq!(bot.get("/bot_storage", &[]).ok().await["storage"], json!({}));
    bot.call(reqwest::Method::PUT, "/bot_storage", &[("storage", &json!({"a": "1", "b": "ü"}))]).ok().await;
    bot.call(reqwest::Method::PUT, "/bot_storage", &[("storage", &json!({"a": "2"}))]).ok().await;
    assert_eq!(bot.get("/bot_storage", &[]).ok().await["storage"], json!({"a": "2", "b": "ü"}));
    let one = bot.get("/bot_storage", &[("keys", &json!(["b", "b"]))]).ok().await;
    assert_eq!(one["storage"], json!({"b": "ü"}));
    // Users can store entries, too, and cannot read those of others.
    hamlet.call(reqwest::Method::PUT, "/bot_storage", &[("storage", &json!({"a": "mine"}))]).ok().await;
    assert_eq!(bot.get("/bot_storage", &[]).ok().await["storage"]["a"], "2");
    bot.delete("/bot_storage", &[("keys", &json!(["a"]))]).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let [bot, hamlet] = t.users(["default-bot", "hamlet"]);
    assert_eq!(bot.get("/bot_storage", &[]).ok().await["storage"], json!({"b": "ü"}));
    bot.delete("/bot_storage", &[]).ok().await;
    assert_eq!(bot.get("/bot_storage", &[]).ok().await["storage"], json!({}));
    assert_eq!(hamlet.get("/bot_storage", &[]).ok().await["storage"], json!({"a": "mine"}));
}

#[tokio::test]
async fn storage_errors() {
    let t = TestServer::start().await;
    let bot = t.user("default-bot");
    let put = |storage: Value| bot.call(reqwest::Method::PUT, "/bot_storage", &[("storage", &storage)]);
    let missing = "Key does not exist.";
    put(json!({"a": "1"})).ok().await;
    bot.get("/bot_storage", &[("keys", &json!(["a", "zz"]))]).bad(missing).await;
    bot.delete("/bot_storage", &[("keys", &json!(["a", "zz"]))]).bad(missing).await;
    put(json!({"a": 1})).bad("storage[\"a\"] is not a string").await;
    put(json!(["a"])).bad("storage is not a dict").await;
    put(json!({"k".repeat(1001): ""})).bad("key is too long (limit: 1000 characters)").await;
    put(json!({"b": "x".repeat(600_000)})).ok().await;
    let full = "Request exceeds storage limit by 200004 characters. The limit is 1000000 characters.";
    put(json!({"c": "x".repeat(600_000)})).bad(full).await;
    assert_eq!(bot.get("/bot_storage", &[("keys", &json!(["a"]))]).ok().await["storage"], json!({"a": "1"}));
    put(json!({"b": ""})).ok().await;
    put(json!({"c": "x".repeat(600_000)})).ok().await;
}
