//! The pages for people: logging in and out, a new password, what the server is, and errors (docs/api/sessions.md).

use crate::support::user::Browser;
use crate::support::{ApiResponse, TestServer, TestUser, poll_for};
use actors::ManualClock;
use model::Timestamp;
use reqwest::Method;
use reqwest::header::HeaderMap;
use std::collections::BTreeMap;

/// A browser without scripts: it keeps cookies, and fills in forms.
pub struct Visitor {
    anonymous: TestUser,
    host: &'static str,
    pub cookies: BTreeMap<String, String>,
}

impl Visitor {
    pub fn new(t: &TestServer) -> Self {
        Self { anonymous: t.anonymous(), host: "localhost", cookies: BTreeMap::new() }
    }

    pub async fn ask(&mut self, method: Method, path: &str, form: Option<&[(&str, &str)]>) -> ApiResponse {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut call =
            self.anonymous.bare(method, path).header("Accept", "text/html").header("Host", self.host);
        call = call.header("Cookie", &cookies.join("; ")).header("User-Agent", "Mozilla/5.0 (test)");
        if let Some(form) = form {
            call.request = call.request.form(form);
        }
        let answer = call.await;
        self.keep(&answer.headers);
        answer
    }

    fn keep(&mut self, headers: &HeaderMap) {
        for line in headers.get_all("Set-Cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            match value {
                "" => self.cookies.remove(name),
                value => self.cookies.insert(name.to_owned(), value.to_owned()),
            };
        }
    }

    pub async fn get(&mut self, path: &str) -> ApiResponse {
        self.ask(Method::GET, path, None).await
    }

    /// Opens a page, and sends its form.
    pub async fn submit(&mut self, page: &str, to: &str, fields: &[(&str, &str)]) -> ApiResponse {
        let token = csrf_field(&self.get(page).await);
        let form: Vec<(&str, &str)> =
            fields.iter().copied().chain([("csrfmiddlewaretoken", token.as_str())]).collect();
        self.ask(Method::POST, to, Some(&form)).await
    }

    pub async fn log_in(&mut self, name: &str, password: &str) -> ApiResponse {
        let form = [("username", name), ("password", password), ("next", "/#narrow/x"), ("button", "")];
        self.submit("/login/?next=/%23narrow/x", "/accounts/login/", &form).await
    }

    async fn is_logged_in(&mut self) -> bool {
        self.get("/json/users/me").await.status == 200
    }
}

pub fn html(answer: &ApiResponse) -> &str {
    answer.body.as_str().expect("a page")
}

pub fn csrf_field(page: &ApiResponse) -> String {
    let rest = html(page).split_once("name=\"csrfmiddlewaretoken\" value=\"").expect("a token").1;
    rest.split('"').next().unwrap().to_owned()
}

pub fn location(answer: &ApiResponse) -> (u16, &str) {
    (answer.status, answer.header("Location"))
}

#[tokio::test]
async fn form_logs_in_and_out() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    let page = visitor.get("/login/").await;
    assert_eq!(page.status, 200);
    let policy = page.header("Content-Security-Policy");
    assert!(policy.starts_with("default-src 'none'") && page.header("X-Frame-Options") == "DENY");
    let wrong = visitor.log_in("hamlet@zulip.com", "wrong").await;
    assert!(wrong.status == 200 && html(&wrong).contains("password is wrong"), "{wrong:?}");
    assert!(
        html(&wrong).contains("value=\"hamlet@zulip.com\"") && !visitor.cookies.contains_key("sessionid")
    );
    // A session that another person put there is not taken over.
    visitor.cookies.insert("sessionid".into(), "planted".into());
    let right = visitor.log_in("hamlet@zulip.com", "hamlet@zulip.com").await;
    assert_eq!(location(&right), (302, "/#narrow/x"));
    let session = visitor.cookies["sessionid"].clone();
    assert!(session != "planted" && session.len() == 43);
    assert!(visitor.is_logged_in().await);
    assert_eq!(location(&visitor.get("/login/?next=/help/").await), (302, "/help/"));
    assert!(html(&visitor.get("/").await).contains("King Hamlet"));
    // What the cookie says is the token of the session, for programs that have no page.
    let browser = Browser { secret: session.clone(), csrf_token: visitor.cookies["csrftoken"].clone() };
    let person = TestUser { browser: Some(browser), ..t.anonymous() };
    person.post("/users/me/status", &[("status_text", &"x")]).ok().await;
    let sessions = person.get("/users/me/sessions", &[]).ok().await;
    assert_eq!(sessions["sessions"][0]["device"], "Mozilla/5.0 (test)");
    // Logging in again is another session, and the one before ends.
    let again = visitor
        .submit("/", "/accounts/login/", &[("username", "iago@zulip.com"), ("password", "iago@zulip.com")])
        .await;
    assert_eq!(location(&again), (302, "/"));
    assert!(visitor.cookies["sessionid"] != session);
    assert_eq!(person.get("/users/me", &[]).await.status, 401);
    let out = visitor.submit("/", "/accounts/logout/", &[]).await;
    assert_eq!(location(&out), (302, "/login/"));
    assert!(visitor.cookies.is_empty() && !visitor.is_logged_in().await);
    assert_eq!(t.realm().directory().web_sessions().count(), 0);
}

#[tokio::test]
async fn bots_and_other_sites_do_not_log_in() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    let form = [("username", "hamlet@zulip.com"), ("password", "hamlet@zulip.com")];
    // A page of another site knows no token.
    let forged = visitor.ask(Method::POST, "/accounts/login/", Some(&form)).await;
    assert!(forged.status == 403 && html(&forged).contains("expired"), "{forged:?}");
    visitor.get("/login/").await;
    let forged = visitor.ask(Method::POST, "/accounts/login/", Some(&form)).await;
    assert_eq!(forged.status, 403);
    for next in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"] {
        let form = [form[0], form[1], ("next", next)];
        let mut visitor = Visitor::new(&t);
        let answer = visitor.submit("/login/", "/accounts/login/", &form).await;
        assert_eq!(location(&answer), (302, "/"), "{next}");
    }
    let mut visitor = Visitor::new(&t);
    let bot = visitor.submit("/devlogin/", "/devlogin/", &[("direct_email", "default-bot@zulip.com")]).await;
    assert_eq!(bot.status, 401);
    assert!(!visitor.is_logged_in().await);
}

#[tokio::test]
async fn cookies_over_https_are_for_the_host_only() {
    let plan = TestServer::builder().development().set("external_url", "https://chat.example.com");
    let t = plan.start().await;
    let mut visitor = Visitor { host: "chat.example.com", ..Visitor::new(&t) };
    let answer = visitor.log_in("hamlet@zulip.com", "hamlet@zulip.com").await;
    let lines: Vec<&str> =
        answer.headers.get_all("Set-Cookie").iter().map(|line| line.to_str().unwrap()).collect();
    assert_eq!(lines.len(), 2);
    for (line, name) in lines.iter().zip(["__Host-sessionid=", "__Host-csrftoken="]) {
        let attributes = "; Path=/; Max-Age=1209600; HttpOnly; SameSite=Lax; Secure";
        assert!(line.starts_with(name) && line.ends_with(attributes), "{line}");
    }
    assert!(visitor.is_logged_in().await);
    let secret = visitor.cookies.remove("__Host-sessionid").unwrap();
    visitor.cookies.insert("sessionid".into(), secret);
    assert!(!visitor.is_logged_in().await, "a cookie that a neighbour could set is not taken");
}

#[tokio::test]
async fn guesses_are_limited_as_with_keys() {
    let plan = TestServer::builder().development().set("limits.enabled", true);
    let t = plan.start().await;
    let mut visitor = Visitor::new(&t);
    for _ in 0..5 {
        assert_eq!(visitor.log_in("hamlet@zulip.com", "wrong").await.status, 200);
    }
    let refused = visitor.log_in("hamlet@zulip.com", "hamlet@zulip.com").await;
    assert!(refused.status == 429 && html(&refused).contains("Too many failed attempts"), "{refused:?}");
    assert_eq!(location(&visitor.log_in("iago@zulip.com", "iago@zulip.com").await), (302, "/#narrow/x"));
}

#[tokio::test]
async fn people_of_development_servers_choose_who_they_are() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    let page = visitor.get("/devlogin/").await;
    assert!(html(&page).contains("value=\"desdemona@zulip.com\"") && !html(&page).contains("-bot@"));
    let answer = visitor.submit("/devlogin/", "/devlogin/", &[("direct_email", "desdemona@zulip.com")]).await;
    assert_eq!(location(&answer), (302, "/"));
    assert!(visitor.is_logged_in().await);
    let production = TestServer::start().await;
    let mut visitor = Visitor::new(&production);
    assert_eq!(visitor.get("/devlogin/").await.status, 404);
    assert!(!html(&visitor.get("/login/").await).contains("devlogin"));
}

/// The path of the newest link for a new password, once `count` of them were mailed.
async fn mailed_link(t: &TestServer, count: usize) -> String {
    let links = || async {
        let all = t.app().mail.list().expect("a list").of(t.realm().id());
        let all = all.iter().filter(|mail| mail.subject.starts_with("Choose a new password"));
        let parts = all.filter_map(|mail| mail.text.split_once("/accounts/password/reset/"));
        let links: Vec<String> =
            parts.map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default().to_owned()).collect();
        (links.len() == count).then_some(links)
    };
    let links = poll_for("the mail is there", links).await;
    format!("/accounts/password/reset/{}", links[0])
}

#[tokio::test]
async fn forgotten_password_is_replaced_once() {
    let clock = ManualClock::new(Timestamp(1_800_000_000_000));
    let t = TestServer::builder().development().clock(&clock).start().await;
    let open = t.browser("hamlet").await;
    let mut visitor = Visitor::new(&t);
    let start = "/accounts/password/reset/";
    let ask = async |visitor: &mut Visitor, email: &str| {
        let answer = visitor.submit(start, start, &[("email", email)]).await;
        assert_eq!(location(&answer), (302, "/accounts/password/reset/done/"), "{email}");
    };
    // The same answer for an address without an account, and no mail.
    ask(&mut visitor, "nobody@zulip.com").await;
    ask(&mut visitor, "default-bot@zulip.com").await;
    ask(&mut visitor, "HAMLET@zulip.com").await;
    let link = mailed_link(&t, 1).await;
    assert!(html(&visitor.get("/accounts/password/reset/done/").await).contains("If there is an account"));
    let set = async |visitor: &mut Visitor, one: &str, two: &str| {
        visitor.submit(&link, &link, &[("new_password1", one), ("new_password2", two)]).await
    };
    for (one, two, problem) in [
        ("abcdefgh", "abcdefgi", "differ"),
        ("abc", "abc", "at least 6 characters"),
        ("password", "password", "too easy"),
    ] {
        let answer = set(&mut visitor, one, two).await;
        assert!(answer.status == 200 && html(&answer).contains(problem), "{answer:?}");
    }
    let good = "purple elephant staircase";
    assert!(html(&set(&mut visitor, good, good).await).contains("Your password is set"));
    let acts = t.user("desdemona").get("/realm/audit", &[("limit", &1)]).ok().await["acts"].clone();
    let who = acts[0]["who"].as_str().expect("a name");
    assert!(who.starts_with("King Hamlet (hamlet@") && who.ends_with(", by a link in an e-mail"), "{who}");
    assert_eq!(acts[0]["origin"], "browser");
    assert_eq!(open.get("/users/me", &[]).await.status, 401, "all browsers are logged out");
    assert_eq!(visitor.get(&link).await.status, 404, "a link is good once");
    assert_eq!(location(&visitor.log_in("hamlet@zulip.com", good).await).0, 302);
    // Links expire, and belong to one account.
    ask(&mut visitor, "iago@zulip.com").await;
    let link = mailed_link(&t, 2).await;
    assert_eq!(visitor.get(&link).await.status, 200);
    let number = t.user("desdemona").id;
    let foreign = link.replacen(&t.user("iago").id.to_string(), &number.to_string(), 1);
    assert_eq!(visitor.get(&foreign).await.status, 404);
    clock.advance_secs(24 * 3600 + 1);
    assert_eq!(visitor.get(&link).await.status, 404);
}

#[tokio::test]
async fn reset_mails_to_an_address_are_limited() {
    let plan = TestServer::builder().development().set("limits.enabled", true);
    let t = plan.start().await;
    let mut visitor = Visitor::new(&t);
    let start = "/accounts/password/reset/";
    for attempt in 0..4 {
        let answer = visitor.submit(start, start, &[("email", "nobody@zulip.com")]).await;
        assert_eq!(answer.status, if attempt < 3 { 302 } else { 429 });
    }
}

#[tokio::test]
async fn server_without_mail_says_who_sets_a_new_password() {
    let t = TestServer::start().await;
    let mut visitor = Visitor::new(&t);
    let advice = "Ask its operator, who can set a new password with `millstream user set-password`.";
    let login = visitor.get("/login/").await;
    assert!(
        html(&login).contains(advice) && !html(&login).contains("/accounts/password/reset/"),
        "{login:?}"
    );
    let page = visitor.get("/accounts/password/reset/").await;
    assert!(page.status == 200 && html(&page).contains(advice), "{page:?}");
    assert!(html(&page).contains("<a href=\"/login/\">Log in</a>"), "{page:?}");
    assert_eq!(visitor.get("/accounts/password/reset/1-2-abc/").await.status, 404);
    // With mail it says how.
    let t = TestServer::builder().development().start().await;
    let login = Visitor::new(&t).get("/login/").await;
    assert!(!html(&login).contains("operator") && html(&login).contains("/accounts/password/reset/"));
    // Passwords of a directory are not set here.
    let directory = TestServer::builder().set("ldap.url", "ldap://127.0.0.1:1");
    let directory = directory.set("ldap.search_base", "dc=x").set("login.password", false);
    let t = directory.start().await;
    let mut visitor = Visitor::new(&t);
    assert!(!html(&visitor.get("/login/").await).contains("operator"));
    assert_eq!(visitor.get("/accounts/password/reset/").await.status, 404);
}

#[tokio::test]
async fn page_of_an_invalid_link_leads_to_another_link() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    for (path, another) in [
        ("/accounts/password/reset/none", "/accounts/password/reset/"),
        ("/accounts/do_confirm/none", "/register/"),
    ] {
        let page = visitor.get(path).await;
        let link = format!("<p><a href=\"{another}\">Request another link</a></p>");
        assert!(page.status == 404 && html(&page).contains(&link), "{page:?}");
        let text = html(&page).replace(&format!("href=\"{another}\""), "");
        assert!(!text.contains(another), "the path is text: {text}");
    }
}

#[tokio::test]
async fn every_page_has_an_icon_of_this_server() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    for path in ["/about", "/login/", "/register/", "/devlogin/", "/emails", "/api", "/accounts/go/"] {
        let page = visitor.get(path).await;
        let has_icon = |page: &str| page.contains("<link rel=\"icon\" href=\"/favicon.ico\"");
        assert!(page.body.as_str().is_some_and(has_icon), "{path}: {page:?}");
    }
    let icon = t.anonymous().http.get(format!("{}/favicon.ico", t.url)).send().await.unwrap();
    assert_eq!(icon.status().as_u16(), 200);
    assert_eq!(icon.headers()["content-type"], "image/x-icon");
    assert!(icon.bytes().await.unwrap().starts_with(&[0, 0, 1, 0]));
}

#[tokio::test]
async fn pages_of_a_deactivated_organization_say_so() {
    let t = TestServer::builder().development().start().await;
    t.user("desdemona").post("/realm/deactivate", &[]).ok().await;
    let mut visitor = Visitor::new(&t);
    let pages = [
        "/",
        "/about",
        "/login/",
        "/devlogin/",
        "/integrations/",
        "/integrations/github",
        "/api",
        "/api/send-message",
        "/accounts/password/reset/",
        "/register/",
        "/accounts/home/",
        "/accounts/send_confirm/",
        "/accounts/unsubscribe/x",
        "/confirm_email/x",
    ];
    for path in pages {
        let page = visitor.get(path).await;
        let says_so = |page: &str| page.contains("This organization has been deactivated");
        assert!(page.status == 403 && page.body.as_str().is_some_and(says_so), "{path}: {page:?}");
    }
}

#[tokio::test]
async fn descriptions_fit_the_page_and_stay_as_they_are_for_programs() {
    let t = TestServer::start().await;
    let text = "# Tea\n\n### Times\n\nCome :smile:";
    t.user("desdemona").patch("/realm", &[("description", &text)]).ok().await;
    let page = Visitor::new(&t).get("/about").await;
    for part in ["<h2>Tea</h2>", "<h3>Times</h3>", ">\u{1f604}\u{fe0f}</span>"] {
        assert!(html(&page).contains(part), "{part}: {page:?}");
    }
    let about = t.anonymous().bare(Method::GET, "/about").header("Accept", "application/json").await;
    let description = about.body["realm_description"].as_str().expect("a description");
    assert!(description.starts_with("<h1>Tea</h1>\n<h3>Times</h3>"), "{description}");
    assert!(description.contains(">:smile:</span>"), "{description}");
}

#[tokio::test]
async fn only_people_who_are_logged_in_have_a_page_that_asks_for_names() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    for is_logged_in in [false, true] {
        if is_logged_in {
            visitor.log_in("hamlet@zulip.com", "hamlet@zulip.com").await;
        }
        let page = visitor.get("/about").await;
        let policy = page.header("Content-Security-Policy");
        assert_eq!(policy.contains("connect-src 'self'"), is_logged_in, "{policy}");
        assert_eq!(
            html(&page).contains(&format!(" data-user-id=\"{}\"", t.user("hamlet").id)),
            is_logged_in,
            "{page:?}"
        );
    }
}

#[tokio::test]
async fn servers_without_mail_have_no_link_to_what_they_would_mail() {
    let t = TestServer::start().await;
    let page = Visitor::new(&t).get("/accounts/go/").await;
    assert!(page.body.as_str().is_some_and(|page| !page.contains("/accounts/find/")), "{page:?}");
}

#[tokio::test]
async fn organizations_are_found_by_mail_and_name() {
    let t = TestServer::builder().development().start().await;
    let acme = crate::support::people::create_second(t.server(), "acme").await;
    crate::support::people::add(&acme, "hamlet", "Hamlet", model::Role::Member, None).await;
    let mut visitor = Visitor::new(&t);
    let find = "/accounts/find/";
    let answer = visitor.submit(find, find, &[("emails", "nobody@zulip.com, HAMLET@zulip.com")]).await;
    assert_eq!(location(&answer), (302, "/accounts/find/done/"));
    let mails = || async { t.app().mail.list().expect("a list").of(t.realm().id()).into_iter().next() };
    let mail = poll_for("the mail is there", mails).await;
    assert!(
        mail.to == "hamlet@zulip.com" && mail.text.contains("Zulip Dev") && mail.text.contains("Another one"),
        "{mail:?}"
    );
    for (emails, problem) in [("", "valid"), ("x", "valid"), (&*"a@b.c ".repeat(11), "more than ten")] {
        let answer = visitor.submit(find, find, &[("emails", emails)]).await;
        assert!(answer.status == 200 && html(&answer).contains(problem), "{emails}");
    }
    let go = "/accounts/go/";
    let answer = visitor.submit(go, go, &[("subdomain", "Acme"), ("next", "/#x")]).await;
    assert!(
        html(&answer).contains("//acme.localhost") && html(&answer).contains("/login/?next=%2F%23x"),
        "{answer:?}"
    );
    let answer = visitor.submit(go, go, &[("subdomain", "nowhere")]).await;
    assert!(html(&answer).contains("There is no organization with this name"), "{answer:?}");
}

#[tokio::test]
async fn files_that_are_not_there_are_pages_for_browsers() {
    let t = TestServer::builder().development().start().await;
    let mut visitor = Visitor::new(&t);
    let path = "/user_uploads/1/ab/tea.txt";
    let page = visitor.get(path).await;
    let link = format!("<a href=\"/login/?next={path}\">Log in</a>");
    assert!(page.status == 401 && html(&page).contains(&link), "{page:?}");
    assert!(!page.headers.contains_key("WWW-Authenticate"), "{page:?}");
    visitor.log_in("hamlet@zulip.com", "hamlet@zulip.com").await;
    let page = visitor.get(path).await;
    assert!(page.status == 404 && html(&page).contains("<h1>There is no such file</h1>"), "{page:?}");
    assert_eq!(t.user("hamlet").fetch(path).await.2, b"<p>This file does not exist or has been deleted.</p>");
}

#[tokio::test]
async fn forms_that_are_too_large_get_a_page() {
    let t = TestServer::builder().set("http.anonymous_body_bytes_max", 1000).start().await;
    let long = "x".repeat(2000);
    for path in ["/join/x/", "/accounts/do_confirm/x", "/accounts/login/"] {
        let answer = Visitor::new(&t).ask(Method::POST, path, Some(&[("full_name", &long)])).await;
        let says_so = |page: &str| page.contains("This is too large");
        assert!(answer.status == 413 && answer.body.as_str().is_some_and(says_so), "{path}: {answer:?}");
    }
}

#[tokio::test]
async fn addresses_that_apps_open() {
    let t = TestServer::start().await;
    let mut visitor = Visitor::new(&t);
    for (path, target) in [
        ("/login", "/login/"),
        ("/desktop_home/", "/"),
        ("/help", "https://zulip.com/help/"),
        ("/help/", "https://zulip.com/help/"),
        (
            "/help/format-your-message%20x%0d%0aX-Y:%20z",
            "https://zulip.com/help/format-your-message%20x%0D%0AX-Y:%20z",
        ),
    ] {
        assert_eq!(location(&visitor.get(path).await), (302, target), "{path}");
    }
    t.anonymous().get("/compatibility", &[]).ok().await;
    let home = visitor.get("/").await;
    assert!(home.status == 200 && html(&home).contains("organization URL"), "{home:?}");
    visitor.host = "nowhere.localhost";
    assert_eq!(visitor.get("/").await.status, 404);
    let own = TestServer::builder().set("web.help_url", "https://docs.example.org/x/").start().await;
    assert_eq!(location(&Visitor::new(&own).get("/help/a").await), (302, "https://docs.example.org/x/a"));
}

#[tokio::test]
async fn errors_are_pages_for_browsers_only() {
    let t = TestServer::start().await;
    let mut visitor = Visitor::new(&t);
    let page = visitor.get("/plans/").await;
    assert!(page.status == 404 && html(&page).contains("This page does not exist"), "{page:?}");
    assert!(page.header("Content-Security-Policy").starts_with("default-src 'none'"));
    for path in ["/api/v1/nowhere", "/json/nowhere"] {
        assert_eq!(visitor.get(path).await.body["code"], "NOT_FOUND", "{path}");
    }
    let plain = t.anonymous().bare(Method::GET, "/help").header("Accept", "*/*").await;
    assert_eq!(plain.status, 302);
}
