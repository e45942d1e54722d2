//! Logins with passwords of an LDAP directory: each test starts a real `slapd`.

use crate::api::pages::{Visitor, html};
use crate::support::server::TestServerBuilder;
use crate::support::slapd::{BASE, Entry, READER, Slapd};
use crate::support::{ApiResponse, Params, ServerProcess, TestServer, TestUser, wait_until};
use actors::NewUser;
use actors::commands::CreateUser;
use model::Role;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const fn entry(
    uid: &'static str,
    full_name: &'static str,
    mail: Option<&'static str>,
    password: &'static str,
) -> Entry {
    Entry { uid, full_name, mail, password }
}

const PEOPLE: [Entry; 9] = [
    entry("ada", "Ada Byron", Some("ada@zulip.com"), "ada (secret) *"),
    entry("prince", "The Prince", Some("hamlet@zulip.com"), "prince secret"),
    entry("ghost", "Ghost", Some("ghost@zulip.com"), "ghost secret"),
    entry("twin1", "First Twin", Some("twin@zulip.com"), "twin secret"),
    entry("twin2", "Second Twin", Some("twin@zulip.com"), "twin secret"),
    entry("nomail", "Without Address", None, "nomail secret"),
    entry("badname", "Bad @ Name", Some("badname@zulip.com"), "badname secret"),
    entry("away", "Away", Some("away@mailinator.com"), "away secret"),
    entry("bot", "Bot", Some("default-bot@zulip.com"), "bot secret"),
];

fn with(plan: TestServerBuilder, url: &str) -> TestServerBuilder {
    plan.set("ldap.url", url)
        .set("ldap.bind_dn", READER.0)
        .set("ldap.bind_password", READER.1)
        .set("ldap.search_base", BASE)
}

async fn login(who: &TestUser, username: &str, password: &str) -> ApiResponse {
    let params: Params<'_> = &[("username", &username), ("password", &password)];
    who.post("/fetch_api_key", params).await
}

fn wrong() -> Value {
    json!({"msg": "Your username or password is incorrect", "code": "AUTHENTICATION_FAILED"})
}

/// Creates the user rosa with a local password.
async fn add_local(t: &TestServer, name: &str, password: &str) {
    let user = NewUser {
        email: format!("{name}@zulip.com"),
        full_name: name.to_owned(),
        role: Role::Member,
        bot: None,
        password_hash: Some(actors::login::hash_password(password).expect("a hash")),
        timezone: String::new(),
        channels: Vec::new(),
    };
    t.realm().execute(CreateUser { user, sends_messages: false }).await.expect("an account");
}

#[tokio::test]
async fn ldap_first_login_creates_account() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).start().await;
    let (anonymous, mut queue) = (t.anonymous(), t.user("iago").register().await);
    let first = login(&anonymous, "ada", "ada (secret) *").await.ok();
    assert_eq!(first["email"], "ada@zulip.com");
    let ada = t.user("ada");
    assert_eq!((&first["api_key"], &first["user_id"]), (&json!(ada.key), &json!(ada.id)));
    assert_eq!(ada.full_name, "Ada Byron");
    assert_eq!(ada.get("/users/me", &[]).ok().await["role"], 400);
    let added = queue.next().await;
    assert_eq!((&added["op"], &added["person"]["full_name"]), (&json!("add"), &json!("Ada Byron")));
    // The first login sends the events and messages of a new user; later ones send none.
    let greetings = || async { ada.messages(json!([["is", "dm"]])).await };
    let greeted = greetings().await;
    assert_eq!(greeted[0]["sender_full_name"], "Welcome Bot");
    // The user name or the email address, in any case, logs in to the same account.
    for username in ["ada", "ADA", "ada@zulip.com", "Ada@Zulip.com"] {
        let again = login(&anonymous, username, "ada (secret) *").await.ok();
        assert_eq!(again["user_id"], ada.id, "{username}");
    }
    assert_eq!(greetings().await.len(), greeted.len());
    // An existing account is found by its address.
    let hamlet = login(&anonymous, "prince", "prince secret").await.ok();
    assert_eq!(
        (&hamlet["user_id"], &hamlet["api_key"]),
        (&json!(t.user("hamlet").id), &json!(t.user("hamlet").key))
    );
}

#[tokio::test]
async fn ldap_login_errors() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).start().await;
    let anonymous = t.anonymous();
    for (username, password) in [
        ("ada", "wrong"),
        // An LDAP bind without a password is anonymous and always succeeds, so it must be refused here.
        ("ada", ""),
        ("unknown", "x"),
        ("", "x"),
        // Special characters of LDAP filters and distinguished names are escaped.
        ("*", "ada (secret) *"),
        ("a*", "ada (secret) *"),
        ("ada)(uid=*", "ada (secret) *"),
        ("*)(|(uid=*", "ada (secret) *"),
        ("ada\u{0}", "ada (secret) *"),
        ("uid=ada,ou=people,dc=example,dc=org", "ada (secret) *"),
        // The account that searches the directory is no user.
        ("reader", READER.1),
        ("twin@zulip.com", "twin secret"),
        ("nomail", "nomail secret"),
        ("bot", "bot secret"),
        ("ghost", "wrong"),
    ] {
        login(&anonymous, username, password).await.refused(401, wrong());
    }
    let gone = json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"});
    login(&anonymous, "ghost", "ghost secret").await.refused(401, gone);
    let refusal = |msg: &str| json!({"msg": msg, "code": "BAD_REQUEST"});
    login(&anonymous, "badname", "badname secret").await.refused(400, refusal("Invalid characters in name!"));
    let disposable = "Disposable email addresses are not allowed in this organization";
    login(&anonymous, "away", "away secret").await.refused(400, refusal(disposable));
    let long = "x".repeat(50_000);
    login(&anonymous, &long, "x").await.refused(401, wrong());
}

#[tokio::test]
async fn login_page_says_why_no_account_is_created() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).start().await;
    let wrong = "address or the password is wrong";
    for (username, password, expected) in [
        ("badname", "badname secret", "Your account cannot be created: Invalid characters in name. Contact"),
        ("away", "away secret", "Your account cannot be created: Disposable email addresses"),
        // Only the right password shows what is wrong with an entry.
        ("badname", "wrong", wrong),
        ("nomail", "nomail secret", wrong),
    ] {
        let answer = Visitor::new(&t).log_in(username, password).await;
        assert_eq!(answer.status, 200);
        assert!(html(&answer).contains(expected), "{username}: {}", html(&answer));
    }
}

#[tokio::test]
async fn log_says_why_directory_logins_fail() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let (_folder, data) = acme();
    let serve = |password: &str, base: &str| {
        let environment = [
            ("MILLSTREAM_LDAP_URL", slapd.url.as_str()),
            ("MILLSTREAM_LDAP_BIND_DN", READER.0),
            ("MILLSTREAM_LDAP_BIND_PASSWORD", password),
            ("MILLSTREAM_LDAP_SEARCH_BASE", base),
            ("MILLSTREAM_LOG_FILTER", "warn"),
        ];
        ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &environment)
    };
    for (password, base, status, expected) in [
        (READER.1, BASE, 400, "uid=badname"),
        ("wrong", BASE, 503, "ldap.bind_dn: the name or the password is wrong (result code 49)"),
        (READER.1, "ou=x,dc=example,dc=org", 503, "the directory has no such entry (result code 32)"),
    ] {
        let server = serve(password, base);
        assert_eq!(login(&server.anonymous(), "badname", "badname secret").await.status, status);
        server.wait_for_log(expected);
        server.terminate();
        assert!(server.wait().success());
    }
}

/// A data folder with one organization, and its path.
fn acme() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "olga@zulip.com", "--owner-name", "Olga"];
    let (status, words) = ServerProcess::run(&[&create as &[&str], &["--data", &data]].concat());
    assert!(status.success(), "{words}");
    (folder, data)
}

#[tokio::test]
async fn ldap_and_local_passwords() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    add_local(&t, "ada", "another horse battery").await;
    let (anonymous, rosa, ada) = (t.anonymous(), t.user("rosa"), t.user("ada"));
    assert_eq!(login(&anonymous, "rosa@zulip.com", "correct horse battery").await.ok()["user_id"], rosa.id);
    login(&anonymous, "rosa", "correct horse battery").await.refused(401, wrong());
    // Users of the directory can log in with the directory's password only.
    login(&anonymous, "ada@zulip.com", "another horse battery").await.refused(401, wrong());
    assert_eq!(login(&anonymous, "ada@zulip.com", "ada (secret) *").await.ok()["user_id"], ada.id);
    let change: Params<'_> =
        &[("old_password", &"another horse battery"), ("new_password", &"quite different staple")];
    ada.patch("/settings", change).bad("Your Zulip password is managed in LDAP").await;
    let change: Params<'_> =
        &[("old_password", &"correct horse battery"), ("new_password", &"quite different staple")];
    rosa.patch("/settings", change).ok().await;
    login(&anonymous, "rosa@zulip.com", "quite different staple").await.ok();
}

#[tokio::test]
async fn server_settings_list_ldap_authentication() {
    let Some(slapd) = Slapd::start(&[]) else { return };
    let received = async |plan: TestServerBuilder| {
        let t = plan.start().await;
        let settings = t.anonymous().get("/server_settings", &[]).ok().await;
        let methods = &settings["authentication_methods"];
        let state = t.user("iago").register().await.state;
        assert_eq!(state["realm_email_auth_enabled"], settings["email_auth_enabled"]);
        assert_eq!(state["realm_password_auth_enabled"], methods["password"]);
        assert_eq!(state["realm_authentication_methods"]["LDAP"]["enabled"], methods["ldap"]);
        let of = |name: &str| methods[name].as_bool().expect("a boolean");
        let formats = settings["require_email_format_usernames"].as_bool().expect("a boolean");
        [of("password"), of("email"), of("ldap"), formats]
    };
    let plan = TestServer::builder;
    assert_eq!(received(plan()).await, [true, true, false, true]);
    assert_eq!(received(with(plan(), &slapd.url)).await, [true, true, true, false]);
    let directory_alone = with(plan(), &slapd.url).set("login.password", false);
    assert_eq!(received(directory_alone).await, [true, false, true, false]);
}

#[tokio::test]
async fn ldap_only_disables_local_passwords() {
    // With local passwords disabled, an unreachable directory is 503 for local users, too.
    let t = with(TestServer::builder(), "ldap://127.0.0.1:1").set("login.password", false).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    let answer = login(&t.anonymous(), "rosa@zulip.com", "correct horse battery").await;
    assert_eq!((answer.status, answer.body["code"].as_str()), (503, Some("LDAP_UNAVAILABLE")));
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).set("login.password", false).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    login(&t.anonymous(), "rosa@zulip.com", "correct horse battery").await.refused(401, wrong());
    login(&t.anonymous(), "ada", "ada (secret) *").await.ok();
}

#[tokio::test]
async fn ldap_login_rate_limit_after_five_failures() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::builder(), &slapd.url).set("limits.enabled", true).start().await;
    let anonymous = t.anonymous();
    // Concurrent guesses count as well: at most five of them are tried.
    let guesses = (0..12).map(|_| login(&anonymous, "ADA", "wrong"));
    let mut statuses: Vec<u16> =
        futures_util::future::join_all(guesses).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[401; 5].as_slice(), &[429; 7]].concat());
    let right = login(&anonymous, "ada", "ada (secret) *").await;
    assert_eq!((right.status, &right.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
    login(&anonymous, "prince", "prince secret").await.ok();
}

#[tokio::test]
async fn ldap_unavailable_or_hanging_is_503_and_blocks_no_other_request() {
    let Some(mut slapd) = Slapd::start(&PEOPLE) else { return };
    let msg = "The LDAP directory cannot be reached at the moment; try again later";
    let unavailable = json!({"code": "LDAP_UNAVAILABLE", "msg": msg, "retry-after": 5.0});
    let t = with(TestServer::builder(), &slapd.url).set("ldap.bind_password", "wrong").start().await;
    login(&t.anonymous(), "ada", "ada (secret) *").await.refused(503, unavailable.clone());
    let t = with(TestServer::builder(), &slapd.url).set("limits.enabled", true).start().await;
    login(&t.anonymous(), "ada", "ada (secret) *").await.ok();
    slapd.kill();
    // An outage does not count as a failed login and locks no account.
    for _ in 0..7 {
        login(&t.anonymous(), "ada", "ada (secret) *").await.refused(503, unavailable.clone());
    }
    // This listener completes connections and never sends a byte.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ldap://{}", silent.local_addr().expect("an address"));
    let t = with(TestServer::builder(), &url).set("ldap.secs_max", 4).start().await;
    let (anonymous, iago) = (t.anonymous(), t.user("iago"));
    let answered = Arc::new(AtomicUsize::new(0));
    let logins = (0..20).map(|number| {
        let (anonymous, answered) = (anonymous.clone(), answered.clone());
        tokio::spawn(async move {
            let status = login(&anonymous, &format!("person{number}"), "x").await.status;
            answered.fetch_add(1, Ordering::Relaxed);
            status
        })
    });
    let logins: Vec<_> = logins.collect();
    silent.set_nonblocking(true).expect("a listener");
    let mut connections = Vec::new();
    wait_until("a login waits for the directory", || {
        connections.extend(silent.accept().ok());
        !connections.is_empty()
    })
    .await;
    for _ in 0..20 {
        iago.get("/users/me", &[]).ok().await;
    }
    assert_eq!(answered.load(Ordering::Relaxed), 0, "other requests did not wait for the logins");
    for status in logins {
        assert_eq!(status.await.expect("a login"), 503);
    }
}

#[tokio::test]
async fn ldap_over_tls() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let (_folder, data) = acme();
    let authority = slapd.authority.display().to_string();
    let log_in = async |certificates: &str| {
        let environment = [
            ("MILLSTREAM_LDAP_URL", slapd.url.as_str()),
            ("MILLSTREAM_LDAP_STARTTLS", "true"),
            ("MILLSTREAM_LDAP_BIND_DN", READER.0),
            ("MILLSTREAM_LDAP_BIND_PASSWORD", READER.1),
            ("MILLSTREAM_LDAP_SEARCH_BASE", BASE),
            ("SSL_CERT_FILE", certificates),
        ];
        let server =
            ServerProcess::start(&["serve", "--data", &data, "--listen", "127.0.0.1:0"], &environment);
        let answer = login(&server.anonymous(), "ada", "ada (secret) *").await;
        server.terminate();
        assert!(server.wait().success());
        answer
    };
    assert_eq!(log_in(&authority).await.ok()["email"], "ada@zulip.com");
    // The password is not sent to a directory whose certificate is not trusted.
    assert_eq!(log_in("/etc/ssl/certs/ca-certificates.crt").await.status, 503);
}
