//! `/navigation_views`.

use crate::support::{Params, TestServer, TestUser, as_params};
use serde_json::{Value, json};

const PATH: &str = "/navigation_views";

async fn listed(who: &TestUser) -> Value {
    who.get(PATH, &[]).ok().await["navigation_views"].clone()
}

#[tokio::test]
async fn navigation_views_built_in_and_custom() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    assert_eq!(listed(&hamlet).await, json!([]));
    hamlet.post(PATH, &[("fragment", &" inbox "), ("is_pinned", &true)]).ok().await;
    let custom: Params<'_> =
        &[("fragment", &"narrow/is/alerted"), ("is_pinned", &false), ("name", &" Alert Words ")];
    hamlet.post(PATH, custom).ok().await;
    let expected = json!([
        {"fragment": "inbox", "is_pinned": true, "name": null},
        {"fragment": "narrow/is/alerted", "is_pinned": false, "name": "Alert Words"},
    ]);
    assert_eq!(listed(&hamlet).await, expected);
    assert_eq!(hamlet.register().await.state["navigation_views"], expected);
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    let changes: Params<'_> = &[("is_pinned", &true), ("name", &"Watch")];
    hamlet.patch("/navigation_views/narrow%2Fis%2Falerted", changes).ok().await;
    hamlet.patch("/navigation_views/inbox", &[("is_pinned", &false)]).ok().await;
    let expected = json!([
        {"fragment": "inbox", "is_pinned": false, "name": null},
        {"fragment": "narrow/is/alerted", "is_pinned": true, "name": "Watch"},
    ]);
    assert_eq!(listed(&hamlet).await, expected);
    hamlet.delete("/navigation_views/narrow/is/alerted", &[]).ok().await;
    hamlet.delete("/navigation_views/inbox", &[]).ok().await;
    assert_eq!(listed(&hamlet).await, json!([]));
}

#[tokio::test]
async fn navigation_views_percent_encoded_fragments() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    // Clients percent-encode the whole fragment in the path.
    for (fragment, encoded) in [
        ("narrow/channel/3-a b/topic/x%2Fy?", "narrow%2Fchannel%2F3-a%20b%2Ftopic%2Fx%252Fy%3F"),
        ("narrow/topic/\u{e9}\u{1f697}", "narrow/topic/%C3%A9%F0%9F%9A%97"),
        ("12", "12"),
    ] {
        let new: Params<'_> = &[("fragment", &fragment), ("is_pinned", &false), ("name", &fragment)];
        hamlet.post(PATH, new).ok().await;
        hamlet.patch(&format!("/navigation_views/{encoded}"), &[("is_pinned", &true)]).ok().await;
        let expected = json!([{"fragment": fragment, "is_pinned": true, "name": fragment}]);
        assert_eq!(listed(&hamlet).await, expected);
        hamlet.delete(&format!("/navigation_views/{encoded}"), &[]).ok().await;
        assert_eq!(listed(&hamlet).await, json!([]));
    }
}

#[tokio::test]
async fn navigation_views_survive_restart() {
    let t = TestServer::start().await;
    let custom: Params<'_> = &[("fragment", &"narrow/is/dm"), ("is_pinned", &true), ("name", &"Talks")];
    t.user("hamlet").post(PATH, custom).ok().await;
    let before = listed(&t.user("hamlet")).await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(listed(&t.user("hamlet")).await, before);
}

#[tokio::test]
async fn navigation_views_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let view = |fragment: &'static str, name: Option<&'static str>| {
        let mut params = vec![("fragment", fragment), ("is_pinned", "true")];
        params.extend(name.map(|name| ("name", name)));
        params
    };
    let create = |params: Vec<(&'static str, &'static str)>| {
        let hamlet = hamlet.clone();
        async move {
            let params = as_params(&params);
            hamlet.post(PATH, &params).await
        }
    };
    create(view("narrow/is/dm", Some("Talks"))).await.ok();
    let bad = |msg: &str| json!({"msg": msg, "code": "BAD_REQUEST"});
    for (params, msg) in [
        (view(" ", None), "fragment cannot be blank"),
        (view("narrow/x", Some(" ")), "name cannot be blank"),
        (view("inbox", Some("Mine")), "Built-in views cannot have a custom name."),
        (view("narrow/has/reaction/sender/me", Some("x")), "Built-in views cannot have a custom name."),
        (view("narrow/x", None), "Custom views must have a valid name."),
        (view("narrow/x", Some("null")), "Custom views must have a valid name."),
        (view("narrow/is/dm", Some("Other")), "Navigation view already exists."),
        (view("narrow/x", Some("Talks")), "Navigation view already exists."),
        (vec![("fragment", "inbox"), ("is_pinned", "yes")], "is_pinned is not valid JSON"),
        (vec![("fragment", "inbox"), ("is_pinned", "1")], "is_pinned is not a boolean"),
    ] {
        create(params).await.refused(400, bad(msg));
    }
    for (params, missing) in
        [(vec![("is_pinned", "true")], "fragment"), (vec![("fragment", "inbox")], "is_pinned")]
    {
        let msg = format!("Missing '{missing}' argument");
        let body = json!({"msg": msg, "code": "REQUEST_VARIABLE_MISSING", "var_name": missing});
        create(params).await.refused(400, body);
    }
    let missing = json!({"msg": "Navigation view does not exist.", "code": "NOT_FOUND"});
    hamlet.patch("/navigation_views/inbox", &[("is_pinned", &true)]).refused(404, missing.clone()).await;
    hamlet.delete("/navigation_views/inbox", &[]).refused(404, missing.clone()).await;
    // The views of other users are unknown.
    let iago = t.user("iago");
    iago.delete("/navigation_views/narrow/is/dm", &[]).refused(404, missing).await;
    // The name is validated before the view is looked up.
    let built_in = "Built-in views cannot have a custom name.";
    hamlet.patch("/navigation_views/inbox", &[("name", &"x")]).bad(built_in).await;
    hamlet.patch("/navigation_views/narrow/is/dm", &[("name", &" ")]).bad("name cannot be blank").await;
    create(view("narrow/is/unread", Some("Unread"))).await.ok();
    let taken = "Navigation view already exists.";
    hamlet.patch("/navigation_views/narrow/is/dm", &[("name", &"Unread")]).bad(taken).await;
    hamlet.patch("/navigation_views/narrow/is/dm", &[("name", &"Talks")]).ok().await;
    assert_eq!(listed(&hamlet).await.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn navigation_views_are_bounded_in_bytes() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    // Texts of 4,096 characters of four bytes each: 32 views with such a fragment and name are 1 MiB.
    let long = |number: u32| {
        let last = char::from_u32(0x1_f600 + number).unwrap();
        format!("{}{last}", "🎉".repeat(4_095))
    };
    let create = |who: &TestUser, fragment: &str, name: &str| {
        who.post(PATH, &[("fragment", &fragment), ("is_pinned", &false), ("name", &name)])
    };
    create(&hamlet, "narrow/is/dm", &long(0)).ok().await;
    for number in 1..32 {
        create(&hamlet, &long(number), &long(number)).ok().await;
    }
    let full = "Too much text in navigation views (maximum 1048576 bytes).";
    create(&hamlet, "narrow/is/unread", &long(32)).bad(full).await;
    create(&iago, "narrow/is/unread", &long(32)).ok().await;
    // What takes no more room stays possible, and gives room to others.
    let path = format!("{PATH}/narrow/is/dm");
    hamlet.patch(&path, &[("is_pinned", &true)]).ok().await;
    hamlet.patch(&path, &[("name", &"Short")]).ok().await;
    create(&hamlet, "narrow/is/unread", &long(32)).ok().await;
    hamlet.patch(&path, &[("name", &long(33))]).bad(full).await;
    hamlet.patch(&path, &[("name", &"Talks")]).ok().await;
}
