//! `GET /messages/matches_narrow`.

use crate::support::shape::fields;
use crate::support::{Params, TestServer, keys};
use serde_json::json;

#[tokio::test]
async fn matches_narrow() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let secret = iago.create_channel("secret").private().await;
    let link = iago.send(&channel, "pens & ink", "https://example.com").await;
    let plain = iago.send(&channel, "pens & ink", "nothing").await;
    let hidden = iago.send(&secret, "pens & ink", "https://example.com").await;
    let narrow = json!([["has", "link"]]);
    let ids = json!([link, plain, hidden, 99_999]);
    let body = hamlet.get("/messages/matches_narrow", &[("msg_ids", &ids), ("narrow", &narrow)]).ok().await;
    assert_eq!(fields(&body), ["messages"]);
    assert_eq!(keys(&body["messages"]), [link.to_string()]);
    let found = &body["messages"][link.to_string()];
    assert_eq!(keys(found), ["match_content", "match_subject"]);
    assert_eq!(found["match_subject"], "pens &amp; ink");
}

#[tokio::test]
async fn matches_of_a_search_may_be_larger_than_the_memory_of_an_account() {
    let plan = TestServer::builder().set("memory.share_bytes_max", 1_000_000).set("memory.wait_secs_max", 0);
    let t = plan.start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let content = "quokka ".repeat(300);
    let mut ids = Vec::new();
    for _ in 0..160 {
        ids.push(iago.send(&channel, "animals", &content).await);
    }
    let narrow = json!([["search", "quokka"]]);
    let wanted = json!(ids);
    let body =
        hamlet.get("/messages/matches_narrow", &[("msg_ids", &wanted), ("narrow", &narrow)]).ok().await;
    assert!(body.to_string().len() > 1_500_000);
    let mut found = keys(&body["messages"]);
    found.sort_by_key(|id| id.parse::<u64>().unwrap());
    assert_eq!(found, ids.iter().map(u64::to_string).collect::<Vec<_>>());
    let shown = body["messages"][&found[0]]["match_content"].as_str().unwrap();
    assert_eq!(shown.matches("<span class=\"highlight\">quokka</span>").count(), 300);
}

#[tokio::test]
async fn matches_narrow_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let bad: Params<'_> = &[("msg_ids", &"[\"a\"]"), ("narrow", &"[]")];
    hamlet.get("/messages/matches_narrow", bad).bad("msg_ids[0] is not an integer").await;
    let narrow = json!([["is", "purple"]]);
    let answer = hamlet.get("/messages/matches_narrow", &[("msg_ids", &"[1]"), ("narrow", &narrow)]).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_NARROW")));
}
