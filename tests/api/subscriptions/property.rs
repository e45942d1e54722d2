//! `PATCH /users/me/subscriptions/{stream_id}`.

use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn one_property_of_one_channel() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let verona = iago.create_channel("Verona").await;
    let path = format!("/users/me/subscriptions/{}", verona.id);
    let mut queue = iago.register().events(&["subscription"]).await;
    iago.patch(&path, &[("property", &"color"), ("value", &"#C2C2C2")]).ok().await;
    let event = queue.next().await;
    assert_eq!((&event["property"], &event["value"]), (&json!("color"), &json!("#c2c2c2")));
    iago.patch(&path, &[("property", &"pin_to_top"), ("value", &"true")]).ok().await;
    assert_eq!(queue.next().await["value"], true);
    let own = iago.get("/users/me/subscriptions", &[]).ok().await;
    let own = own["subscriptions"].as_array().unwrap().iter().find(|one| one["name"] == "Verona").unwrap();
    assert_eq!((&own["color"], &own["pin_to_top"]), (&json!("#c2c2c2"), &json!(true)));

    let quoted = iago.patch(&path, &[("property", &"color"), ("value", &"\"#00ff00\"")]);
    quoted.bad("color is not a valid hex color code").await;
    iago.patch(&path, &[("property", &"pin_to_top"), ("value", &"yes")])
        .bad("pin_to_top is not a boolean")
        .await;
    let unknown = iago.patch(&path, &[("property", &"taste"), ("value", &"true")]);
    unknown.bad("Unknown subscription property: taste").await;
    let outside = hamlet.patch(&path, &[("property", &"color"), ("value", &"#c2c2c2")]);
    outside.bad(&format!("Not subscribed to channel ID {}", verona.id)).await;
}
