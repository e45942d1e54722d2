//! Events for every change of pictures and emoji: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify::verify;
use crate::api::pictures::{moving, png};
use crate::support::TestServer;
use serde_json::json;

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

#[tokio::test]
async fn avatar_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &ALL, async {
        hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await;
        hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await;
        hamlet.delete("/users/me/avatar", &[]).ok().await;
    })
    .await;
    for name in ALL {
        assert_eq!(kinds(&seen, name), ["realm_user update"; 3], "{name}");
        for (event, (source, version)) in seen[name].iter().zip([("U", 2), ("U", 3), ("G", 4)]) {
            let person = event["person"].as_object().unwrap();
            let mut keys: Vec<&str> = person.keys().map(String::as_str).collect();
            keys.sort_unstable();
            assert_eq!(
                keys,
                ["avatar_source", "avatar_url", "avatar_url_medium", "avatar_version", "user_id"]
            );
            assert_eq!(
                (&person["avatar_source"], &person["avatar_version"]),
                (&json!(source), &json!(version))
            );
            assert!(person["avatar_url"].is_string(), "{event}");
        }
    }
}

/// The pictures of all members change with it, which has no events (docs/api/events.md#realm_user).
#[tokio::test]
async fn default_avatar_source_has_one_event() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let mut queue = iago.register().modern().await;
    iago.patch("/realm", &[("default_avatar_source", &"G")]).ok().await;
    let events = queue.now().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["data"], json!({"default_avatar_source": "G"}));
    let picture = |state: &serde_json::Value| state["avatar_url"].as_str().expect("a URL").to_owned();
    let now = iago.register().modern().await;
    assert!(picture(&now.state) != picture(&queue.state), "registering again has the new ones");
}

#[tokio::test]
async fn realm_icon_and_logo_events() {
    let t = TestServer::start().await;
    let iago = t.user("iago");
    let seen = verify(&t, &ALL, async {
        iago.upload("/realm/icon", &[], &[("a.png", png())]).ok().await;
        iago.delete("/realm/icon", &[]).ok().await;
        for night in [false, true] {
            iago.upload("/realm/logo", &[("night", &night)], &[("a.png", png())]).ok().await;
            iago.delete("/realm/logo", &[("night", &night)]).ok().await;
        }
    })
    .await;
    for name in ALL {
        assert_eq!(kinds(&seen, name), ["realm update_dict"; 6], "{name}");
        let words = ["icon", "icon", "logo", "logo", "night_logo", "night_logo"];
        for (position, (event, word)) in seen[name].iter().zip(words).enumerate() {
            assert_eq!(event["property"], word);
            let source = match (position % 2, word) {
                (0, _) => "U",
                (_, "icon") => "G",
                _ => "D",
            };
            let data = event["data"].as_object().unwrap();
            assert_eq!(data.len(), 2, "{event}");
            assert_eq!(data[&format!("{word}_source")], source, "{event}");
            assert!(data[&format!("{word}_url")].is_string(), "{event}");
        }
    }
}

#[tokio::test]
async fn realm_emoji_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let seen = verify(&t, &ALL, async {
        hamlet.upload("/realm/emoji/blob", &[], &[("a.png", png())]).ok().await;
        hamlet.upload("/realm/emoji/dance", &[], &[("a.gif", moving())]).ok().await;
        hamlet.delete("/realm/emoji/blob", &[]).ok().await;
    })
    .await;
    for name in ALL {
        assert_eq!(kinds(&seen, name), ["realm_emoji update"; 3], "{name}");
        let sizes: Vec<usize> =
            seen[name].iter().map(|event| event["realm_emoji"].as_object().unwrap().len()).collect();
        assert_eq!(sizes, [1, 2, 2]);
        assert_eq!(seen[name][1]["realm_emoji"]["1"]["deactivated"], false);
        assert_eq!(seen[name][2]["realm_emoji"]["1"]["deactivated"], true);
    }
}

#[tokio::test]
async fn picture_events_after_restart() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let queue = iago.register().modern().await;
    hamlet.upload("/realm/emoji/blob", &[], &[("a.png", png())]).ok().await;
    hamlet.delete("/realm/emoji/blob", &[]).ok().await;
    hamlet.upload("/realm/emoji/blob", &[], &[("a.png", png())]).ok().await;
    hamlet.upload("/users/me/avatar", &[], &[("a.png", png())]).ok().await;
    let folder = t.stop().await;
    let t = TestServer::builder().on(folder).start().await;
    let iago = t.user("iago");
    let events =
        iago.get("/events", &[("queue_id", &queue.id), ("last_event_id", &-1), ("dont_block", &true)]);
    let events = events.ok().await["events"].clone();
    let of = |kind: &str| {
        events.as_array().unwrap().iter().filter(|event| event["type"] == kind).collect::<Vec<_>>()
    };
    let emoji = of("realm_emoji");
    let states: Vec<_> = emoji.iter().map(|event| event["realm_emoji"].clone()).collect();
    assert_eq!(states.iter().map(|state| state.as_object().unwrap().len()).collect::<Vec<_>>(), [1, 1, 2]);
    assert_eq!(
        (&states[0]["1"]["deactivated"], &states[1]["1"]["deactivated"]),
        (&json!(false), &json!(true))
    );
    let people = of("realm_user");
    assert_eq!((people.len(), &people[0]["person"]["avatar_source"]), (1, &json!("U")));
}
