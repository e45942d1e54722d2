//! `POST` and `DELETE /users/me/avatar`, and where the picture is shown.

use super::{look, picture, png, registered};
use crate::support::{Person, TestServer};
use image::ImageFormat;
use serde_json::{Value, json};

async fn seen_by(viewer: &Person, id: u32) -> Value {
    viewer.get(&format!("/users/{id}"), &[]).ok().await["user"].clone()
}

#[tokio::test]
async fn a_picture_of_ones_own_is_shown_everywhere() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let channel = hamlet.create_channel("Denmark").await;
    assert_eq!(seen_by(&hamlet, hamlet.id).await["avatar_url"], Value::Null);
    for (format, version) in
        [(ImageFormat::Png, 2), (ImageFormat::Jpeg, 3), (ImageFormat::Gif, 4), (ImageFormat::WebP, 5)]
    {
        let body = hamlet.upload("/users/me/avatar", &[], &[("me", picture(300, 200, format))]).ok().await;
        let url = body["avatar_url"].as_str().unwrap().to_owned();
        assert!(
            url.starts_with("/user_avatars/1/") && url.ends_with(&format!(".png?version={version}")),
            "{url}"
        );
        assert_eq!(look(&othello, &url).await, ("image/png".to_owned(), 100, 100));
        let medium = url.replace(".png", "-medium.png");
        assert_eq!(look(&othello, &medium).await, ("image/png".to_owned(), 500, 500));
        let user = seen_by(&othello, hamlet.id).await;
        assert_eq!((&user["avatar_url"], &user["avatar_version"]), (&json!(url), &json!(version)));
        let state = registered(&hamlet).await;
        assert_eq!(state["avatar_source"], "U");
        assert_eq!((&state["avatar_url"], &state["avatar_url_medium"]), (&json!(url), &json!(medium)));
        hamlet.send(&channel, "t", "hello").await;
        assert_eq!(hamlet.messages(json!([])).await.last().unwrap()["avatar_url"], url);
    }
    let gone = hamlet.delete("/users/me/avatar", &[]).ok().await;
    assert!(gone["avatar_url"].as_str().unwrap().starts_with("https://secure.gravatar.com/avatar/"));
    assert!(gone["avatar_url"].as_str().unwrap().ends_with("&version=6"));
    assert_eq!(registered(&hamlet).await["avatar_source"], "G");
    assert_eq!(seen_by(&hamlet, hamlet.id).await["avatar_url"], Value::Null);
}

#[tokio::test]
async fn a_picture_survives_a_restart() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let url = hamlet.upload("/users/me/avatar", &[], &[("me.png", png())]).ok().await["avatar_url"].clone();
    let folder = t.stop().await;
    let t = TestServer::plan().on(folder).start().await;
    let hamlet = t.user("hamlet");
    assert_eq!(seen_by(&hamlet, hamlet.id).await["avatar_url"], url);
    assert_eq!(look(&hamlet, url.as_str().unwrap()).await.1, 100);
}

#[tokio::test]
async fn parameters_besides_the_file_are_told_to_be_ignored() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let body = hamlet.upload("/users/me/avatar", &[("crop", &"1")], &[("me.png", png())]).ok().await;
    assert_eq!(body["ignored_parameters_unsupported"], json!(["crop"]));
}

#[tokio::test]
async fn addresses_by_id_and_address_lead_to_the_picture() {
    let t = TestServer::start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    let url = hamlet.upload("/users/me/avatar", &[], &[("me.png", png())]).ok().await["avatar_url"].clone();
    let url = url.as_str().unwrap();
    let medium = url.replace(".png", "-medium.png");
    for (path, expected) in [
        (format!("/avatar/{}", hamlet.id), url.to_owned()),
        (format!("/avatar/{}/medium", hamlet.id), medium.clone()),
        (format!("/avatar/{}?x=1", hamlet.id), format!("{url}&x=1")),
        (format!("/avatar/{}", hamlet.api_email), url.to_owned()),
        (format!("/avatar/{}/medium", hamlet.api_email), medium.clone()),
    ] {
        let answer = othello.bare(reqwest::Method::GET, &path).await;
        assert_eq!((answer.status, answer.header("Location")), (302, expected.as_str()), "{path}");
    }
    for path in ["/avatar/99999", "/avatar/nobody@zulip.com"] {
        let answer = othello.bare(reqwest::Method::GET, path).await;
        assert_eq!(answer.status, 302);
        assert!(answer.header("Location").starts_with("https://secure.gravatar.com/avatar/"), "{path}");
    }
    let stranger = t.stranger().bare(reqwest::Method::GET, &format!("/avatar/{}", hamlet.id)).await;
    assert_eq!(stranger.status, 401);
}
