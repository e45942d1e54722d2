//! Held requests on the bare server: memory of each connection, and time until all are answered once the gate is
//! opened. The baseline of `idle`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::bare::{BareServer, dummy_account};
use crate::driver::get;
use crate::error::LoadError;
use crate::http::{Connection, HttpError, Target, Template, bodiless_request};
use crate::process::{cpu_time, resident_bytes};
use crate::units::{megabytes, micros_each};

/// Connections opened concurrently.
const OPENERS: usize = 64;
const WARM_SECS: f64 = 0.3;
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// The result for the bare server.
#[derive(Debug, Clone, Copy)]
pub struct HeldBaseline {
    /// Growth of resident memory per connection, in bytes.
    pub bytes_per_connection: f64,
    /// From opening the gate until the last reply, in milliseconds.
    pub last_receipt_ms: f64,
    /// CPU time of the bare server for each request, from its start to its reply, in µs.
    pub server_cpu_us: f64,
    /// CPU time of this program for each, in µs.
    pub client_cpu_us: f64,
}

/// Holds `count` requests for `hold`, then answers all.
pub async fn measure(count: u32, hold: Duration) -> Result<HeldBaseline, LoadError> {
    let server = BareServer::start().await?;
    // As for the real server, one-time costs must not count per connection.
    let label = "bare actix-web, before holding";
    let openers = vec![dummy_account(); OPENERS];
    get::drive(&server.target, &openers, "/api/v1/users/me", label, (0.0, WARM_SECS).into(), None).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = read_resident(&server)?;
    let connections = open(&server.target, count).await?;
    let cpu_before = cpu_times(&server);
    let mut held = JoinSet::new();
    for mut connection in connections {
        let request =
            bodiless_request("GET", &server.target.host, "/held", Some(&dummy_account().authorization));
        held.spawn(
            async move { connection.exchange(&request).await.map(|reply| (reply.status, Instant::now())) },
        );
    }
    tokio::time::sleep(hold).await;
    let after = read_resident(&server)?;
    if let Some(early) = held.try_join_next() {
        return Err(LoadError::Server(format!("the bare server did not hold: {early:?}")));
    }
    let opened = open_gate(&server.target).await?;
    let last = wait_all(held).await?;
    let cpu_after = cpu_times(&server);
    let each = |now: Duration, before: Duration| {
        micros_each(now.saturating_sub(before), u64::from(count)).unwrap_or(0.0)
    };
    Ok(HeldBaseline {
        server_cpu_us: each(cpu_after.0, cpu_before.0),
        client_cpu_us: each(cpu_after.1, cpu_before.1),
        bytes_per_connection: megabytes(after.saturating_sub(before)) * 1e6 / f64::from(count),
        last_receipt_ms: last.saturating_duration_since(opened).as_secs_f64() * 1000.0,
    })
}

/// CPU times of the bare server and of this program so far.
fn cpu_times(server: &BareServer) -> (Duration, Duration) {
    (cpu_time(server.pid()).unwrap_or_default(), cpu_time(std::process::id()).unwrap_or_default())
}

fn read_resident(server: &BareServer) -> Result<u64, LoadError> {
    resident_bytes(server.pid()).ok_or_else(|| LoadError::Server("the bare server has ended".to_owned()))
}

/// Opens connections and sends one form over each, like a client that registers before it polls.
async fn open(target: &Arc<Target>, count: u32) -> Result<Vec<Connection>, LoadError> {
    let failed = |source: HttpError| LoadError::Http { call: "the bare server".to_owned(), source };
    let mut request = Vec::new();
    let authorization = dummy_account().authorization.clone();
    let template = Template::new("POST", &target.host, "/api/v1/messages", Some(&authorization));
    template.fill(&mut request, b"to=1&topic=a&content=b");
    let request = Arc::new(request);
    let mut openers = JoinSet::new();
    let count = count as usize;
    let part = count.div_ceil(OPENERS).max(1);
    for first in (0..count).step_by(part) {
        let (target, request) = (target.clone(), request.clone());
        openers.spawn(async move {
            let mut opened = Vec::new();
            for _ in first..(first + part).min(count) {
                let mut connection = Connection::open(&target).await?;
                connection.exchange(&request).await?;
                opened.push(connection);
            }
            Ok::<_, HttpError>(opened)
        });
    }
    let mut connections = Vec::with_capacity(count);
    while let Some(joined) = openers.join_next().await {
        let part = joined.map_err(|error| LoadError::Server(format!("an opener ended: {error}")))?;
        connections.extend(part.map_err(failed)?);
    }
    Ok(connections)
}

async fn open_gate(target: &Arc<Target>) -> Result<Instant, LoadError> {
    let failed = |source: HttpError| LoadError::Http { call: "POST /release".to_owned(), source };
    let mut connection = Connection::open(target).await.map_err(failed)?;
    let mut request = Vec::new();
    Template::new("POST", &target.host, "/release", None).fill(&mut request, b"");
    let opened = Instant::now();
    connection.exchange(&request).await.map_err(failed)?;
    Ok(opened)
}

async fn wait_all(mut held: JoinSet<Result<(u16, Instant), HttpError>>) -> Result<Instant, LoadError> {
    let lost = || LoadError::Server("the bare server did not answer all held requests".to_owned());
    let mut last = Instant::now();
    let all = async {
        while let Some(joined) = held.join_next().await {
            match joined {
                Ok(Ok((200, at))) => last = last.max(at),
                _ => return Err(lost()),
            }
        }
        Ok(last)
    };
    tokio::time::timeout(ANSWER_WAIT, all).await.map_err(|_| lost())?
}
