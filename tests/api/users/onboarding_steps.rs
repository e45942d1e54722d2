//! `POST /users/me/onboarding_steps`.

use crate::support::TestServer;
use serde_json::{Value, json};

#[tokio::test]
async fn seen_step_is_not_listed_again() {
    let t = TestServer::start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let mut queue = hamlet.register().await;
    let before = queue.state["onboarding_steps"].as_array().unwrap().clone();
    assert_eq!(before[1], json!({"type": "one_time_notice", "name": "intro_inbox_view_modal"}));
    let seen = |step: &'static str| hamlet.post("/users/me/onboarding_steps", &[("onboarding_step", &step)]);
    seen("intro_inbox_view_modal").ok().await;
    let event = queue.next().await;
    assert_eq!(event["type"], "onboarding_steps");
    let left: Vec<&Value> = before.iter().filter(|step| step["name"] != "intro_inbox_view_modal").collect();
    assert_eq!(event["onboarding_steps"], json!(left));
    // Marking it again changes nothing.
    seen("intro_inbox_view_modal").ok().await;
    assert_eq!(queue.now().await, [] as [Value; 0]);
    seen("nothing").bad("Unknown onboarding_step: nothing").await;
    assert_eq!(iago.register().await.state["onboarding_steps"], json!(before));
    let t = TestServer::builder().on(t.stop().await).start().await;
    assert_eq!(t.user("hamlet").register().await.state["onboarding_steps"], json!(left));
}
