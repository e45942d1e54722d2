//! The `millstream` program as a child process, for tests that kill it or send it signals.

use super::{TIMEOUT, TestUser};
use reqwest::Client;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A running server process. Dropping it kills it.
pub struct ServerProcess {
    child: Child,
    pub url: String,
    http: Client,
    /// Standard output so far.
    output: Arc<Mutex<String>>,
    /// Standard error so far.
    pub log: Arc<Mutex<String>>,
}

impl ServerProcess {
    /// Starts `millstream dev` on a data folder; returns when it has printed its URL.
    pub fn dev(data: &Path) -> Self {
        let data = data.display().to_string();
        Self::start(
            &["dev", "--listen", "127.0.0.1:0", "--data", &data],
            &[("MILLSTREAM_LOG_FILTER", "info")],
        )
    }

    /// Starts any serving command with additional environment variables; returns when it has printed or logged its URL.
    pub fn start(args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_millstream"))
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let log = collect(child.stderr.take().expect("standard error"));
        let output = collect(child.stdout.take().expect("standard output"));
        millstream::integrations::http_client::use_ring();
        let http = Client::builder().no_proxy().build().expect("a client");
        let mut server = Self { child, url: String::new(), http, output, log };
        server.url = server.wait_for_url();
        server
    }

    /// Waits until it has printed its URL; with a log of JSON, until the line `ready` has it.
    fn wait_for_url(&mut self) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let output = self.output.lock().expect("the lock").clone();
            let printed = output
                .split_whitespace()
                .find(|word| word.starts_with("http://127.0.0.1:") || word.starts_with("https://127.0.0.1:"));
            if let Some(url) = printed.map(str::to_owned).or_else(|| self.logged_url()) {
                return url;
            }
            let has_ended = self.child.try_wait().expect("a status").is_some();
            if has_ended || Instant::now() > deadline {
                let log = self.log.lock().expect("the lock").clone();
                panic!("it did not print its URL: {output}{log}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// The URL in the line `ready` of a log of JSON.
    fn logged_url(&self) -> Option<String> {
        let log = self.log.lock().expect("the lock");
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .filter(|line| line["message"] == "ready")
            .find_map(|line| Some(line["url"].as_str()?.to_owned()))
    }

    /// Waits for the complete start-up output, whose last line is the example call, and returns it.
    pub fn startup_output(&self) -> String {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let output = self.output.lock().expect("the lock").clone();
            if output.contains("curl ") || Instant::now() > deadline {
                return output;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Standard output so far.
    pub fn output_so_far(&self) -> String {
        self.output.lock().expect("the lock").clone()
    }

    /// Its log so far.
    pub fn log_so_far(&self) -> String {
        self.log.lock().expect("the lock").clone()
    }

    /// A client without credentials.
    pub fn anonymous(&self) -> TestUser {
        TestUser::anonymous(&self.http, &self.url)
    }

    /// Runs a command to its end; returns its status, and standard output followed by standard error.
    pub fn run(args: &[&str]) -> (ExitStatus, String) {
        Self::run_in(args, &[])
    }

    /// [`Self::run`] with additional environment variables.
    pub fn run_in(args: &[&str], environment: &[(&str, &str)]) -> (ExitStatus, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
        let output = command.args(args).envs(environment.iter().copied()).output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status, String::from_utf8_lossy(&text).into_owned())
    }

    /// A user of the sample organization, logged in by `POST /dev_fetch_api_key`.
    pub async fn user(&self, name: &str) -> TestUser {
        let email = format!("{name}@zulip.com");
        let mut person = TestUser { email: email.clone(), ..self.anonymous() };
        let key = person.post("/dev_fetch_api_key", &[("username", &email)]).ok().await;
        person.key = text(&key["api_key"]);
        let me = person.get("/users/me", &[]).ok().await;
        person.id = me["user_id"].as_u64().expect("an id") as u32;
        (person.api_email, person.full_name) = (text(&me["email"]), text(&me["full_name"]));
        person
    }

    /// The client of the same user, connected to this process.
    pub fn reconnect(&self, person: &TestUser) -> TestUser {
        TestUser { url: self.url.as_str().into(), http: self.http.clone(), ..person.clone() }
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it (SIGKILL) and waits for its end.
    pub fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Limits the size of the files it writes (RLIMIT_FSIZE), in bytes; none removes the limit.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32);
        let limit = rustix::process::Rlimit { current: bytes, maximum: None };
        rustix::process::prlimit(pid, rustix::process::Resource::Fsize, limit).expect("it is ours");
    }

    /// Sends a signal, named without `SIG`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Asks it to stop gracefully (SIGTERM).
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Waits until its log contains a text.
    pub fn wait_for_log(&self, text: &str) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let log = self.log.lock().expect("the lock").clone();
            if log.contains(text) {
                return;
            }
            assert!(Instant::now() < deadline, "{text} is not in the log: {log}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for its end, at most [`TIMEOUT`].
    pub fn wait(mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status;
            }
            assert!(Instant::now() < deadline, "the process does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// Collects the output of a pipe in a thread, so that the process never blocks on a full pipe.
fn collect(pipe: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let kept = log.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut log = kept.lock().expect("the lock");
            log.push_str(&line);
            log.push('\n');
        }
    });
    log
}
