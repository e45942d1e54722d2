//! An SMTP server for one test: accepts mails, or rejects them, hangs or disconnects as configured.

use super::TIMEOUT;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// How the server treats connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpBehavior {
    /// Accepts every mail.
    Accept,
    /// 451, a temporary failure, for every recipient.
    TryLater,
    /// 550, a permanent failure, for every recipient.
    Reject,
    /// 535 for every user name and password.
    RejectLogin,
    /// Accepts connections and never sends a byte.
    Hang,
    /// Receives a mail, and closes the connection before confirming it.
    DropAfterData,
}

/// The connection security that the server offers.
#[derive(Clone)]
pub enum Security {
    /// Plain text only.
    None,
    /// Plain text, upgraded by STARTTLS.
    Starttls(TlsAcceptor),
    /// TLS from the first byte.
    Tls(TlsAcceptor),
}

/// A received mail.
#[derive(Clone, Debug)]
pub struct Received {
    pub from: String,
    pub to: String,
    /// Headers and body, as transmitted.
    pub data: String,
    /// Whether it came over TLS.
    pub is_encrypted: bool,
}

#[derive(Default)]
struct State {
    behavior: Mutex<Option<SmtpBehavior>>,
    connections: Mutex<usize>,
    received: Mutex<Vec<Received>>,
    plaintext_lines: Mutex<Vec<String>>,
    changed: Notify,
}

/// The server. Dropping it stops it and closes its port.
pub struct SmtpServer {
    port: u16,
    state: Arc<State>,
    /// Dropping the sender ends the thread.
    thread: Option<(oneshot::Sender<()>, std::thread::JoinHandle<()>)>,
}

impl SmtpServer {
    /// Starts a server that accepts every mail.
    pub async fn start() -> Self {
        Self::on(0, SmtpBehavior::Accept).await
    }

    /// Starts a server on a port (0 for any) with a behavior.
    pub async fn on(port: u16, behavior: SmtpBehavior) -> Self {
        Self::begin(port, behavior, Security::None).await
    }

    /// Starts a server that accepts every mail, with TLS.
    pub async fn with(security: Security) -> Self {
        Self::begin(0, SmtpBehavior::Accept, security).await
    }

    async fn begin(port: u16, behavior: SmtpBehavior, security: Security) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(State { behavior: Mutex::new(Some(behavior)), ..State::default() });
        let listener = listener.into_std().expect("a socket");
        let (stop, stopped) = oneshot::channel::<()>();
        let served = state.clone();
        // A thread of its own, because a test that blocks until the chat server has stopped must not block its mail
        // server.
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

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets the behavior for new connections.
    pub fn set(&self, behavior: SmtpBehavior) {
        *self.state.behavior.lock().expect("the lock") = Some(behavior);
    }

    /// All mails received so far, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.state.received.lock().expect("the lock").clone()
    }

    /// Every command line received without encryption; mail data is not included.
    pub fn plaintext_lines(&self) -> Vec<String> {
        self.state.plaintext_lines.lock().expect("the lock").clone()
    }

    /// Waits until `count` mails were received, and returns all.
    pub async fn wait_for(&self, count: usize) -> Vec<Received> {
        self.wait("mails", || self.received().len() >= count).await;
        self.received()
    }

    /// Waits until `count` connections were accepted.
    pub async fn wait_for_connections(&self, count: usize) {
        self.wait("connections", || *self.state.connections.lock().expect("the lock") >= count).await;
    }

    /// The number of connections accepted so far.
    pub fn connections(&self) -> usize {
        *self.state.connections.lock().expect("the lock")
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
        let waited = tokio::time::timeout(TIMEOUT * 2, waiting).await;
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
    // Dropped with this future, which aborts all connections.
    let mut conversations = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        *state.connections.lock().expect("the lock") += 1;
        let behavior = state.behavior.lock().expect("the lock").expect("a behavior");
        state.changed.notify_waiters();
        conversations.spawn(converse(stream, behavior, security.clone(), state.clone()));
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection, encrypted or not.
type Line = BufReader<Box<dyn Stream>>;

/// The next line without its line ending; none at the end of the stream.
async fn next_line(line: &mut Line) -> std::io::Result<Option<String>> {
    let mut said = String::new();
    let count = line.read_line(&mut said).await?;
    Ok((count > 0).then(|| said.trim_end_matches(['\r', '\n']).to_owned()))
}

/// Serves one connection until either side closes it.
async fn converse(
    stream: TcpStream,
    behavior: SmtpBehavior,
    security: Security,
    state: Arc<State>,
) -> std::io::Result<()> {
    if behavior == SmtpBehavior::Hang {
        std::future::pending::<()>().await;
    }
    let (wire, mut is_encrypted): (Box<dyn Stream>, bool) = match &security {
        Security::Tls(acceptor) => (Box::new(acceptor.accept(stream).await?), true),
        _ => (Box::new(stream), false),
    };
    let mut line: Line = BufReader::new(wire);
    line.write_all(b"220 test ESMTP\r\n").await?;
    line.flush().await?;
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(said) = next_line(&mut line).await? {
        if !is_encrypted {
            state.plaintext_lines.lock().expect("the lock").push(said.clone());
        }
        let verb = said.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer: &[u8] = match (verb.as_str(), behavior, &security) {
            ("EHLO", _, Security::Starttls(_)) if !is_encrypted => b"250-test\r\n250 STARTTLS\r\n",
            ("EHLO", ..) => b"250-test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN\r\n",
            ("STARTTLS", _, Security::Starttls(acceptor)) => {
                line.write_all(b"220 go on\r\n").await?;
                line.flush().await?;
                line = BufReader::new(Box::new(acceptor.accept(line.into_inner()).await?));
                is_encrypted = true;
                continue;
            }
            ("AUTH", SmtpBehavior::RejectLogin, _) => b"535 5.7.8 wrong user name or password\r\n",
            ("AUTH", ..) => b"235 2.7.0 welcome\r\n",
            ("MAIL", ..) => {
                from = address(&said);
                b"250 ok\r\n"
            }
            ("RCPT", SmtpBehavior::TryLater, _) => b"451 4.3.0 try again later\r\n",
            ("RCPT", SmtpBehavior::Reject, _) => b"550 5.1.1 no such user\r\n",
            ("RCPT", ..) => {
                to = address(&said);
                b"250 ok\r\n"
            }
            ("DATA", ..) => {
                let data = receive_mail(&mut line).await?;
                let mail = Received { from: from.clone(), to: to.clone(), data, is_encrypted };
                state.received.lock().expect("the lock").push(mail);
                state.changed.notify_waiters();
                if behavior == SmtpBehavior::DropAfterData {
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

/// Receives the headers and body of a mail.
async fn receive_mail(line: &mut Line) -> std::io::Result<String> {
    line.write_all(b"354 go on\r\n").await?;
    line.flush().await?;
    let mut data = String::new();
    while let Some(said) = next_line(line).await?.filter(|said| said != ".") {
        data.push_str(said.strip_prefix('.').unwrap_or(&said));
        data.push('\n');
    }
    Ok(data)
}

/// The address between the angle brackets of a command.
fn address(line: &str) -> String {
    let inside = line.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
    inside.map(|(address, _)| address.to_owned()).unwrap_or_default()
}

impl Received {
    /// The value of a header; empty if the mail has none of this name.
    pub fn header(&self, name: &str) -> String {
        let head = self.data.split("\n\n").next().unwrap_or_default().replace("\n ", " ");
        let prefix = format!("{}:", name.to_lowercase());
        let found = head.lines().find(|line| line.to_lowercase().starts_with(&prefix));
        found.map(|line| line[prefix.len()..].trim().to_owned()).unwrap_or_default()
    }

    /// Headers and body with quoted-printable encoding removed.
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

    /// The path and query of the first link to the server at `url`.
    pub fn link(&self, url: &str) -> String {
        let text = self.text();
        let start = text.find(url).and_then(|_| text.find(&format!("{url}/")));
        let start = start.unwrap_or_else(|| panic!("no link to {url}: {text}"));
        let path = &text[start + url.len()..];
        path.split(|c: char| c.is_whitespace() || c == '"' || c == '<').next().unwrap_or_default().to_owned()
    }
}
