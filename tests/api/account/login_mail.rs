//! Emails about logins from new clients (`enable_login_emails`).

use crate::support::smtp::SmtpServer;
use crate::support::{TestServer, TestUser};
use actors::commands::CreateUser;
use actors::{ManualClock, login};
use model::Timestamp;
use reqwest::Method;

/// Logs in with the user agent of a client.
async fn log_in(t: &TestServer, person: &TestUser, password: &str, client: &str) {
    let request =
        t.anonymous().post("/fetch_api_key", &[("username", &person.email), ("password", &password)]);
    request.header("User-Agent", client).ok().await;
}

#[tokio::test]
async fn new_login_email_follows_setting() {
    let smtp = SmtpServer::start().await;
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().clock(&clock).mail(smtp.port()).start().await;
    let password = "a quite unlikely phrase";
    let user = actors::NewUser {
        email: "fortinbras@zulip.com".into(),
        full_name: "Fortinbras".into(),
        role: model::Role::Member,
        bot: None,
        password_hash: Some(login::hash_password(password).unwrap()),
        timezone: "Europe/Copenhagen".into(),
        channels: Vec::new(),
    };
    t.realm().execute(CreateUser { user, sends_messages: false }).await.unwrap();
    let person = t.user("fortinbras");
    // No email for a login right after the account was created.
    log_in(&t, &person, password, "FirstClient/1").await;
    clock.advance_secs(3600);
    log_in(&t, &person, password, "ZulipMobile/27").await;
    let mail = smtp.wait_for(1).await.remove(0);
    assert_eq!(mail.to, person.email);
    assert_eq!(mail.header("subject"), "New login from ZulipMobile");
    let text = mail.text();
    assert!(text.contains("127.0.0.1") && text.contains("Fri, 15 Jan 2027, 10:00 CET"), "{text}");
    assert!(text.contains("/accounts/password/reset/"), "{text}");
    assert!(mail.header("List-Unsubscribe").contains("/accounts/unsubscribe/logins/"), "{text}");
    assert!(!text.contains(&person.key) && !text.contains(password), "{text}");
    // A second login of the same client sends no email.
    log_in(&t, &person, password, "ZulipMobile/27").await;
    person.call(Method::PATCH, "/settings", &[("enable_login_emails", &false)]).ok().await;
    log_in(&t, &person, password, "Unwanted/1").await;
    person.call(Method::PATCH, "/settings", &[("enable_login_emails", &true)]).ok().await;
    clock.advance_secs(24 * 3600 + 1);
    log_in(&t, &person, password, "ZulipMobile/27").await;
    let subjects: Vec<String> = smtp.wait_for(2).await.iter().map(|mail| mail.header("subject")).collect();
    assert_eq!(subjects, ["New login from ZulipMobile"; 2]);
    // A program without a `User-Agent`.
    log_in(&t, &person, password, "").await;
    let mail = smtp.wait_for(3).await.remove(2);
    assert_eq!(mail.header("subject"), "New login from an unknown client");
    assert!(mail.text().contains("Client: an unknown client"), "{}", mail.text());
}
