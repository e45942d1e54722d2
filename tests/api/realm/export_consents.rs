//! `GET /export/realm/consents`, and its event.

use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn administrators_see_who_consents() {
    let t = TestServer::start().await;
    let [iago, hamlet] = t.users(["iago", "hamlet"]);
    let types = ["realm_export_consent"];
    let (mut admin, mut member) =
        (iago.register().events(&types).await, hamlet.register().events(&types).await);
    hamlet.patch("/settings", &[("allow_private_data_export", &true)]).ok().await;
    let event = admin.next().await;
    let expected =
        json!({"type": "realm_export_consent", "user_id": hamlet.id, "consented": true, "id": event["id"]});
    assert_eq!(event, expected);
    assert_eq!(member.now().await, [] as [Value; 0]);
    let body = iago.get("/export/realm/consents", &[]).ok().await;
    let consents = body["export_consents"].as_array().unwrap();
    let agreeing: Vec<&Value> = consents.iter().filter(|one| one["consented"] == true).collect();
    assert_eq!(agreeing, [&json!({"user_id": hamlet.id, "consented": true})]);
    assert!(consents.iter().any(|one| one["user_id"] == iago.id));
}
