//! What incoming webhook bots are for: `service_name` and `config_data` of `POST /bots` and `PATCH /bots/{id}`.

use super::{make, shown};
use crate::support::{Params, TestServer};
use serde_json::{Value, json};

const INCOMING: &str = "2";

#[tokio::test]
async fn config_is_stored_and_merged() {
    let t = TestServer::start().await;
    let [iago, hamlet, othello] = t.users(["iago", "hamlet", "othello"]);
    let data = json!({"key": "secret", "unit": "ü"});
    let params: Params<'_> = &[("bot_type", &INCOMING), ("service_name", &"github"), ("config_data", &data)];
    let (bot, _) = make(&hamlet, "hook", params).await;
    let path = format!("/bots/{}", bot.id);
    let services = async || shown(&hamlet, &bot).await.unwrap()["services"].clone();
    assert_eq!(services().await, json!([{"service_name": "github", "config_data": data}]));
    // Other entries stay; an administrator may change them, too.
    let body = iago.patch(&path, &[("config_data", &json!({"unit": "m", "new": ""}))]).ok().await;
    let merged = json!({"key": "secret", "unit": "m", "new": ""});
    assert_eq!(body["config_data"], merged);
    let expected = json!([{"service_name": "github", "config_data": merged}]);
    assert_eq!(
        (services().await, shown(&iago, &bot).await.unwrap()["services"].clone()),
        (expected.clone(), expected)
    );
    // Changes of other properties and empty objects leave it as it is.
    let body = hamlet.patch(&path, &[("full_name", &"Renamed"), ("config_data", &json!({}))]).ok().await;
    assert_eq!(body["config_data"], merged);
    hamlet.patch(&path, &[("service_name", &" gitlab ")]).ok().await;
    assert_eq!(services().await[0]["service_name"], "gitlab");
    hamlet.patch(&path, &[("service_name", &"")]).ok().await;
    assert_eq!(services().await, json!([{"service_name": "", "config_data": merged}]));
    // Other people see neither the bot's configuration nor change it.
    othello.patch(&path, &[("config_data", &json!({"key": "x"}))]).bad("Insufficient permission").await;
    assert!(shown(&othello, &bot).await.is_none());
    for answer in [othello.get("/users", &[]).ok().await, othello.get("/bots", &[]).ok().await] {
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
    // The next owner has it, the former one does not.
    hamlet.patch(&path, &[("bot_owner_id", &othello.id)]).ok().await;
    assert_eq!(shown(&othello, &bot).await.unwrap()["services"][0]["config_data"], merged);
    assert!(shown(&hamlet, &bot).await.is_none());
    hamlet.patch(&path, &[("config_data", &json!({"key": "x"}))]).bad("Insufficient permission").await;
}

#[tokio::test]
async fn config_survives_a_restart() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let data = json!({"key": "value"});
    let params: Params<'_> = &[("bot_type", &INCOMING), ("service_name", &"github"), ("config_data", &data)];
    let (bot, _) = make(&hamlet, "hook", params).await;
    hamlet.patch(&format!("/bots/{}", bot.id), &[("config_data", &json!({"more": "1"}))]).ok().await;
    let t = TestServer::builder().on(t.stop().await).start().await;
    let hamlet = t.user("hamlet");
    let expected = json!([{"service_name": "github", "config_data": {"key": "value", "more": "1"}}]);
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["services"], expected);
}

#[tokio::test]
async fn config_errors() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let (bot, _) = make(&hamlet, "hook", &[("bot_type", &INCOMING)]).await;
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["services"], json!([]));
    let (generic, _) = make(&hamlet, "generic", &[]).await;
    let (outgoing, _) = make(&hamlet, "out", &[("bot_type", &3)]).await;
    let paths = [&bot, &generic, &outgoing].map(|bot| format!("/bots/{}", bot.id));
    let long = "é".repeat(9_999);
    let no_config = "Only incoming webhook bots have configuration data";
    let no_integration = "Only incoming webhook bots have an integration";
    let too_long = "Cannot store configuration. Request would require 10001 characters. \
                    The bot's configuration size limit is 10000 characters.";
    let cases: [(&str, &str, Value, &str); 11] = [
        (&paths[0], "service_name", json!("tea"), "Invalid integration 'tea'."),
        (&paths[0], "service_name", json!("../github"), "Invalid integration '../github'."),
        (&paths[0], "config_data", json!([]), "config_data is not a dict"),
        (&paths[0], "config_data", json!({"a": 1}), "config_data[\"a\"] is not a string"),
        (&paths[0], "config_data", json!({"a": {"b": "c"}}), "config_data[\"a\"] is not a string"),
        (&paths[0], "config_data", json!({"ab": long}), too_long),
        (&paths[0], "config_data", json!({"a": "b", "c": long[2..]}), too_long),
        (&paths[1], "config_data", json!({"a": "b"}), no_config),
        (&paths[2], "config_data", json!({"a": "b"}), no_config),
        (&paths[1], "service_name", json!("github"), no_integration),
        (&paths[2], "service_name", json!("github"), no_integration),
    ];
    for (path, name, value, msg) in &cases {
        // The whole request is refused.
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let answer = hamlet.patch(path, &[("full_name", &"Changed"), (name, &value)]).await;
        assert_eq!((answer.status, answer.body["msg"].as_str()), (400, Some(*msg)), "{path} {name}={value}");
        assert_eq!(answer.body["code"], "BAD_REQUEST");
    }
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["services"], json!([]));
    assert_eq!(shown(&hamlet, &bot).await.unwrap()["full_name"], "hook the bot");
    // The whole length is permitted, and a value that is replaced makes room.
    for value in [&long, "short", &long] {
        hamlet.patch(&paths[0], &[("config_data", &json!({"a": value}))]).ok().await;
    }
    hamlet.patch(&paths[0], &[("config_data", &json!({"": "x"}))]).bad(too_long).await;
    // A bot with a configuration that is refused is not created.
    let create = |kind: u8, name: &'static str, value: Value| {
        let hamlet = hamlet.clone();
        async move {
            let params: Params<'_> =
                &[("full_name", &"New"), ("short_name", &"new"), ("bot_type", &kind), (name, &value)];
            hamlet.post("/bots", params).await
        }
    };
    for (kind, name, value, msg) in [
        (1, "config_data", json!({"a": "b"}), no_config),
        (3, "config_data", json!({"a": "b"}), no_config),
        (4, "config_data", json!({"a": "b"}), "Embedded bots are not enabled."),
        (2, "config_data", json!({"ab": long}), too_long),
        (2, "config_data", json!(["a"]), "config_data is not a dict"),
    ] {
        assert_eq!(create(kind, name, value).await.body["msg"], msg);
    }
    let unknown: Params<'_> =
        &[("full_name", &"New"), ("short_name", &"new"), ("bot_type", &INCOMING), ("service_name", &"tea")];
    hamlet.post("/bots", unknown).bad("Invalid integration 'tea'.").await;
    assert_eq!(hamlet.get("/bots", &[]).ok().await["bots"].as_array().unwrap().len(), 3);
}
