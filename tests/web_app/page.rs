//! `GET /` with the web app: the parameters field by field, the state, headers, and who gets it.

use crate::support::web_app::{APP, MiniRelease};
use crate::support::{TestServer, TestUser};
use reqwest::header::{COOKIE, HeaderMap, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A development server with the miniature web app.
pub async fn server() -> TestServer {
    let t = TestServer::builder().development().start().await;
    install(&t, &MiniRelease::new());
    t
}

fn install(t: &TestServer, release: &MiniRelease) {
    let archive = t.data().with_file_name("zulip.tar.gz");
    release.write_archive(&archive);
    millstream::web_app::install::install(&t.data().join("web-app"), &archive, &mut |_| ())
        .expect("it is complete");
    t.app().web_app.reload();
}

/// A browser, as far as cookies go.
pub struct Visit {
    http: Client,
    url: String,
    pub cookies: BTreeMap<String, String>,
    pub user_agent: &'static str,
    pub accept: &'static str,
}

pub struct Page {
    pub status: u16,
    headers: HeaderMap,
    pub text: String,
}

impl Page {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The text between two others.
    fn between(&self, start: &str, end: &str) -> &str {
        let from = self.text.split_once(start).unwrap_or_else(|| panic!("{start}: {}", self.text)).1;
        from.split_once(end).expect("its end").0
    }

    /// The parameters, as a browser reads them from the attribute.
    pub fn params(&self) -> Value {
        let json = self.between("data-params='", "'");
        assert!(!json.contains(['<', '>', '&']), "escaped");
        serde_json::from_str(json).expect("JSON")
    }

    pub fn token(&self) -> String {
        let input = self.between("name=\"csrfmiddlewaretoken\"", ">");
        input.split_once("value=\"").expect("a value").1.split('"').next().expect("its end").to_owned()
    }
}

impl Visit {
    pub fn new(t: &TestServer) -> Self {
        let http = Client::builder().no_proxy().redirect(Policy::none()).build().expect("a client");
        Self {
            http,
            url: t.url.to_string(),
            cookies: BTreeMap::new(),
            user_agent: "Mozilla/5.0 (X11) Firefox/145.0",
            accept: "*/*",
        }
    }

    async fn ask(&mut self, method: Method, path: &str, form: &[(&str, &str)]) -> Page {
        let cookies: Vec<String> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = self.http.request(method.clone(), format!("{}{path}", self.url));
        let request = request
            .header(COOKIE, cookies.join("; "))
            .header("User-Agent", self.user_agent)
            .header("Accept", self.accept);
        let request = if method == Method::POST { request.form(form) } else { request };
        let answer = request.send().await.expect("an answer");
        for line in answer.headers().get_all(SET_COOKIE) {
            let pair = line.to_str().expect("text").split(';').next().expect("a pair");
            let (name, value) = pair.split_once('=').expect("a pair");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Page { status, headers, text: answer.text().await.expect("text") }
    }

    pub async fn get(&mut self, path: &str) -> Page {
        self.ask(Method::GET, path, &[]).await
    }

    /// A browser in which a user of the sample organization is logged in.
    async fn log_in(t: &TestServer, name: &str) -> Self {
        let mut visit = Self::new(t);
        let user = t.browser(name).await;
        visit.cookies.insert("sessionid".to_owned(), user.browser.expect("a session").secret);
        visit
    }
}

fn is_of_type(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        "number" => value.is_number(),
        "bool" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "number-or-null" => value.is_number() || value.is_null(),
        "text-or-null" => value.is_string() || value.is_null(),
        other => panic!("{other} is no type"),
    }
}

/// Compares an object with a list of fields.
pub fn check_fields(object: &Value, list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in list.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let (name, kind) = (words.next().expect("a name"), words.next().expect("a type"));
        let value = object.get(name).unwrap_or_else(|| panic!("{name} is missing"));
        assert!(is_of_type(value, kind), "{name} is no {kind}: {value}");
        if let Some(constant) = words.next() {
            assert_eq!(*value, serde_json::from_str::<Value>(constant).expect("JSON"), "{name}");
        }
        names.push(name.to_owned());
    }
    names
}

#[tokio::test]
async fn parameters_are_those_that_the_app_validates() {
    let t = server().await;
    let page = Visit::log_in(&t, "hamlet").await.get("/").await;
    assert_eq!(page.status, 200, "{}", page.text);
    let params = page.params();
    let listed = check_fields(&params, include_str!("fields.txt"));
    let unlisted: Vec<&String> =
        params.as_object().expect("an object").keys().filter(|name| !listed.contains(name)).collect();
    assert!(unlisted.is_empty(), "these are not in the list: {unlisted:?}");
    let state = &params["state_data"];
    check_fields(state, include_str!("state_fields.txt"));
    assert!(state.get("result").is_none() && state.get("msg").is_none() && state.get("streams").is_none());
    assert_eq!(params["request_language"], "en");
    assert_eq!(params["translation_data"], json!({}));
    let languages = json!([{"code": "en", "locale": "en", "name": "English"},
        {"code": "de", "locale": "de", "name": "Deutsch", "percent_translated": 99}]);
    assert_eq!(params["language_list"], languages);
}

#[tokio::test]
async fn state_is_that_of_a_registration() {
    let t = server().await;
    let params = Visit::log_in(&t, "hamlet").await.get("/").await.params();
    let hamlet = t.user("hamlet");
    let capabilities = json!({"notification_settings_null": true, "bulk_message_deletion": true,
        "user_avatar_url_field_optional": true, "stream_typing_notifications": true, "user_settings_object": true,
        "linkifier_url_template": true, "user_list_incomplete": true, "include_deactivated_groups": true,
        "archived_channels": true, "empty_topic_name": true, "simplified_presence_events": true});
    let mut registered = hamlet
        .post(
            "/register",
            &[
                ("apply_markdown", &"true"),
                ("client_gravatar", &"true"),
                ("slim_presence", &"true"),
                ("include_subscribers", &"true"),
                ("presence_history_limit_days", &"365"),
                ("client_capabilities", &capabilities.to_string()),
            ],
        )
        .ok()
        .await;
    let mut state = params["state_data"].clone();
    let changing = [
        "queue_id",
        "last_event_id",
        "streams",
        "result",
        "msg",
        "presences",
        "presence_last_update_id",
        "server_timestamp",
    ];
    for name in changing {
        for one in [&mut registered, &mut state] {
            one.as_object_mut().expect("an object").remove(name);
        }
    }
    for (name, value) in registered.as_object().expect("an object") {
        assert_eq!(state.get(name), Some(value), "{name}");
    }
    // The queue is there, and its events come.
    let queue = params["state_data"]["queue_id"].clone();
    let last = params["state_data"]["last_event_id"].clone();
    hamlet
        .post("/messages", &[("type", &"direct"), ("to", &format!("[{}]", hamlet.id)), ("content", &"hello")])
        .ok()
        .await;
    let queue = queue.as_str().expect("a queue");
    let events =
        hamlet.get("/events", &[("queue_id", &queue), ("last_event_id", &last.to_string())]).ok().await;
    assert_eq!(events["events"][0]["message"]["content"], "<p>hello</p>");
}

#[tokio::test]
async fn page_loads_only_what_its_policy_allows() {
    let t = server().await;
    let mut visit = Visit::log_in(&t, "hamlet").await;
    let (page, again) = (visit.get("/").await, visit.get("/").await);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "max-age=0, no-cache, no-store, must-revalidate, private");
    assert_eq!((page.header("x-frame-options"), page.header("x-content-type-options")), ("DENY", "nosniff"));
    let nonce = page.between("nonce=\"", "\"");
    let policy = page.header("content-security-policy");
    assert!(policy.contains(&format!("script-src 'self' 'nonce-{nonce}';")), "{policy}");
    for part in
        ["default-src 'none'", "connect-src 'self' blob:", "frame-ancestors 'none'", "base-uri 'none'"]
    {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert_ne!(nonce, again.between("nonce=\"", "\""));
    assert!(page.text.contains(&format!("src=\"/static/webpack-bundles/{APP}\"")), "{}", page.text);
    assert!(page.text.contains("href=\"/static/images/favicon.0123456789ab.svg\""));
    assert!(page.text.contains("<title>Zulip Dev - Zulip</title>"));
    assert!(!page.text.contains("millhole"), "every hole is filled");
    // The token of the page is that of the session.
    let head = visit.ask(Method::HEAD, "/", &[]).await;
    assert_eq!((head.status, head.text.len()), (200, 0));
}

#[tokio::test]
async fn names_and_settings_reach_the_page_escaped() {
    let t = server().await;
    let iago = t.user("iago");
    iago.patch("/realm", &[("name", &"A & <b>'\"")]).ok().await;
    iago.patch("/realm", &[("description", &"**bold** </div>")]).ok().await;
    let mut visit = Visit::log_in(&t, "hamlet").await;
    t.user("hamlet").patch("/settings", &[("color_scheme", &"2"), ("default_language", &"de")]).ok().await;
    let page = visit.get("/").await;
    assert!(
        page.text.contains("<title>A &amp; &lt;b&gt;&#39;&quot; - Zulip</title>"),
        "{}",
        &page.text[..600]
    );
    assert!(page.text.contains("<html lang='de' class=\"dark-theme\">"), "{}", &page.text[..600]);
    let params = page.params();
    assert_eq!(params["state_data"]["realm_name"], "A & <b>'\"");
    let description = params["realm_rendered_description"].as_str().expect("HTML");
    assert!(description.contains("<strong>bold</strong> &lt;/div&gt;"), "{description}");
    assert_eq!(params["request_language"], "de");
    assert_eq!(params["translation_data"], json!({"Send": "Senden <jetzt>"}));
}

#[tokio::test]
async fn window_for_one_conversation() {
    let t = server().await;
    let mut visit = Visit::log_in(&t, "hamlet").await;
    let page = visit.get("/?stream=verona&topic=lunch").await;
    let params = page.params();
    assert!(page.text.contains("data-embedded"));
    assert_eq!((&params["narrow_stream"], &params["narrow_topic"]), (&json!("Verona"), &json!("lunch")));
    let narrow =
        json!([{"operator": "channel", "operand": "Verona"}, {"operator": "topic", "operand": "lunch"}]);
    assert_eq!(params["narrow"], narrow);
    let hidden = t.user("iago").create_channel("Secret").private().await;
    for query in
        [format!("/?stream={}", hidden.name), "/?stream=unknown".to_owned(), "/?topic=lunch".to_owned()]
    {
        let page = visit.get(&query).await;
        assert!(page.params().get("narrow").is_none() && !page.text.contains("data-embedded"), "{query}");
    }
}

#[tokio::test]
async fn logged_out_visitors_are_sent_to_log_in() {
    let t = server().await;
    t.user("desdemona").patch("/realm", &[("enable_spectator_access", &false)]).ok().await;
    let mut visit = Visit::new(&t);
    let answer = visit.get("/").await;
    assert_eq!((answer.status, answer.header("location")), (302, "/login/?next=/"));
    let answer = visit.get("/?stream=Verona&topic=a%20b").await;
    assert_eq!(answer.header("location"), "/login/?next=/%3Fstream%3DVerona%26topic%3Da%2520b");
    let desktop = visit.get("/desktop_home/").await;
    assert_eq!((desktop.status, desktop.header("location")), (302, "/"));
    let mut ended = Visit::log_in(&t, "hamlet").await;
    let token = ended.get("/").await.token();
    let out = ended.ask(Method::POST, "/accounts/logout/", &[("csrfmiddlewaretoken", &token)]).await;
    assert_eq!((out.status, out.header("location")), (302, "/login/"));
    assert_eq!(ended.get("/").await.status, 302);
}

#[tokio::test]
async fn without_the_web_app_the_page_is_our_own() {
    let t = TestServer::builder().development().start().await;
    let mut visit = Visit::log_in(&t, "hamlet").await;
    visit.accept = "text/html,*/*";
    let page = visit.get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("web-app install") && !page.text.contains("page-params"), "{}", page.text);
}

#[tokio::test]
async fn own_skeleton_when_the_release_has_no_template() {
    let t = TestServer::builder().development().start().await;
    install(&t, &MiniRelease::new().without("templates/zerver/base.html"));
    let page = Visit::log_in(&t, "hamlet").await.get("/").await;
    assert!(page.text.contains("id=\"reminders-overlay-container\""), "{}", page.text);
    check_fields(&page.params(), include_str!("fields.txt"));
}

#[tokio::test]
async fn desktop_app_gets_the_page_unless_it_is_too_old() {
    let t = server().await;
    let mut visit = Visit::log_in(&t, "hamlet").await;
    for (user_agent, status, insecure) in [
        ("ZulipElectron/5.12.1 Mozilla/5.0 (X11; Linux x86_64)", 200, Some(false)),
        ("ZulipElectron/5.9.0 Mozilla/5.0", 200, Some(true)),
        ("ZulipElectron/5.0.0 Mozilla/5.0", 403, None),
    ] {
        visit.user_agent = user_agent;
        let page = visit.get("/").await;
        assert_eq!(page.status, status, "{user_agent}");
        if let Some(insecure) = insecure {
            assert_eq!(page.params()["insecure_desktop_app"], insecure, "{user_agent}");
        } else {
            assert!(page.text.contains("too old") && !page.text.contains("page-params"), "{}", page.text);
        }
    }
    // What the app asks of a server that is added, and its test whether it is online.
    let settings = t.anonymous().get("/server_settings", &[]).ok().await;
    for name in ["realm_name", "realm_uri", "realm_icon", "zulip_version"] {
        assert!(settings[name].is_string(), "{name}");
    }
    assert_eq!(settings["zulip_feature_level"], 421);
    let icon = settings["realm_icon"].as_str().expect("a path").to_owned();
    let (status, content_type, _) = t.anonymous().fetch(&icon).await;
    assert_eq!((status, content_type.as_str()), (200, "image/png"));
}

#[tokio::test]
async fn each_page_counts_as_a_registration() {
    let t = TestServer::builder().development().set("queues.per_user_max", 3).start().await;
    install(&t, &MiniRelease::new());
    let mut visit = Visit::log_in(&t, "hamlet").await;
    let hamlet: TestUser = t.user("hamlet");
    let first = visit.get("/").await.params();
    for _ in 0..3 {
        assert_eq!(visit.get("/").await.status, 200);
    }
    let queue = first["state_data"]["queue_id"].as_str().expect("a queue");
    let answer = hamlet.get("/events", &[("queue_id", &queue), ("last_event_id", &"-1")]).await;
    assert_eq!(answer.body["code"], "BAD_EVENT_QUEUE_ID");
    let page = visit.get("/").await;
    assert_eq!(page.headers.get_all("content-length").iter().count(), 1);
    assert_eq!(page.header("content-length"), page.text.len().to_string());
}
