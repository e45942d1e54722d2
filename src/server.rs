//! The HTTP server as a whole: binds, runs, and stops without cutting anybody off.

use crate::config::{Config, ConfigError};
use crate::dev::ensure_sample;
use crate::http::app::App;
use crate::http::dispatch::dispatch;
use crate::http::host::Hosts;
use crate::http::observe::{fold_metrics, install_metrics};
use crate::http::routes::Route;
use crate::outside::blobs::{BlobError, Blobs, sweep_regularly};
use crate::outside::courier::Couriers;
use actix_web::dev::ServerHandle;
use actix_web::{App as Service, HttpServer, web};
use actors::outbox::OutboxOptions;
use actors::{Clock, DomainError, QueueLimits, Server, SystemClock};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

/// How often recorded timings are folded into their histograms.
const FOLD_EVERY: Duration = Duration::from_secs(5);
/// How long a stopping server still takes in what clients had sent before they could know.
const LAST_CALL: Duration = Duration::from_millis(50);

/// How long a stopped server waits for its last threads to let go of the data folder.
const LET_GO: Duration = Duration::from_secs(2);

/// Why the server does not run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {reason}; --listen chooses another address or port")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The data folder cannot be opened, read or written.
    #[error("{}", data_words(.0))]
    Data(#[from] DomainError),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The folder of files cannot be made, or the options for S3 do not go together.
    #[error("{0}; see [blobs] in the configuration")]
    Files(#[from] BlobError),
    /// The server's own thread did not start.
    #[error("cannot start the HTTP threads: {0}")]
    Start(#[from] std::io::Error),
}

/// What happened to the data, for those who run the server.
pub fn data_words(error: &DomainError) -> String {
    match error {
        // The reason names the folder and what to do.
        DomainError::Storage(reason) => reason.clone(),
        other => other.to_string(),
    }
}

/// A server that accepts requests. Dropping it without [`Running::stop`] leaves it running.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    app: AppHandle,
    handle: ServerHandle,
    done: oneshot::Receiver<Result<(), DomainError>>,
    thread: JoinHandle<()>,
}

struct AppHandle(App);

impl std::fmt::Debug for AppHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

/// What is served, and how.
#[derive(Debug)]
pub struct Setup {
    /// Process settings.
    pub config: Config,
    /// The table of routes.
    pub routes: Vec<Route>,
    /// Development: the sample organization is made if there is none, and logging in needs no password.
    pub is_development: bool,
    /// Whether what is acknowledged is on disk. False only for data that nobody keeps.
    pub is_durable: bool,
}

/// What the thread of a server reports when it is ready.
struct Started {
    app: App,
    handle: ServerHandle,
    address: SocketAddr,
}

/// Opens the data folder, binds and starts serving on threads of its own; may be called from any runtime.
/// When it returns, the port accepts connections.
pub async fn serve(setup: Setup) -> Result<Running, ServeError> {
    serve_with_clock(setup, Arc::new(SystemClock)).await
}

/// As [`serve`], with the time as an argument: idle queues, heartbeats and times of messages go by it.
pub async fn serve_with_clock(setup: Setup, clock: Arc<dyn Clock>) -> Result<Running, ServeError> {
    let (started_tx, started) = oneshot::channel();
    let (done_tx, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        actix_rt::System::new().block_on(async move {
            let (server, started, actors) = match start(setup, clock).await {
                Ok(parts) => parts,
                Err(reason) => return drop(started_tx.send(Err(reason))),
            };
            // Nobody waits for the answer any more only if the caller is gone.
            let blobs = started.app.blobs.clone();
            let _ = started_tx.send(Ok(started));
            actix_rt::spawn(fold_metrics_regularly());
            actix_rt::spawn(sweep_regularly(blobs, actors.clone()));
            if let Err(reason) = server.await {
                tracing::error!(%reason, "the HTTP server ended");
            }
            // Only now: the last requests needed the actors.
            let _ = done_tx.send(actors.stop().await);
        });
    })?;
    let ended = |_| ServeError::Start(std::io::Error::other("it ended at once"));
    let Started { app, handle, address } = started.await.map_err(ended)??;
    Ok(Running { address, app: AppHandle(app), handle, done, thread })
}

async fn start(
    setup: Setup,
    clock: Arc<dyn Clock>,
) -> Result<(actix_web::dev::Server, Started, Arc<Server>), ServeError> {
    install_metrics();
    let listen = setup.config.listen;
    let hosts = Arc::new(Hosts::new(&setup.config, setup.is_development));
    // Before anything that was owed is delivered: it may have links. Whether it went well is asked last: two of the same
    // server have one folder, which says more.
    let bound = bind(listen);
    if let Ok((_, address)) = &bound {
        hosts.listens_on(*address);
    }
    let couriers = Couriers::new(&setup.config, hosts.clone(), setup.is_development)?;
    let mail = couriers.mail.clone();
    let options = with_outbox(&setup.config, options(&setup.config, setup.is_durable), couriers);
    let actors = Server::start(actors::Options { clock, ..options }).await?;
    if setup.is_development {
        ensure_sample(&actors).await?;
    }
    let blobs = Blobs::open(&setup.config.blobs, &setup.config.data, setup.is_durable)?;
    let app =
        App::new(setup.config, setup.routes, (actors.clone(), hosts, mail, blobs), setup.is_development);
    match bound.and_then(|(socket, address)| Ok((build(&app, socket)?, address))) {
        Ok((server, address)) => {
            let handle = server.handle();
            Ok((server, Started { app, handle, address }, actors))
        }
        Err(reason) => {
            actors.stop().await?;
            Err(ServeError::Bind { address: listen, reason })
        }
    }
}

/// Takes the port, and says which it is when the system chooses; connections are refused until [`build`].
fn bind(address: SocketAddr) -> std::io::Result<(TcpSocket, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of a server that was here just before linger.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}

/// The same with somebody who carries what is owed to the world outside.
fn with_outbox(config: &Config, options: actors::Options, couriers: Couriers) -> actors::Options {
    let outbox = OutboxOptions {
        courier: Arc::new(couriers),
        delivery_secs_max: config.outbox.delivery_secs_max,
        give_up_secs: config.outbox.give_up_secs,
    };
    actors::Options { outbox: Some(outbox), ..options }
}

/// What the configuration means to those who decide and store. Nothing is delivered: that is for a server.
pub fn options(config: &Config, is_durable: bool) -> actors::Options {
    let Config { storage, queues, .. } = config;
    actors::Options {
        data: config.data.clone(),
        shards: config.shards(),
        is_durable,
        tree_cache_bytes: storage.cache_bytes,
        journal_segment_bytes: storage.segment_bytes,
        queues: QueueLimits {
            events_max: queues.events_max,
            queues_per_user_max: queues.per_user_max,
            idle_secs: u32::try_from(queues.idle_secs).unwrap_or(u32::MAX),
            ..QueueLimits::default()
        },
        sweep_secs: config.actors.sweep_secs.get(),
        outbox: None,
        clock: Arc::new(SystemClock),
    }
}

fn build(app: &App, socket: TcpSocket) -> std::io::Result<actix_web::dev::Server> {
    let settings = &app.config.http;
    let listener = socket.listen(settings.backlog)?.into_std()?;
    let data = web::Data::new(app.clone());
    let server =
        HttpServer::new(move || Service::new().app_data(data.clone()).default_service(web::to(dispatch)))
            .workers(app.config.http_workers())
            .max_connections(settings.connections_max.get())
            .keep_alive(Duration::from_secs(settings.keep_alive_secs))
            .client_request_timeout(Duration::from_secs(settings.head_secs_max))
            .client_disconnect_timeout(Duration::from_secs(2))
            .shutdown_timeout(settings.stop_secs_max)
            .tcp_nodelay(true)
            // A client that closes its side has gone away: its parked poll ends then, not at the next event.
            .h1_allow_half_closed(false)
            .disable_signals()
            .listen(listener)?;
    Ok(server.run())
}

async fn fold_metrics_regularly() {
    let mut tick = tokio::time::interval(FOLD_EVERY);
    loop {
        tick.tick().await;
        fold_metrics();
    }
}

impl Running {
    /// Where it listens; the real port, also when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://` and the address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the requests share.
    pub fn app(&self) -> &App {
        &self.app.0
    }

    /// Stops: parked polls are answered, accepted requests finished, idle connections closed; then journal
    /// and trees are closed and the data folder is free. Requests are waited for until
    /// `http.stop_secs_max` has passed.
    ///
    /// # Errors
    /// When the trees could not be written; the journal has everything even then.
    pub async fn stop(self) -> Result<(), DomainError> {
        let app = self.app.0;
        app.stopping().begin();
        self.handle.pause().await;
        tokio::time::sleep(LAST_CALL).await;
        app.server.release_polls();
        self.handle.stop(true).await;
        let stopped = self.done.await.unwrap_or(Err(DomainError::Stopping));
        // The app holds the actors' handles; the thread ends without it.
        let server = Arc::downgrade(&app.server);
        drop(app);
        let _ = self.thread.join();
        // Workers let go of what they shared a moment after they said that they ended.
        let deadline = Instant::now() + LET_GO;
        while server.strong_count() > 0 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        stopped
    }
}

#[cfg(test)]
mod smoke_tests;
#[cfg(test)]
mod tests;
