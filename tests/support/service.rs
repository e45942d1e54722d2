//! A web server of somebody else's: notes what arrives, and answers as the test says.

use super::PATIENCE;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// What it does with a request.
#[derive(Clone, Debug)]
pub enum Reaction {
    /// 200 with this body.
    Say(String),
    /// Another status, with this body.
    Refuse(u16, &'static str),
    /// 302 to somewhere.
    Redirect(String),
    /// Never answers.
    Hang,
    /// Hangs up in the middle of a long answer.
    BreakOff,
}

impl Reaction {
    /// 200 with JSON.
    pub fn json(value: &Value) -> Self {
        Self::Say(value.to_string())
    }
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Names in lower case.
    pub headers: BTreeMap<String, String>,
    pub path: String,
    pub body: String,
}

impl Asked {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// A field of a form.
    pub fn field(&self, name: &str) -> String {
        let pairs = url::form_urlencoded::parse(self.body.as_bytes());
        let found = pairs.into_owned().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no {name} in {}", self.body)).1
    }
}

#[derive(Default)]
struct Script {
    next: VecDeque<Reaction>,
    always: Option<Reaction>,
}

/// The server. It is gone when this is dropped.
pub struct Service {
    pub address: SocketAddr,
    script: Arc<Mutex<Script>>,
    arrived: mpsc::UnboundedReceiver<Asked>,
    task: JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    /// A server that answers `{}` as long as nothing else is said.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap()).await
    }

    /// One where another has been.
    pub async fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("an address");
        let address = listener.local_addr().unwrap();
        let script: Arc<Mutex<Script>> = Arc::default();
        let (arrive, arrived) = mpsc::unbounded_channel();
        let task = tokio::spawn(listen(listener, script.clone(), arrive));
        Self { address, script, arrived, task }
    }

    /// Where it is.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// What it does with the next request of which nothing is said yet.
    pub fn then(&self, reaction: Reaction) {
        self.script.lock().unwrap().next.push_back(reaction);
    }

    /// What it does with all others.
    pub fn always(&self, reaction: Reaction) {
        self.script.lock().unwrap().always = Some(reaction);
    }

    /// The next request.
    pub async fn asked(&mut self) -> Asked {
        let next = tokio::time::timeout(PATIENCE, self.arrived.recv()).await;
        next.expect("nobody asks").expect("the server runs")
    }

    /// Requests that have arrived already.
    pub fn already(&mut self) -> Vec<Asked> {
        std::iter::from_fn(|| self.arrived.try_recv().ok()).collect()
    }
}

async fn listen(listener: TcpListener, script: Arc<Mutex<Script>>, arrive: mpsc::UnboundedSender<Asked>) {
    let mut talks = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        talks.spawn(talk(stream, script.clone(), arrive.clone()));
    }
}

/// One request on each connection.
async fn talk(mut stream: TcpStream, script: Arc<Mutex<Script>>, arrive: mpsc::UnboundedSender<Asked>) {
    let Some(asked) = read_request(&mut stream).await else { return };
    let reaction = {
        let mut script = script.lock().unwrap();
        let next = script.next.pop_front();
        next.or_else(|| script.always.clone()).unwrap_or_else(|| Reaction::Say("{}".to_owned()))
    };
    let _ = arrive.send(asked);
    let answer = match reaction {
        Reaction::Say(body) => respond(200, "", &body),
        Reaction::Refuse(status, body) => respond(status, "", body),
        Reaction::Redirect(to) => respond(302, &format!("Location: {to}\r\n"), ""),
        Reaction::BreakOff => "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{".to_owned(),
        Reaction::Hang => std::future::pending().await,
    };
    let _ = stream.write_all(answer.as_bytes()).await;
}

fn respond(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn read_request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers: BTreeMap<String, String> =
        headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned())).collect();
    let length: usize = headers.get("content-length").map_or(Some(0), |length| length.parse().ok())?;
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8_lossy(&bytes[head_end..head_end + length]).into_owned();
    Some(Asked { headers, path, body })
}
