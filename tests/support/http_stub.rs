//! An HTTP server that replaces an external service: records requests, and replies as configured.

use super::TIMEOUT;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How the server reacts to a request.
#[derive(Clone, Debug)]
pub enum StubReply {
    /// 200 with this body.
    Ok(String),
    /// This status and body.
    Status(u16, &'static str),
    /// 302 to this location.
    Redirect(String),
    /// Reads the request and never replies.
    Hang,
    /// Closes the connection in the middle of the body.
    Disconnect,
}

impl StubReply {
    /// 200 with a JSON body.
    pub fn json(value: &Value) -> Self {
        Self::Ok(value.to_string())
    }
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct StubRequest {
    /// Header values by lower-case name.
    pub headers: BTreeMap<String, String>,
    pub path: String,
    pub body: String,
}

impl StubRequest {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// A field of a form body.
    pub fn field(&self, name: &str) -> String {
        let pairs = url::form_urlencoded::parse(self.body.as_bytes());
        let found = pairs.into_owned().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no {name} in {}", self.body)).1
    }
}

#[derive(Default)]
struct Script {
    next: VecDeque<StubReply>,
    always: Option<StubReply>,
}

/// The server. Dropping it stops it and closes its port.
pub struct HttpStub {
    pub address: SocketAddr,
    script: Arc<Mutex<Script>>,
    arrived: mpsc::UnboundedReceiver<StubRequest>,
    task: JoinHandle<()>,
}

impl Drop for HttpStub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl HttpStub {
    /// Starts a server that replies 200 with `{}` unless scripted otherwise.
    pub async fn start() -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap()).await
    }

    /// Starts a server on the address of an earlier one.
    pub async fn start_at(address: SocketAddr) -> Self {
        let listener = TcpListener::bind(address).await.expect("an address");
        let address = listener.local_addr().unwrap();
        let script: Arc<Mutex<Script>> = Arc::default();
        let (arrive, arrived) = mpsc::unbounded_channel();
        let task = tokio::spawn(listen(listener, script.clone(), arrive));
        Self { address, script, arrived, task }
    }

    /// The URL for webhooks.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Scripts the reply to the next request that has no scripted reply yet.
    pub fn reply_next(&self, reply: StubReply) {
        self.script.lock().unwrap().next.push_back(reply);
    }

    /// Sets the reply to all requests without a scripted one.
    pub fn reply_always(&self, reply: StubReply) {
        self.script.lock().unwrap().always = Some(reply);
    }

    /// Waits for the next request.
    pub async fn next_request(&mut self) -> StubRequest {
        let next = tokio::time::timeout(TIMEOUT, self.arrived.recv()).await;
        next.expect("no request arrived").expect("the server runs")
    }

    /// Takes the requests that arrived so far, without waiting.
    pub fn take_received(&mut self) -> Vec<StubRequest> {
        std::iter::from_fn(|| self.arrived.try_recv().ok()).collect()
    }
}

async fn listen(
    listener: TcpListener,
    script: Arc<Mutex<Script>>,
    arrive: mpsc::UnboundedSender<StubRequest>,
) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        connections.spawn(serve_one(stream, script.clone(), arrive.clone()));
    }
}

/// Serves one request on one connection.
async fn serve_one(
    mut stream: TcpStream,
    script: Arc<Mutex<Script>>,
    arrive: mpsc::UnboundedSender<StubRequest>,
) {
    let Some(request) = read_request(&mut stream).await else { return };
    let reply = {
        let mut script = script.lock().unwrap();
        let next = script.next.pop_front();
        next.or_else(|| script.always.clone()).unwrap_or_else(|| StubReply::Ok("{}".to_owned()))
    };
    let _ = arrive.send(request);
    let response = match reply {
        StubReply::Ok(body) => respond(200, "", &body),
        StubReply::Status(status, body) => respond(status, "", body),
        StubReply::Redirect(to) => respond(302, &format!("Location: {to}\r\n"), ""),
        StubReply::Disconnect => "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{".to_owned(),
        StubReply::Hang => std::future::pending().await,
    };
    let _ = stream.write_all(response.as_bytes()).await;
}

fn respond(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn read_request(stream: &mut TcpStream) -> Option<StubRequest> {
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
    Some(StubRequest { headers, path, body })
}
