//! Logging in with the passwords of an LDAP directory: a real one, started by each test.

use crate::support::server::Plan;
use crate::support::slapd::{BASE, Entry, READER, Slapd};
use crate::support::{Answer, Params, Person, ServerProcess, TestServer};
use actors::NewUser;
use model::Role;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::time::{Duration, Instant};

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

fn with(plan: Plan, url: &str) -> Plan {
    plan.set("ldap.url", url)
        .set("ldap.bind_dn", READER.0)
        .set("ldap.bind_password", READER.1)
        .set("ldap.search_base", BASE)
}

async fn login(who: &Person, username: &str, password: &str) -> Answer {
    let params: Params<'_> = &[("username", &username), ("password", &password)];
    who.post("/fetch_api_key", params).await
}

fn wrong() -> Value {
    json!({"msg": "Your username or password is incorrect", "code": "AUTHENTICATION_FAILED"})
}

/// Somebody with a password here.
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
    t.realm().create_user(user).await.expect("an account");
}

#[tokio::test]
async fn the_first_login_makes_an_account() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::plan(), &slapd.url).start().await;
    let (stranger, mut queue) = (t.stranger(), t.user("iago").register().await);
    let first = login(&stranger, "ada", "ada (secret) *").await.ok();
    assert_eq!(first["email"], "ada@zulip.com");
    let ada = t.user("ada");
    assert_eq!((&first["api_key"], &first["user_id"]), (&json!(ada.key), &json!(ada.id)));
    assert_eq!(ada.full_name, "Ada Byron");
    assert_eq!(ada.get("/users/me", &[]).ok().await["role"], 400);
    let added = queue.next().await;
    assert_eq!((&added["op"], &added["person"]["full_name"]), (&json!("add"), &json!("Ada Byron")));
    // Whoever comes in for the first time has joined; who comes back has not.
    let greetings = || async { ada.messages(json!([["is", "dm"]])).await };
    let greeted = greetings().await;
    assert_eq!(greeted[0]["sender_full_name"], "Welcome Bot");
    // By name or by address, whatever the case: it is the same account.
    for username in ["ada", "ADA", "ada@zulip.com", "Ada@Zulip.com"] {
        let again = login(&stranger, username, "ada (secret) *").await.ok();
        assert_eq!(again["user_id"], ada.id, "{username}");
    }
    assert_eq!(greetings().await.len(), greeted.len());
    // An account that is there already is found by its address.
    let hamlet = login(&stranger, "prince", "prince secret").await.ok();
    assert_eq!(
        (&hamlet["user_id"], &hamlet["api_key"]),
        (&json!(t.user("hamlet").id), &json!(t.user("hamlet").key))
    );
}

#[tokio::test]
async fn who_is_not_let_in() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::plan(), &slapd.url).start().await;
    let stranger = t.stranger();
    for (username, password) in [
        ("ada", "wrong"),
        // To bind without a password means to be nobody, and always succeeds.
        ("ada", ""),
        ("nobody", "x"),
        ("", "x"),
        // What means something in filters and names is text.
        ("*", "ada (secret) *"),
        ("a*", "ada (secret) *"),
        ("ada)(uid=*", "ada (secret) *"),
        ("*)(|(uid=*", "ada (secret) *"),
        ("ada\u{0}", "ada (secret) *"),
        ("uid=ada,ou=people,dc=example,dc=org", "ada (secret) *"),
        // Whoever looks people up is none of them.
        ("reader", READER.1),
        ("twin@zulip.com", "twin secret"),
        ("nomail", "nomail secret"),
        ("bot", "bot secret"),
        ("ghost", "wrong"),
    ] {
        login(&stranger, username, password).await.refused(401, wrong());
    }
    let gone = json!({"msg": "Account is deactivated", "code": "USER_DEACTIVATED"});
    login(&stranger, "ghost", "ghost secret").await.refused(401, gone);
    let refusal = |msg: &str| json!({"msg": msg, "code": "BAD_REQUEST"});
    login(&stranger, "badname", "badname secret").await.refused(400, refusal("Invalid characters in name!"));
    let disposable = "Disposable email addresses are not allowed in this organization";
    login(&stranger, "away", "away secret").await.refused(400, refusal(disposable));
    let long = "x".repeat(100_000);
    login(&stranger, &long, "x").await.refused(401, wrong());
}

#[tokio::test]
async fn passwords_of_the_server_and_of_the_directory() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::plan(), &slapd.url).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    add_local(&t, "ada", "another horse battery").await;
    let (stranger, rosa, ada) = (t.stranger(), t.user("rosa"), t.user("ada"));
    assert_eq!(login(&stranger, "rosa@zulip.com", "correct horse battery").await.ok()["user_id"], rosa.id);
    login(&stranger, "rosa", "correct horse battery").await.refused(401, wrong());
    // Whom the directory knows, it alone lets in.
    login(&stranger, "ada@zulip.com", "another horse battery").await.refused(401, wrong());
    assert_eq!(login(&stranger, "ada@zulip.com", "ada (secret) *").await.ok()["user_id"], ada.id);
    let change: Params<'_> =
        &[("old_password", &"another horse battery"), ("new_password", &"quite different staple")];
    ada.patch("/settings", change).bad("Your Zulip password is managed in LDAP").await;
    let change: Params<'_> =
        &[("old_password", &"correct horse battery"), ("new_password", &"quite different staple")];
    rosa.patch("/settings", change).ok().await;
    login(&stranger, "rosa@zulip.com", "quite different staple").await.ok();
}

#[tokio::test]
async fn clients_are_told_what_lets_them_in() {
    let Some(slapd) = Slapd::start(&[]) else { return };
    let told = async |plan: Plan| {
        let t = plan.start().await;
        let settings = t.stranger().get("/server_settings", &[]).ok().await;
        let methods = &settings["authentication_methods"];
        let state = t.user("iago").register().await.state;
        assert_eq!(state["realm_email_auth_enabled"], settings["email_auth_enabled"]);
        assert_eq!(state["realm_password_auth_enabled"], methods["password"]);
        assert_eq!(state["realm_authentication_methods"]["LDAP"]["enabled"], methods["ldap"]);
        let of = |name: &str| methods[name].as_bool().expect("a boolean");
        let formats = settings["require_email_format_usernames"].as_bool().expect("a boolean");
        [of("password"), of("email"), of("ldap"), formats]
    };
    let plan = TestServer::plan;
    assert_eq!(told(plan()).await, [true, true, false, true]);
    assert_eq!(told(with(plan(), &slapd.url)).await, [true, true, true, false]);
    let directory_alone = with(plan(), &slapd.url).set("login.password", false);
    assert_eq!(told(directory_alone).await, [true, false, true, false]);
    assert_eq!(told(plan().set("login.password", false)).await, [false, false, false, true]);
}

#[tokio::test]
async fn passwords_may_be_of_no_use() {
    let t = TestServer::plan().set("login.password", false).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    let disabled = json!({
        "msg": "Password authentication is disabled in this organization", "code": "PASSWORD_AUTH_DISABLED",
    });
    login(&t.stranger(), "rosa@zulip.com", "correct horse battery").await.refused(401, disabled);
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::plan(), &slapd.url).set("login.password", false).start().await;
    add_local(&t, "rosa", "correct horse battery").await;
    login(&t.stranger(), "rosa@zulip.com", "correct horse battery").await.refused(401, wrong());
    login(&t.stranger(), "ada", "ada (secret) *").await.ok();
}

#[tokio::test]
async fn guessing_ends_after_five() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let t = with(TestServer::plan(), &slapd.url).set("limits.enabled", true).start().await;
    let stranger = t.stranger();
    // At once, too: of many, no more than five get through.
    let guesses = (0..12).map(|_| login(&stranger, "ADA", "wrong"));
    let mut statuses: Vec<u16> =
        futures_util::future::join_all(guesses).await.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [[401; 5].as_slice(), &[429; 7]].concat());
    let right = login(&stranger, "ada", "ada (secret) *").await;
    assert_eq!((right.status, &right.body["code"]), (429, &json!("RATE_LIMIT_HIT")));
    login(&stranger, "prince", "prince secret").await.ok();
}

#[tokio::test]
async fn a_directory_that_is_gone_or_silent_holds_nobody_up() {
    let Some(mut slapd) = Slapd::start(&PEOPLE) else { return };
    let msg = "The directory that passwords are kept in cannot be reached at the moment; try again later";
    let unavailable = json!({"msg": msg, "retry-after": 5.0});
    let t = with(TestServer::plan(), &slapd.url).set("ldap.bind_password", "wrong").start().await;
    login(&t.stranger(), "ada", "ada (secret) *").await.refused(503, unavailable.clone());
    let t = with(TestServer::plan(), &slapd.url).set("limits.enabled", true).start().await;
    login(&t.stranger(), "ada", "ada (secret) *").await.ok();
    slapd.kill();
    // An outage is no guess: nobody is locked out by it.
    for _ in 0..7 {
        login(&t.stranger(), "ada", "ada (secret) *").await.refused(503, unavailable.clone());
    }
    // It takes the connection, and never says a word.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ldap://{}", silent.local_addr().expect("an address"));
    let t = with(TestServer::plan(), &url).set("ldap.secs_max", 2).start().await;
    let (stranger, iago) = (t.stranger(), t.user("iago"));
    let began = Instant::now();
    let logins = (0..20).map(|number| {
        let stranger = stranger.clone();
        async move { login(&stranger, &format!("person{number}"), "x").await.status }
    });
    let others = async {
        let began = Instant::now();
        for _ in 0..20 {
            iago.get("/users/me", &[]).ok().await;
        }
        began.elapsed()
    };
    let (statuses, others) = tokio::join!(futures_util::future::join_all(logins), others);
    assert!(statuses.iter().all(|status| *status == 503), "{statuses:?}");
    assert!(others < Duration::from_secs(2), "others waited {others:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn the_connection_can_be_encrypted() {
    let Some(slapd) = Slapd::start(&PEOPLE) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let create = ["realm", "create", "Acme", "--owner-email", "olga@zulip.com", "--owner-name", "Olga"];
    let (status, words) = ServerProcess::run(&[&create as &[&str], &["--data", &data]].concat());
    assert!(status.success(), "{words}");
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
        let answer = login(&server.stranger(), "ada", "ada (secret) *").await;
        server.terminate();
        assert!(server.wait().success());
        answer
    };
    assert_eq!(log_in(&authority).await.ok()["email"], "ada@zulip.com");
    // Nobody gives a password to a directory that cannot say who it is.
    assert_eq!(log_in("/etc/ssl/certs/ca-certificates.crt").await.status, 503);
}
