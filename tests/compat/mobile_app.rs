//! The mobile app: answers have what its models require. Events are checked by `tests/events`, wherever two registrations
//! are compared.

use crate::support::mobile_app::{event_misfits, known_events, misfits};
use crate::support::{Params, TestServer};
use serde_json::json;

#[tokio::test]
async fn answers_have_what_the_app_requires() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let queue = hamlet.register().modern().await;
    assert_eq!(misfits(&queue.state, "InitialSnapshot"), [""; 0]);
    let password: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"hamlet@zulip.com")];
    let key = t.anonymous().post("/fetch_api_key", password).ok().await;
    assert_eq!(misfits(&key, "FetchApiKeyResult"), [""; 0]);
    let all: Params<'_> = &[("anchor", &"newest"), ("num_before", &1000), ("num_after", &0)];
    let messages = hamlet.get("/messages", all).ok().await;
    assert!(messages["messages"].as_array().unwrap().len() > 250);
    let presence: Params<'_> = &[("status", &"active"), ("last_update_id", &-1), ("new_user_input", &true)];
    let draft: Params<'_> =
        &[("type", &"channel"), ("to", &"Verona"), ("topic", &"app"), ("content", &"hello")];
    let sent = hamlet.post("/messages", draft).ok().await;
    let id = &sent["id"];
    let answers = [
        (t.anonymous().get("/server_settings", &[]).ok().await, "GetServerSettingsResult"),
        (messages, "GetMessagesResult"),
        (hamlet.get(&format!("/messages/{id}"), &[]).ok().await, "GetMessageResult"),
        (hamlet.get("/users/me", &[]).ok().await, "GetOwnUserResult"),
        (hamlet.get("/users/me/3/topics", &[]).ok().await, "GetChannelTopicsResult"),
        (hamlet.get(&format!("/messages/{id}/read_receipts"), &[]).ok().await, "GetReadReceiptsResult"),
        (hamlet.post("/users/me/presence", presence).ok().await, "UpdatePresenceResult"),
        (sent.clone(), "SendMessageResult"),
        (
            hamlet.patch(&format!("/messages/{id}"), &[("content", &"hello again")]).ok().await,
            "UpdateMessageResult",
        ),
        (
            hamlet
                .post("/messages/flags", &[("messages", &json!([id])), ("op", &"add"), ("flag", &"starred")])
                .ok()
                .await,
            "UpdateMessageFlagsResult",
        ),
        (
            hamlet.post("/saved_snippets", &[("title", &"a"), ("content", &"b")]).ok().await,
            "CreateSavedSnippetResult",
        ),
    ];
    for (answer, model) in answers {
        assert_eq!(misfits(&answer, model), [""; 0], "{model}");
    }
}

#[test]
fn missing_null_and_wrong_fields_are_misfits() {
    assert!(known_events().len() > 40);
    let event = json!({ "type": "alert_words", "id": 1, "alert_words": ["a"] });
    assert_eq!(event_misfits(&event), [""; 0]);
    let event = json!({ "type": "alert_words", "alert_words": [1] });
    assert_eq!(
        event_misfits(&event),
        ["AlertWordsEvent.alert_words[0] is not str: 1", "AlertWordsEvent.id is missing"]
    );
}
