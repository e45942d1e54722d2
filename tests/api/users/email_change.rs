//! `PATCH /settings` with a new email address: the confirmation email, its link, and the change.

use crate::support::smtp::SmtpServer;
use crate::support::{TestServer, TestUser};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use serde_json::{Value, json};

/// A server that sends its emails to `smtp`.
fn plan(smtp: &SmtpServer) -> crate::support::server::TestServerBuilder {
    TestServer::builder().mail(smtp.port()).set("mail.from", "Acme chat <chat@acme.example>")
}

async fn ask(person: &TestUser, address: &str) {
    person.call(Method::PATCH, "/settings", &[("email", &address)]).ok().await;
}

/// Opens a page; returns status and HTML.
async fn open(t: &TestServer, path: &str) -> (u16, String) {
    let response = t.anonymous().http.get(format!("{}{path}", t.url)).send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    (response.status().as_u16(), response.text().await.unwrap())
}

#[tokio::test]
async fn email_change_confirmed_by_link_sends_events() {
    let smtp = SmtpServer::start().await;
    let t = plan(&smtp).start().await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let mut queue = iago.register().events(&["realm_user"]).await;
    ask(&hamlet, "Hamlet@Elsinore.example").await;
    let mail = smtp.wait_for(1).await.remove(0);
    assert_eq!((mail.from.as_str(), mail.to.as_str()), ("chat@acme.example", "Hamlet@Elsinore.example"));
    assert_eq!(mail.header("subject"), "Verify your new email address");
    assert_eq!(mail.header("auto-submitted"), "auto-generated");
    assert!(mail.header("message-id").ends_with("@acme.example>"), "{}", mail.data);
    let text = mail.text();
    assert!(
        text.contains("text/plain") && text.contains("text/html") && text.contains(&hamlet.email),
        "{text}"
    );
    // The address is unchanged until it is confirmed.
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["delivery_email"], hamlet.email);
    assert!(queue.now().await.is_empty());

    let link = mail.link(&t.url);
    let (status, page) = open(&t, &link).await;
    assert!(status == 200 && page.contains("Hamlet@Elsinore.example is now the address"), "{status} {page}");
    let me = TestUser { email: "hamlet@elsinore.example".into(), ..hamlet.clone() };
    assert_eq!(me.get("/users/me", &[]).ok().await["delivery_email"], "Hamlet@Elsinore.example");
    hamlet
        .get("/users/me", &[])
        .await
        .refused(401, json!({"msg": "Invalid API key", "code": "UNAUTHORIZED"}));
    let received: Vec<Value> = queue.now().await.into_iter().map(|event| event["person"].clone()).collect();
    let address = json!({"user_id": hamlet.id, "delivery_email": "Hamlet@Elsinore.example"});
    assert!(received.contains(&address), "{received:?}");
    assert!(
        received.iter().any(|person| person.get("avatar_url").is_some()),
        "another picture: {received:?}"
    );

    let notice = smtp.wait_for(2).await.remove(1);
    assert_eq!(notice.to, hamlet.email);
    assert!(notice.text().contains("Hamlet@Elsinore.example"), "{}", notice.text());
    // A link works once.
    let (status, page) = open(&t, &link).await;
    assert!(status == 404 && page.contains("This link is not valid"), "{status} {page}");
}

#[tokio::test]
async fn confirmed_address_is_an_act_of_its_person() {
    let smtp = SmtpServer::start().await;
    let t = plan(&smtp).start().await;
    let [hamlet, desdemona] = t.users(["hamlet", "desdemona"]);
    ask(&hamlet, "new@elsinore.example").await;
    let link = smtp.wait_for(1).await.remove(0).link(&t.url);
    let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
    let opened = t.anonymous().bare(Method::GET, &link).header("User-Agent", firefox).await;
    assert_eq!(opened.status, 200);
    let acts = desdemona.get("/realm/audit", &[("limit", &1)]).ok().await["acts"].clone();
    assert_eq!((&acts[0]["client"], &acts[0]["origin"]), (&json!("Firefox on Linux"), &json!("browser")));
    let who = acts[0]["who"].as_str().expect("a name");
    assert!(who.ends_with("(new@elsinore.example), by a link in an e-mail"), "{who}");
    let deeds = acts[0]["deeds"].as_array().expect("a list");
    assert!(deeds.len() == 1 && deeds[0].to_string().contains("e-mail address from"), "{deeds:?}");
}

#[tokio::test]
async fn email_change_invalid_or_expired_link() {
    let smtp = SmtpServer::start().await;
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = plan(&smtp).clock(&clock).start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    ask(&hamlet, "new@elsinore.example").await;
    let link = smtp.wait_for(1).await.remove(0).link(&t.url);
    let of_another = link.replacen(&format!("/{}.", hamlet.id), &format!("/{}.", othello.id), 1);
    assert_ne!(of_another, link);
    let shortened = &link[..link.len() - 1];
    for path in
        [of_another.as_str(), shortened, "/confirm_email/x", "/confirm_email/1.2.3.4", "/confirm_email/...."]
    {
        assert_eq!(open(&t, path).await.0, 404, "{path}");
    }
    clock.advance_secs(24 * 3600 + 1);
    let (status, page) = open(&t, &link).await;
    assert!(status == 404 && page.contains("expired"), "{status} {page}");
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["delivery_email"], hamlet.email);
}

#[tokio::test]
async fn email_change_to_address_taken_meanwhile() {
    let smtp = SmtpServer::start().await;
    let t = plan(&smtp).start().await;
    let [hamlet, othello] = t.users(["hamlet", "othello"]);
    ask(&hamlet, "shared@elsinore.example").await;
    let first = smtp.wait_for(1).await.remove(0).link(&t.url);
    ask(&othello, "shared@elsinore.example").await;
    let second = smtp.wait_for(2).await.remove(1).link(&t.url);
    assert_eq!(open(&t, &second).await.0, 200);
    assert_eq!(open(&t, &first).await.0, 409);
    assert_eq!(hamlet.get("/users/me", &[]).ok().await["delivery_email"], hamlet.email);
}

#[tokio::test]
async fn email_change_errors_send_no_mail() {
    let smtp = SmtpServer::start().await;
    let t = plan(&smtp)
        .set("limits.enabled", "true")
        .set("limits.email_change_by_user", "[[3600, 2]]")
        .start()
        .await;
    let [hamlet, iago] = t.users(["hamlet", "iago"]);
    let patch = |person: &TestUser, address: &str| {
        person.call(Method::PATCH, "/settings", &[("email", &address.to_owned())])
    };
    patch(&hamlet, "notanemail").bad("Invalid address.").await;
    patch(&hamlet, "cordelia@zulip.com").bad("Already has an account.").await;
    patch(&hamlet, &hamlet.email).ok().await;
    iago.call(Method::PATCH, "/realm", &[("email_changes_disabled", &true)]).ok().await;
    patch(&hamlet, "a@elsinore.example")
        .bad("Email address changes are disabled in this organization.")
        .await;
    patch(&iago, "iago@elsinore.example").ok().await;
    iago.call(Method::PATCH, "/realm", &[("email_changes_disabled", &false)]).ok().await;
    for address in ["a@elsinore.example", "b@elsinore.example"] {
        patch(&hamlet, address).ok().await;
    }
    let answer = patch(&hamlet, "c@elsinore.example").await;
    assert_eq!((answer.status, &answer.body["code"]), (429, &json!("RATE_LIMIT_HIT")), "{}", answer.body);
    // The two emails may come in either order.
    let mut to: Vec<String> = smtp.wait_for(3).await.into_iter().map(|mail| mail.to).collect();
    to.sort();
    assert_eq!(to, ["a@elsinore.example", "b@elsinore.example", "iago@elsinore.example"]);
}

#[tokio::test]
async fn email_changes_to_one_mailbox_are_limited() {
    let smtp = SmtpServer::start().await;
    let t = plan(&smtp)
        .set("limits.enabled", "true")
        .set("limits.email_change_by_user", "[[3600, 1]]")
        .set("limits.reset_mails_by_address", "[[3600, 3]]")
        .start()
        .await;
    let [hamlet, othello, cordelia, iago] = t.users(["hamlet", "othello", "cordelia", "iago"]);
    ask(&hamlet, "shared+1@elsinore.example").await;
    ask(&othello, "Shared+2@elsinore.example").await;
    ask(&cordelia, "shared@elsinore.example").await;
    let refused = iago.call(Method::PATCH, "/settings", &[("email", &"shared+3@elsinore.example")]).await;
    assert_eq!((refused.status, &refused.body["code"]), (429, &json!("RATE_LIMIT_HIT")), "{}", refused.body);
    // It did not count for the account.
    ask(&iago, "other@elsinore.example").await;
}

#[tokio::test]
async fn dev_server_lists_sent_emails() {
    let t = TestServer::builder().development().start().await;
    let hamlet = t.user("hamlet");
    let empty = t.anonymous().get("/emails.json", &[]).ok().await;
    assert_eq!(empty["emails"], json!([]));
    ask(&hamlet, "new@elsinore.example").await;
    let list = crate::support::poll_for("the mails are listed", || async {
        let list = t.anonymous().get("/emails.json", &[]).ok().await["emails"].clone();
        list.as_array().filter(|list| !list.is_empty()).cloned()
    })
    .await;
    let mail = &list[0];
    assert_eq!(
        (&mail["to"], &mail["subject"]),
        (&json!("new@elsinore.example"), &json!("Verify your new email address"))
    );
    let text = mail["text"].as_str().unwrap();
    let link = text.split_whitespace().find(|word| word.contains("/confirm_email/")).unwrap();
    let (status, page) = open(&t, "/emails").await;
    assert!(status == 200 && page.contains(&format!("href=\"{link}\"")), "{page}");
    assert_eq!(open(&t, link.strip_prefix(&*t.url).expect("a link to this server")).await.0, 200);
    assert_eq!(
        t.realm().directory().user(model::UserId(hamlet.id)).unwrap().delivery_email,
        "new@elsinore.example"
    );
}

#[tokio::test]
async fn production_server_does_not_list_emails() {
    let t = TestServer::start().await;
    for path in ["/emails", "/emails.json"] {
        t.anonymous().get(path, &[]).refused(404, json!({"msg": "Not Found", "code": "NOT_FOUND"})).await;
    }
}
