//! A mail server for one test: takes mails by SMTP as real ones do, and can be told to refuse, to say nothing, or to be gone.

use super::PATIENCE;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::oneshot;

/// How it treats whoever comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Takes every mail.
    Takes,
    /// "Try again later", for every recipient.
    Busy,
    /// "No such user", for every recipient.
    Refuses,
    /// Wants a user name and password, whatever they are said to be wrong.
    RefusesLogin,
    /// Lets everybody in and says nothing.
    Hangs,
    /// Takes a mail, and is gone before it says so.
    Forgets,
}

/// A mail as it came.
#[derive(Clone, Debug)]
pub struct Received {
    pub from: String,
    pub to: String,
    /// Headers and body.
    pub data: String,
}

#[derive(Default)]
struct State {
    mood: Mutex<Option<Mood>>,
    connections: Mutex<usize>,
    received: Mutex<Vec<Received>>,
    changed: Notify,
}

/// The server. Dropping it closes its port.
pub struct SmtpServer {
    port: u16,
    state: Arc<State>,
    /// The thread ends when this is dropped, and closes the port.
    thread: Option<(oneshot::Sender<()>, std::thread::JoinHandle<()>)>,
}

impl SmtpServer {
    /// One that takes every mail.
    pub async fn start() -> Self {
        Self::on(0, Mood::Takes).await
    }

    /// One on a certain port, in a certain mood.
    pub async fn on(port: u16, mood: Mood) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State { mood: Mutex::new(Some(mood)), ..State::default() });
        let listener = listener.into_std().expect("a socket");
        let (stop, stopped) = oneshot::channel::<()>();
        let served = state.clone();
        // A thread of its own: a test that waits for a server to stop must not keep that server from its mails.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a socket");
                tokio::select! {
                    () = serve(listener, served) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { port, state, thread: Some((stop, thread)) }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Changes how it treats whoever comes from now on.
    pub fn set(&self, mood: Mood) {
        *self.state.mood.lock().expect("a mood") = Some(mood);
    }

    /// Everything that came, in order.
    pub fn received(&self) -> Vec<Received> {
        self.state.received.lock().expect("mails").clone()
    }

    /// Waits until so many mails came.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        self.wait("mails", || self.received().len() >= count).await;
        self.received()
    }

    /// Waits until somebody came so many times.
    pub async fn wait_for_connections(&self, count: usize) {
        self.wait("connections", || *self.state.connections.lock().expect("a number") >= count).await;
    }

    /// How many times somebody came.
    pub fn connections(&self) -> usize {
        *self.state.connections.lock().expect("a number")
    }

    async fn wait(&self, what: &str, is_there: impl Fn() -> bool) {
        let waiting = async {
            loop {
                let changed = self.state.changed.notified();
                if is_there() {
                    return;
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE * 2, waiting).await;
        assert!(waited.is_ok(), "{what} did not come: {:?}", self.received());
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.thread.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    // Ends with the server, and every conversation with it.
    let mut conversations = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        *state.connections.lock().expect("a number") += 1;
        let mood = state.mood.lock().expect("a mood").expect("a mood");
        state.changed.notify_waiters();
        conversations.spawn(converse(stream, mood, state.clone()));
    }
}

/// One connection, until somebody ends it.
async fn converse(stream: TcpStream, mood: Mood, state: Arc<State>) -> std::io::Result<()> {
    if mood == Mood::Hangs {
        std::future::pending::<()>().await;
    }
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(b"220 test ESMTP\r\n").await?;
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(line) = lines.next_line().await? {
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer: &[u8] = match (verb.as_str(), mood) {
            ("EHLO", _) => b"250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n",
            ("AUTH", Mood::RefusesLogin) => b"535 5.7.8 wrong user name or password\r\n",
            ("AUTH", _) => b"235 2.7.0 welcome\r\n",
            ("MAIL", _) => {
                from = address(&line);
                b"250 ok\r\n"
            }
            ("RCPT", Mood::Busy) => b"451 4.3.0 try again later\r\n",
            ("RCPT", Mood::Refuses) => b"550 5.1.1 no such user\r\n",
            ("RCPT", _) => {
                to = address(&line);
                b"250 ok\r\n"
            }
            ("DATA", _) => {
                writer.write_all(b"354 go on\r\n").await?;
                let mut data = String::new();
                while let Some(line) = lines.next_line().await?.filter(|line| line != ".") {
                    data.push_str(line.strip_prefix('.').unwrap_or(&line));
                    data.push('\n');
                }
                let mail = Received { from: from.clone(), to: to.clone(), data };
                state.received.lock().expect("mails").push(mail);
                state.changed.notify_waiters();
                if mood == Mood::Forgets {
                    return Ok(());
                }
                b"250 2.0.0 queued\r\n"
            }
            ("QUIT", _) => {
                writer.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => b"250 ok\r\n",
        };
        writer.write_all(answer).await?;
    }
    Ok(())
}

/// What stands between the angle brackets of a command.
fn address(line: &str) -> String {
    let inside = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map(|(address, _)| address.to_owned()).unwrap_or_default()
}

impl Received {
    /// A header's value; empty when there is none.
    pub fn header(&self, name: &str) -> String {
        let head = self.data.split("\n\n").next().unwrap_or_default().replace("\n ", " ");
        let prefix = format!("{}:", name.to_lowercase());
        let found = head.lines().find(|line| line.to_lowercase().starts_with(&prefix));
        found.map(|line| line[prefix.len()..].trim().to_owned()).unwrap_or_default()
    }

    /// Everything, with the encoding for the way undone.
    pub fn text(&self) -> String {
        let whole = self.data.replace("=\n", "");
        let mut bytes = Vec::new();
        let mut rest = whole.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
            match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| *first == b'=') {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(*first);
                    rest = after;
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The path and query of the first link to a server.
    pub fn link(&self, url: &str) -> String {
        let text = self.text();
        let start = text.find(url).and_then(|_| text.find(&format!("{url}/")));
        let start = start.unwrap_or_else(|| panic!("no link to {url}: {text}"));
        let path = &text[start + url.len()..];
        path.split(|c: char| c.is_whitespace() || c == '"' || c == '<').next().unwrap_or_default().to_owned()
    }
}
