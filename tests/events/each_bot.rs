//! Events for every change of a bot: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use super::verify::Seen;
use crate::api::bots::make;
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const ALL: [&str; 4] = ["iago", "hamlet", "othello", "polonius"];

/// The `realm_bot` events that a user got, without their ids.
fn about_bots(seen: &Seen, name: &str) -> Vec<Value> {
    let events = seen[name].iter().filter(|event| event["type"] == "realm_bot");
    let fields = |event: &Value| json!([event["op"], event["bot"]]);
    events.map(fields).collect()
}

#[tokio::test]
async fn create_bot_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let mut made = None;
    let seen = verify(&t, &ALL, async {
        let url = json!("http://bots.example.com/");
        let params: Params<'_> = &[("bot_type", &3), ("payload_url", &url)];
        made = Some(make(&hamlet, "new", params).await.0);
    })
    .await;
    let bot = made.unwrap();
    for name in ["iago", "hamlet"] {
        let own = kinds(&seen, name);
        assert_eq!(
            (own.first().unwrap().as_str(), own.last().unwrap().as_str()),
            ("realm_user add", "realm_bot add")
        );
        let received = about_bots(&seen, name)[0][1].clone();
        // Only the owner gets the key.
        let key = if name == "hamlet" { bot.key.as_str() } else { "" };
        assert_eq!((&received["api_key"], &received["owner_id"]), (&json!(key), &json!(hamlet.id)));
        assert_eq!(received["services"][0]["token"] == "", name == "iago");
        assert_eq!(received["services"][0]["base_url"], "http://bots.example.com/");
        assert_eq!(received["services"][0]["interface"], 1);
    }
    for name in ["othello", "polonius"] {
        let text = serde_json::to_string(&seen[name]).unwrap();
        assert!(!text.contains(&bot.key) && about_bots(&seen, name).is_empty(), "{text}");
        assert!(kinds(&seen, name).contains(&"realm_user add".to_owned()));
    }
}

#[tokio::test]
async fn update_bot_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    hamlet.create_channel("Verona").await;
    let (bot, _) = make(&hamlet, "rec", &[("bot_type", &3)]).await;
    let path = format!("/bots/{}", bot.id);
    let mut key = String::new();
    let seen = verify(&t, &ALL, async {
        let change = |params: Params<'_>| hamlet.patch(&path, params);
        change(&[("full_name", &"Recorder")]).ok().await;
        change(&[("full_name", &"Recorder")]).ok().await;
        change(&[("default_sending_stream", &"Verona"), ("default_all_public_streams", &true)]).ok().await;
        change(&[("default_events_register_stream", &"Verona")]).ok().await;
        change(&[("service_payload_url", &"\"http://bots.example.com/\"")]).ok().await;
        change(&[("short_name", &"recorder")]).ok().await;
        iago.patch(&path, &[("role", &600)]).ok().await;
        let renewed = hamlet.post(&format!("{path}/api_key/regenerate"), &[]).ok().await;
        key = renewed["api_key"].as_str().unwrap().to_owned();
        hamlet.delete(&path, &[]).ok().await;
        hamlet.delete(&path, &[]).ok().await;
        iago.post(&format!("/users/{}/reactivate", bot.id), &[]).ok().await;
    })
    .await;
    for name in ["iago", "hamlet"] {
        let received = about_bots(&seen, name);
        let id = bot.id;
        let expected = [
            json!({"user_id": id, "full_name": "Recorder"}),
            json!({"user_id": id, "default_sending_stream": "Verona"}),
            json!({"user_id": id, "default_all_public_streams": true}),
            json!({"user_id": id, "default_events_register_stream": "Verona"}),
            json!({"user_id": id, "services": received[4][1]["services"]}),
            json!({"user_id": id, "email": "recorder-bot@zulipdev.com"}),
        ];
        for (position, expected) in expected.iter().enumerate() {
            assert_eq!(received[position], json!(["update", expected]), "{name} {position}");
        }
        assert_eq!(received[4][1]["services"][0]["base_url"], "http://bots.example.com/");
        let rest: Vec<&Value> = received[6..].iter().map(|event| &event[1]).collect();
        let has = |wanted: Value| rest.iter().any(|event| **event == wanted);
        assert_eq!(has(json!({"user_id": id, "api_key": key})), name == "hamlet", "{rest:?}");
        assert!(has(json!({"user_id": id, "is_active": false})), "{rest:?}");
        assert!(has(json!({"user_id": id, "is_active": true})), "{rest:?}");
    }
    for name in ["othello", "polonius"] {
        assert!(about_bots(&seen, name).is_empty());
        assert!(!serde_json::to_string(&seen[name]).unwrap().contains(&key));
    }
}

#[tokio::test]
async fn bot_owner_change_events() {
    let t = TestServer::start().await;
    let [hamlet, othello, iago] = t.users(["hamlet", "othello", "iago"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let path = format!("/bots/{}", bot.id);
    let id = bot.id;
    let seen = verify(&t, &ALL, async {
        hamlet.patch(&path, &[("bot_owner_id", &othello.id)]).ok().await;
    })
    .await;
    assert_eq!(about_bots(&seen, "hamlet"), [json!(["delete", {"user_id": id}])]);
    assert_eq!(about_bots(&seen, "othello")[0][0], "add");
    let key = about_bots(&seen, "othello")[0][1]["api_key"].clone();
    assert!(key != json!(bot.key) && key != "", "the old owner knows the old key");
    assert_eq!(about_bots(&seen, "iago"), [json!(["update", {"user_id": id, "owner_id": othello.id}])]);
    assert!(about_bots(&seen, "polonius").is_empty());
    for name in ALL {
        assert!(kinds(&seen, name).contains(&"realm_user update".to_owned()), "{name}");
    }
    // From an owner to an administrator, who knew the bot already.
    let seen = verify(&t, &ALL, async {
        othello.patch(&path, &[("bot_owner_id", &iago.id)]).ok().await;
    })
    .await;
    assert_eq!(about_bots(&seen, "othello")[0][0], "delete");
    let received = about_bots(&seen, "iago");
    assert_eq!(received[0], json!(["update", {"user_id": id, "owner_id": iago.id}]));
    assert!(received.len() == 2 && received[1][1]["api_key"].is_string(), "{received:?}");
}

/// Administrators manage the bot before and after, but only its owner has the key and the token.
#[tokio::test]
async fn bot_owner_change_between_administrators_events() {
    let t = TestServer::start().await;
    let [desdemona, iago, hamlet] = t.users(["desdemona", "iago", "hamlet"]);
    let url = json!("http://bots.example.com/");
    let (asker, _) = make(&desdemona, "asker", &[("bot_type", &3), ("payload_url", &url)]).await;
    for owner in [&iago, &hamlet, &desdemona] {
        let seen = verify(&t, &["desdemona", "iago", "hamlet", "polonius"], async {
            desdemona.patch(&format!("/bots/{}", asker.id), &[("bot_owner_id", &owner.id)]).ok().await;
        })
        .await;
        let former = if owner.id == iago.id { "desdemona" } else { "iago" };
        let received = about_bots(&seen, former);
        assert_eq!(received[0], json!(["update", {"user_id": asker.id, "owner_id": owner.id}]));
        let has_lost = owner.id != desdemona.id;
        assert_eq!(received.contains(&json!(["update", {"user_id": asker.id, "api_key": ""}])), has_lost);
        let tokens: Vec<&Value> = received.iter().filter_map(|event| event[1].get("services")).collect();
        assert_eq!(tokens.len(), usize::from(has_lost), "{received:?}");
        assert!(tokens.iter().all(|services| services[0]["token"] == ""), "{received:?}");
    }
}

#[tokio::test]
async fn deactivated_owner_bot_events() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let (bot, _) = make(&hamlet, "rec", &[]).await;
    let seen = verify(&t, &["iago", "othello"], async {
        iago.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    })
    .await;
    assert_eq!(about_bots(&seen, "iago"), [json!(["update", {"user_id": bot.id, "is_active": false}])]);
    assert!(about_bots(&seen, "othello").is_empty());
}

/// Administrators manage all bots, deactivated ones included; a former administrator manages their own only.
#[tokio::test]
async fn bot_events_follow_manager_role() {
    let t = TestServer::start().await;
    let [desdemona, hamlet, othello] = t.users(["desdemona", "hamlet", "othello"]);
    let (own, _) = make(&hamlet, "own", &[]).await;
    let url = json!("http://bots.example.com/");
    let (asker, _) = make(&othello, "asker", &[("bot_type", &3), ("payload_url", &url)]).await;
    let (retired, _) = make(&othello, "retired", &[]).await;
    othello.delete(&format!("/bots/{}", retired.id), &[]).ok().await;
    let path = format!("/users/{}", hamlet.id);
    let all = ["desdemona", "hamlet", "othello", "polonius"];
    for (role, op) in [(200, "add"), (100, ""), (200, ""), (300, "delete"), (100, "add"), (400, "delete")] {
        let seen = verify(&t, &all, async {
            desdemona.patch(&path, &[("role", &role)]).ok().await;
        })
        .await;
        let received = about_bots(&seen, "hamlet");
        assert_eq!(received.is_empty(), op.is_empty(), "{role}: {received:?}");
        assert!(
            received.iter().all(|event| event[0] == op && event[1]["user_id"] != own.id),
            "{role}: {received:?}"
        );
        let of = |bot: &crate::support::TestUser| received.iter().find(|event| event[1]["user_id"] == bot.id);
        match op {
            "add" => {
                let asker_now = &of(&asker).unwrap()[1];
                assert_eq!(asker_now["services"][0]["base_url"], "http://bots.example.com/");
                assert_eq!((&asker_now["api_key"], &asker_now["owner_id"]), (&json!(""), &json!(othello.id)));
                assert_eq!(of(&retired).unwrap()[1]["is_active"], false);
            }
            "delete" => assert_eq!(of(&asker).unwrap()[1], json!({"user_id": asker.id})),
            _ => {}
        }
        for name in ["desdemona", "othello", "polonius"] {
            assert_eq!(about_bots(&seen, name), [] as [Value; 0], "{role}: {name}");
        }
        if !op.is_empty() {
            let kinds = kinds(&seen, "hamlet");
            let role_at = kinds.iter().position(|kind| kind == "realm_user update").unwrap();
            let bots_at = kinds.iter().position(|kind| kind.starts_with("realm_bot")).unwrap();
            assert!(role_at < bots_at, "{kinds:?}");
        }
    }
}

/// A bot with the administrator role manages all bots, itself included.
#[tokio::test]
async fn bot_role_events() {
    let t = TestServer::start().await;
    let [desdemona, iago] = t.users(["desdemona", "iago"]);
    let (bot, _) = make(&iago, "rec", &[]).await;
    let (other, _) = make(&iago, "other", &[]).await;
    let change = async |role: u32| {
        desdemona.patch(&format!("/users/{}", bot.id), &[("role", &role)]).ok().await;
    };
    for (role, op) in [(200, "add"), (400, "delete")] {
        let mut queue = bot.register().events(&["realm_bot"]).await;
        change(role).await;
        let mut received: Vec<Value> = queue.now().await;
        received.sort_by_key(|event| event["bot"]["user_id"].as_u64());
        let ids: Vec<&Value> = received.iter().map(|event| &event["bot"]["user_id"]).collect();
        assert!(received.iter().all(|event| event["op"] == op), "{received:?}");
        assert!(ids.contains(&&json!(bot.id)) && ids.contains(&&json!(other.id)), "{received:?}");
        let after = bot.register().events(&["realm_bot"]).await;
        let listed = after.state["realm_bots"].as_array().unwrap().len();
        assert_eq!(listed, if op == "add" { ids.len() } else { 0 });
    }
}

#[tokio::test]
async fn reactivated_bot_with_new_owner_events() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let (bot, _) = make(&hamlet, "lost", &[]).await;
    iago.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    let seen = verify(&t, &["desdemona", "iago", "othello", "polonius"], async {
        iago.post(&format!("/users/{}/reactivate", bot.id), &[]).ok().await;
    })
    .await;
    let received = [
        json!(["update", {"user_id": bot.id, "is_active": true}]),
        json!(["update", {"user_id": bot.id, "owner_id": iago.id}]),
    ];
    assert_eq!(about_bots(&seen, "desdemona"), received);
    let own = about_bots(&seen, "iago");
    assert_eq!(own[..2], received);
    assert!(own.len() == 3 && own[2][1]["api_key"].is_string(), "{own:?}");
    assert_eq!(about_bots(&seen, "othello"), [] as [Value; 0]);
}

/// The configuration of incoming webhook bots is for their managers only.
#[tokio::test]
async fn bot_integration_events() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let mut made = None;
    let data = json!({"key": "a-secret-text"});
    let seen = verify(&t, &ALL, async {
        let params: Params<'_> = &[("bot_type", &2), ("service_name", &"github"), ("config_data", &data)];
        made = Some(make(&hamlet, "hook", params).await.0);
    })
    .await;
    let bot = made.unwrap();
    let path = format!("/bots/{}", bot.id);
    for name in ["iago", "hamlet"] {
        let received = about_bots(&seen, name);
        assert_eq!((received.len(), &received[0][0]), (1, &json!("add")), "{received:?}");
        assert_eq!(received[0][1]["services"], json!([{"service_name": "github", "config_data": data}]));
    }
    let changed = verify(&t, &ALL, async {
        hamlet.patch(&path, &[("config_data", &json!({"unit": "m"}))]).ok().await;
        // The same values again are no change.
        hamlet
            .patch(&path, &[("config_data", &json!({"unit": "m"})), ("service_name", &"github")])
            .ok()
            .await;
        iago.patch(&path, &[("service_name", &"gitlab")]).ok().await;
    })
    .await;
    let data = json!({"key": "a-secret-text", "unit": "m"});
    let update = |name: &str| {
        let services = json!([{"service_name": name, "config_data": data}]);
        json!(["update", {"user_id": bot.id, "services": services}])
    };
    for name in ["iago", "hamlet"] {
        assert_eq!(about_bots(&changed, name), [update("github"), update("gitlab")], "{name}");
    }
    let handed_over = verify(&t, &ALL, async {
        let params: Params<'_> = &[("bot_owner_id", &othello.id), ("config_data", &json!({"unit": "s"}))];
        hamlet.patch(&path, params).ok().await;
    })
    .await;
    assert_eq!(about_bots(&handed_over, "hamlet"), [json!(["delete", {"user_id": bot.id}])]);
    assert_eq!(about_bots(&handed_over, "othello")[0][1]["services"][0]["config_data"]["unit"], "s");
    for (seen, name) in
        [(&seen, "othello"), (&seen, "polonius"), (&changed, "othello"), (&handed_over, "polonius")]
    {
        let text = serde_json::to_string(&seen[name]).unwrap();
        assert!(about_bots(seen, name).is_empty() && !text.contains("a-secret-text"), "{name}: {text}");
    }
}
