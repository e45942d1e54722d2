//! What pages say about bots and settings on a server without a web app.

use super::pages::{Visitor, html};
use crate::support::TestServer;
use serde_json::json;

/// Without a web app, pages give calls that work, instead of the settings of a client that may have none.
#[tokio::test]
async fn pages_say_how_to_set_up_without_a_web_app() {
    let t = TestServer::start().await;
    let mut visitor = Visitor::new(&t);
    let shown = html(&visitor.get("/integrations/github").await).to_owned();
    let url = &t.url;
    let decoded =
        shown.replace("&#39;", "'").replace("&#34;", "\"").replace("&quot;", "\"").replace("&amp;", "&");
    assert!(
        decoded.contains("-d bot_type=2 --data-urlencode 'full_name=GitHub' -d short_name=github"),
        "{decoded}"
    );
    assert!(
        decoded.contains("'subscriptions=[{\"name\":\"CHANNEL\"}]' -d 'principals=[USER_ID]'"),
        "{decoded}"
    );
    assert!(
        !decoded.contains("settings of the web app") && decoded.contains("/api/v1/bots"),
        "{url}: {decoded}"
    );
    let iago = t.user("iago");
    let bot = iago
        .post("/bots", &[("bot_type", &2), ("full_name", &"GitHub"), ("short_name", &"github")])
        .ok()
        .await;
    let channel = iago.create_channel("secret").private().await;
    let (subscriptions, principals) = (json!([{"name": channel.name}]), json!([bot["user_id"]]));
    let call = iago
        .post("/users/me/subscriptions", &[("subscriptions", &subscriptions), ("principals", &principals)]);
    let subscribed = call.ok().await;
    assert!(subscribed["subscribed"].as_object().is_some_and(|all| all.len() == 1), "{subscribed}");
    let about = html(&visitor.get("/about").await).to_owned();
    assert!(
        about.contains("id=\"your-settings\"")
            && about.contains("-d enable_offline_email_notifications=true"),
        "{about}"
    );
    iago.patch("/settings", &[("enable_offline_email_notifications", &"true")]).ok().await;
    // Links to views of the web app are named, too.
    let script = visitor.get("/static/millstream/conversation.js").await;
    assert!(about.contains("id=\"conversation-view\"") && html(&script).contains("the inbox"), "{about}");
}
