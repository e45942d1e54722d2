//! Events for every change of the texts that users keep: recipients, and completeness of the change.

use super::each_type::kinds;
use super::verify;
use crate::support::{Params, TestServer};
use serde_json::json;

const ALL: [&str; 3] = ["iago", "hamlet", "polonius"];

#[tokio::test]
async fn saved_snippet_events() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let kept = hamlet.post("/saved_snippets", &[("title", &"a"), ("content", &"b")]).ok().await;
    let seen = verify(&t, &ALL, async {
        hamlet.post("/saved_snippets", &[("title", &"c"), ("content", &"d")]).ok().await;
        let path = format!("/saved_snippets/{}", kept["saved_snippet_id"]);
        hamlet.patch(&path, &[("title", &"e")]).ok().await;
        hamlet.patch(&path, &[("title", &"e")]).ok().await;
        hamlet.delete(&path, &[]).ok().await;
    })
    .await;
    let expected = ["add", "update", "remove"].map(|op| format!("saved_snippets {op}"));
    assert_eq!(kinds(&seen, "hamlet"), expected);
    let own = &seen["hamlet"];
    assert_eq!(
        (&own[0]["saved_snippet"]["title"], &own[0]["saved_snippet"]["content"]),
        (&json!("c"), &json!("d"))
    );
    assert_eq!(
        (&own[1]["saved_snippet"]["title"], &own[1]["saved_snippet"]["content"]),
        (&json!("e"), &json!("b"))
    );
    assert_eq!(own[2]["saved_snippet_id"], kept["saved_snippet_id"]);
    for other in ["iago", "polonius"] {
        assert_eq!(kinds(&seen, other), [] as [&str; 0]);
    }
}

#[tokio::test]
async fn draft_events() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let draft = |content: &str, secs: u64| json!({"type": "private", "to": [iago.id], "topic": "", "content": content, "timestamp": secs});
    let seen = verify(&t, &ALL, async {
        let both = json!([draft("a", 1_000), draft("b", 3_000)]);
        let ids = hamlet.post("/drafts", &[("drafts", &both)]).ok().await["ids"].clone();
        let path = |position: usize| format!("/drafts/{}", ids[position]);
        hamlet.patch(&path(0), &[("draft", &draft("c", 5_000))]).ok().await;
        hamlet.delete(&path(1), &[]).ok().await;
        hamlet.patch("/settings", &[("enable_drafts_synchronization", &false)]).ok().await;
        hamlet.patch("/settings", &[("enable_drafts_synchronization", &true)]).ok().await;
    })
    .await;
    let setting = "user_settings update";
    assert_eq!(kinds(&seen, "hamlet"), ["drafts add", "drafts update", "drafts remove", setting, setting]);
    assert_eq!(seen["hamlet"][0]["drafts"].as_array().unwrap().len(), 2);
    assert_eq!(seen["hamlet"][1]["draft"]["content"], "c");
    for other in ["iago", "polonius"] {
        assert_eq!(kinds(&seen, other), [] as [&str; 0]);
    }
}

#[tokio::test]
async fn scheduled_message_and_reminder_events() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let message = iago.send_direct(&[&hamlet], "remember").await;
    let (to, later, sooner) = (json!([iago.id]), 4_000_000_000_u64, 3_900_000_000_u64);
    let seen = verify(&t, &ALL, async {
        let schedule = async |content: &str| {
            let params: Params<'_> = &[
                ("type", &"direct"),
                ("to", &to),
                ("content", &content),
                ("scheduled_delivery_timestamp", &later),
            ];
            let answer = hamlet.post("/scheduled_messages", params).ok().await;
            format!("/scheduled_messages/{}", answer["scheduled_message_id"])
        };
        let (first, second) = (schedule("a").await, schedule("b").await);
        hamlet.patch(&second, &[("scheduled_delivery_timestamp", &sooner)]).ok().await;
        hamlet.delete(&first, &[]).ok().await;
        let remind = async |note: &str| {
            let params: Params<'_> =
                &[("message_id", &message), ("scheduled_delivery_timestamp", &later), ("note", &note)];
            let answer = hamlet.post("/reminders", params).ok().await;
            format!("/reminders/{}", answer["reminder_id"])
        };
        let (first, _) = (remind("a").await, remind("b").await);
        hamlet.delete(&first, &[]).ok().await;
    })
    .await;
    let mut expected =
        ["add", "add", "update", "remove"].map(|op| format!("scheduled_messages {op}")).to_vec();
    expected.extend(["add", "add", "remove"].map(|op| format!("reminders {op}")));
    assert_eq!(kinds(&seen, "hamlet"), expected);
    for other in ["iago", "polonius"] {
        assert_eq!(kinds(&seen, other), [] as [&str; 0]);
    }
}
