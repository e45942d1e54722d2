//! The socket of a running server in its data folder, for the operator's commands: one request and one answer a
//! connection, as JSON. Only the user that runs the server, and root, may use it. While a request is executed, the server sends
//! spaces, which mean nothing in JSON, so that commands know a server that hangs from one that works for long. An export is
//! answered in parts (`export_stream`).

use super::answer::Answer;
use super::request::{AdminRequest, ExportOptions};
use futures_util::future::select_all;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr as SocketPath, UnixStream as BlockingStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};

/// The name of the socket in the data folder.
pub const SOCKET_NAME: &str = "control";
/// Its name until it has the right mode.
const UNFINISHED_NAME: &str = "control.new";
/// The largest request, in bytes.
const REQUEST_BYTES_MAX: u64 = 64 * 1024;
/// The largest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Connections whose request has not arrived. Beyond it a new one waits until the oldest has had its time, and takes its place.
const READING_MAX: usize = 64;
/// How long a connection has its place for certain: commands send their requests at once.
const READING_TIME_MIN: Duration = Duration::from_secs(1);
/// The same for a connection that found no place, and waited for one or came right after another that did.
const WAITED_READING_TIME_MIN: Duration = Duration::from_millis(100);
/// Requests that are executed at a time; others wait.
const EXECUTING_MAX: usize = 8;
/// Requests that are executed or wait.
const REQUESTS_MAX: usize = 64;
/// How long a client may take to send its request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a command may take to read its answer.
const SEND_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a command waits for its answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);
/// How often a server shows that it executes a request.
const BEAT_EVERY: Duration = Duration::from_secs(2);
/// How long a server may show nothing.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Bytes of an answer that are read at a time.
const CHUNK_BYTES: usize = 64 * 1024;

/// Where the answer to a request goes, or the reason of a refusal.
pub type AnswerSender = oneshot::Sender<Result<Answer, String>>;

/// What a command waits for.
pub enum Pending {
    /// A request with one answer.
    Request(AdminRequest, AnswerSender),
    /// An export, in parts on this connection.
    Export(ExportOptions, UnixStream),
}

/// The socket of a running server. Dropping it removes it.
pub struct ControlSocket {
    path: PathBuf,
    requests: mpsc::Receiver<Pending>,
}

impl ControlSocket {
    /// Listens in a data folder, whose lock this process holds.
    ///
    /// # Errors
    /// Those of the system, such as a path that is too long for a socket.
    pub fn listen(data: &Path) -> io::Result<Self> {
        let (path, unfinished) = (data.join(SOCKET_NAME), data.join(UNFINISHED_NAME));
        match std::fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        // It has its mode before it has its name.
        let listener = UnixListener::bind(&unfinished)?;
        std::fs::set_permissions(&unfinished, std::fs::Permissions::from_mode(0o600))?;
        std::fs::rename(&unfinished, &path)?;
        let (sender, requests) = mpsc::channel(1);
        actix_rt::spawn(accept(listener, sender));
        Ok(Self { path, requests })
    }

    /// The next request.
    pub async fn next(&mut self) -> Option<Pending> {
        self.requests.recv().await
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What connections take turns for.
#[derive(Clone)]
struct Turns {
    requests: mpsc::Sender<Pending>,
    executing: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

async fn accept(listener: UnixListener, requests: mpsc::Sender<Pending>) {
    let (executing, all) = (Semaphore::new(EXECUTING_MAX), Semaphore::new(REQUESTS_MAX));
    let turns = Turns { requests, executing: Arc::new(executing), all: Arc::new(all) };
    let mut reading = Reading::default();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if turns.requests.is_closed() {
            return;
        }
        if !is_allowed(&stream) {
            tracing::warn!("another user's process connected to the control socket and was refused");
            continue;
        }
        let (turns, is_replaced) = (turns.clone(), reading.begin().await);
        actix_rt::spawn(async move {
            if let Err(error) = serve(stream, is_replaced, &turns).await {
                tracing::debug!(%error, "a connection to the control socket was lost");
            }
        });
    }
}

/// The connections whose request has not arrived, the oldest first, with the end of the time that each has for certain.
#[derive(Default)]
struct Reading(VecDeque<(tokio::time::Instant, oneshot::Sender<()>)>);

impl Reading {
    /// Adds a connection. Without room it waits until the request of one has arrived; when the time of the oldest is over, that
    /// one is closed. The receiver ends when the connection is to be closed, and is dropped when its request has arrived.
    async fn begin(&mut self) -> oneshot::Receiver<()> {
        self.forget_arrived();
        let has_waited = self.0.len() >= READING_MAX;
        if has_waited && let Some(until) = self.0.front().map(|(until, _)| *until) {
            let arrivals = self.0.iter_mut().map(|(_, connection)| Box::pin(connection.closed()));
            let _ = tokio::time::timeout_at(until, select_all(arrivals)).await;
            self.forget_arrived();
            if self.0.len() >= READING_MAX {
                self.0.pop_front();
            }
        }
        let (sender, is_replaced) = oneshot::channel();
        let time_min = if has_waited { WAITED_READING_TIME_MIN } else { READING_TIME_MIN };
        self.0.push_back((tokio::time::Instant::now() + time_min, sender));
        is_replaced
    }

    fn forget_arrived(&mut self) {
        self.0.retain(|(_, connection)| !connection.is_closed());
    }
}

/// Whether the process at the other end is the server's own user, or root.
fn is_allowed(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

async fn serve(mut stream: UnixStream, is_replaced: oneshot::Receiver<()>, turns: &Turns) -> io::Result<()> {
    let request = tokio::select! {
        // A request that has arrived is executed, also when others want the place.
        biased;
        request = read_request(&mut stream) => request?,
        _ = is_replaced => return Err(io::Error::other("it had sent no request when others came")),
    };
    let answered = match request {
        Ok(AdminRequest::Export(wanted)) => {
            // If the server is stopping, the connection ends.
            let _ = turns.requests.send(Pending::Export(wanted, stream)).await;
            return Ok(());
        }
        Ok(request) => match turns.all.try_acquire() {
            Ok(_turn) => execute(request, turns, &mut stream).await?,
            Err(_) => Err(format!(
                "the server already has {REQUESTS_MAX} commands to execute; try again when some of them have ended"
            )),
        },
        Err(refused) => Err(refused),
    };
    let answer = serde_json::to_vec(&answered).map_err(io::Error::other)?;
    let send = async {
        stream.write_all(&answer).await?;
        stream.shutdown().await
    };
    tokio::time::timeout(SEND_TIME_MAX, send).await.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
}

async fn read_request(stream: &mut UnixStream) -> io::Result<Result<AdminRequest, String>> {
    let mut bytes = Vec::new();
    let mut limited = stream.take(REQUEST_BYTES_MAX + 1);
    let read = tokio::time::timeout(REQUEST_TIME_MAX, limited.read_to_end(&mut bytes)).await;
    read.map_err(|_| io::Error::from(ErrorKind::TimedOut))??;
    if bytes.len() as u64 > REQUEST_BYTES_MAX {
        return Ok(Err(request_too_long()));
    }
    let unknown = |error| format!("the server does not know this command: {error}");
    Ok(serde_json::from_slice(&bytes).map_err(unknown))
}

/// The refusal of a request that is too long.
fn request_too_long() -> String {
    format!("the arguments are too long: a running server takes at most {REQUEST_BYTES_MAX} bytes")
}

/// Waits for the answer to a request, and shows meanwhile that the server works.
async fn execute(
    request: AdminRequest,
    turns: &Turns,
    stream: &mut UnixStream,
) -> io::Result<Result<Answer, String>> {
    let asked = async {
        let (sender, answered) = oneshot::channel();
        let stopping = || "the server is stopping".to_owned();
        let _turn = turns.executing.acquire().await.map_err(|_| stopping())?;
        turns.requests.send(Pending::Request(request, sender)).await.map_err(|_| stopping())?;
        answered.await.map_err(|_| stopping())?
    };
    tokio::pin!(asked);
    let mut beat = tokio::time::interval(BEAT_EVERY);
    loop {
        tokio::select! {
            answered = &mut asked => return Ok(answered),
            _ = beat.tick() => stream.write_all(b" ").await?,
        }
    }
}

/// Whether the path of a data folder is short enough for a socket: a server on a longer one has none, so it cannot be found.
pub fn can_have_socket(data: &Path) -> bool {
    // As it is called until it can be used.
    SocketPath::from_pathname(data.join(UNFINISHED_NAME)).is_ok()
}

/// Sends a request to the server that runs on a data folder; none if no server does. Blocks.
///
/// # Errors
/// Those of the connection. The inner error is the refusal of the server.
pub fn ask(data: &Path, request: &AdminRequest) -> io::Result<Option<Result<Answer, String>>> {
    ask_within(data, request, ANSWER_TIME_MAX)
}

/// [`ask`], and how long the server may take to answer.
///
/// # Errors
/// Those of [`ask`]; `TimedOut` or `WouldBlock` also when the server shows nothing for [`SILENCE_MAX`].
pub fn ask_within(
    data: &Path,
    request: &AdminRequest,
    time_max: Duration,
) -> io::Result<Option<Result<Answer, String>>> {
    let deadline = Instant::now() + time_max;
    let mut stream = match connect(data.join(SOCKET_NAME), time_max.min(SILENCE_MAX)) {
        Ok(stream) => stream,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    let request = serde_json::to_vec(request).map_err(io::Error::other)?;
    if request.len() as u64 > REQUEST_BYTES_MAX {
        return Ok(Some(Err(request_too_long())));
    }
    stream.write_all(&request)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let bytes = read_answer(&mut stream, deadline)?;
    if bytes.is_empty() {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other)
}

/// Connects on a thread of its own: the system waits for a server that accepts nothing, without a limit.
fn connect(path: PathBuf, time_max: Duration) -> io::Result<BlockingStream> {
    let (sender, connected) = std::sync::mpsc::channel();
    let connect = move || drop(sender.send(BlockingStream::connect(path)));
    std::thread::Builder::new().name("connect".into()).spawn(connect)?;
    connected.recv_timeout(time_max).map_err(|_| io::Error::from(ErrorKind::TimedOut))?
}

/// Reads an answer without the spaces before it.
fn read_answer(stream: &mut BlockingStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut bytes, mut chunk) = (Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left.min(SILENCE_MAX)))?;
        let count = match stream.read(&mut chunk) {
            Ok(0) => return Ok(bytes),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let read = chunk.get(..count).unwrap_or_default();
        bytes.extend_from_slice(if bytes.is_empty() { read.trim_ascii_start() } else { read });
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, "the server's answer is too long"));
        }
    }
}

/// The reason in the bytes of an answer that is a refusal.
pub(super) fn refused_by_server(bytes: &[u8]) -> Option<String> {
    serde_json::from_slice::<Result<Answer, String>>(bytes).ok()?.err()
}

/// Whether an error says that no server listens: no socket, one that a killed server left, or a path too long for one.
pub(super) fn is_absent(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | ConnectionRefused | NotADirectory | InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::net::UnixListener as BlockingListener;

    /// Asks a server that reads the request and sends these bytes, and then ends or keeps the connection.
    fn ask_server(sent: &'static [u8], ends: bool) -> io::Result<Option<Result<Answer, String>>> {
        let folder = tempfile::tempdir().unwrap();
        let listener = BlockingListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
            stream.write_all(sent).unwrap();
            if !ends {
                let _ = is_done.recv();
            }
        });
        let time_max = if ends { SILENCE_MAX } else { Duration::from_millis(50) };
        let asked = ask_within(folder.path(), &AdminRequest::RealmList, time_max);
        drop(done);
        server.join().unwrap();
        asked
    }

    #[test]
    fn signs_of_life_are_no_part_of_the_answer() {
        let answer = Answer::of("x".to_owned(), json!(1));
        let asked = ask_server(b"   {\"Ok\":{\"table\":null,\"lines\":[\"x\"],\"value\":1}}", true);
        assert_eq!(asked.unwrap(), Some(Ok(answer)));
        let refused = ask_server(b"{\"Err\":\"no\"}", true);
        assert_eq!(refused.unwrap(), Some(Err("no".to_owned())));
    }

    #[test]
    fn request_that_is_too_long_is_refused_and_not_sent() {
        let folder = tempfile::tempdir().unwrap();
        let filter = "x".repeat(REQUEST_BYTES_MAX as usize);
        let request = AdminRequest::LogLevel { filter };
        assert_eq!(ask(folder.path(), &request).unwrap(), None, "without a server");
        let listener = BlockingListener::bind(folder.path().join(SOCKET_NAME)).unwrap();
        assert_eq!(ask(folder.path(), &request).unwrap(), Some(Err(request_too_long())));
        let mut received = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut received).unwrap();
        assert!(received.is_empty());
    }

    #[test]
    fn server_that_ends_or_hangs_is_an_error() {
        assert_eq!(ask_server(b"  ", true).unwrap_err().kind(), ErrorKind::UnexpectedEof);
        for sent in [&b""[..], b" "] {
            let kind = ask_server(sent, false).unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::TimedOut | ErrorKind::WouldBlock), "{kind}");
        }
    }

    fn turns(all: usize) -> (Turns, mpsc::Receiver<Pending>) {
        let (requests, pending) = mpsc::channel(1);
        let (executing, all) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(all)));
        (Turns { requests, executing, all }, pending)
    }

    #[actix_web::test]
    async fn connections_without_a_request_keep_no_command_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut socket = ControlSocket::listen(folder.path()).unwrap();
        let path = folder.path().join(SOCKET_NAME);
        let mut idle = Vec::new();
        for _ in 0..READING_MAX {
            idle.push(UnixStream::connect(&path).await.unwrap());
        }
        let data = folder.path().to_owned();
        let asked = actix_web::rt::task::spawn_blocking(move || ask(&data, &AdminRequest::RealmList));
        let Some(Pending::Request(AdminRequest::RealmList, answer)) = socket.next().await else {
            panic!("the request arrives")
        };
        answer.send(Err("no".to_owned())).unwrap();
        assert_eq!(asked.await.unwrap().unwrap(), Some(Err("no".to_owned())));
        // The oldest connection was closed for it, and no other.
        assert_eq!(idle[0].read(&mut [0]).await.unwrap(), 0);
        assert_eq!(idle[1].try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    #[actix_web::test]
    async fn many_connections_without_a_request_make_room_soon() {
        let (mut reading, begin) = (Reading::default(), Instant::now());
        let mut connections = Vec::new();
        for _ in 0..=12 * READING_MAX {
            connections.push(reading.begin().await);
        }
        // With a second for each round it would be twelve.
        assert!(begin.elapsed() < 8 * READING_TIME_MIN, "{:?}", begin.elapsed());
    }

    #[actix_web::test]
    async fn any_request_that_arrives_makes_room() {
        let mut reading = Reading::default();
        let mut connections = Vec::new();
        for _ in 0..READING_MAX {
            connections.push(reading.begin().await);
        }
        let third = connections.remove(2);
        let arrival = async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            drop(third);
        };
        let (mut newest, ()) = tokio::join!(reading.begin(), arrival);
        for connection in connections.iter_mut().chain([&mut newest]) {
            assert_eq!(connection.try_recv(), Err(oneshot::error::TryRecvError::Empty), "it is not replaced");
        }
    }

    #[actix_web::test]
    async fn commands_that_come_at_once_are_all_executed() {
        let folder = tempfile::tempdir().unwrap();
        let mut socket = ControlSocket::listen(folder.path()).unwrap();
        let request = serde_json::to_vec(&AdminRequest::RealmList).unwrap();
        // All are there before the server sees the first one.
        let mut commands: Vec<_> = (0..REQUESTS_MAX)
            .map(|_| {
                let mut command = BlockingStream::connect(folder.path().join(SOCKET_NAME)).unwrap();
                command.write_all(&request).unwrap();
                command.shutdown(std::net::Shutdown::Write).unwrap();
                command
            })
            .collect();
        for _ in 0..REQUESTS_MAX {
            let next = tokio::time::timeout(SILENCE_MAX, socket.next()).await.unwrap();
            let Some(Pending::Request(_, answer)) = next else { panic!("the request arrives") };
            answer.send(Err("no".to_owned())).unwrap();
        }
        let answers = actix_web::rt::task::spawn_blocking(move || {
            let deadline = Instant::now() + SILENCE_MAX;
            commands.iter_mut().map(|command| read_answer(command, deadline).unwrap()).collect::<Vec<_>>()
        });
        let answers = answers.await.unwrap();
        assert!(answers.iter().all(|answer| refused_by_server(answer).as_deref() == Some("no")));
    }

    #[actix_web::test]
    async fn command_beyond_the_waiting_ones_is_refused() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let (turns, _pending) = turns(0);
        client.write_all(&serde_json::to_vec(&AdminRequest::RealmList).unwrap()).await.unwrap();
        client.shutdown().await.unwrap();
        let (_sender, is_replaced) = oneshot::channel();
        serve(server, is_replaced, &turns).await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert!(
            refused_by_server(&answer).unwrap().contains("already has 64 commands to execute; try again")
        );
    }

    #[actix_web::test]
    async fn executed_request_gives_a_sign_of_life_before_its_answer() {
        let (mut client, mut server) = UnixStream::pair().unwrap();
        let (turns, mut pending) = turns(1);
        let serving =
            actix_rt::spawn(async move { execute(AdminRequest::RealmList, &turns, &mut server).await });
        // Nothing has answered yet.
        assert_eq!(client.read_u8().await.unwrap(), b' ');
        let Some(Pending::Request(AdminRequest::RealmList, answer)) = pending.recv().await else {
            panic!("the request arrives")
        };
        answer.send(Err("no".to_owned())).unwrap();
        assert_eq!(serving.await.unwrap().unwrap(), Err("no".to_owned()));
    }
}
