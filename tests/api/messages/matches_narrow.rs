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
async fn matches_narrow_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let bad: Params<'_> = &[("msg_ids", &"[\"a\"]"), ("narrow", &"[]")];
    hamlet.get("/messages/matches_narrow", bad).bad("msg_ids[0] is not an integer").await;
    let narrow = json!([["is", "purple"]]);
    let answer = hamlet.get("/messages/matches_narrow", &[("msg_ids", &"[1]"), ("narrow", &narrow)]).await;
    assert_eq!((answer.status, &answer.body["code"]), (400, &json!("BAD_NARROW")));
}
