//! `POST /realm/deactivate`.

use crate::support::{Params, TestServer, people};
use serde_json::{Value, json};

fn closed() -> Value {
    json!({"msg": "This organization has been deactivated", "code": "REALM_DEACTIVATED"})
}

#[tokio::test]
async fn a_closed_organization_lets_nobody_in() {
    let t = TestServer::start().await;
    let acme = people::create_second(t.server(), "acme").await;
    let [desdemona, hamlet] = t.users(["desdemona", "hamlet"]);
    let mut queue = hamlet.register().await;
    // A poll that waits while it happens is told. The second of two ends the first, so one of them waits then.
    let poll = || {
        let (hamlet, id, last) = (hamlet.clone(), queue.id.clone(), queue.registered_at());
        tokio::spawn(async move {
            hamlet.get("/events", &[("queue_id", &id), ("last_event_id", &last)]).ok().await
        })
    };
    let (ended, waiting) = futures_util::future::select(poll(), poll()).await.factor_first();
    assert_eq!(ended.expect("no panic")["events"], json!([]));
    desdemona.post("/realm/deactivate", &[]).ok().await;
    let told = waiting.await.expect("no panic")["events"].clone();
    let event = &told[0];
    assert_eq!(
        (&event["type"], &event["op"], &event["realm_id"]),
        (&json!("realm"), &json!("deactivated"), &json!(t.realm().id().0)),
        "{told}"
    );
    for who in [&desdemona, &hamlet] {
        who.get("/users/me", &[]).refused(401, closed()).await;
        who.post("/register", &[]).refused(401, closed()).await;
        who.post("/realm/deactivate", &[]).refused(401, closed()).await;
    }
    let poll: Params<'_> = &[("queue_id", &queue.id), ("last_event_id", &-1)];
    hamlet.get("/events", poll).refused(401, closed()).await;
    let login: Params<'_> = &[("username", &"hamlet@zulip.com"), ("password", &"x")];
    t.stranger().post("/fetch_api_key", login).refused(401, closed()).await;
    t.stranger().get("/messages", &[("anchor", &"newest")]).refused(401, closed()).await;
    // A client still learns whom it asked.
    assert_eq!(t.stranger().get("/server_settings", &[]).ok().await["realm_name"], "Zulip Dev");
    let olga = t.user_of(&acme, "olga");
    olga.get("/users/me", &[]).header("Host", "acme.localhost").ok().await;
    // Nothing is lost: whoever runs the server can open it again.
    t.realm().reactivate().await.expect("open again");
    hamlet.get("/users/me", &[]).ok().await;
    let gone = json!({
        "msg": format!("Bad event queue ID: {}", queue.id), "code": "BAD_EVENT_QUEUE_ID", "queue_id": queue.id,
    });
    hamlet.get("/events", poll).refused(400, gone).await;
    queue = hamlet.register().await;
    assert_eq!(queue.state["realm_name"], "Zulip Dev");
}

#[tokio::test]
async fn only_owners_close_it() {
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
