//! Deleting an account for ever (docs/operating.md#erasing).

use crate::support::TestServer;
use millstream::admin::{AdminRequest, UserName, execute};
use serde_json::{Value, json};

fn request(user: UserName, keeps_messages: bool) -> AdminRequest {
    AdminRequest::UserDelete { realm: String::new(), user, keeps_messages }
}

#[tokio::test]
async fn deleted_account_becomes_a_placeholder_and_its_messages_are_deleted() {
    let t = TestServer::start().await;
    let [owner, hamlet, cordelia] = t.users(["desdemona", "hamlet", "cordelia"]);
    let channel = hamlet.create_channel("Verona").await;
    cordelia.subscribe(&channel).await;
    let kept = hamlet.send(&channel, "tea", "kept").await;
    let gone = cordelia.send(&channel, "tea", "gone").await;
    let direct = cordelia.send_direct(&[&hamlet], "gone too").await;
    let mut queue = hamlet.register().events(&["realm_user", "delete_message"]).await;
    let done = execute(t.server(), request(UserName::Email(cordelia.email.clone()), false)).await;
    assert_eq!(done.expect("it is deleted").value, json!({"user_id": cordelia.id, "messages": 2}));

    let name = format!("Deleted user {}", cordelia.id);
    let (mut names, mut deleted) = (Vec::new(), Vec::new());
    while names.is_empty() || deleted.len() < 2 {
        let event = queue.next().await;
        if event["type"] == "delete_message" {
            deleted.push(event["message_id"].as_u64().or(event["message_ids"][0].as_u64()).expect("an id"));
        } else if let Value::String(name) = &event["person"]["full_name"] {
            names.push(name.clone());
        }
    }
    deleted.sort_unstable();
    assert_eq!((names, deleted), (vec![name.clone()], vec![gone, direct]));
    let left = hamlet.message_ids(json!([{"operator": "channel", "operand": "Verona"}])).await;
    assert!(left.contains(&kept) && !left.contains(&gone), "{left:?}");
    let shown = owner.get(&format!("/users/{}", cordelia.id), &[]).ok().await["user"].clone();
    assert_eq!((&shown["full_name"], &shown["is_active"]), (&json!(name), &json!(false)));
    let address = shown["delivery_email"].as_str().expect("an address");
    assert!(address.starts_with(&format!("deleteduser{}@", cordelia.id)), "{address}");
    assert_ne!(cordelia.get("/users/me", &[]).await.status, 200);
    let reactivated = owner.post(&format!("/users/{}/reactivate", cordelia.id), &[]).await;
    assert_eq!(reactivated.status, 400);
    let again = execute(t.server(), request(UserName::Id(cordelia.id), false)).await.expect("nothing to do");
    assert!(again.text().contains("already"), "{}", again.text());
    let acts = owner.get("/realm/audit", &[]).ok().await;
    assert!(!acts.to_string().contains(&cordelia.email), "{acts}");
}

#[tokio::test]
async fn messages_are_kept_on_request_and_the_last_owner_is_not_deleted() {
    let t = TestServer::start().await;
    let [owner, hamlet, cordelia] = t.users(["desdemona", "hamlet", "cordelia"]);
    let direct = cordelia.send_direct(&[&hamlet], "kept").await;
    execute(t.server(), request(UserName::Id(cordelia.id), true)).await.expect("it is deleted");
    let message = hamlet.get(&format!("/messages/{direct}"), &[]).ok().await["message"].clone();
    assert_eq!(message["sender_full_name"], format!("Deleted user {}", cordelia.id));
    let refused = execute(t.server(), request(UserName::Id(owner.id), false)).await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(owner.get("/users/me", &[]).await.status, 200);
}
