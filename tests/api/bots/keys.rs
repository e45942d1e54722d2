//! `GET` and `POST /bots/{id}/api_key`.

use super::make;
use crate::support::{TestServer, TestUser};
use serde_json::json;

#[tokio::test]
async fn regenerate_bot_api_key_invalidates_old_key() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let path = format!("/bots/{}/api_key", bot.id);
    assert_eq!(hamlet.get(&path, &[]).ok().await["api_key"], json!(bot.key));
    let renew = format!("{path}/regenerate");
    let key = hamlet.post(&renew, &[]).ok().await["api_key"].as_str().unwrap().to_owned();
    assert_ne!(key, bot.key);
    bot.get("/users/me", &[]).refused(401, json!({"msg": "Invalid API key", "code": "UNAUTHORIZED"})).await;
    TestUser { key: key.clone(), ..bot.clone() }.get("/users/me", &[]).ok().await;
    for call in [iago.get(&path, &[]), iago.post(&renew, &[])] {
        call.bad("Only the owner of a bot can see or renew its API key. Become its owner first.").await;
    }
    for call in [othello.get(&path, &[]), othello.post(&renew, &[])] {
        call.bad("Insufficient permission").await;
    }
    let own = format!("/bots/{}/api_key", hamlet.id);
    for call in [iago.get(&own, &[]), iago.post(&format!("{own}/regenerate"), &[])] {
        call.bad("No such bot").await;
    }
    // The key survives a restart.
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    assert_eq!(t.user("hamlet").get(&path, &[]).ok().await["api_key"], json!(key));
}
