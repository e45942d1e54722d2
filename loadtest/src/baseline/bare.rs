//! The bare actix-web server: the hidden subcommand `bare-server` of this program, and the handle that starts it as a
//! child process. It answers the same paths as a chat server without doing anything, so that the same client code
//! drives it.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use actix_files::NamedFile;
use actix_web::{App, HttpResponse, HttpServer, web};
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::client::Account;
use crate::error::LoadError;
use crate::http::{Target, basic_authorization};

/// Worker threads. More than one gains nothing, because the client needs the other core.
const WORKERS: usize = 1;
/// Maximum of held connections per worker; only has to exceed what any scenario holds.
const CONNECTIONS_MAX: usize = 30_000;
/// New connections that a worker accepts concurrently.
const CONNECTION_RATE_MAX: usize = 2_048;

/// JSON of about 200 bytes.
const PROFILE: &str = r#"{"result":"success","msg":"","user_id":17,"email":"user17@chat.example.org","full_name":"Ada Byron","is_admin":false,"role":400,"timezone":"Europe/Berlin","is_active":true,"avatar_version":1}"#;

/// JSON of about 1.2 KB, the size of a poll's response with one message.
fn event_body() -> String {
    format!(
        r#"{{"result":"success","msg":"","events":[{{"id":1,"type":"heartbeat","x":"{}"}}]}}"#,
        "x".repeat(1130)
    )
}

/// A form of about 300 bytes, as the client sends it.
#[derive(Deserialize)]
struct Form {
    content: String,
    #[serde(rename = "to")]
    _to: String,
    #[serde(rename = "topic")]
    _topic: String,
}

/// The next id of a message, none of which is stored.
#[derive(Default)]
struct LastId(AtomicU64);

/// Held requests wait until this value changes.
struct Gate {
    open: watch::Sender<bool>,
    body: web::Bytes,
}

async fn profile() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(PROFILE)
}

async fn post(form: web::Form<Form>, last: web::Data<LastId>) -> HttpResponse {
    if form.content.is_empty() {
        return HttpResponse::BadRequest().finish();
    }
    let id = last.0.fetch_add(1, Ordering::Relaxed) + 1;
    let body = format!(r#"{{"result":"success","msg":"","id":{id}}}"#);
    HttpResponse::Ok().content_type("application/json").body(body)
}

async fn hold(gate: web::Data<Gate>) -> HttpResponse {
    let mut open = gate.open.subscribe();
    // The sender lives as long as the server, so this wait ends only when the gate is opened.
    let _ = open.wait_for(|open| *open).await;
    HttpResponse::Ok().content_type("application/json").body(gate.body.clone())
}

/// The file of `--file`.
async fn file(path: web::Data<Option<PathBuf>>) -> actix_web::Result<NamedFile> {
    let path = path.as_ref().as_ref().ok_or_else(|| actix_web::error::ErrorNotFound("no --file"))?;
    Ok(NamedFile::open(path)?)
}

async fn release(gate: web::Data<Gate>) -> HttpResponse {
    gate.open.send_replace(true);
    HttpResponse::Ok().content_type("application/json").body(r#"{"result":"success"}"#)
}

/// Serves until standard input is closed, which happens when the parent process ends. Prints the port it listens on.
pub fn serve(file_path: Option<PathBuf>) -> Result<(), LoadError> {
    let failed = |error: std::io::Error| LoadError::Server(format!("the bare server: {error}"));
    actix_web::rt::System::new().block_on(async move {
        let last = web::Data::new(LastId::default());
        let gate = web::Data::new(Gate { open: watch::Sender::new(false), body: event_body().into() });
        let file_path = web::Data::new(file_path);
        let server = HttpServer::new(move || {
            App::new()
                .app_data(last.clone())
                .app_data(gate.clone())
                .app_data(file_path.clone())
                .route("/api/v1/users/me", web::get().to(profile))
                .route("/api/v1/messages", web::post().to(post))
                .route("/file", web::get().to(file))
                .route("/held", web::get().to(hold))
                .route("/release", web::post().to(release))
        })
        .workers(WORKERS)
        .max_connections(CONNECTIONS_MAX)
        .max_connection_rate(CONNECTION_RATE_MAX)
        .bind(("127.0.0.1", 0))
        .map_err(failed)?;
        let port = server.addrs().first().map_or(0, std::net::SocketAddr::port);
        println!("{port}");
        std::thread::spawn(|| {
            // Whatever the reason for the end, there is no state to save.
            let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
            std::process::exit(0);
        });
        server.run().await.map_err(failed)
    })
}

/// A running bare server. Dropping it ends the process.
#[derive(Debug)]
pub struct BareServer {
    child: Child,
    pub target: Arc<Target>,
}

impl BareServer {
    /// Starts this program again as `bare-server`.
    pub async fn start() -> Result<Self, LoadError> {
        let failed = |error: std::io::Error| LoadError::Server(format!("the bare server: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .arg("bare-server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(failed)?;
        let Some(output) = child.stdout.take() else {
            return Err(LoadError::Server("the bare server has no output".to_owned()));
        };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).await.map_err(failed)?;
        let port: u16 = line
            .trim()
            .parse()
            .map_err(|_| LoadError::Server("the bare server did not say its port".to_owned()))?;
        let target = Arc::new(Target::local(&format!("http://127.0.0.1:{port}"))?);
        Ok(Self { child, target })
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }
}

/// Credentials that the bare server ignores; sending the header costs the client the same.
pub fn dummy_account() -> Arc<Account> {
    let email = "load00000@zulip.com".to_owned();
    let authorization = basic_authorization(&email, "abcdefghijklmnopqrstuvwxyz012345");
    Arc::new(Account { user_id: 0, email, authorization })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_documented_sizes() {
        assert!((180..=220).contains(&PROFILE.len()), "{}", PROFILE.len());
        assert!((1150..=1250).contains(&event_body().len()), "{}", event_body().len());
        assert!(crate::driver::get::is_success(PROFILE.as_bytes()));
    }
}
