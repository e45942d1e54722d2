//! Bytes over a socket, for what no HTTP library would send.

use super::PATIENCE;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection.
pub struct Wire(TcpStream);

impl Wire {
    /// Connects to `http://address`.
    pub async fn connect(url: &str) -> Self {
        let address = url.strip_prefix("http://").expect("an address");
        Self(TcpStream::connect(address).await.expect("a connection"))
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // A server that has already refused may have closed its side.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Everything until the server closes, as text.
    pub async fn read_to_end(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut bytes)).await;
        let _ = read.expect("the server closes the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// What arrives until `end` does.
    pub async fn read_until(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let read = tokio::time::timeout(PATIENCE, self.0.read(&mut piece)).await;
            let length = read.expect("an answer").expect("an answer");
            bytes.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&bytes);
            if text.contains(end) || length == 0 {
                return text.into_owned();
            }
        }
    }
}
