//! `/bots/{id}/api_key`.

use super::make;
use crate::support::{Person, TestServer};
use serde_json::json;

#[tokio::test]
async fn a_new_key_ends_the_old_one() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let path = format!("/bots/{}/api_key", bot.id);
    for person in [&hamlet, &iago] {
        assert_eq!(person.get(&path, &[]).ok().await["api_key"], json!(bot.key));
    }
    let renew = format!("{path}/regenerate");
    let key = hamlet.post(&renew, &[]).ok().await["api_key"].as_str().unwrap().to_owned();
    assert_ne!(key, bot.key);
    bot.get("/users/me", &[])
        .refused(401, json!({"msg": "Invalid API key", "code": "INVALID_API_KEY"}))
        .await;
    Person { key: key.clone(), ..bot.clone() }.get("/users/me", &[]).ok().await;
    let again = iago.post(&renew, &[]).ok().await["api_key"].clone();
    assert_ne!(again, json!(key));
    for call in [othello.get(&path, &[]), othello.post(&renew, &[])] {
        call.bad("Insufficient permission").await;
    }
    let own = format!("/bots/{}/api_key", hamlet.id);
    for call in [iago.get(&own, &[]), iago.post(&format!("{own}/regenerate"), &[])] {
        call.bad("No such bot").await;
    }
    // It is still the same after a restart.
    let folder = t.stop().await;
    let t = TestServer::plan().on(folder).start().await;
    assert_eq!(t.user("hamlet").get(&path, &[]).ok().await["api_key"], again);
}
