//! The socket of a running server in its data folder, for the operator's commands: one request and one answer a
//! connection, as JSON. Only the user that runs the server, and root, may use it.

use super::answer::Answer;
use super::request::AdminRequest;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
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
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Connections at a time; others wait.
const CONNECTIONS_MAX: usize = 8;
/// How long a client may take to send its request.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// How long a command waits for its answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);

/// A request that waits for its answer, or for the reason of a refusal.
pub type PendingRequest = (AdminRequest, oneshot::Sender<Result<Answer, String>>);

/// The socket of a running server. Dropping it removes it.
pub struct ControlSocket {
    path: PathBuf,
    requests: mpsc::Receiver<PendingRequest>,
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
    pub async fn next(&mut self) -> Option<PendingRequest> {
        self.requests.recv().await
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

async fn accept(listener: UnixListener, requests: mpsc::Sender<PendingRequest>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    while let Ok(place) = places.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if requests.is_closed() {
            return;
        }
        if !is_allowed(&stream) {
            tracing::warn!("another user's process connected to the control socket and was refused");
            continue;
        }
        let requests = requests.clone();
        actix_rt::spawn(async move {
            if let Err(error) = serve(stream, &requests).await {
                tracing::debug!(%error, "a connection to the control socket was lost");
            }
            drop(place);
        });
    }
}

/// Whether the process at the other end is the server's own user, or root.
fn is_allowed(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own || peer.uid() == 0)
}

async fn serve(mut stream: UnixStream, requests: &mpsc::Sender<PendingRequest>) -> io::Result<()> {
    let mut bytes = Vec::new();
    let (reader, mut writer) = stream.split();
    let mut limited = reader.take(REQUEST_BYTES_MAX + 1);
    let read = tokio::time::timeout(REQUEST_TIME_MAX, limited.read_to_end(&mut bytes)).await;
    read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let answered: Result<Answer, String> = match serde_json::from_slice(&bytes) {
        _ if bytes.len() as u64 > REQUEST_BYTES_MAX => {
            Err(format!("the request is longer than {REQUEST_BYTES_MAX} bytes"))
        }
        Err(error) => Err(format!("the server does not know this command: {error}")),
        Ok(request) => {
            let (answer, answered) = oneshot::channel();
            match requests.send((request, answer)).await {
                Ok(()) => answered.await.unwrap_or_else(|_| Err("the server is stopping".to_owned())),
                Err(_) => Err("the server is stopping".to_owned()),
            }
        }
    };
    writer.write_all(&serde_json::to_vec(&answered).map_err(io::Error::other)?).await?;
    writer.shutdown().await
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
/// Those of [`ask`].
pub fn ask_within(
    data: &Path,
    request: &AdminRequest,
    time_max: Duration,
) -> io::Result<Option<Result<Answer, String>>> {
    let mut stream = match BlockingStream::connect(data.join(SOCKET_NAME)) {
        Ok(stream) => stream,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    stream.set_read_timeout(Some(time_max))?;
    stream.write_all(&serde_json::to_vec(request).map_err(io::Error::other)?)?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut bytes = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes)?;
    serde_json::from_slice(&bytes).map(Some).map_err(io::Error::other)
}

/// Whether an error says that no server listens: no socket, one that a killed server left, or a path too long for one.
fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | ConnectionRefused | NotADirectory | InvalidInput)
}
