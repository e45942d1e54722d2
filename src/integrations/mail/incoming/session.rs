//! One connection: the commands of SMTP (RFC 5321) and LMTP (RFC 2033), which differ in the greeting and in who is answered
//! after the data. Nothing is relayed, and no command tells which users exist.

use super::Incoming;
use super::address::Recipient;
use super::data::{Data, DataReceiver};
use super::post::{PostOutcome, accepts, post};
use super::wire::{Wire, acceptor};
use crate::rate_limit::Bucket;
use actors::budget::{Holder, Purpose, Reservation};
use smtp_proto::{Error, Request};
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest command line in bytes; RFC 5321 asks for 512, and parameters take more.
const LINE_BYTES_MAX: usize = 2048;
/// Bytes read at once.
const READ_BYTES: usize = 16 * 1024;
/// Characters of a sender in the log.
const SENDER_CHARS_MAX: usize = 256;
/// Time for a command, and for each piece of data.
const READ_MAX: Duration = Duration::from_secs(60);
/// Time for the data of one e-mail.
const DATA_MAX: Duration = Duration::from_secs(300);
/// Time for a reply to be taken.
const WRITE_MAX: Duration = Duration::from_secs(30);
/// Wrong commands and refused recipients of a connection.
const ERRORS_MAX: u32 = 20;
/// E-mails of a connection.
const MAILS_MAX: u32 = 200;
/// Recipients of an e-mail by LMTP. By SMTP it is one, because one reply cannot say that a part was posted.
const RECIPIENTS_MAX: usize = 20;
/// How much more than the largest e-mail is received, so that its server reads the refusal.
const EXCESS_FACTOR: u64 = 4;

/// Why a connection ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The client has disconnected, or has been answered.
    Closed,
    /// The client is too slow.
    Slow,
    /// Wrong in a way that nothing after it can be understood.
    Broken(&'static str),
    Stopping,
}

impl From<std::io::Error> for End {
    fn from(_: std::io::Error) -> Self {
        Self::Closed
    }
}

/// The state of one connection.
pub struct Session {
    incoming: Arc<Incoming>,
    wire: Wire,
    peer: IpAddr,
    /// What was received and not yet used.
    buffer: Vec<u8>,
    is_lmtp: bool,
    has_greeted: bool,
    /// The sender, once MAIL was given; empty for a bounce.
    sender: Option<String>,
    recipients: Vec<Recipient>,
    errors: u32,
    mails: u32,
}

impl Session {
    /// The session of a new connection.
    pub fn new(incoming: Arc<Incoming>, stream: TcpStream, peer: IpAddr) -> Self {
        Self {
            incoming,
            wire: Wire::Plain(stream),
            peer,
            buffer: Vec::new(),
            is_lmtp: false,
            has_greeted: false,
            sender: None,
            recipients: Vec::new(),
            errors: 0,
            mails: 0,
        }
    }

    /// Serves the connection until it ends.
    pub async fn run(mut self) {
        let end = self.converse().await;
        let last = match end {
            Err(End::Slow) => "421 4.4.2 too slow, closing the connection",
            Err(End::Broken(why)) => why,
            Err(End::Stopping) => "421 4.3.2 the server is shutting down",
            Err(End::Closed) | Ok(()) => return,
        };
        let _ = self.reply(last).await;
    }

    async fn converse(&mut self) -> Result<(), End> {
        let greeting = format!("220 {} ESMTP Millstream", self.incoming.pattern.domain());
        self.reply(&greeting).await?;
        loop {
            let line = self.line().await?;
            let request = Request::parse(&mut line.iter());
            if matches!(request, Ok(Request::Quit)) {
                return self.reply("221 2.0.0 bye").await;
            }
            let answer = match request {
                Ok(Request::Data) => {
                    self.data().await?;
                    continue;
                }
                Ok(Request::StartTls) if self.offers_tls() => {
                    self.start_tls().await?;
                    continue;
                }
                Ok(request) => self.answer(request),
                Err(error) => self.wrong(&error),
            };
            self.reply(&answer).await?;
            if self.errors > ERRORS_MAX {
                return Err(End::Broken("421 4.7.0 too many errors, closing the connection"));
            }
        }
    }

    /// The reply to a command that takes no data.
    fn answer(&mut self, request: Request<Cow<'_, str>>) -> String {
        match request {
            Request::Ehlo { .. } => self.greet(false, true),
            Request::Lhlo { .. } => self.greet(true, true),
            Request::Helo { .. } => self.greet(false, false),
            Request::Mail { from } => {
                let answer = self.begin(&from.address, from.size);
                self.log_refusal(&from.address, &answer);
                answer
            }
            Request::Rcpt { to } => {
                let answer = self.add_recipient(&to.address);
                self.log_refusal(self.sender.as_deref().unwrap_or_default(), &answer);
                answer
            }
            Request::Rset => {
                self.reset();
                "250 2.0.0 ok".to_owned()
            }
            Request::Noop { .. } => "250 2.0.0 ok".to_owned(),
            Request::Help { .. } => "214 2.0.0 e-mails for channels and replies only".to_owned(),
            Request::Vrfy { .. } => "252 2.5.2 send some mail, and see".to_owned(),
            Request::Expn { .. }
            | Request::Bdat { .. }
            | Request::Auth { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. }
            | Request::StartTls => self.error("502 5.5.1 not implemented"),
            // Both are handled before.
            Request::Data | Request::Quit => self.error("503 5.5.1 bad sequence of commands"),
        }
    }

    fn wrong(&mut self, error: &Error) -> String {
        self.error(match error {
            Error::UnknownCommand => "500 5.5.2 unknown command",
            Error::InvalidSenderAddress => "501 5.1.7 bad sender address",
            Error::InvalidRecipientAddress => "501 5.1.3 bad recipient address",
            Error::InvalidParameter { .. } | Error::UnsupportedParameter { .. } => "555 5.5.4 bad parameter",
            Error::SyntaxError { .. }
            | Error::NeedsMoreData { .. }
            | Error::ResponseTooLong
            | Error::InvalidResponse { .. } => "501 5.5.2 syntax error",
        })
    }

    fn error(&mut self, text: &str) -> String {
        self.errors += 1;
        text.to_owned()
    }

    fn greet(&mut self, is_lmtp: bool, is_extended: bool) -> String {
        self.reset();
        (self.has_greeted, self.is_lmtp) = (true, is_lmtp);
        let domain = self.incoming.pattern.domain();
        if !is_extended {
            return format!("250 {domain}");
        }
        let size = self.incoming.bytes_max;
        let tls = if self.offers_tls() { "250-STARTTLS\r\n" } else { "" };
        format!(
            "250-{domain}\r\n250-PIPELINING\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n{tls}250 SIZE {size}"
        )
    }

    fn offers_tls(&self) -> bool {
        !self.incoming.app.config.mail.incoming.tls_cert_file.as_os_str().is_empty() && self.wire.is_plain()
    }

    /// Changes to TLS, after which the client greets again.
    async fn start_tls(&mut self) -> Result<(), End> {
        // Commands that came with this one could be those of another client on the way.
        if !self.buffer.is_empty() {
            return Err(End::Broken("554 5.5.0 data before TLS"));
        }
        let not_available = "454 4.7.0 TLS is not available";
        let Some(files) = self.incoming.app.config.mail.incoming.files() else {
            return self.reply(not_available).await;
        };
        let acceptor = match tokio::task::spawn_blocking(move || acceptor(files)).await {
            Ok(Ok(acceptor)) => acceptor,
            Ok(Err(problem)) => {
                tracing::error!(option = problem.option, problem = problem.text, "STARTTLS is not possible");
                return self.reply(not_available).await;
            }
            Err(_) => return self.reply(not_available).await,
        };
        self.reply("220 2.0.0 ready for TLS").await?;
        timeout(READ_MAX, self.wire.encrypt(&acceptor)).await.map_err(|_| End::Closed)??;
        self.reset();
        self.has_greeted = false;
        Ok(())
    }

    fn begin(&mut self, from: &str, size: usize) -> String {
        if !self.has_greeted || self.sender.is_some() {
            return self.error("503 5.5.1 bad sequence of commands");
        }
        if size > self.incoming.bytes_max {
            return self.error("552 5.3.4 the e-mail is too large");
        }
        if self.mails >= MAILS_MAX {
            return self.error("421 4.7.0 too many e-mails in one connection");
        }
        self.sender = Some(from.to_owned());
        "250 2.1.0 ok".to_owned()
    }

    fn add_recipient(&mut self, address: &str) -> String {
        let Some(is_bounce) = self.sender.as_ref().map(String::is_empty) else {
            return self.error("503 5.5.1 bad sequence of commands");
        };
        let recipients_max = if self.is_lmtp { RECIPIENTS_MAX } else { 1 };
        if self.recipients.len() >= recipients_max {
            return "452 4.5.3 too many recipients".to_owned();
        }
        let found = self.incoming.pattern.recipient(&self.incoming.app.server, address);
        let Some(recipient) = found.filter(accepts) else {
            return self.error("550 5.1.1 no such address");
        };
        if is_bounce {
            return self.error("550 5.7.1 e-mails without a sender are not accepted");
        }
        let app = &self.incoming.app;
        let status = app.limits.acquire(Bucket::MailsByAddress, recipient.key(), app.moment());
        if status.is_some_and(|status| status.check().is_err()) {
            return self.error("451 4.7.1 too many e-mails to this address, try again later");
        }
        self.recipients.push(recipient);
        "250 2.1.5 ok".to_owned()
    }

    /// Logs a permanent refusal (55x), after which the sender's server returns the e-mail. The recipient's address is a secret.
    fn log_refusal(&self, sender: &str, answer: &str) {
        if answer.starts_with("55") {
            let sender: String = sender.chars().take(SENDER_CHARS_MAX).collect();
            tracing::info!(sender, server = %self.peer, answer, "an e-mail was refused");
        }
    }

    fn reset(&mut self) {
        self.sender = None;
        self.recipients.clear();
    }

    /// Receives an e-mail, and answers when it is posted.
    async fn data(&mut self) -> Result<(), End> {
        if self.recipients.is_empty() {
            let answer = self.error("503 5.5.1 no valid recipients");
            return self.reply(&answer).await;
        }
        // Data that comes before it was asked for was meant for another server.
        if !self.buffer.is_empty() {
            return Err(End::Broken("554 5.5.0 data before it was asked for"));
        }
        self.reply("354 end with a line that has a single dot").await?;
        let received = timeout(DATA_MAX, self.receive()).await.map_err(|_| End::Slow)??;
        self.mails += 1;
        let (sender, recipients) =
            (self.sender.take().unwrap_or_default(), std::mem::take(&mut self.recipients));
        self.reset();
        let (mail, _memory) = match received {
            Ok(received) => received,
            Err(refusal) => {
                self.log_refusal(&sender, refusal);
                let count = if self.is_lmtp { recipients.len() } else { 1 };
                let refusal = vec![refusal; count].join("\r\n");
                return self.reply(&refusal).await;
            }
        };
        let mail = Arc::new(mail);
        for recipient in recipients {
            let answer = outcome_line(&post(&self.incoming, recipient, mail.clone()).await);
            self.log_refusal(&sender, &answer);
            self.reply(&answer).await?;
        }
        Ok(())
    }

    /// Receives data up to its end; the inner error is the reply.
    async fn receive(&mut self) -> Result<Result<(Vec<u8>, Reservation), &'static str>, End> {
        let bytes_max = self.incoming.bytes_max;
        let mut receiver = DataReceiver::default();
        let budget = self.incoming.app.server.budget();
        let mut memory = budget.reserve(Holder::address(Some(self.peer)), Purpose::Body, 0).ok();
        let mut is_out_of_memory = memory.is_none();
        loop {
            let bytes = self.read().await?;
            let is_reserved = memory.as_mut().is_some_and(|memory| memory.grow(bytes.len() as u64).is_ok());
            if !is_reserved && !is_out_of_memory {
                is_out_of_memory = true;
                memory = None;
                receiver.discard();
            }
            if let Some(taken) = receiver.take(&bytes, bytes_max) {
                self.buffer = bytes.get(taken..).unwrap_or_default().to_vec();
                break;
            }
            if receiver.received() > EXCESS_FACTOR * bytes_max as u64 {
                return Err(End::Broken("552 5.3.4 the e-mail is too large, closing the connection"));
            }
        }
        // As much again for what its parts are decoded to.
        let decoded = receiver.received().min(bytes_max as u64);
        let memory = memory.filter(|_| !is_out_of_memory);
        let memory = memory.and_then(|mut memory| memory.grow(decoded).is_ok().then_some(memory));
        let Some(memory) = memory else {
            return Ok(Err("451 4.3.1 the server is busy, try again later"));
        };
        Ok(match receiver.finish() {
            Data::Complete(mail) => Ok((mail, memory)),
            Data::TooLarge => Err("552 5.3.4 the e-mail is too large"),
            Data::HasBareLineEnds => Err("554 5.6.0 lines must end in CR LF"),
        })
    }

    /// The next command line, with its end.
    async fn line(&mut self) -> Result<Vec<u8>, End> {
        let deadline = tokio::time::Instant::now() + READ_MAX;
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                let line = std::mem::replace(&mut self.buffer, rest);
                if line.len() > LINE_BYTES_MAX {
                    return Err(End::Broken("500 5.5.2 the line is too long, closing the connection"));
                }
                if !line.ends_with(b"\r\n") || line[..end.saturating_sub(1)].contains(&b'\r') {
                    return Err(End::Broken("500 5.5.2 lines must end in CR LF, closing the connection"));
                }
                return Ok(line);
            }
            if self.buffer.len() > LINE_BYTES_MAX {
                return Err(End::Broken("500 5.5.2 the line is too long, closing the connection"));
            }
            let bytes = tokio::time::timeout_at(deadline, self.read()).await.map_err(|_| End::Slow)??;
            self.buffer.extend_from_slice(&bytes);
        }
    }

    /// What was received before, or some bytes of the connection.
    async fn read(&mut self) -> Result<Vec<u8>, End> {
        let mut bytes = vec![0; READ_BYTES];
        let stopping = self.incoming.app.stopping();
        let count = tokio::select! {
            count = timeout(READ_MAX, self.wire.read(&mut bytes)) => count.map_err(|_| End::Slow)??,
            () = stopping.wait() => return Err(End::Stopping),
        };
        if count == 0 {
            return Err(End::Closed);
        }
        bytes.truncate(count);
        Ok(bytes)
    }

    async fn reply(&mut self, text: &str) -> Result<(), End> {
        let line = format!("{text}\r\n");
        timeout(WRITE_MAX, self.wire.write_all(line.as_bytes())).await.map_err(|_| End::Slow)??;
        Ok(())
    }
}

/// The reply to an e-mail for one recipient. Texts come from the server's own errors, and become one line of ASCII.
fn outcome_line(outcome: &PostOutcome) -> String {
    match outcome {
        PostOutcome::Posted => "250 2.0.0 posted".to_owned(),
        PostOutcome::Later => "451 4.3.0 the server cannot post it now, try again later".to_owned(),
        PostOutcome::Refused(why) => {
            let is_plain = |point: &char| point.is_ascii_graphic() || *point == ' ';
            format!("550 5.7.1 {}", why.chars().filter(is_plain).take(300).collect::<String>())
        }
    }
}
