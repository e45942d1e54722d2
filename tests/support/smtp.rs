//! A mail server for one test: takes mails by SMTP as real ones do, and can be told to refuse, to say nothing, or to be gone.

use super::PATIENCE;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

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

/// How it keeps what is said from others.
#[derive(Clone)]
pub enum Security {
    /// Not at all.
    None,
    /// Once it is asked to.
    Starttls(TlsAcceptor),
    /// From the first byte on.
    Tls(TlsAcceptor),
}

/// A mail as it came.
#[derive(Clone, Debug)]
pub struct Received {
    pub from: String,
    pub to: String,
    /// Headers and body.
    pub data: String,
    /// It came through TLS.
    pub is_secret: bool,
}

#[derive(Default)]
struct State {
    mood: Mutex<Option<Mood>>,
    connections: Mutex<usize>,
    received: Mutex<Vec<Received>>,
    in_the_clear: Mutex<Vec<String>>,
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
        Self::begin(port, mood, Security::None).await
    }

    /// One that takes every mail, and keeps it from others.
    pub async fn with(security: Security) -> Self {
        Self::begin(0, Mood::Takes, security).await
    }

    async fn begin(port: u16, mood: Mood, security: Security) -> Self {
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
                    () = serve(listener, security, served) => {}
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

    /// Every line but the mails themselves that was said so that others could hear it.
    pub fn in_the_clear(&self) -> Vec<String> {
        self.state.in_the_clear.lock().expect("lines").clone()
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

async fn serve(listener: TcpListener, security: Security, state: Arc<State>) {
    // Ends with the server, and every conversation with it.
    let mut conversations = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        *state.connections.lock().expect("a number") += 1;
        let mood = state.mood.lock().expect("a mood").expect("a mood");
        state.changed.notify_waiters();
        conversations.spawn(converse(stream, mood, security.clone(), state.clone()));
    }
}

trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection, whoever can hear it.
type Line = BufReader<Box<dyn Wire>>;

/// The next line, without its end; none when nothing more comes.
async fn next_line(line: &mut Line) -> std::io::Result<Option<String>> {
    let mut said = String::new();
    let count = line.read_line(&mut said).await?;
    Ok((count > 0).then(|| said.trim_end_matches(['\r', '\n']).to_owned()))
}

/// One connection, until somebody ends it.
async fn converse(
    stream: TcpStream,
    mood: Mood,
    security: Security,
    state: Arc<State>,
) -> std::io::Result<()> {
    if mood == Mood::Hangs {
        std::future::pending::<()>().await;
    }
    let (wire, mut is_secret): (Box<dyn Wire>, bool) = match &security {
        Security::Tls(acceptor) => (Box::new(acceptor.accept(stream).await?), true),
        _ => (Box::new(stream), false),
    };
    let mut line: Line = BufReader::new(wire);
    line.write_all(b"220 test ESMTP\r\n").await?;
    line.flush().await?;
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(said) = next_line(&mut line).await? {
        if !is_secret {
            state.in_the_clear.lock().expect("lines").push(said.clone());
        }
        let verb = said.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer: &[u8] = match (verb.as_str(), mood, &security) {
            ("EHLO", _, Security::Starttls(_)) if !is_secret => b"250-test\r\n250 STARTTLS\r\n",
            ("EHLO", ..) => b"250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n",
            ("STARTTLS", _, Security::Starttls(acceptor)) => {
                line.write_all(b"220 go on\r\n").await?;
                line.flush().await?;
                line = BufReader::new(Box::new(acceptor.accept(line.into_inner()).await?));
                is_secret = true;
                continue;
            }
            ("AUTH", Mood::RefusesLogin, _) => b"535 5.7.8 wrong user name or password\r\n",
            ("AUTH", ..) => b"235 2.7.0 welcome\r\n",
            ("MAIL", ..) => {
                from = address(&said);
                b"250 ok\r\n"
            }
            ("RCPT", Mood::Busy, _) => b"451 4.3.0 try again later\r\n",
            ("RCPT", Mood::Refuses, _) => b"550 5.1.1 no such user\r\n",
            ("RCPT", ..) => {
                to = address(&said);
                b"250 ok\r\n"
            }
            ("DATA", ..) => {
                let data = take_mail(&mut line).await?;
                let mail = Received { from: from.clone(), to: to.clone(), data, is_secret };
                state.received.lock().expect("mails").push(mail);
                state.changed.notify_waiters();
                if mood == Mood::Forgets {
                    return Ok(());
                }
                b"250 2.0.0 queued\r\n"
            }
            ("QUIT", ..) => {
                line.write_all(b"221 bye\r\n").await?;
                return line.flush().await;
            }
            _ => b"250 ok\r\n",
        };
        line.write_all(answer).await?;
        line.flush().await?;
    }
    Ok(())
}

/// Headers and body of a mail.
async fn take_mail(line: &mut Line) -> std::io::Result<String> {
    line.write_all(b"354 go on\r\n").await?;
    line.flush().await?;
    let mut data = String::new();
    while let Some(said) = next_line(line).await?.filter(|said| said != ".") {
        data.push_str(said.strip_prefix('.').unwrap_or(&said));
        data.push('\n');
    }
    Ok(data)
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
