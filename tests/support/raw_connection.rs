//! A TCP connection for requests that no HTTP library would send.

use super::TIMEOUT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection to the server, without any HTTP logic.
pub struct RawConnection(TcpStream);

impl RawConnection {
    /// Connects to `http://address`.
    pub async fn connect(url: &str) -> Self {
        let address = url.strip_prefix("http://").expect("an address");
        Self(TcpStream::connect(address).await.expect("a connection"))
    }

    /// Connects with the smallest receive buffer that the system allows, so that unread responses fill it soon.
    pub async fn connect_narrow(url: &str) -> Self {
        let address = url.strip_prefix("http://").expect("an address").parse().expect("an address");
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4096).expect("a small buffer");
        Self(socket.connect(address).await.expect("a connection"))
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have refused the request and closed its side already.
        let _ = self.0.write_all(bytes.as_ref()).await;
    }

    /// Reads until the server closes the connection.
    pub async fn read_to_end(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(TIMEOUT, self.0.read_to_end(&mut bytes)).await;
        let _ = read.expect("the server closes the connection");
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Reads until `end` has arrived or the server closes the connection.
    pub async fn read_until(&mut self, end: &str) -> String {
        let mut bytes = Vec::new();
        loop {
            let mut piece = [0; 4096];
            let read = tokio::time::timeout(TIMEOUT, self.0.read(&mut piece)).await;
            let length = read.expect("an answer").expect("an answer");
            bytes.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&bytes);
            if text.contains(end) || length == 0 {
                return text.into_owned();
            }
        }
    }
}
