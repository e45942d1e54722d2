//! `POST /users/me/subscriptions/properties`.

use crate::support::{Params, TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/users/me/subscriptions/properties";

async fn own(who: &TestUser, channel: &str) -> Value {
    let body = who.get("/users/me/subscriptions", &[]).ok().await;
    let all = body["subscriptions"].as_array().unwrap();
    all.iter().find(|own| own["name"] == channel).expect("a subscription").clone()
}

#[tokio::test]
async fn subscription_properties() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let id = verona.id;
    for (property, value, shown) in [
        ("color", json!("#A1B"), json!("#aa11bb")),
        ("color", json!("#76CE9f"), json!("#76ce9f")),
        ("is_muted", json!(true), json!(true)),
        ("in_home_view", json!(true), json!(true)),
        ("pin_to_top", json!(true), json!(true)),
        ("desktop_notifications", json!(false), json!(false)),
        ("audible_notifications", json!(true), json!(true)),
        ("push_notifications", json!(true), json!(true)),
        ("email_notifications", json!(false), json!(false)),
        ("wildcard_mentions_notify", json!(false), json!(false)),
    ] {
        let data = json!([{"stream_id": id, "property": property, "value": value}]);
        hamlet.post(PATH, &[("subscription_data", &data)]).ok().await;
        assert_eq!(own(&hamlet, "Verona").await[property], shown, "{property}");
    }
    let now = own(&hamlet, "Verona").await;
    assert_eq!((&now["is_muted"], &now["in_home_view"]), (&json!(false), &json!(true)));
    // Several properties, one of them twice, and one with its current value.
    let data = json!([
        {"stream_id": id, "property": "is_muted", "value": true},
        {"stream_id": id, "property": "pin_to_top", "value": false},
        {"stream_id": id, "property": "pin_to_top", "value": true},
        {"stream_id": id, "property": "color", "value": "#76ce9f"},
    ]);
    hamlet.post(PATH, &[("subscription_data", &data)]).ok().await;
    let now = own(&hamlet, "Verona").await;
    let found = [&now["is_muted"], &now["in_home_view"], &now["pin_to_top"], &now["color"]];
    assert_eq!(found, [&json!(true), &json!(false), &json!(true), &json!("#76ce9f")]);
    hamlet.post(PATH, &[("subscription_data", &json!([]))]).ok().await;
    // They survive unsubscribing and subscribing again.
    hamlet.unsubscribe(&verona).await;
    hamlet.subscribe(&verona).await;
    let again = own(&hamlet, "Verona").await;
    assert_eq!((&again["color"], &again["is_muted"]), (&json!("#76ce9f"), &json!(true)));
}

#[tokio::test]
async fn subscription_properties_apply_before_first_error() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let verona = hamlet.create_channel("Verona").await;
    let muted = |is_muted: bool| json!({"stream_id": verona.id, "property": "is_muted", "value": is_muted});
    let data = json!([
        muted(true),
        {"stream_id": 99_999, "property": "pin_to_top", "value": true},
        muted(false),
    ]);
    hamlet.post(PATH, &[("subscription_data", &data)]).bad("Invalid channel ID").await;
    assert_eq!(own(&hamlet, "Verona").await["is_muted"], true);
    // All items are parsed before the first is applied.
    let data = json!([muted(false), {"stream_id": verona.id, "property": "bogus", "value": true}]);
    hamlet.post(PATH, &[("subscription_data", &data)]).bad("Unknown subscription property: bogus").await;
    assert_eq!(own(&hamlet, "Verona").await["is_muted"], true);
}

#[tokio::test]
async fn subscription_properties_errors() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    let verona = iago.create_channel("Verona").await;
    let secret = hamlet.create_channel("secret").private().await;
    let missing = json!({
        "msg": "Missing 'subscription_data' argument",
        "code": "REQUEST_VARIABLE_MISSING", "var_name": "subscription_data",
    });
    hamlet.post(PATH, &[]).refused(400, missing).await;
    let item = |id: u64, property: &str, value: Value| {
        json!([{"stream_id": id, "property": property, "value": value}]).to_string()
    };
    let not_subscribed = format!("Not subscribed to channel ID {}", verona.id);
    for (data, msg) in [
        ("[{".to_owned(), "subscription_data is not valid JSON"),
        ("{}".to_owned(), "subscription_data is not a list"),
        ("[1]".to_owned(), "subscription_data[0] is not a dict"),
        (
            r##"[{"stream_id":"x","property":"color","value":"#fff"}]"##.to_owned(),
            "subscription_data[0][\"stream_id\"] is not an integer",
        ),
        (
            r##"[{"property":"color","value":"#fff"}]"##.to_owned(),
            "subscription_data[0][\"stream_id\"] field is missing",
        ),
        (
            r##"[{"stream_id":1,"property":7,"value":"#fff"}]"##.to_owned(),
            "subscription_data[0][\"property\"] is not a string",
        ),
        (item(verona.id, "bogus", json!(true)), "Unknown subscription property: bogus"),
        (item(verona.id, "is_muted", json!("yes")), "is_muted is not a boolean"),
        (item(verona.id, "push_notifications", json!(1)), "push_notifications is not a boolean"),
        (item(verona.id, "color", json!(true)), "color is not a string"),
        (item(verona.id, "color", json!("red")), "color is not a valid hex color code"),
        (item(verona.id, "color", json!("#12")), "color is not a valid hex color code"),
        (item(verona.id, "color", json!("#1234567")), "color is not a valid hex color code"),
        (item(verona.id, "pin_to_top", json!(true)), &not_subscribed),
        (item(99_999, "pin_to_top", json!(true)), "Invalid channel ID"),
    ] {
        hamlet.post(PATH, &[("subscription_data", &data)]).bad(msg).await;
    }
    // An inaccessible channel gives the error of a missing one.
    let data = item(secret.id, "pin_to_top", json!(true));
    polonius.post(PATH, &[("subscription_data", &data)]).bad("Invalid channel ID").await;
    let not_inside = format!("Not subscribed to channel ID {}", secret.id);
    iago.post(PATH, &[("subscription_data", &data)]).bad(&not_inside).await;
    let unknown: Params<'_> = &[("subscription_data", &"[]"), ("other", &"1")];
    assert_eq!(hamlet.post(PATH, unknown).ok().await["ignored_parameters_unsupported"], json!(["other"]));
}
