//! An export on the control socket: the running server sends the archive, and the command writes it, as its own user and where it
//! sees its folders. The archive comes in parts, among them how far the export is, and its end.
//!
//! ```text
//! part = kind (u8: 1 bytes of the archive, 2 progress, 3 the end) ‖ bytes (u32, big-endian) ‖ payload
//! ```

use super::answer::Answer;
use super::request::{AdminRequest, ExportOptions};
use super::socket::{SILENCE_MAX, SOCKET_NAME, is_absent, refused_by_server};
use crate::transfer::export::{ExportProgress, PART_BYTES_MAX};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How often the server says how far the export is.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_millis(300);
/// How long a command that has begun to receive waits for the next part: disks may pause.
const PART_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a server waits until a part is received.
const SEND_TIME_MAX: Duration = Duration::from_secs(60);

const ARCHIVE: u8 = 1;
const PROGRESS: u8 = 2;
const END: u8 = 3;
/// Where a server that has no export to send begins its answer.
const JSON: u8 = b'{';

/// A part of an export.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The next bytes of the archive, at most [`PART_BYTES_MAX`].
    Archive(Vec<u8>),
    Progress(ExportProgress),
    /// The archive is complete, or there is none for this reason.
    End(Result<Answer, String>),
}

/// Sends a part.
///
/// # Errors
/// Those of the connection; `TimedOut` when nothing receives it.
pub async fn send(stream: &mut UnixStream, part: &Part) -> io::Result<()> {
    let encoded;
    let (kind, bytes) = match part {
        Part::Archive(bytes) => (ARCHIVE, bytes),
        Part::Progress(progress) => {
            encoded = serde_json::to_vec(progress).map_err(io::Error::other)?;
            (PROGRESS, &encoded)
        }
        Part::End(ended) => {
            encoded = serde_json::to_vec(ended).map_err(io::Error::other)?;
            (END, &encoded)
        }
    };
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
    let send = async {
        stream.write_u8(kind).await?;
        stream.write_u32(length).await?;
        stream.write_all(bytes).await
    };
    timeout(SEND_TIME_MAX, send).await.map_err(|_| io::Error::from(ErrorKind::TimedOut))?
}

/// An export that a running server sends.
pub struct ExportStream {
    stream: UnixStream,
    is_begun: bool,
}

impl ExportStream {
    /// Asks the server that runs on a data folder for an export; none if no server does.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn open(data: &Path, wanted: ExportOptions) -> io::Result<Option<Self>> {
        let mut stream = match timeout(SILENCE_MAX, UnixStream::connect(data.join(SOCKET_NAME))).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) if is_absent(&error) => return Ok(None),
            Ok(Err(error)) => return Err(error),
            Err(_) => return Err(ErrorKind::TimedOut.into()),
        };
        let request = serde_json::to_vec(&AdminRequest::Export(wanted)).map_err(io::Error::other)?;
        stream.write_all(&request).await?;
        stream.shutdown().await?;
        Ok(Some(Self { stream, is_begun: false }))
    }

    /// The next part.
    ///
    /// # Errors
    /// Those of the connection; `TimedOut` when the server is silent, `UnexpectedEof` when it ends, `InvalidData`.
    pub async fn next(&mut self) -> io::Result<Part> {
        let time_max = if self.is_begun { PART_TIME_MAX } else { SILENCE_MAX };
        let part = timeout(time_max, receive(&mut self.stream)).await;
        let part = part.map_err(|_| io::Error::from(ErrorKind::TimedOut))??;
        self.is_begun = true;
        Ok(part)
    }
}

async fn receive(stream: &mut UnixStream) -> io::Result<Part> {
    let invalid = || io::Error::new(ErrorKind::InvalidData, "the server's answer is not an export");
    let kind = stream.read_u8().await?;
    if kind == JSON {
        let mut bytes = vec![JSON];
        stream.take(PART_BYTES_MAX as u64).read_to_end(&mut bytes).await?;
        return Ok(Part::End(Err(refused_by_server(&bytes).ok_or_else(invalid)?)));
    }
    let length = usize::try_from(stream.read_u32().await?).map_err(|_| invalid())?;
    if length > PART_BYTES_MAX {
        return Err(invalid());
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await?;
    match kind {
        ARCHIVE => Ok(Part::Archive(bytes)),
        PROGRESS => Ok(Part::Progress(serde_json::from_slice(&bytes)?)),
        END => Ok(Part::End(serde_json::from_slice(&bytes)?)),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[actix_web::test]
    async fn parts_arrive_as_they_were_sent() {
        let (mut server, stream) = UnixStream::pair().unwrap();
        let mut received = ExportStream { stream, is_begun: false };
        let done = Answer::of("Exported.".to_owned(), json!({"state": "done"}));
        for part in [
            Part::Progress(ExportProgress { done: 1, all: 2 }),
            Part::Archive(vec![7; 1000]),
            Part::Archive(Vec::new()),
            Part::End(Ok(done)),
            Part::End(Err("the disk is full".to_owned())),
        ] {
            send(&mut server, &part).await.unwrap();
            assert_eq!(received.next().await.unwrap(), part);
        }
        drop(server);
        assert_eq!(received.next().await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[actix_web::test]
    async fn server_without_exports_to_send_says_why() {
        let (mut server, stream) = UnixStream::pair().unwrap();
        server.write_all(b"{\"Err\":\"the server does not know this command\"}").await.unwrap();
        drop(server);
        let part = ExportStream { stream, is_begun: false }.next().await.unwrap();
        assert_eq!(part, Part::End(Err("the server does not know this command".to_owned())));
    }

    #[actix_web::test]
    async fn too_long_and_unknown_parts_are_refused() {
        for bytes in [&[1, 0xff, 0, 0, 0][..], &[9, 0, 0, 0, 0]] {
            let (mut server, stream) = UnixStream::pair().unwrap();
            server.write_all(bytes).await.unwrap();
            let error = ExportStream { stream, is_begun: false }.next().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
        }
    }
}
