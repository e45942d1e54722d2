//! A PostgreSQL server for the tests, if it is installed, and a proxy before it that cuts connections.

use crate::{Database, Requirements};
use parking_lot::Mutex;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const BIN: &str = "/usr/lib/postgresql/15/bin";

/// Runs until the test process ends, which closes its standard input.
const SCRIPT: &str = r#"
set -e
dir=$(mktemp -d /tmp/millstream-postgres.XXXXXX)
trap 'rm -rf "$dir"' EXIT
$BIN/initdb -D "$dir/data" -U millstream --auth=trust -E UTF8 --locale=C --data-checksums >/dev/null
$BIN/postgres -D "$dir/data" -p $PORT -k "$dir" -c listen_addresses=127.0.0.1 -c max_connections=300 \
    -c shared_buffers=32MB -c log_min_messages=fatal >/dev/null 2>&1 &
postgres=$!
until $BIN/pg_isready -q -h 127.0.0.1 -p $PORT; do sleep 0.05; done
echo ready
cat >/dev/null
kill -QUIT $postgres
wait $postgres || true
"#;

struct Server {
    port: u16,
    _child: Mutex<Child>,
}

static SERVER: OnceLock<Option<Server>> = OnceLock::new();

pub const SINGLE: Requirements = Requirements { allow_single_copy: true };

fn start() -> Option<Server> {
    if !Path::new(BIN).join("postgres").exists() {
        println!("skipped: there is no PostgreSQL 15 in {BIN}");
        return None;
    }
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let is_root = Command::new("id").arg("-u").output().expect("id").stdout == b"0\n";
    let mut command = Command::new(if is_root { "runuser" } else { "sh" });
    if is_root {
        // It refuses to run as root.
        command.args(["-u", "postgres", "--", "sh"]);
    }
    command.args(["-c", SCRIPT]).env("BIN", BIN).env("PORT", port.to_string()).current_dir("/");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("PostgreSQL can be started");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("readable");
    assert_eq!(line, "ready\n", "PostgreSQL did not start");
    Some(Server { port, _child: Mutex::new(child) })
}

fn run_sql(port: u16, database: &str, sql: &str) {
    let url = format!("postgres://millstream@127.0.0.1:{port}/{database}");
    let done =
        Command::new(format!("{BIN}/psql")).args(["-q", "-v", "ON_ERROR_STOP=1", &url, "-c", sql]).status();
    assert!(done.expect("psql").success(), "{sql}");
}

/// A database of its own for a test.
pub struct TestDatabase {
    pub name: String,
    pub port: u16,
}

impl TestDatabase {
    /// `None` where PostgreSQL is not installed: then the test is skipped.
    pub fn create() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = SERVER.get_or_init(start).as_ref()?;
        let name = format!("test{}", COUNT.fetch_add(1, Ordering::Relaxed));
        run_sql(server.port, "postgres", &format!("CREATE DATABASE {name}"));
        Some(Self { name, port: server.port })
    }

    pub fn sql(&self, sql: &str) {
        run_sql(self.port, &self.name, sql);
    }

    /// The rows of a query, one a line, with `|` between columns.
    pub fn query(&self, sql: &str) -> String {
        let done =
            Command::new(format!("{BIN}/psql")).args(["-qAt", &self.url(self.port), "-c", sql]).output();
        let done = done.expect("psql");
        assert!(done.status.success(), "{sql}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }

    /// The URL of the database behind a port.
    pub fn url(&self, port: u16) -> String {
        format!("postgres://millstream@127.0.0.1:{port}/{}", self.name)
    }

    /// How to reach it, or a proxy before it.
    pub fn at(&self, port: u16) -> Database {
        Database::parse(&format!("{}?sslmode=disable", self.url(port))).expect("a valid URL")
    }

    pub fn database(&self) -> Database {
        self.at(self.port)
    }
}

/// A proxy that can cut all connections, before or after the server answered.
pub struct Proxy {
    pub port: u16,
    connections: Arc<Mutex<Vec<(TcpStream, TcpStream)>>>,
    /// Answers are read and thrown away.
    is_deaf: Arc<AtomicBool>,
}

impl Proxy {
    pub fn start(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let connections: Arc<Mutex<Vec<(TcpStream, TcpStream)>>> = Arc::default();
        let is_deaf = Arc::new(AtomicBool::new(false));
        let (known, deaf) = (connections.clone(), is_deaf.clone());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", to))) else {
                    continue;
                };
                let copy = |stream: &TcpStream| stream.try_clone().expect("a copy");
                known.lock().push((copy(&client), copy(&server)));
                pump(copy(&client), copy(&server), Arc::default());
                pump(server, client, deaf.clone());
            }
        });
        Self { port, connections, is_deaf }
    }

    /// Lets the server work for `time` without its answers, then cuts all connections.
    pub fn cut_after(&self, time: Duration) {
        self.cut_during(|| std::thread::sleep(time));
    }

    /// Does some work while the server works without its answers, then cuts all connections.
    pub fn cut_during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_deaf.store(true, Ordering::SeqCst);
        let done = work();
        for (client, server) in self.connections.lock().drain(..) {
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        }
        self.is_deaf.store(false, Ordering::SeqCst);
        done
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, is_deaf: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        let mut buffer = [0u8; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if !is_deaf.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
