//! Every link of every kind of mail opens the page that it promises, without a web app.

use crate::api::pages::{Visitor, html};
use crate::support::{TestServer, poll_for, wait_until};
use actors::ManualClock;
use millstream::integrations::mail::KeptMail;
use model::{Timestamp, UserId};
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

fn mails(t: &TestServer) -> Vec<Arc<KeptMail>> {
    t.app().mail.list().expect("a list").of(t.realm().id())
}

async fn mail_with(t: &TestServer, subject: &str) -> Arc<KeptMail> {
    let found = || async { mails(t).into_iter().find(|mail| mail.subject.contains(subject)) };
    poll_for(subject, found).await
}

/// The links of a mail: in its text, and in its HTML.
fn links(mail: &KeptMail) -> BTreeSet<String> {
    let in_text = mail.text.split_whitespace().filter(|word| word.starts_with("http")).map(str::to_owned);
    let in_html = mail.html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    in_text.chain(in_html.map(|link| link.replace("&amp;", "&"))).collect()
}

/// Subjects of the mails that are not about messages.
const SUBJECTS: [&str; 9] = [
    "Choose a new password",
    "Your organizations",
    "Create your account",
    "You have an account",
    "New login",
    "has invited you",
    "was deactivated",
    "Verify your new email address",
    "has been changed",
];

/// Causes a mail of each kind.
async fn cause_all(t: &TestServer, clock: &ManualClock, visitor: &mut Visitor) {
    let [iago, desdemona, hamlet] = t.users(["iago", "desdemona", "hamlet"]);
    for (path, field, address) in [
        ("/accounts/password/reset/", "email", "cordelia@zulip.com"),
        ("/accounts/find/", "emails", "othello@zulip.com"),
        ("/register/", "email", "new@example.com"),
        ("/accounts/home/", "email", "othello@zulip.com"),
    ] {
        assert_eq!(visitor.submit(path, path, &[(field, address)]).await.status, 302, "{path}");
    }
    clock.advance_secs(3600);
    let login: crate::support::Params<'_> =
        &[("username", &"othello@zulip.com"), ("password", &"othello@zulip.com")];
    t.anonymous().post("/fetch_api_key", login).header("User-Agent", "NewClient/1").ok().await;
    let invite: crate::support::Params<'_> =
        &[("invitee_emails", &"guest@example.com"), ("stream_ids", &"[]")];
    desdemona.post("/invites", invite).ok().await;
    let prospero = t.user("prospero").id;
    let comment: crate::support::Params<'_> = &[("deactivation_notification_comment", &"Farewell")];
    iago.delete(&format!("/users/{prospero}"), comment).ok().await;
    let id = UserId(t.user("ZOE").id);
    let user = t.realm().directory().user(id).expect("a user").clone();
    let asked = t.realm().now();
    let path = millstream::integrations::mail::confirm_path(t.realm(), &user, "zoe@new.example", asked);
    hamlet.patch("/settings", &[("email", &"hamlet@new.example")]).ok().await;
    // The address of another user is changed by the same kind of link.
    assert_eq!(visitor.get(&path).await.status, 200);
    send_messages(t).await;
    for subject in SUBJECTS {
        mail_with(t, subject).await;
    }
    let is_missed = |mail: &Arc<KeptMail>| mail.to == "othello@zulip.com" && mail.text.contains("#narrow/");
    let missed = || mails(t).iter().filter(|mail| is_missed(mail)).count() >= 2;
    for _ in 0..50 {
        clock.advance_secs(60);
        if missed() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    wait_until("both conversations are mailed", missed).await;
}

/// Sends messages that Othello is mailed about: a direct one, and a mention.
async fn send_messages(t: &TestServer) {
    let iago = t.user("iago");
    let ids = json!([t.user("othello").id]);
    let direct: crate::support::Params<'_> =
        &[("type", &"direct"), ("to", &ids), ("content", &"Are you there?")];
    iago.post("/messages", direct).ok().await;
    iago.post(
        "/messages",
        &[
            ("type", &"stream"),
            ("to", &"Verona"),
            ("topic", &"who & what?"),
            ("content", &"@**Othello, the Moor of Venice** hello"),
        ],
    )
    .ok()
    .await;
}

#[tokio::test]
async fn every_link_of_every_mail_opens_its_page() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().development().clock(&clock).start().await;
    let mut visitor = Visitor::new(&t);
    cause_all(&t, &clock, &mut visitor).await;
    let mut narrows = 0;
    for mail in mails(&t) {
        for link in links(&mail) {
            let rest = link.split_once("://").expect("a URL").1;
            let (host, path) =
                rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, path.to_owned()));
            assert!(host.starts_with("localhost") || host.starts_with("127.0.0.1"), "{link} leads elsewhere");
            let (path, fragment) = path.split_once('#').unwrap_or((&path, ""));
            let page = visitor.ask(Method::GET, &format!("/{path}"), None).await;
            assert_eq!(page.status, 200, "{link} of {:?}", mail.subject);
            assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{link}");
            if fragment.starts_with("narrow/") {
                narrows += 1;
                let shown = html(&page);
                assert!(
                    shown.contains("id=\"conversation\"") && shown.contains("/conversation.js"),
                    "{link}"
                );
            } else {
                let leads_to_part = html(&page).contains(&format!("id=\"{fragment}\""));
                assert!(fragment.is_empty() || leads_to_part, "{link}");
            }
        }
    }
    assert!(narrows >= 2, "mails about messages link to them");
    let script = visitor.get("/static/millstream/conversation.js").await;
    assert_eq!((script.status, script.header("content-type")), (200, "text/javascript; charset=utf-8"));
}
