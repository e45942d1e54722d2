//! `GET /calls/bigbluebutton/create` and `POST /calls/zoom/create`: no service can be configured.

use crate::support::TestServer;
use serde_json::json;

#[tokio::test]
async fn video_services_are_not_configured() {
    let t = TestServer::start().await;
    let hamlet = t.user("hamlet");
    let path = "/calls/bigbluebutton/create";
    let missing = json!({
        "msg": "Missing 'meeting_name' argument", "code": "REQUEST_VARIABLE_MISSING", "var_name": "meeting_name",
    });
    hamlet.get(path, &[]).refused(400, missing).await;
    hamlet.get(path, &[("meeting_name", &"room")]).bad("BigBlueButton is not configured.").await;
    let zoom = hamlet.post("/calls/zoom/create", &[("is_video_call", &true)]);
    zoom.bad("Zoom credentials have not been configured").await;
    // Clients do not offer them.
    let offered = &hamlet.register().await.state["realm_available_video_chat_providers"];
    assert_eq!(offered.as_object().unwrap().keys().collect::<Vec<_>>(), ["disabled", "jitsi_meet"]);
}
