//! A client for mail in: a mail server that speaks SMTP or LMTP to the chat server, and may do so wrongly.

use super::TIMEOUT;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// A connection, with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A connection for sending e-mails to the server.
pub struct MailSender {
    stream: Box<dyn Stream>,
    received: Vec<u8>,
}

impl MailSender {
    /// Connects, and reads the greeting.
    pub async fn connect(address: SocketAddr) -> Self {
        let mut sender = Self::connect_silently(address).await;
        sender.expect("220").await;
        sender
    }

    /// Connects without reading anything.
    pub async fn connect_silently(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        Self { stream: Box::new(stream), received: Vec::new() }
    }

    /// Connects and greets: `EHLO` for SMTP, `LHLO` for LMTP.
    pub async fn greet(address: SocketAddr, word: &str) -> Self {
        let mut sender = Self::connect(address).await;
        sender.say(&format!("{word} mail.acme.example"), "250").await;
        sender
    }

    /// Changes to TLS with STARTTLS, after greeting.
    pub async fn encrypt(mut self, connector: &TlsConnector, name: &'static str) -> Self {
        self.say("STARTTLS", "220").await;
        let name = rustls::pki_types::ServerName::try_from(name).expect("a name");
        let stream = connector.connect(name, self.stream).await.expect("a handshake");
        Self { stream: Box::new(stream), received: Vec::new() }
    }

    /// Sends a greeting, and returns the names of the server's extensions.
    pub async fn extensions(&mut self, word: &str) -> Vec<String> {
        self.write(format!("{word} mail.acme.example\r\n")).await;
        let mut found = Vec::new();
        loop {
            let line = self.line().await;
            found.extend(line[4..].split(' ').next().map(str::to_owned));
            if line.as_bytes()[3] != b'-' {
                return found;
            }
        }
    }

    /// Sends bytes as they are.
    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // The server may have closed the connection.
        let _ = self.stream.write_all(bytes.as_ref()).await;
        let _ = self.stream.flush().await;
    }

    /// Sends a line and expects a reply that begins with these characters.
    pub async fn say(&mut self, line: &str, reply: &str) -> String {
        self.write(format!("{line}\r\n")).await;
        self.expect(reply).await
    }

    /// Expects a reply that begins with these characters.
    pub async fn expect(&mut self, reply: &str) -> String {
        let found = self.reply().await;
        assert!(found.starts_with(reply), "{reply} expected, and not {found}");
        found
    }

    /// The last line of the next reply; empty once the connection is closed.
    pub async fn reply(&mut self) -> String {
        loop {
            let line = self.line().await;
            if line.is_empty() || line.as_bytes().get(3) != Some(&b'-') {
                return line;
            }
        }
    }

    async fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.received.windows(2).position(|pair| pair == b"\r\n") {
                let rest = self.received.split_off(end + 2);
                let line = std::mem::replace(&mut self.received, rest);
                return String::from_utf8_lossy(&line[..end]).into_owned();
            }
            let mut bytes = [0; 4096];
            let read =
                tokio::time::timeout(TIMEOUT, self.stream.read(&mut bytes)).await.expect("a reply in time");
            match read {
                Ok(count) if count > 0 => self.received.extend_from_slice(&bytes[..count]),
                _ => return String::new(),
            }
        }
    }

    /// Sends an e-mail up to its data, and expects the reply to the data.
    pub async fn mail(&mut self, to: &str, data: &str, reply: &str) -> String {
        self.say("MAIL FROM:<ada@acme.example>", "250").await;
        self.say(&format!("RCPT TO:<{to}>"), "250").await;
        self.say("DATA", "354").await;
        self.data(data).await;
        self.expect(reply).await
    }

    /// Sends data, given with line feeds, and its end.
    pub async fn data(&mut self, data: &str) {
        let data = data.replace('\n', "\r\n").replace("\r\n.", "\r\n..");
        self.write(format!("{data}\r\n.\r\n")).await;
    }
}
