//! `GET /streams`.

use super::channel_keys;
use crate::support::shape::{fields, words};
use crate::support::{Params, TestServer, TestUser, keys};
use serde_json::json;

async fn names(who: &TestUser, params: Params<'_>) -> Vec<String> {
    let body = who.get("/streams", params).ok().await;
    let streams = body["streams"].as_array().unwrap().iter();
    streams.map(|channel| channel["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn list_channels_visibility_by_role() {
    let t = TestServer::start().await;
    let [iago, hamlet, polonius] = t.users(["iago", "hamlet", "polonius"]);
    iago.create_channel("Verona").await;
    iago.create_channel("Rome").with(&hamlet).await;
    iago.create_channel("secret").private().await;
    hamlet.create_channel("plot").private().with(&polonius).await;
    assert_eq!(names(&hamlet, &[]).await, ["Rome", "Verona", "plot"]);
    assert_eq!(names(&hamlet, &[("include_public", &false)]).await, ["Rome", "plot"]);
    assert_eq!(names(&hamlet, &[("include_subscribed", &false)]).await, ["Rome", "Verona"]);
    let none: Params<'_> = &[("include_public", &false), ("include_subscribed", &false)];
    assert_eq!(names(&hamlet, none).await, [] as [&str; 0]);
    assert_eq!(names(&polonius, &[]).await, ["plot"]);
    assert_eq!(names(&polonius, &[("include_all", &true)]).await, ["plot"]);
    // Administrators see all channels, but only the content of their own.
    assert_eq!(names(&iago, &[("include_all", &true)]).await, ["Rome", "Verona", "plot", "secret"]);
    assert_eq!(names(&iago, &[("include_all_active", &true)]).await, ["Rome", "Verona", "plot", "secret"]);
    let readable: Params<'_> = &[("include_can_access_content", &true)];
    assert_eq!(names(&iago, readable).await, ["Rome", "Verona", "secret"]);
    assert_eq!(names(&iago, &[]).await, ["Rome", "Verona", "secret"]);
}

#[tokio::test]
async fn list_channels_shape() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let create = iago.create_channel("Verona").with(&hamlet).set("description", json!("A *city*"));
    let channel = create.await;
    let body = hamlet.get("/streams", &[]).ok().await;
    assert_eq!(fields(&body), ["streams"]);
    let found = &body["streams"][0];
    assert_eq!(keys(found), channel_keys());
    let creator = json!({"direct_members": [iago.id], "direct_subgroups": []});
    let expected = json!({
        "stream_id": channel.id, "name": "Verona", "is_archived": false, "creator_id": iago.id,
        "description": "\"A *city*\"", "invite_only": false, "is_web_public": false,
        "history_public_to_subscribers": true, "stream_post_policy": 1, "is_announcement_only": false,
        "message_retention_days": null, "topics_policy": "inherit", "folder_id": null,
        "is_recently_active": true, "subscriber_count": 2, "stream_weekly_traffic": null,
        "can_administer_channel_group": creator, "can_remove_subscribers_group": 3,
        "can_send_message_group": 7, "can_add_subscribers_group": 1, "can_subscribe_group": 1,
        "can_delete_any_message_group": 1, "can_delete_own_message_group": 1,
        "can_move_messages_out_of_channel_group": 1, "can_move_messages_within_channel_group": 1,
        "can_resolve_topics_group": 1,
    });
    for (key, value) in expected.as_object().unwrap() {
        // Descriptions are plain strings, so the quotes sent above are part of it.
        assert_eq!(&found[key], value, "{key}");
    }
    let body = hamlet.get("/streams", &[("include_default", &true)]).ok().await;
    let mut expected = channel_keys();
    expected.extend(words("is_default"));
    expected.sort_unstable();
    assert_eq!(keys(&body["streams"][0]), expected);
}

#[tokio::test]
async fn list_channels_errors() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    for name in [
        "include_public",
        "include_web_public",
        "include_subscribed",
        "exclude_archived",
        "include_all",
        "include_all_active",
        "include_default",
        "include_owner_subscribed",
        "include_can_access_content",
    ] {
        iago.get("/streams", &[(name, &"perhaps")]).bad(&format!("{name} is not valid JSON")).await;
        iago.get("/streams", &[(name, &"1")]).bad(&format!("{name} is not a boolean")).await;
    }
}
