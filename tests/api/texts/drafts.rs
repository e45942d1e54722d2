//! `/drafts`.

use crate::support::{TestServer, TestUser};
use serde_json::{Value, json};

const PATH: &str = "/drafts";

async fn listed(who: &TestUser) -> Value {
    let answer = who.get(PATH, &[]).ok().await;
    assert_eq!(answer["count"].as_u64(), answer["drafts"].as_array().map(|drafts| drafts.len() as u64));
    answer["drafts"].clone()
}

async fn keep(who: &TestUser, drafts: Value) -> Vec<u64> {
    let answer = who.post(PATH, &[("drafts", &drafts)]).ok().await;
    answer["ids"].as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
}

fn unaddressed(content: &str) -> Value {
    json!({"type": "", "to": [], "topic": "", "content": content})
}

#[tokio::test]
async fn drafts_are_kept_changed_and_deleted() {
    let t = TestServer::start().await;
    let [hamlet, iago, othello] = t.users(["hamlet", "iago", "othello"]);
    let channel = hamlet.create_channel("Verona").await;
    let to_channel = json!({
        "type": "stream", "to": [channel.id], "topic": "drafty", "content": "half a **thought**",
        "timestamp": 1_795_239_000,
    });
    let to_people = json!({
        "type": "private", "to": [othello.id, iago.id], "topic": "x", "content": "dear both\n\n",
        "timestamp": 1_795_239_001.5,
    });
    let ids = keep(&hamlet, json!([to_channel, to_people])).await;
    let mut people = [iago.id, othello.id];
    people.sort_unstable();
    let first = json!({
        "id": ids[0], "type": "stream", "to": [channel.id], "topic": "drafty",
        "content": "half a **thought**", "timestamp": 1_795_239_000,
    });
    let second = json!({
        "id": ids[1], "type": "private", "to": people, "topic": "", "content": "dear both",
        "timestamp": 1_795_239_001,
    });
    assert_eq!(listed(&hamlet).await, json!([first, second]));
    assert_eq!(hamlet.register().await.state["drafts"], json!([second, first]), "newest first");
    assert_eq!(listed(&iago).await, json!([]), "they are one's own");
    let changed = json!({"type": "", "to": [], "topic": "", "content": "no place yet", "timestamp": 7});
    hamlet.patch(&format!("{PATH}/{}", ids[1]), &[("draft", &changed)]).ok().await;
    let second = json!({
        "id": ids[1], "type": "", "to": [], "topic": "", "content": "no place yet", "timestamp": 7,
    });
    assert_eq!(listed(&hamlet).await, json!([second, first]), "the one changed last is at the end");
    hamlet.delete(&format!("{PATH}/{}", ids[0]), &[]).ok().await;
    assert_eq!(listed(&hamlet).await, json!([second]));
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(listed(&t.user("hamlet")).await, json!([second]));
    assert_eq!(keep(&t.user("hamlet"), json!([unaddressed("new")])).await, [ids[1] + 1]);
}

#[tokio::test]
async fn draft_to_oneself_names_oneself() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let own = json!({"type": "private", "to": [hamlet.id], "topic": "", "content": "note"});
    let unaddressed = json!({"type": "private", "to": [], "topic": "", "content": "to whom"});
    keep(&hamlet, json!([own, unaddressed])).await;
    let drafts = listed(&hamlet).await;
    assert_eq!((&drafts[0]["type"], &drafts[0]["to"]), (&json!("private"), &json!([hamlet.id])));
    assert_eq!((&drafts[1]["type"], &drafts[1]["to"]), (&json!(""), &json!([])));
}

#[tokio::test]
async fn draft_errors() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let secret = iago.create_channel("secret").private().await;
    let ids = keep(&hamlet, json!([unaddressed("kept")])).await;
    let path = format!("{PATH}/{}", ids[0]);
    let stream = |to: Value, topic: &str| json!({"type": "stream", "to": to, "topic": topic, "content": "y"});
    let with = |key: &str, value: Value| {
        let mut draft = unaddressed("y");
        draft[key] = value;
        draft
    };
    for (draft, msg) in [
        (unaddressed("  "), "{}[\"content\"] cannot be blank"),
        (with("extra", json!(1)), "Argument \"extra\" at {}[\"extra\"] is unexpected"),
        (with("type", json!("direct")), "Invalid {}[\"type\"]"),
        (with("to", json!(["x"])), "{}[\"to\"][0] is not an integer"),
        (with("timestamp", json!("now")), "{}[\"timestamp\"] is not a float"),
        (with("timestamp", json!(-1)), "Timestamp must not be negative."),
        (with("timestamp", json!(1e300)), "timestamp is too large"),
        (json!({"type": "", "to": [], "content": "y"}), "{}[\"topic\"] field is missing"),
        (stream(json!([1, 2]), "x"), "Must specify exactly 1 channel ID for channel messages"),
        (stream(json!([]), "x"), "Must specify exactly 1 channel ID for channel messages"),
        (stream(json!([secret.id]), "x"), "Invalid channel ID"),
        (stream(json!([99_999]), "x"), "Invalid channel ID"),
        (stream(json!([1]), "a\0b"), "Topic must not contain null bytes"),
        (json!({"type": "private", "to": [99_999], "topic": "", "content": "y"}), "Invalid user ID 99999"),
    ] {
        let list = json!([unaddressed("first"), draft]);
        hamlet.post(PATH, &[("drafts", &list)]).bad(&msg.replace("{}", "drafts[1]")).await;
        hamlet.patch(&path, &[("draft", &draft)]).bad(&msg.replace("{}", "draft")).await;
    }
    let missing = json!({"msg": "Draft does not exist", "code": "BAD_REQUEST"});
    iago.patch(&path, &[("draft", &unaddressed("z"))]).refused(404, missing.clone()).await;
    iago.delete(&path, &[]).refused(404, missing).await;
    assert_eq!(listed(&hamlet).await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn drafts_are_forgotten_without_synchronization() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let ids = keep(&hamlet, json!([unaddressed("a"), unaddressed("b")])).await;
    let path = format!("{PATH}/{}", ids[0]);
    hamlet.patch("/settings", &[("enable_drafts_synchronization", &false)]).ok().await;
    assert_eq!(listed(&hamlet).await, json!([]));
    assert_eq!(hamlet.register().await.state["drafts"], json!([]));
    let disabled = "User has disabled synchronizing drafts.";
    hamlet.post(PATH, &[("drafts", &json!([]))]).bad(disabled).await;
    hamlet.patch(&path, &[("draft", &unaddressed("z"))]).bad(disabled).await;
    hamlet.delete(&path, &[]).bad(disabled).await;
    hamlet.patch("/settings", &[("enable_drafts_synchronization", &true)]).ok().await;
    assert_eq!(listed(&hamlet).await, json!([]));
    assert_eq!(keep(&hamlet, json!([unaddressed("c")])).await, [ids[1] + 1]);
}

#[tokio::test]
async fn drafts_of_an_account_are_bounded() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let drafts: Vec<Value> = (0..1000).map(|_| unaddressed("x")).collect();
    keep(&hamlet, json!(drafts)).await;
    let full = "Too many drafts (maximum 1000).";
    hamlet.post(PATH, &[("drafts", &json!([unaddressed("x")]))]).bad(full).await;
    assert_eq!(listed(&hamlet).await.as_array().unwrap().len(), 1000);
}
