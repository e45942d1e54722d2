//! Events of invitations, and of users who join by them.

use super::each_type::kinds;
use super::verify;
use crate::api::invites::create_link;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

#[tokio::test]
async fn invitation_and_join_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let verona = iago.create_channel("Verona").with(&hamlet).with(&polonius).await;
    let crew = crate::api::groups::create_with(&iago, "crew", &[&hamlet], json!({})).await;
    let (channels, groups) = (json!([verona.id]), json!([crew]));
    let params: Params<'_> = &[("invite_as", &300), ("stream_ids", &channels), ("group_ids", &groups)];
    let link = create_link(&iago, params).await;
    let form =
        [("email", "ada@x.example"), ("full_name", "Ada"), ("password", "correct horse battery staple")];
    let seen = verify(&t, &ALL, async {
        let joined = t.anonymous().http.post(&link).form(&form).send().await.expect("an answer");
        assert_eq!(joined.status().as_u16(), 200);
        iago.delete("/invites/multiuse/1", &[]).ok().await;
    })
    .await;
    let received =
        |name: &str| kinds(&seen, name).into_iter().filter(|kind| kind == "invites_changed").count();
    assert_eq!(ALL.map(received), [2, 0, 0, 0]);
    let event = seen["iago"].iter().find(|event| event["type"] == "invites_changed").expect("an event");
    let mut names: Vec<&String> = event.as_object().expect("an event").keys().collect();
    names.sort();
    assert_eq!(names, ["id", "type"]);
    let added: Vec<&Value> = seen["hamlet"].iter().filter(|event| event["type"] == "realm_user").collect();
    assert_eq!((&added[0]["op"], &added[0]["person"]["full_name"]), (&json!("add"), &json!("Ada")));
}
