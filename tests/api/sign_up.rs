//! Making an account without an invitation (docs/api/server-additions.md#pages).

use super::pages::{Visitor, html, location};
use crate::support::{TestServer, poll_for};
use actors::ManualClock;
use model::Timestamp;
use serde_json::json;

const START: &str = "/register/";
const SENT: &str = "/accounts/send_confirm/";
const PASSWORD: &str = "purple elephant staircase";

/// A server whose organization lets people in.
async fn server() -> TestServer {
    TestServer::builder().development().start().await
}

async fn ask(visitor: &mut Visitor, address: &str) {
    let answer = visitor.submit(START, "/accounts/home/", &[("email", address)]).await;
    assert_eq!(location(&answer), (302, SENT), "{address}");
}

/// The text of the newest mail to an address, once there are so many mails.
async fn mail(t: &TestServer, address: &str, count: usize) -> String {
    let newest = || async {
        let all = t.app().mail.list().expect("a list").of(t.realm().id());
        let found = all.iter().find(|mail| mail.to == address).map(|mail| mail.text.clone());
        found.filter(|_| all.len() == count)
    };
    poll_for("the mail is there", newest).await
}

async fn mailed_link(t: &TestServer, address: &str, count: usize) -> String {
    let text = mail(t, address, count).await;
    let (_, rest) = text.split_once("/accounts/do_confirm/").expect("a link");
    format!("/accounts/do_confirm/{}", rest.split_whitespace().next().expect("its end"))
}

#[tokio::test]
async fn confirmed_address_becomes_an_account() {
    let t = server().await;
    let mut visitor = Visitor::new(&t);
    assert!(html(&visitor.get("/login/").await).contains("href=\"/register/\""));
    ask(&mut visitor, "new@example.com").await;
    let page = visitor.get(SENT).await;
    assert!(html(&page).contains("Check your email") && html(&page).contains("/emails"), "{page:?}");
    let link = mailed_link(&t, "new@example.com", 1).await;
    let form = visitor.get(&link).await;
    assert!(html(&form).contains("value=\"new@example.com\" readonly"), "{form:?}");
    let fields =
        |name: &'static str, password: &'static str| vec![("full_name", name), ("password", password)];
    for (name, password, problem) in
        [("", PASSWORD, "full_name-problem"), ("New", "abc", "at least"), ("New", "password", "too easy")]
    {
        let answer = visitor.ask(reqwest::Method::POST, &link, Some(&fields(name, password))).await;
        assert!(answer.status == 400 && html(&answer).contains(problem), "{answer:?}");
    }
    // Another address in the form has no effect.
    let mut given = fields("Newcomer", PASSWORD);
    given.push(("email", "other@example.com"));
    let answer = visitor.ask(reqwest::Method::POST, &link, Some(&given)).await;
    assert!(answer.status == 200 && html(&answer).contains("Welcome, Newcomer!"), "{answer:?}");
    assert_eq!(location(&visitor.log_in("new@example.com", PASSWORD).await).0, 302);
    let iago = t.user("iago");
    let new = iago.get("/users/new@example.com", &[]).ok().await["user"].clone();
    assert_eq!((&new["role"], &new["delivery_email"]), (&json!(400), &json!("new@example.com")));
    assert!(t.realm().directory().user_by_email("other@example.com").is_none());
    // The link makes no other account.
    let page = visitor.get(&link).await;
    assert!(page.status == 410 && html(&page).contains("<a href=\"/login/\">Log in</a>"), "{page:?}");
    let again = visitor.ask(reqwest::Method::POST, &link, Some(&fields("Second", PASSWORD))).await;
    assert_eq!(again.status, 410, "{again:?}");
}

#[tokio::test]
async fn answers_do_not_say_who_has_an_account() {
    let t = server().await;
    let iago = t.user("iago");
    iago.delete(&format!("/users/{}", t.user("prospero").id), &[]).ok().await;
    let before = t.app().mail.list().expect("a list").of(t.realm().id()).len();
    let mut visitor = Visitor::new(&t);
    for address in
        ["HAMLET@zulip.com", "prospero@zulip.com", "notification-bot@zulip.com", "default-bot@zulip.com"]
    {
        ask(&mut visitor, address).await;
    }
    let text = mail(&t, "hamlet@zulip.com", before + 2).await;
    assert!(text.contains("has one already") && text.contains("/login/"), "{text}");
    assert!(!text.contains("do_confirm"), "{text}");
    let text = mail(&t, "prospero@zulip.com", before + 2).await;
    assert!(text.contains("has been deactivated"), "{text}");
}

#[tokio::test]
async fn organization_says_whose_addresses_it_accepts() {
    let t = server().await;
    let desdemona = t.user("desdemona");
    let mut visitor = Visitor::new(&t);
    let refused = async |visitor: &mut Visitor, address: &str, problem: &str| {
        let answer = visitor.submit(START, START, &[("email", address)]).await;
        assert!(answer.status == 200 && html(&answer).contains(problem), "{address}: {answer:?}");
    };
    for address in ["", "x", "a b@example.com", "a@"] {
        refused(&mut visitor, address, "Enter a valid email address.").await;
    }
    refused(&mut visitor, "a@mailinator.com", "real email address").await;
    desdemona.patch("/realm", &[("disallow_disposable_email_addresses", &false)]).ok().await;
    ask(&mut visitor, "a@mailinator.com").await;
    desdemona.post("/realm/domains", &[("domain", &"acme.example"), ("allow_subdomains", &true)]).ok().await;
    desdemona.patch("/realm", &[("emails_restricted_to_domains", &true)]).ok().await;
    refused(&mut visitor, "a@example.com", "only email addresses of its own domains").await;
    refused(&mut visitor, "a+b@acme.example", "containing + are not allowed").await;
    ask(&mut visitor, "a@mail.acme.example").await;
    // A link from before the restriction is of no use.
    let link = mailed_link(&t, "a@mailinator.com", 2).await;
    assert_eq!(visitor.get(&link).await.status, 410);
}

#[tokio::test]
async fn where_an_invitation_is_required_the_pages_say_so() {
    let t = server().await;
    let mut visitor = Visitor::new(&t);
    ask(&mut visitor, "new@example.com").await;
    let link = mailed_link(&t, "new@example.com", 1).await;
    t.user("desdemona").patch("/realm", &[("invite_required", &true)]).ok().await;
    for path in [START, "/accounts/home/"] {
        let page = visitor.get(path).await;
        assert!(page.status == 200 && html(&page).contains("An invitation is required"), "{page:?}");
    }
    let form = [("email", "x@example.com")];
    let answer = visitor.submit("/login/", START, &form).await;
    assert!(answer.status == 403 && html(&answer).contains("An invitation is required"), "{answer:?}");
    let page = visitor.get(&link).await;
    assert!(page.status == 403 && html(&page).contains("An invitation is required"), "{page:?}");
    assert!(!html(&visitor.get("/login/").await).contains("/register/"));
    // A server without mail cannot confirm addresses.
    let t = TestServer::start().await;
    t.user("desdemona").patch("/realm", &[("invite_required", &false)]).ok().await;
    let page = Visitor::new(&t).get(START).await;
    assert!(html(&page).contains("cannot send the email"), "{page:?}");
}

/// As [`server`], with rate limits of which one is as given.
async fn limited_server(limit: &'static str, rules: &str) -> TestServer {
    let plan = TestServer::builder().development().set("limits.enabled", true);
    plan.set(limit, rules).start().await
}

/// Asks for too many mails.
async fn ask_in_vain(visitor: &mut Visitor, address: &str, problem: &str) {
    let answer = visitor.submit(START, START, &[("email", address)]).await;
    assert!(answer.status == 429 && html(&answer).contains(problem), "{address}: {answer:?}");
}

#[tokio::test]
async fn mails_to_a_mailbox_are_limited_without_its_tag() {
    let t = limited_server("limits.reset_mails_by_address", "[[3600, 3]]").await;
    let mut visitor = Visitor::new(&t);
    for address in ["new@example.com", "new+1@example.com", "NEW+2@Example.com"] {
        ask(&mut visitor, address).await;
    }
    ask_in_vain(&mut visitor, "new+3@example.com", "for this address").await;
    ask(&mut visitor, "newer@example.com").await;
}

#[tokio::test]
async fn mails_that_a_network_requests_are_limited() {
    let t = limited_server("limits.reset_mails_by_ip", "[[3600, 3]]").await;
    let mut visitor = Visitor::new(&t);
    ask(&mut visitor, "new1@example.com").await;
    for (path, field) in [("/accounts/password/reset/", "email"), ("/accounts/find/", "emails")] {
        let answer = visitor.submit(path, path, &[(field, "hamlet@zulip.com")]).await;
        assert_eq!(answer.status, 302, "{path}: {answer:?}");
    }
    ask_in_vain(&mut visitor, "new2@example.com", "from your network").await;
    for (path, field) in [("/accounts/password/reset/", "email"), ("/accounts/find/", "emails")] {
        for address in ["iago@zulip.com", "unknown@zulip.com"] {
            let answer = visitor.submit(path, path, &[(field, address)]).await;
            assert!(answer.status == 429 && html(&answer).contains("from your network"), "{answer:?}");
        }
    }
}

#[tokio::test]
async fn mails_for_new_accounts_of_an_organization_are_limited() {
    let t = limited_server("limits.sign_ups_by_organization", "[[86400, 2]]").await;
    let mut visitor = Visitor::new(&t);
    ask(&mut visitor, "new1@example.com").await;
    ask(&mut visitor, "new2@example.com").await;
    for address in ["new3@example.com", "hamlet@zulip.com"] {
        ask_in_vain(&mut visitor, address, "for new accounts").await;
    }
    let start = "/accounts/password/reset/";
    let answer = visitor.submit(start, start, &[("email", "hamlet@zulip.com")]).await;
    assert_eq!(answer.status, 302, "links for people with an account are not held up: {answer:?}");
}

#[tokio::test]
async fn links_expire_and_belong_to_one_address() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().development().clock(&clock).start().await;
    let mut visitor = Visitor::new(&t);
    ask(&mut visitor, "new@example.com").await;
    let link = mailed_link(&t, "new@example.com", 1).await;
    assert_eq!(visitor.get(&link).await.status, 200);
    let (head, rest) = link.split_once("do_confirm/").expect("a key");
    let (_, tail) = rest.split_once('.').expect("an address");
    // "abc@example.com"
    let foreign = format!("{head}do_confirm/YWJjQGV4YW1wbGUuY29t.{tail}");
    for wrong in
        [foreign.as_str(), &link[..link.len() - 3], "/accounts/do_confirm/", "/accounts/do_confirm/x"]
    {
        assert_eq!(visitor.get(wrong).await.status, 404, "{wrong}");
    }
    clock.advance_secs(24 * 3600 + 1);
    let page = visitor.get(&link).await;
    assert!(page.status == 410 && html(&page).contains("expired"), "{page:?}");
}

#[tokio::test]
async fn links_to_an_address_are_limited() {
    let t = TestServer::builder().development().set("limits.enabled", true).start().await;
    let mut visitor = Visitor::new(&t);
    for attempt in 0..4 {
        let answer = visitor.submit(START, START, &[("email", "new@example.com")]).await;
        assert_eq!(answer.status, if attempt < 3 { 302 } else { 429 }, "{answer:?}");
    }
}
