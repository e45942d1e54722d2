//! `/realm/icon` and `/realm/logo`.

use super::{fetch_picture, picture, png, registered};
use crate::support::TestServer;
use image::ImageFormat;
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn realm_icon() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let before = registered(&hamlet).await;
    assert_eq!(before["realm_icon_source"], "G");
    let body = iago.upload("/realm/icon", &[], &[("icon.png", png())]).ok().await;
    let url = body["icon_url"].as_str().unwrap();
    assert!(url.starts_with("/user_avatars/1/realm/") && url.ends_with(".png?version=2"), "{url}");
    assert_eq!(fetch_picture(&hamlet, url).await, ("image/png".to_owned(), 100, 100));
    let state = registered(&hamlet).await;
    assert_eq!((&state["realm_icon_url"], &state["realm_icon_source"]), (&json!(url), &json!("U")));
    assert_eq!(t.anonymous().get("/server_settings", &[]).ok().await["realm_icon"], url);
    let shown = hamlet.bare(Method::GET, "/realm/icon?size=1").await;
    assert_eq!((shown.status, shown.header("Location")), (302, format!("{url}&size=1").as_str()));
    let gone = iago.delete("/realm/icon", &[]).ok().await;
    assert_eq!(gone["icon_url"], before["realm_icon_url"]);
    assert_eq!(registered(&hamlet).await["realm_icon_source"], "G");
}

#[tokio::test]
async fn realm_day_and_night_logo() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let logo = picture(2000, 100, ImageFormat::Jpeg);
    for (night, key) in [(false, "logo"), (true, "night_logo")] {
        iago.upload("/realm/logo", &[("night", &night)], &[("logo.jpg", logo.clone())]).ok().await;
        let state = registered(&hamlet).await;
        let url = state[format!("realm_{key}_url")].as_str().unwrap();
        assert_eq!(fetch_picture(&hamlet, url).await, ("image/png".to_owned(), 800, 40));
        assert_eq!(state[format!("realm_{key}_source")], "U");
        let shown = hamlet.get("/realm/logo", &[("night", &night)]).await;
        assert_eq!((shown.status, shown.header("Location")), (302, format!("{url}&night={night}").as_str()));
    }
    iago.delete("/realm/logo", &[("night", &false)]).ok().await;
    let state = registered(&hamlet).await;
    assert_eq!((&state["realm_logo_source"], &state["realm_night_logo_source"]), (&json!("D"), &json!("U")));
    let missing =
        json!({"msg": "Missing 'night' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "night"});
    iago.upload("/realm/logo", &[], &[("logo.jpg", logo)]).refused(400, missing.clone()).await;
    iago.delete("/realm/logo", &[]).refused(400, missing).await;
}
