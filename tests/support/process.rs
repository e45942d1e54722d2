//! The real program as a process of its own, for what happens when it is killed or told to stop.

use super::{PATIENCE, Person};
use reqwest::Client;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A running process.
pub struct ServerProcess {
    child: Child,
    pub url: String,
    http: Client,
    /// What it wrote on standard output so far.
    output: Arc<Mutex<String>>,
    /// What it wrote on standard error so far.
    pub log: Arc<Mutex<String>>,
}

impl ServerProcess {
    /// `millstream dev` on a folder; returns when it says where it listens.
    pub fn dev(data: &Path) -> Self {
        let data = data.display().to_string();
        Self::start(
            &["dev", "--listen", "127.0.0.1:0", "--data", &data],
            &[("MILLSTREAM_LOG_FILTER", "info")],
        )
    }

    /// Any command that serves, with more environment.
    pub fn start(args: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_millstream"))
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let log = keep(child.stderr.take().expect("standard error"));
        let output = keep(child.stdout.take().expect("standard output"));
        millstream::outside::http_client::use_ring();
        let http = Client::builder().no_proxy().build().expect("a client");
        let mut server = Self { child, url: String::new(), http, output, log };
        server.url = server.wait_for_url();
        server
    }

    /// Waits until it says where it listens.
    fn wait_for_url(&mut self) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.output.lock().expect("nobody panics while writing").clone();
            let url = said.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:"));
            if let Some(url) = url {
                return url.to_owned();
            }
            let has_ended = self.child.try_wait().expect("a status").is_some();
            if has_ended || Instant::now() > deadline {
                let log = self.log.lock().expect("nobody panics while writing").clone();
                panic!("it does not say where it listens: {said}{log}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// All that it says when it starts, the example call last.
    pub fn greeting(&self) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.output.lock().expect("nobody panics while writing").clone();
            if said.contains("curl ") || Instant::now() > deadline {
                return said;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// All that it wrote on standard output so far.
    pub fn greeting_so_far(&self) -> String {
        self.output.lock().expect("nobody panics while writing").clone()
    }

    /// Nobody in particular.
    pub fn stranger(&self) -> Person {
        Person {
            http: self.http.clone(),
            url: self.url.as_str().into(),
            id: 0,
            email: "stranger".to_owned(),
            api_email: String::new(),
            full_name: String::new(),
            key: String::new(),
        }
    }

    /// A command that ends by itself: its status and everything it wrote.
    pub fn run(args: &[&str]) -> (ExitStatus, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_millstream")).args(args).output().expect("it runs");
        let text = [output.stdout, output.stderr].concat();
        (output.status, String::from_utf8_lossy(&text).into_owned())
    }

    /// Somebody of the sample organization, logged in the way of development servers.
    pub async fn user(&self, name: &str) -> Person {
        let email = format!("{name}@zulip.com");
        let mut person = Person { email: email.clone(), ..self.stranger() };
        let key = person.post("/dev_fetch_api_key", &[("username", &email)]).ok().await;
        person.key = text(&key["api_key"]);
        let me = person.get("/users/me", &[]).ok().await;
        person.id = me["user_id"].as_u64().expect("an id") as u32;
        (person.api_email, person.full_name) = (text(&me["email"]), text(&me["full_name"]));
        person
    }

    /// The same person, of the process that runs now.
    pub fn again(&self, person: &Person) -> Person {
        Person { url: self.url.as_str().into(), http: self.http.clone(), ..person.clone() }
    }

    /// Ends it as a crash would: nothing of it runs any more when this returns.
    pub fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Tells it to stop.
    pub fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
    }

    /// Waits for its end.
    pub fn wait(mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
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

/// Reads along, so that the process never waits for a reader.
fn keep(pipe: impl Read + Send + 'static) -> Arc<Mutex<String>> {
    let log = Arc::new(Mutex::new(String::new()));
    let kept = log.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut log = kept.lock().expect("nobody panics while writing");
            log.push_str(&line);
            log.push('\n');
        }
    });
    log
}
