//! A server for one test: runs in this process on a temporary data folder; at the end it is stopped and the folder is
//! checked.

use super::user::Browser;
use super::{ApiResponse, Queue, TestUser, people, wait_until};
use actors::commands::StartWebSession;
use actors::{Clock, ManualClock, RealmHandle, SystemClock};
use millstream::config::{Config, Overrides};
use millstream::routes::{development_table, table};
use millstream::server::{Running, Setup, serve_with_clock};
use model::UserId;
use model::job::{Job, TaskKind};
use postgres::testing::TestDatabase;
use reqwest::Client;
use reqwest::redirect::Policy;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// How long a process that is being started may hold the locks of a stopped server.
const LOCKED_MAX: Duration = Duration::from_secs(10);

/// A running server and its data folder.
pub struct TestServer {
    /// None once stopped.
    running: Option<Running>,
    realm: Option<RealmHandle>,
    folder: Option<TempDir>,
    http: Client,
    pub url: Arc<str>,
    is_node: bool,
}

/// The options of a server. [`TestServerBuilder::start`] starts it.
#[derive(Default)]
pub struct TestServerBuilder {
    settings: Vec<(&'static str, String)>,
    is_development: bool,
    clock: Option<ManualClock>,
    folder: Option<TempDir>,
    waiting_days: i64,
    is_node: bool,
}

impl TestServerBuilder {
    /// Sets a configuration option by its path.
    pub fn set(mut self, option: &'static str, value: impl ToString) -> Self {
        self.settings.push((option, value.to_string()));
        self
    }

    /// Sends mail from `chat@acme.example` to an SMTP server on this machine, without encryption.
    pub fn mail(self, port: u16) -> Self {
        self.set("mail.host", "127.0.0.1")
            .set("mail.port", port)
            .set("mail.security", "none")
            .set("mail.from", "chat@acme.example")
    }

    /// Starts a development server: the complete sample organization, and logins without passwords.
    pub fn development(mut self) -> Self {
        self.is_development = true;
        self
    }

    /// Uses a clock that only the test advances.
    pub fn clock(mut self, clock: &ManualClock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// Sets the waiting period; of the members, only `veteran` is past it.
    pub fn waiting_days(mut self, days: i64) -> Self {
        self.waiting_days = days;
        self
    }

    /// Is a node of the cluster in a database. Makes no organization.
    pub fn node(mut self, database: &TestDatabase, name: &str) -> Self {
        self.is_node = true;
        let url = format!("{}?sslmode=disable", database.url(database.port));
        self.set("cluster.database", url)
            .set("cluster.node", name)
            .set("cluster.advertise", "http://127.0.0.1:1")
            .set("cluster.allow_single_copy", "true")
    }

    /// Uses an existing folder, as after a restart.
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
        let is_development = self.is_development;
        let setup = || {
            let routes = if is_development { development_table() } else { table() };
            Setup { config: config.clone(), routes, is_development, is_durable: false, seed: None }
        };
        let clock: Arc<dyn Clock> = match self.clock {
            Some(clock) => Arc::new(clock),
            None => Arc::new(SystemClock),
        };
        let running = start_when_unlocked(async || serve_with_clock(setup(), clock.clone()).await).await;
        let server = running.app().server.clone();
        let known = server.only_realm().or_else(|| server.realm_by_subdomain(""));
        let realm = match known {
            Some(realm) => Some(realm),
            None if self.is_node => None,
            None => Some(people::create(&server, self.waiting_days).await),
        };
        let url = running.url().into();
        millstream::integrations::http_client::use_ring();
        let http = Client::builder().no_proxy().redirect(Policy::none()).build().expect("a client");
        TestServer { running: Some(running), realm, folder: Some(folder), http, url, is_node: self.is_node }
    }
}

impl TestServer {
    /// Starts a server with the users of [`people`] and no channels.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// A server with other options.
    pub fn builder() -> TestServerBuilder {
        TestServerBuilder::default()
    }

    /// The organization, for assertions and set-up that no endpoint offers.
    pub fn realm(&self) -> &RealmHandle {
        self.realm.as_ref().expect("the server runs")
    }

    /// The state shared by all requests.
    pub fn app(&self) -> &millstream::http::App {
        self.running.as_ref().expect("the server runs").app()
    }

    /// The server with all its organizations.
    pub fn server(&self) -> &actors::Server {
        &self.running.as_ref().expect("the server runs").app().server
    }

    /// The address for mail in.
    pub fn mail_address(&self) -> std::net::SocketAddr {
        self.running.as_ref().expect("the server runs").mail_address().expect("mail in is configured")
    }

    /// The path of the data folder.
    pub fn data(&self) -> std::path::PathBuf {
        self.folder.as_ref().expect("a folder").path().join("data")
    }

    /// The number of waiting jobs of a kind.
    pub fn waiting_jobs(&self, kind: TaskKind) -> usize {
        let is_waiting = |job: &Arc<Job>| job.failure.is_none() && job.task.kind() == kind;
        self.realm().jobs().into_iter().filter(is_waiting).count()
    }

    /// The jobs that failed for good.
    pub fn failed_jobs(&self) -> Vec<Arc<Job>> {
        self.realm().jobs().into_iter().filter(|job| job.failure.is_some()).collect()
    }

    /// Waits until the outbox has no pending push notifications.
    pub async fn wait_for_empty_push_outbox(&self) {
        let pending = || self.waiting_jobs(TaskKind::Push);
        wait_until("the push outbox is empty", || pending() == 0).await;
    }

    /// Starts a blocking poll, and returns once the server holds it.
    pub async fn hold_poll(&self, queue: &Queue) -> JoinHandle<ApiResponse> {
        let held = queue.clone();
        let poll = tokio::spawn(async move { held.poll(false).await });
        wait_until("the poll is held", || self.is_polled(queue)).await;
        poll
    }

    /// Whether the server holds a poll of a queue.
    pub fn is_polled(&self, queue: &Queue) -> bool {
        self.realm().is_polled(&queue.key())
    }

    /// A user by the local part of their email address.
    pub fn user(&self, name: &str) -> TestUser {
        self.user_of(self.realm(), name)
    }

    /// A user of another organization.
    pub fn user_of(&self, realm: &RealmHandle, name: &str) -> TestUser {
        let email = format!("{name}@zulip.com");
        let directory = realm.directory();
        let user = directory.user_by_email(&email).unwrap_or_else(|| panic!("no user is called {name}"));
        TestUser {
            http: self.http.clone(),
            url: self.url.clone(),
            id: user.id.0,
            api_email: rules::permissions::users::api_email(&directory, user).into_owned(),
            full_name: user.full_name.clone(),
            key: realm.api_key(user),
            browser: None,
            email,
        }
    }

    /// A user with an API key and a web session; without the key, the session is used for everything.
    pub async fn with_session(&self, user: &TestUser) -> TestUser {
        self.with_session_of(self.realm(), user).await
    }

    /// The same for a user of another organization.
    pub async fn with_session_of(&self, realm: &RealmHandle, user: &TestUser) -> TestUser {
        let secret = actors::login::random_secret().expect("a secret");
        let account = realm.directory().user(UserId(user.id)).expect("an account").clone();
        let key = actors::login::web_session_key(&secret);
        let device = "test browser".to_owned();
        let start = StartWebSession { user: account, key, device, replaced: None };
        realm.execute(start).await.expect("a session");
        TestUser { browser: Some(Browser::new(&secret)), ..user.clone() }
    }

    /// A user in a browser: logged in with a web session, without an API key.
    pub async fn browser(&self, name: &str) -> TestUser {
        TestUser { key: String::new(), ..self.with_session(&self.user(name)).await }
    }

    /// The client of the same user, connected to this server.
    pub fn reconnect(&self, user: &TestUser) -> TestUser {
        TestUser { url: self.url.clone(), http: self.http.clone(), ..user.clone() }
    }

    /// Several users at once.
    pub fn users<const N: usize>(&self, names: [&str; N]) -> [TestUser; N] {
        names.map(|name| self.user(name))
    }

    /// A client without credentials.
    pub fn anonymous(&self) -> TestUser {
        TestUser::anonymous(&self.http, &self.url)
    }

    /// Stops it gracefully, checks the data folder, and returns it.
    pub async fn stop(mut self) -> TempDir {
        self.end();
        self.folder.take().expect("a folder")
    }

    fn end(&mut self) {
        self.realm = None;
        let Some(running) = self.running.take() else { return };
        // Drop also runs inside a runtime, which must not block, so a thread of its own stops the server.
        let stopped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(running.stop())
        });
        let stopped = stopped.join();
        if std::thread::panicking() {
            return;
        }
        stopped.expect("stopping does not panic").expect("the trees are written");
        // The trees of a node are of logs in the database.
        if let Some(folder) = self.folder.as_ref().filter(|_| !self.is_node) {
            assert_clean(&folder.path().join("data"));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// Asserts that `millstream check` finds no error in a data folder.
pub fn assert_clean(data: &Path) {
    let report = check_when_unlocked(data);
    assert!(report.is_clean(), "check of {}: {report}", data.display());
}

/// A process that another test is starting has the locks of a stopped server for the moment until it executes its program.
fn is_locked(error: &impl Display) -> bool {
    error.to_string().contains("is in use by another process")
}

fn check_when_unlocked(data: &Path) -> actors::CheckReport {
    let started = Instant::now();
    loop {
        match actors::check(data, false, |_| ()) {
            Ok(report) => return report,
            Err(error) => {
                assert!(is_locked(&error) && started.elapsed() < LOCKED_MAX, "the check runs: {error}");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

async fn start_when_unlocked<T, E: Display>(start: impl AsyncFn() -> Result<T, E>) -> T {
    let started = Instant::now();
    loop {
        match start().await {
            Ok(running) => return running,
            Err(error) => {
                assert!(is_locked(&error) && started.elapsed() < LOCKED_MAX, "the server starts: {error}");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}
