//! `POST /realm/deactivate`.

use crate::support::{Params, TestServer, people};
use actors::commands::SetRealmActive;
use serde_json::{Value, json};

fn closed() -> Value {
    json!({"msg": "This organization has been deactivated", "code": "REALM_DEACTIVATED"})
}

#[tokio::test]
async fn deactivated_realm_refuses_requests() {
    let t = TestServer::start().await;
    let acme = people::create_second(t.server(), "acme").await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let mut queue = hamlet.register().await;
    let waiting = t.hold_poll(&queue).await;
    desdemona.post("/realm/deactivate", &[]).ok().await;
    let received = waiting.await.expect("a poll").ok()["events"].clone();
    let event = &received[0];
    assert_eq!(
        (&event["type"], &event["op"], &event["realm_id"]),
        (&json!("realm"), &json!("deactivated"), &json!(t.realm().id().0)),
        "{received}"
    );
    for who in [&desdemona, &hamlet] {
        who.get("/users/me", &[]).refused(401, closed()).await;
        who.post("/register", &[]).refused(401, closed()).await;
        who.post("/realm/deactivate", &[]).refused(401, closed()).await;
    }
    let poll: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", &-1)];
    hamlet.get("/events", poll).refused(401, closed()).await;
    let login: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"x")];
    t.anonymous().post("/fetch_api_key", login).refused(401, closed()).await;
    t.anonymous().get("/users", &[]).refused(401, closed()).await;
    // The server settings are still available.
    assert_eq!(t.anonymous().get("/server_settings", &[]).ok().await["realm_name"], "Zulip Dev");
    let olga = t.user_of(&acme, "olga");
    olga.get("/users/me", &[]).header("Host", "acme.localhost").ok().await;
    // The data is kept: the operator can reactivate the organization.
    t.realm().execute(SetRealmActive { by: None, is_active: true }).await.expect("open again");
    hamlet.get("/users/me", &[]).ok().await;
    let gone = json!({
        "msg": format!("Bad event queue ID: {}", queue.id), "code": "BAD_EVENT_QUEUE_ID", "queue_id": queue.id,
    });
    hamlet.get("/events", poll).refused(400, gone).await;
    queue = hamlet.register().await;
    assert_eq!(queue.state["realm_name"], "Zulip Dev");
}

#[tokio::test]
async fn deactivate_realm_is_for_owners() {
    let t = TestServer::start().await;
    let owner = json!({"msg": "Must be an organization owner", "code": "UNAUTHORIZED_PRINCIPAL"});
    t.user("iago").post("/realm/deactivate", &[]).refused(400, owner).await;
    let later: Params<'_> = &[("deletion_delay_days", &30)];
    let msg = "This server does not delete the data of deactivated organizations.";
    t.user("desdemona").post("/realm/deactivate", later).bad(msg).await;
    t.user("desdemona")
        .post("/realm/deactivate", &[("deletion_delay_days", &"x")])
        .bad("deletion_delay_days is not valid JSON")
        .await;
    t.user("iago").get("/users/me", &[]).ok().await;
    t.user("desdemona").post("/realm/deactivate", &[("deletion_delay_days", &"null")]).ok().await;
    t.user("iago").get("/users/me", &[]).refused(401, closed()).await;
}
