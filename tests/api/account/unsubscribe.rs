//! The links with which notification mails are turned off.

use crate::api::pages::{Visitor, html};
use crate::support::smtp::{Received, SmtpServer};
use crate::support::{ApiResponse, TestServer, TestUser, wait_until};
use actors::ManualClock;
use model::{Timestamp, UserId};
use reqwest::Method;
use serde_json::{Value, json};

struct Scene {
    t: TestServer,
    clock: ManualClock,
    smtp: SmtpServer,
}

impl Scene {
    async fn start() -> Self {
        let (clock, smtp) = (ManualClock::new(Timestamp(1_760_000_000_000)), SmtpServer::start().await);
        let t = TestServer::builder().clock(&clock).mail(smtp.port()).start().await;
        Self { t, clock, smtp }
    }

    /// The path of the link in the only mail, once a user has missed a message.
    async fn link_for(&self, reader: &TestUser) -> String {
        let is_pending = || self.t.realm().directory().pending_mail(UserId(reader.id)).is_some();
        wait_until("the mail is pending", is_pending).await;
        self.clock.advance_secs(121);
        path_of(&self.smtp.wait_for(1).await[0])
    }

    /// What mail programs send for their button.
    async fn turn_off(&self, path: &str) -> ApiResponse {
        let form = [("List-Unsubscribe", "One-Click")];
        Visitor::new(&self.t).ask(Method::POST, path, Some(&form)).await
    }
}

/// The path of the link in the headers of a mail. It is in the text and in the HTML, too.
fn path_of(mail: &Received) -> String {
    assert_eq!(mail.header("List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    let header = mail.header("List-Unsubscribe");
    let link = header.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).expect("a link");
    assert_eq!(mail.text().matches(link).count(), 3, "{}", mail.text());
    let at = link.find("/accounts/unsubscribe/").expect("a link of the server");
    link[at..].to_owned()
}

fn changed(event: &Value) -> (&Value, &Value) {
    (&event["property"], &event["value"])
}

#[tokio::test]
async fn link_of_a_mail_turns_off_mails_of_its_kind() {
    let s = Scene::start().await;
    let [iago, hamlet] = s.t.users(["iago", "hamlet"]);
    iago.send_direct(&[&hamlet], "Are you there?").await;
    let path = s.link_for(&hamlet).await;
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    let page = Visitor::new(&s.t).get(&path).await;
    assert!(page.status == 200 && html(&page).contains("missed direct messages and mentions"), "{page:?}");
    assert!(
        html(&page).contains("href=\"/about#your-settings\""),
        "it leads to what works on this server: {page:?}"
    );
    assert!(queue.now().await.is_empty(), "opening it changes nothing");
    let page = s.turn_off(&path).await;
    assert!(page.status == 200 && html(&page).contains("You no longer get emails about missed"), "{page:?}");
    let events = queue.now().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(changed(&events[0]), (&json!("enable_offline_email_notifications"), &json!(false)));
    assert_eq!(s.turn_off(&path).await.status, 200, "once more changes nothing");
    assert!(queue.now().await.is_empty());
    let again = Visitor::new(&s.t).get(&path).await;
    assert!(again.status == 200 && html(&again).contains("These emails are off"), "{again:?}");
    assert!(!html(&again).contains("You get emails about"), "{again:?}");
}

#[tokio::test]
async fn link_of_a_mail_about_a_channel_turns_off_that_channel() {
    let s = Scene::start().await;
    let [iago, hamlet] = s.t.users(["iago", "hamlet"]);
    let channel = iago.create_channel("Verona").with(&hamlet).await;
    let on = json!([{"stream_id": channel.id, "property": "email_notifications", "value": true}]);
    hamlet.post("/users/me/subscriptions/properties", &[("subscription_data", &on)]).ok().await;
    iago.send(&channel, "lunch", "at noon").await;
    let path = s.link_for(&hamlet).await;
    let mut queue = hamlet.register().modern().events(&["subscription", "user_settings"]).await;
    assert_eq!(s.turn_off(&path).await.status, 200);
    let events = queue.now().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(changed(&events[0]), (&json!("email_notifications"), &json!(false)));
    assert_eq!(events[0]["stream_id"], channel.id);
    hamlet.unsubscribe(&channel).await;
    assert_eq!(s.turn_off(&path).await.status, 200, "there is nothing to turn off");
}

#[tokio::test]
async fn link_of_a_mail_is_for_its_kind_and_its_account() {
    let s = Scene::start().await;
    let [iago, hamlet, othello] = s.t.users(["iago", "hamlet", "othello"]);
    iago.send_direct(&[&hamlet], "Are you there?").await;
    let path = s.link_for(&hamlet).await;
    let mut queue = hamlet.register().modern().events(&["user_settings"]).await;
    let account = format!("/{}.", hamlet.id);
    assert!(path.contains(&account), "{path}");
    for changed in [
        path.replacen("missed_messages", "logins", 1),
        path.replacen("missed_messages", "channel-1", 1),
        path.replacen(&account, &format!("/{}.", othello.id), 1),
        path[..path.len() - 1].to_owned(),
        format!("{path}x"),
    ] {
        assert_eq!(s.turn_off(&changed).await.status, 404, "{changed}");
        assert_eq!(Visitor::new(&s.t).get(&changed).await.status, 404, "{changed}");
    }
    assert!(queue.now().await.is_empty());
    iago.delete(&format!("/users/{}", hamlet.id), &[]).ok().await;
    assert_eq!(s.turn_off(&path).await.status, 404, "the account is deactivated");
    assert_eq!(Visitor::new(&s.t).get(&path).await.status, 404);
}
