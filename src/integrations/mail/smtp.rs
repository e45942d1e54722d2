//! Sending by SMTP, with a connection for each e-mail.

use super::Email;
use super::smtp_connection::{Encryption, SmtpError, SmtpServer};
use crate::config::{ConfigError, Mail, MailSecurity};
use crate::foreign_text::one_line;
use crate::integrations::certificate_problem::certificate_problem;
use actors::outbox::{Delivery, DeliveryAttempt};
use lettre::Message;
use lettre::address::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MessageBuilder, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, TlsParameters};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::error::Error;
use std::time::Duration;

/// SMTP codes that concern this server's account, not the e-mail: the configuration must be corrected, and until then
/// e-mails wait.
const ACCOUNT_CODES: [u16; 5] = [454, 530, 534, 535, 538];

/// The SMTP server and the From address.
pub struct Smtp {
    server: SmtpServer,
    from: Mailbox,
}

impl Smtp {
    /// The configured server; none without a host. Fails if the From address, the host name or the file of certificates
    /// is invalid.
    pub fn new(config: &Mail, secs_max: u64) -> Result<Option<Self>, ConfigError> {
        if config.host.is_empty() {
            return Ok(None);
        }
        let from = config.from.parse::<Mailbox>();
        let from = from.map_err(|_| {
            let problem = "must be an address such as Acme <chat@acme.example>, because mail.host is set";
            ConfigError::unusable("mail.from", problem.into())
        })?;
        let encryption = match config.security {
            MailSecurity::None => Encryption::None,
            MailSecurity::Starttls => Encryption::Starttls(tls_parameters(config)?),
            MailSecurity::Tls => Encryption::Tls(tls_parameters(config)?),
        };
        let has_login = !config.user.is_empty();
        let server = SmtpServer {
            host: config.host.clone(),
            port: config.port,
            encryption,
            credentials: has_login.then(|| Credentials::new(config.user.clone(), config.password.0.clone())),
            connect_time_max: Duration::from_secs(secs_max),
        };
        Ok(Some(Self { server, from }))
    }

    /// One delivery attempt.
    pub async fn send(&self, attempt: &DeliveryAttempt, to: &str, email: &Email) -> Delivery {
        let message = match self.message(attempt, to, email) {
            Ok(message) => message,
            Err(why) => return Delivery::refused(why),
        };
        match self.send_message(&message).await {
            Ok(()) => Delivery::done(),
            Err(error) => classify(&error),
        }
    }

    /// Whether the server accepts a connection, TLS and the login; otherwise why not.
    pub async fn test(&self) -> Result<(), String> {
        match self.is_connected().await {
            Ok(true) => Ok(()),
            Ok(false) => Err("it closes the connection".to_owned()),
            Err(error) => Err(why(&error)),
        }
    }

    async fn is_connected(&self) -> Result<bool, SmtpError> {
        let mut connection = self.server.connect().await?;
        let is_connected = connection.test_connected().await;
        connection.quit().await?;
        Ok(is_connected)
    }

    /// Sends an e-mail that says that sending works.
    pub async fn send_test(&self, to: &str) -> Result<(), String> {
        let to = to.parse::<Address>().map_err(|_| "the address is none".to_owned())?;
        // Some servers refuse e-mail without a Message-ID.
        let millis = jiff::Timestamp::now().as_millisecond();
        let name = format!("<doctor-{millis}@{}>", self.from.email.domain());
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject("Test e-mail of Millstream")
            .message_id(Some(name))
            .body("This is a test e-mail of `millstream doctor`: this server can send e-mail.\r\n".to_owned())
            .map_err(|error| error.to_string())?;
        self.send_message(&message).await.map_err(|error| why(&error))
    }

    /// Sends a message in a session of its own.
    async fn send_message(&self, message: &Message) -> Result<(), SmtpError> {
        let mut connection = self.server.connect().await?;
        connection.send(message.envelope(), &message.formatted()).await?;
        connection.abort().await;
        Ok(())
    }

    fn message(&self, attempt: &DeliveryAttempt, to: &str, email: &Email) -> Result<Message, String> {
        let to = to.parse::<Address>().map_err(|_| "the address is none".to_owned())?;
        // The same for each attempt, so that duplicates can be recognized.
        let name = format!("<{}-{}@{}>", attempt.key(), attempt.job.added.0, self.from.email.domain());
        let automatic = HeaderName::new_from_ascii_str("Auto-Submitted");
        let reply_to = email.reply_to.as_ref().map(|address| address.parse::<Address>());
        let reply_to = reply_to.transpose().map_err(|_| "the reply address is none".to_owned())?;
        let builder = match reply_to {
            Some(address) => Message::builder().reply_to(Mailbox::new(None, address)),
            None => Message::builder(),
        };
        let builder = match &email.unsubscribe_link {
            Some(link) => unsubscribe_headers(link).into_iter().fold(builder, MessageBuilder::raw_header),
            None => builder,
        };
        builder
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(&email.subject)
            .message_id(Some(name))
            .raw_header(HeaderValue::new(automatic, "auto-generated".to_owned()))
            .multipart(MultiPart::alternative_plain_html(email.text(), email.document()))
            .map_err(|error| error.to_string())
    }
}

/// The headers by which mail programs turn off mails of a kind with one request (RFC 8058). The link is on one line: not all of
/// them read one that is folded.
fn unsubscribe_headers(link: &str) -> [HeaderValue; 2] {
    let link = format!("<{link}>");
    let name = HeaderName::new_from_ascii_str("List-Unsubscribe");
    let post = HeaderName::new_from_ascii_str("List-Unsubscribe-Post");
    [
        HeaderValue::dangerous_new_pre_encoded(name, link.clone(), link),
        HeaderValue::new(post, "List-Unsubscribe=One-Click".to_owned()),
    ]
}

/// The certificates that are trusted for the server.
fn tls_parameters(config: &Mail) -> Result<TlsParameters, ConfigError> {
    let builder = TlsParameters::builder(config.host.clone());
    if config.ca_file.as_os_str().is_empty() {
        return builder.build_rustls().map_err(|error| ConfigError::unusable("mail.host", error.to_string()));
    }
    let refused = |problem: String| {
        let text = format!("({}) {problem}", config.ca_file.display());
        ConfigError::unusable("mail.ca_file", text)
    };
    let pem = std::fs::read(&config.ca_file).map_err(|error| refused(format!("cannot be read: {error}")))?;
    if CertificateDer::pem_slice_iter(&pem).next().is_none() {
        return Err(refused("must be a file with certificates in PEM form".into()));
    }
    let certificates =
        Certificate::from_pem(&pem).map_err(|error| refused(format!("cannot be used: {}", why(&error))))?;
    let parameters = builder.add_root_certificate(certificates).build_rustls();
    parameters.map_err(|error| refused(format!("cannot be used: {}", why(&error))))
}

/// Whether an error is permanent. The text may be logged: servers echo what they receive, but never receive a
/// password in clear text.
fn classify(error: &SmtpError) -> Delivery {
    let why = why(error);
    let SmtpError::Session(error) = error else { return Delivery::failed(why) };
    match error.status().map(u16::from) {
        Some(code) if error.is_permanent() && !ACCOUNT_CODES.contains(&code) => Delivery::refused(why),
        _ => Delivery::failed(why),
    }
}

/// An error with its causes: "connection error" alone is not helpful.
fn why(error: &(dyn Error + 'static)) -> String {
    if let Some(problem) = certificate_problem(error) {
        return problem;
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_words = inner.to_string();
        if !words.contains(&inner_words) {
            words.push_str(&format!(": {inner_words}"));
        }
        source = inner.source();
    }
    one_line(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::io::Write;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn answers_without_an_end_are_a_temporary_failure() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut config = Config::load(None, [], Default::default()).expect("the defaults").mail;
        (config.host, config.from) = ("127.0.0.1".into(), "chat@acme.example".into());
        config.port = listener.local_addr().expect("an address").port();
        let bytes_max = 64 << 20;
        // An endless line at the greeting, and in clear text before STARTTLS.
        for (security, begin) in [(MailSecurity::None, "220 "), (MailSecurity::Starttls, "220 mail\r\n250-")]
        {
            let smtp =
                Smtp::new(&Mail { security, ..config.clone() }, 5).expect("a configuration").expect("on");
            let endless = async {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                stream.write_all(begin.as_bytes()).await.expect("it is connected");
                let mut sent = 0;
                let line = [b'a'; 1 << 16];
                while sent < bytes_max && stream.write_all(&line).await.is_ok() {
                    sent += line.len();
                }
                drop(stream.read(&mut [0; 1]).await);
                sent
            };
            let (sent, answer) = tokio::join!(endless, smtp.is_connected());
            let error = answer.expect_err("no answer has ended");
            assert!(why(&error).contains("the mail server has sent more than 1024 KiB"), "{}", why(&error));
            assert!(matches!(classify(&error), Delivery::Failed { .. }), "{}", why(&error));
            assert!(sent < bytes_max, "{sent} bytes were read");
        }
    }

    #[test]
    fn files_without_certificates_are_refused() {
        let mut config = Config::load(None, [], Default::default()).expect("the defaults").mail;
        (config.host, config.from) = ("mail.acme.example".into(), "chat@acme.example".into());
        assert!(matches!(Smtp::new(&config, 5), Ok(Some(_))));
        let with = |text: &str| {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(text.as_bytes()).expect("room");
            let config = Mail { ca_file: file.path().to_owned(), ..config.clone() };
            let problem = Smtp::new(&config, 5).err().map(|error| error.to_string()).unwrap_or_default();
            problem.replace(&format!(" ({})", file.path().display()), " of a file")
        };
        for text in ["", "tea", "-----BEGIN PRIVATE KEY-----\ndGVh\n-----END PRIVATE KEY-----\n"] {
            let problem = with(text);
            assert!(
                problem.contains("`mail.ca_file` of a file must be a file with certificates"),
                "{text}: {problem}"
            );
        }
        let problem = with("-----BEGIN CERTIFICATE-----\ndGVh\n-----END CERTIFICATE-----\n");
        assert!(problem.contains("`mail.ca_file` of a file cannot be used"), "{problem}");
        let gone = Mail { ca_file: "/nowhere/tea.pem".into(), ..config.clone() };
        let problem = Smtp::new(&gone, 5).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(problem.contains("`mail.ca_file` (/nowhere/tea.pem) cannot be read"), "{problem}");
        // Without encryption there is no certificate to check.
        let clear = Mail { security: MailSecurity::None, ..gone };
        assert!(matches!(Smtp::new(&clear, 5), Ok(Some(_))));
    }
}
