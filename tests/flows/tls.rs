//! HTTPS without a proxy: certificate files, their reload, bounds of handshakes, and clients that speak something else.

use crate::support::ServerProcess;
use crate::support::certificates::Authority;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

struct Case {
    authority: Authority,
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let case = Self { authority: Authority::new(), folder: tempfile::tempdir().expect("a folder") };
        case.renew("localhost");
        case
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a new certificate.
    fn renew(&self, name: &str) {
        let (certificate, key) = self.authority.certificate(name);
        std::fs::write(self.file("cert.pem"), certificate).expect("written");
        std::fs::write(self.file("key.pem"), key).expect("written");
    }

    fn settings(&self) -> [(&'static str, String); 2] {
        [
            ("MILLSTREAM_TLS_CERT_FILE", self.file("cert.pem").display().to_string()),
            ("MILLSTREAM_TLS_KEY_FILE", self.file("key.pem").display().to_string()),
        ]
    }

    fn start(&self, more: &[(&str, &str)]) -> ServerProcess {
        let files = self.settings();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, file)| (*name, file.as_str())).collect();
        let data = self.file("data").display().to_string();
        ServerProcess::start(
            &["dev", "--listen", "127.0.0.1:0", "--data", &data],
            &[files, more.to_vec(), vec![("MILLSTREAM_LOG_FILTER", "info")]].concat(),
        )
    }

    async fn connect(&self, server: &ServerProcess) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(address(server)).await.expect("a connection");
        let name = ServerName::try_from("localhost").expect("a name");
        self.authority.connector().connect(name, stream).await.expect("a handshake")
    }
}

fn address(server: &ServerProcess) -> SocketAddr {
    server.url.trim_start_matches("https://").parse().expect("an address")
}

/// Sends a request on a connection that stays open, and reads the head and the body of the answer.
async fn ask(stream: &mut TlsStream<TcpStream>, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream.flush().await.expect("sent");
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await.expect("an answer");
        read.extend_from_slice(&piece[..length]);
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let wanted = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if wanted
                .and_then(|length| length.trim().parse().ok())
                .is_none_or(|length: usize| body.len() >= length)
            {
                return text;
            }
        }
        assert!(length > 0, "the connection was closed: {text}");
    }
}

/// The beginning of a handshake.
const BEGUN: [u8; 5] = [22, 3, 1, 2, 0];
const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn clients_use_https_with_both_versions_and_secure_cookies() {
    let case = Case::new();
    let server = case.start(&[]);
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let mut stream = case.connect(&server).await;
    let (_, session) = stream.get_ref();
    assert_eq!(session.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
    assert!(ask(&mut stream, HEALTH).await.starts_with("HTTP/1.1 200"));
    // Links have the scheme, and cookies are only sent over HTTPS.
    let settings =
        ask(&mut stream, "GET /api/v1/server_settings HTTP/1.1\r\nHost: localhost:7\r\n\r\n").await;
    assert!(settings.contains("\"realm_url\":\"https://localhost:7\""), "{settings}");
    let page =
        ask(&mut stream, "GET /login/ HTTP/1.1\r\nHost: localhost:7\r\nAccept: text/html\r\n\r\n").await;
    assert!(page.to_lowercase().contains("; secure"), "{page}");

    let certificate = reqwest::Certificate::from_pem(case.authority.pem().as_bytes()).expect("PEM");
    let client = reqwest::Client::builder()
        .tls_certs_only([certificate])
        .tls_version_max(reqwest::tls::Version::TLS_1_2)
        .resolve("localhost", address(&server))
        .build()
        .expect("a client");
    let url = format!("https://localhost:{}/health", address(&server).port());
    let answer = client.get(&url).send().await.expect("an answer");
    assert_eq!((answer.status().as_u16(), answer.version()), (200, reqwest::Version::HTTP_11));
}

#[tokio::test]
async fn changed_certificate_is_used_and_open_connections_stay() {
    let case = Case::new();
    let server = case.start(&[]);
    let shown = |stream: &TlsStream<TcpStream>| {
        stream.get_ref().1.peer_certificates().expect("a certificate")[0].clone().into_owned()
    };
    let mut open = case.connect(&server).await;
    // Without a first request it would be closed soon.
    assert!(ask(&mut open, HEALTH).await.starts_with("HTTP/1.1 200"));
    let first = shown(&open);
    // Half of a pair is not used.
    let (_, key) = case.authority.certificate("localhost");
    std::fs::write(case.file("key.pem"), key).expect("written");
    server.signal("HUP");
    server.wait_for_log("the changed certificate cannot be used");
    assert_eq!(shown(&case.connect(&server).await), first);
    case.renew("localhost");
    // Without a signal, too.
    server.wait_for_log("the certificate was reloaded");
    // A file that is missing for a while is logged.
    std::fs::rename(case.file("cert.pem"), case.file("moved.pem")).expect("moved");
    server.wait_for_log("a file of the certificate is missing");
    std::fs::rename(case.file("moved.pem"), case.file("cert.pem")).expect("moved");
    server.wait_for_log("the files of the certificate are there again");
    let mut new = case.connect(&server).await;
    assert_ne!(shown(&new), first);
    for stream in [&mut open, &mut new] {
        assert!(ask(stream, HEALTH).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn slow_handshakes_end_and_do_not_disturb_others() {
    let case = Case::new();
    let server =
        case.start(&[("MILLSTREAM_TLS_HANDSHAKE_SECS_MAX", "1"), ("MILLSTREAM_TLS_HANDSHAKES_MAX", "64")]);
    let mut silent = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address(&server)).await.expect("a connection");
        // It does not go on.
        stream.write_all(&BEGUN).await.expect("sent");
        silent.push(stream);
    }
    let mut stream = case.connect(&server).await;
    assert!(ask(&mut stream, HEALTH).await.starts_with("HTTP/1.1 200"));
    for mut stream in silent {
        let mut rest = Vec::new();
        let end = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
        // A reset is an end, too.
        let _ = end.expect("the server closes it");
    }
    // More than the share of an address: the oldest are closed.
    let mut many = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(address(&server)).await.expect("a connection");
        stream.write_all(&BEGUN).await.expect("sent");
        many.push(stream);
    }
    let mut closed = 0;
    for stream in &mut many {
        let read = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 1])).await;
        closed += usize::from(read.is_ok());
    }
    assert_eq!(closed, 20);
    let mut stream = case.connect(&server).await;
    let metrics =
        ask(&mut stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await;
    for reason in ["time", "limit"] {
        let name = format!("millstream_tls_handshakes_failed_total{{reason=\"{reason}\"}} ");
        let line = metrics.lines().find(|line| line.starts_with(&name));
        assert!(line.is_some_and(|line| !line.ends_with(" 0")), "{reason}: {metrics}");
    }
    // The certificates of this authority end in the year 4096.
    let end = metrics.lines().find_map(|line| line.strip_prefix("millstream_tls_certificate_ends_seconds "));
    assert!(end.and_then(|secs| secs.parse::<f64>().ok()).is_some_and(|secs| secs > 4e9), "{metrics}");
}

#[tokio::test]
async fn silent_connections_are_no_handshakes() {
    let case = Case::new();
    // One for each address.
    let server =
        case.start(&[("MILLSTREAM_TLS_HANDSHAKES_MAX", "16"), ("MILLSTREAM_HTTP_HEAD_SECS_MAX", "5")]);
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(TcpStream::connect(address(&server)).await.expect("a connection"));
    }
    for _ in 0..3 {
        let mut stream = case.connect(&server).await;
        assert!(ask(&mut stream, HEALTH).await.starts_with("HTTP/1.1 200"));
    }
    for mut stream in silent {
        let end = tokio::time::timeout(Duration::from_secs(20), stream.read(&mut [0; 1])).await;
        assert_eq!(end.expect("the server closes it").unwrap_or(0), 0);
    }
}

#[tokio::test]
async fn plain_http_gets_a_hint() {
    let case = Case::new();
    let server = case.start(&[]);
    let mut stream = TcpStream::connect(address(&server)).await.expect("a connection");
    stream.write_all(HEALTH.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("use https://"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn health_check_trusts_only_the_configured_certificate() {
    let case = Case::new();
    let server = case.start(&[]);
    let address = address(&server).to_string();
    let check = |settings: &[(&'static str, String); 2]| {
        let settings: Vec<(&str, &str)> =
            settings.iter().map(|(name, file)| (*name, file.as_str())).collect();
        tokio::task::block_in_place(|| ServerProcess::run_in(&["health", "--address", &address], &settings))
    };
    let (status, text) = check(&case.settings());
    assert!(status.success() && text.contains("is healthy"), "{text}");
    let other = Case::new();
    let (status, text) = check(&other.settings());
    assert!(!status.success() && text.contains("another certificate than tls.cert_file"), "{text}");
    let plain = || ServerProcess::run_in(&["health", "--address", &address], &[]);
    let (status, text) = tokio::task::block_in_place(plain);
    assert!(!status.success() && text.contains("This port speaks HTTPS"), "{text}");
    assert!(text.contains("name the configuration of the server with --config"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_says_in_words_that_a_certificate_is_not_trusted() {
    let case = Case::new();
    let server = case.start(&[]);
    let (data, socket) = (case.file("data").display().to_string(), case.file("data").join("control"));
    crate::support::wait_until("the socket is there", || socket.exists()).await;
    let url = format!("https://localhost:{}", address(&server).port());
    let settings = [
        ("MILLSTREAM_EXTERNAL_URL", url.as_str()),
        ("MILLSTREAM_PUSH_SERVICE_URL", &url),
        ("MILLSTREAM_PUSH_ORG_ID", "acme"),
        ("MILLSTREAM_PUSH_ORG_KEY", "secret-of-acme"),
    ];
    let arguments = ["doctor", "--data", &data];
    let (_, text) = tokio::task::block_in_place(|| ServerProcess::run_in(&arguments, &settings));
    let sentence =
        "its certificate is not from an authority that this machine trusts; use one of a public authority";
    assert_eq!(text.matches(sentence).count(), 2, "{text}");
    assert!(!text.contains("UnknownIssuer"), "{text}");
    // The configuration is that of another server.
    let row = text.lines().find(|line| line.starts_with("TLS ")).expect("the row");
    assert!(row.contains("warning") && row.contains("speaks HTTPS, but here [tls] is not set"), "{row}");
}

/// A renewal that fails half-way keeps no command from its work while the server goes on with the certificate before.
#[tokio::test(flavor = "multi_thread")]
async fn broken_certificate_file_disturbs_only_those_who_need_it() {
    let case = Case::new();
    let server = case.start(&[]);
    let data = case.file("data").display().to_string();
    crate::support::wait_until("the socket is there", || case.file("data").join("control").exists()).await;
    std::fs::write(case.file("cert.pem"), "half of").expect("written");
    let run = |arguments: &[&str]| {
        let files = case.settings();
        let files: Vec<(&str, &str)> = files.iter().map(|(name, file)| (*name, file.as_str())).collect();
        let arguments = [arguments, &["--data", &data]].concat();
        tokio::task::block_in_place(|| ServerProcess::run_in(&arguments, &files))
    };
    for command in [&["user", "list"][..], &["health"]] {
        let (status, text) = run(command);
        assert!(status.success(), "{command:?}: {text}");
    }
    let file = case.file("cert.pem");
    let problem =
        format!("`tls.cert_file` ({}) must be a file with certificates in PEM form", file.display());
    let problem = problem.as_str();
    let (status, text) = run(&["doctor"]);
    let row = text.lines().find(|line| line.starts_with("TLS ")).expect("the row");
    assert!(!status.success() && row.contains("problem") && row.contains(problem), "{text}");
    let server_row = text.lines().find(|line| line.starts_with("server ")).expect("the row");
    assert!(server_row.contains("answers 200, storage: ok"), "{text}");
    server.terminate();
    let (status, text) = run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(!status.success() && text.contains(problem), "{text}");
}

#[test]
fn unusable_files_are_refused_at_the_start() {
    let case = Case::new();
    let data = case.file("data").display().to_string();
    let refused = |settings: &[(&str, &str)]| {
        let (status, text) = ServerProcess::run_in(&["serve", "--data", &data], settings);
        assert!(!status.success(), "{text}");
        text
    };
    let [(cert, cert_file), (key, key_file)] = case.settings();
    assert!(refused(&[(cert, &cert_file)]).contains("must name a file, because tls.cert_file is set"));
    let text = refused(&[(cert, &cert_file), (key, &cert_file)]);
    assert!(text.contains("must be a file with a private key in PEM form"), "{text}");
    let external = ("MILLSTREAM_EXTERNAL_URL", "http://chat.example");
    let text = refused(&[(cert, &cert_file), (key, &key_file), external]);
    assert!(text.contains("must begin with https://, because tls.cert_file is set"), "{text}");
}
