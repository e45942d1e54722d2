//! A server for one test: in this process, on a folder of its own, stopped and checked at the end.

use super::{Person, people};
use actors::{Clock, ManualClock, RealmHandle, SystemClock};
use millstream::config::{Config, Overrides};
use millstream::http::routes::table;
use millstream::server::{Running, Setup, serve_with_clock};
use reqwest::Client;
use reqwest::redirect::Policy;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A running server, and the folder it keeps its data in.
pub struct TestServer {
    /// Gone once stopped.
    running: Option<Running>,
    realm: Option<RealmHandle>,
    folder: Option<TempDir>,
    http: Client,
    pub url: Arc<str>,
}

/// How a server is to be started. Awaiting [`Plan::start`] starts it.
#[derive(Default)]
pub struct Plan {
    settings: Vec<(&'static str, String)>,
    is_development: bool,
    clock: Option<ManualClock>,
    folder: Option<TempDir>,
    waiting_days: i64,
}

impl Plan {
    /// With a process setting, by its path in the configuration.
    pub fn set(mut self, option: &'static str, value: impl ToString) -> Self {
        self.settings.push((option, value.to_string()));
        self
    }

    /// With a mail server on this machine that speaks in the clear; mails come from `chat@acme.example`.
    pub fn mail(self, port: u16) -> Self {
        self.set("mail.host", "127.0.0.1")
            .set("mail.port", port)
            .set("mail.security", "none")
            .set("mail.from", "chat@acme.example")
    }

    /// With the whole sample organization, and logins without passwords.
    pub fn development(mut self) -> Self {
        self.is_development = true;
        self
    }

    /// With time that passes only when the test says so.
    pub fn clock(mut self, clock: &ManualClock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// With a waiting period: of the members, only `veteran` is past it.
    pub fn waiting_days(mut self, days: i64) -> Self {
        self.waiting_days = days;
        self
    }

    /// On a folder that is there already.
    pub fn on(mut self, folder: TempDir) -> Self {
        self.folder = Some(folder);
        self
    }

    pub async fn start(self) -> TestServer {
        let folder = self.folder.unwrap_or_else(|| tempfile::tempdir().expect("a folder"));
        let data = folder.path().join("data");
        let mut flags = Overrides::default()
            .set("listen", "test", Some("127.0.0.1:0"))
            .set("data", "test", Some(data.display()))
            .set("limits.enabled", "test", Some("false"))
            .set("storage.segment_bytes", "test", Some(1 << 20))
            .set("storage.cache_bytes", "test", Some(4 << 20))
            .set("actors.shards", "test", Some(1));
        for (option, value) in self.settings {
            flags = flags.set(option, "test", Some(value));
        }
        let config = Config::load(None, [], flags).expect("settings");
        let setup = Setup { config, routes: table(), is_development: self.is_development, is_durable: false };
        let clock: Arc<dyn Clock> = match self.clock {
            Some(clock) => Arc::new(clock),
            None => Arc::new(SystemClock),
        };
        let running = serve_with_clock(setup, clock).await.expect("a server");
        let server = running.app().server.clone();
        let realm = match server.only_realm() {
            Some(realm) => realm,
            None => people::create(&server, self.waiting_days).await,
        };
        let url = running.url().into();
        millstream::outside::http_client::use_ring();
        let http = Client::builder().no_proxy().redirect(Policy::none()).build().expect("a client");
        TestServer { running: Some(running), realm: Some(realm), folder: Some(folder), http, url }
    }
}

impl TestServer {
    /// A server with people and nothing else.
    pub async fn start() -> Self {
        Self::plan().start().await
    }

    /// A server to be started in some special way.
    pub fn plan() -> Plan {
        Plan::default()
    }

    /// The organization, for what no endpoint does yet.
    pub fn realm(&self) -> &RealmHandle {
        self.realm.as_ref().expect("the server runs")
    }

    /// The server itself, for the same.
    pub fn server(&self) -> &actors::Server {
        &self.running.as_ref().expect("the server runs").app().server
    }

    /// Its data folder.
    pub fn data(&self) -> std::path::PathBuf {
        self.folder.as_ref().expect("a folder").path().join("data")
    }

    /// Waits until nothing waits to be carried to the push service.
    pub async fn outbox_is_empty(&self) {
        let waiting = || self.realm().read(|view| view.jobs.waiting_count(model::job::TaskKind::Push));
        let deadline = tokio::time::Instant::now() + super::PATIENCE;
        while waiting() > 0 {
            assert!(tokio::time::Instant::now() < deadline, "the outbox does not get empty");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Somebody by their address before the `@`.
    pub fn user(&self, name: &str) -> Person {
        self.user_of(self.realm(), name)
    }

    /// Somebody of another organization.
    pub fn user_of(&self, realm: &RealmHandle, name: &str) -> Person {
        let email = format!("{name}@zulip.com");
        let directory = realm.directory();
        let user = directory.user_by_email(&email).unwrap_or_else(|| panic!("nobody is called {name}"));
        Person {
            http: self.http.clone(),
            url: self.url.clone(),
            id: user.id.0,
            api_email: rules::permissions::users::api_email(&directory, user).into_owned(),
            full_name: user.full_name.clone(),
            key: realm.api_key(user),
            email,
        }
    }

    /// Several at once.
    pub fn users<const N: usize>(&self, names: [&str; N]) -> [Person; N] {
        names.map(|name| self.user(name))
    }

    /// Nobody in particular.
    pub fn stranger(&self) -> Person {
        Person {
            http: self.http.clone(),
            url: self.url.clone(),
            id: 0,
            email: "stranger".to_owned(),
            api_email: String::new(),
            full_name: String::new(),
            key: String::new(),
        }
    }

    /// Stops it, as its operator would; what it left must hold together. Gives the folder back.
    pub async fn stop(mut self) -> TempDir {
        self.end();
        self.folder.take().expect("a folder")
    }

    fn end(&mut self) {
        self.realm = None;
        let Some(running) = self.running.take() else { return };
        // A test ends wherever it likes, also inside a runtime, so stopping has a thread of its own.
        let stopped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(running.stop())
        });
        let stopped = stopped.join();
        if std::thread::panicking() {
            return;
        }
        stopped.expect("stopping does not panic").expect("the trees are written");
        if let Some(folder) = &self.folder {
            assert_clean(&folder.path().join("data"));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// `millstream check` finds nothing wrong with a data folder.
pub fn assert_clean(data: &Path) {
    let report = actors::check(data, false, |_| ()).expect("the check runs");
    assert!(report.is_clean(), "check of {}: {report}", data.display());
}
