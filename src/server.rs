//! The HTTP server: binds, serves, and shuts down gracefully.

mod seeding;

use crate::api::encoded_lists::EncodedLists;
use crate::certificates::TlsProblem;
use crate::config::{Config, ConfigError};
use crate::dev::seed::SeedDocument;
use crate::dev::seed_store::{SeedConflict, SeedStore};
use crate::dev::tools::DevTools;
use crate::dev::{is_marked, mark};
use crate::hosts::Hosts;
use crate::http::app::{App, Services};
use crate::http::listener::listen_on;
use crate::http::metrics_listener::listen_for_metrics;
use crate::http::observe::{fold_metrics, install_metrics};
use crate::http::route::Route;
use crate::http::tls::Tls;
use crate::integrations::blobs::sweep::Sweep;
use crate::integrations::blobs::{BlobError, Blobs};
use crate::integrations::delivery::DeliveryWorkers;
use crate::integrations::incoming::{Catalog, CatalogError};
use crate::integrations::mail::incoming::run_incoming;
use crate::integrations::partial_uploads::{self, PartialError, PartialUploads};
use crate::storage_error::storage_error_text;
use actix_web::dev::ServerHandle;
use actors::budget::ByteBudget;
use actors::commands::FailPendingExports;
use actors::folder_access::check_owner;
use actors::outbox::OutboxOptions;
use actors::{Clock, DomainError, QueueLimits, Server, ShiftedClock, SystemClock};
use rules::web_sessions::WebSessionLimits;
use seeding::{SeedingError, seed};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

/// How often recorded timings are folded into their histograms.
const FOLD_EVERY: Duration = Duration::from_secs(5);

/// How long the thread of a stopped server is waited for: after a fault of the storage it may wait for others for ever.
const THREAD_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a stopped server waits until its threads have released the data folder.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Why the server cannot run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is in use, or not an address of this machine.
    #[error("cannot listen on {address}: {reason}; --listen chooses another address or port")]
    Bind { address: SocketAddr, reason: std::io::Error },
    /// The address of mail in is in use, or not an address of this machine.
    #[error("cannot listen on {address} for e-mail: {reason}; see [mail.incoming] in the configuration")]
    BindMail { address: SocketAddr, reason: std::io::Error },
    /// The data folder cannot be opened, read or written.
    #[error("{}", storage_error_text(.0))]
    Data(#[from] DomainError),
    /// A development server was given the data folder of a production server.
    #[error(
        "the data folder {} was not made by `millstream dev`, and a development server gives the API key of every account \
         to anyone who asks; run it with `millstream serve`, or choose another folder for `millstream dev`",
        .0.display()
    )]
    NotForDevelopment(PathBuf),
    /// The data folder of a development server cannot be marked as one.
    #[error("cannot write to the data folder {}: {reason}", path.display())]
    Mark { path: PathBuf, reason: std::io::Error },
    #[error(transparent)]
    Seed(#[from] SeedConflict),
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The folder of files cannot be created, or the options for S3 are inconsistent.
    #[error("{0}; see [blobs] in the configuration")]
    Files(#[from] BlobError),
    /// The folder of unfinished uploads cannot be created or read.
    #[error("cannot open the folder of unfinished uploads in the data folder: {0}")]
    PartialUploads(#[from] PartialError),
    /// The server's own thread could not be started.
    #[error("cannot start the HTTP threads: {0}")]
    Start(#[from] std::io::Error),
    /// The address of metrics is in use, or not an address of this machine.
    #[error("cannot listen on {address} for metrics: {reason}; see [metrics] in the configuration")]
    BindMetrics { address: SocketAddr, reason: std::io::Error },
    /// The certificate for HTTPS cannot be used.
    #[error("{0}; see [tls] in the configuration")]
    Tls(#[from] TlsProblem),
    #[error("cannot use the catalog of incoming webhooks:\n{0}")]
    Catalog(#[from] CatalogError),
}

/// A running server. Dropping it without [`Running::stop`] leaves it running.
pub struct Running {
    address: SocketAddr,
    mail_address: Option<SocketAddr>,
    metrics_address: Option<SocketAddr>,
    app: App,
    handle: ServerHandle,
    metrics: Option<ServerHandle>,
    done: oneshot::Receiver<Result<(), DomainError>>,
    thread: JoinHandle<()>,
}

/// How to run a server.
pub struct Setup {
    pub config: Config,
    pub routes: Vec<Route>,
    /// Development: the sample organization is created if there is none, and logging in needs no password.
    pub is_development: bool,
    /// Whether acknowledged changes are on disk. False only for temporary data.
    pub is_durable: bool,
    /// Development: what organizations begin with, instead of the sample or what is in the data folder.
    pub seed: Option<Arc<SeedDocument>>,
}

/// What the thread of a server returns once it is ready.
struct Started {
    app: App,
    handle: ServerHandle,
    address: SocketAddr,
    /// The listener of metrics, if it is their own.
    metrics: Option<ServerHandle>,
    /// For mail in.
    incoming: Option<std::net::TcpListener>,
    mail_address: Option<SocketAddr>,
    metrics_address: Option<SocketAddr>,
}

/// Opens the data folder, binds and starts serving on its own threads; may be called from any runtime. The port
/// accepts connections when it returns.
pub async fn serve(setup: Setup) -> Result<Running, ServeError> {
    serve_with_clock(setup, Arc::new(SystemClock)).await
}

/// As [`serve`], with a clock: idle queues, heartbeats and times of messages depend on it.
pub async fn serve_with_clock(setup: Setup, clock: Arc<dyn Clock>) -> Result<Running, ServeError> {
    serve_unless(setup, clock, std::future::pending()).await
}

/// As [`serve_with_clock`]. When `cancelled` ends while an organization is made from a seed, the start ends with
/// [`DomainError::Stopping`]; other parts of a start are not interrupted.
pub async fn serve_unless(
    setup: Setup,
    clock: Arc<dyn Clock>,
    cancelled: impl Future<Output = ()> + Send + 'static,
) -> Result<Running, ServeError> {
    let (started_tx, started) = oneshot::channel();
    let (done_tx, done) = oneshot::channel();
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        actix_rt::System::new().block_on(async move {
            let (server, mut started, actors) = match start(setup, clock, cancelled).await {
                Ok(parts) => parts,
                Err(reason) => return drop(started_tx.send(Err(reason))),
            };
            let incoming = started.incoming.take();
            // The caller may have stopped waiting.
            let shared = started.app.encoded_lists.clone();
            if let Some(listener) = incoming {
                actix_rt::spawn(run_incoming(started.app.clone(), listener));
            }
            if let Some(tls) = &started.app.tls {
                actix_rt::spawn(tls.certificate().clone().watch());
            }
            let (partial, clock) = (started.app.partial_uploads.clone(), started.app.clock.clone());
            let _ = started_tx.send(Ok(started));
            actix_rt::spawn(run_housekeeping(shared));
            actix_rt::spawn(partial_uploads::sweep_regularly(partial, clock));
            if let Err(reason) = server.await {
                tracing::error!(%reason, "the HTTP server failed");
            }
            // Only now: the last requests needed the actors.
            let _ = done_tx.send(actors.stop().await);
        });
    })?;
    let ended = |_| ServeError::Start(std::io::Error::other("the server thread ended at once"));
    let Started { app, handle, metrics, address, mail_address, metrics_address, .. } =
        started.await.map_err(ended)??;
    Ok(Running { address, mail_address, metrics_address, app, handle, metrics, done, thread })
}

async fn start(
    setup: Setup,
    clock: Arc<dyn Clock>,
    cancelled: impl Future<Output = ()>,
) -> Result<(actix_web::dev::Server, Started, Arc<Server>), ServeError> {
    install_metrics();
    let catalog = Arc::new(Catalog::load(setup.config.incoming_webhooks.catalog_dir())?);
    let listen = setup.config.listen;
    let hosts = Arc::new(Hosts::new(&setup.config, setup.is_development));
    // Before pending jobs are delivered, which may contain links. If the port is in use and there is a data folder,
    // the folder is opened nevertheless: the error that another server uses it is more helpful. No folder is created
    // for nothing.
    let bound = match bind(listen) {
        Err(reason) if !Server::has_data(&setup.config.data) => {
            return Err(ServeError::Bind { address: listen, reason });
        }
        bound => bound,
    };
    if let Ok((_, address)) = &bound {
        hosts.listens_on(*address);
    }
    // Before the folder is opened: a development server must not deliver pending jobs of a production server.
    check_purpose(&setup.config.data, setup.is_development)?;
    let incoming = bind_incoming(&setup.config)?;
    let for_metrics = bind_for_metrics(&setup.config)?;
    let tls = Tls::new(&setup.config.tls)?;
    let delivery_workers = DeliveryWorkers::new(&setup.config, hosts.clone(), setup.is_development)?;
    let mail = delivery_workers.mail.clone();
    let outbox = OutboxOptions {
        worker: Arc::new(delivery_workers),
        delivery_secs_max: setup.config.outbox.delivery_secs_max,
        give_up_secs: setup.config.outbox.give_up_secs,
    };
    let tools = setup.is_development.then(|| tools(&setup, &clock));
    let clock = tools.as_ref().map_or(clock, |tools| tools.clock.clone());
    let options = options(&setup.config, setup.is_durable);
    let options = actors::Options { outbox: Some(outbox), clock: clock.clone(), ..options };
    let actors = Server::start(options).await?;
    let blobs = Blobs::open_owned(&setup.config, actors.cluster_name(), setup.is_durable)?;
    if let Some(tools) = &tools {
        seed_or_stop(&actors, &blobs, (tools, &setup), cancelled).await?;
    }
    fail_pending_exports(&actors).await;
    let sweep = Sweep::new(blobs.clone(), actors.clone());
    let partial_uploads = PartialUploads::open(&setup.config.data, setup.is_durable)?;
    let services = Services { server: actors.clone(), hosts, mail, tls, blobs, partial_uploads, catalog };
    let app = App::new(setup.config, services, clock, tools);
    let metrics_address = for_metrics.as_ref().and_then(|listener| listener.local_addr().ok());
    let for_metrics = for_metrics.map(|listener| listen_for_metrics(&app, listener)).transpose()?;
    let served = bound.and_then(|(socket, address)| {
        let listener = socket.listen(app.config.http.backlog)?.into_std()?;
        Ok((listen_on(&app, setup.routes, listener)?, address))
    });
    match served {
        Ok((server, address)) => {
            actix_rt::spawn(sweep.run());
            let handle = server.handle();
            let mail_address = incoming.as_ref().and_then(|listener| listener.local_addr().ok());
            let metrics = for_metrics.map(spawned);
            let started = Started { app, handle, metrics, address, incoming, mail_address, metrics_address };
            Ok((server, started, actors))
        }
        Err(reason) => {
            actors.stop().await?;
            Err(ServeError::Bind { address: listen, reason })
        }
    }
}

/// The tools of a development server. On a node of a cluster, the other nodes do not know what is in this folder.
fn tools(setup: &Setup, clock: &Arc<dyn Clock>) -> DevTools {
    let is_kept = setup.is_durable && !setup.config.cluster.is_on();
    let kept = SeedStore::new(&setup.config.data, is_kept);
    DevTools::new(Arc::new(ShiftedClock::new(clock.clone())), setup.seed.clone(), kept)
}

/// Begins with a seed; without one that can be used, or when it is cancelled, the actors stop.
async fn seed_or_stop(
    actors: &Arc<Server>,
    blobs: &Blobs,
    (tools, setup): (&DevTools, &Setup),
    cancelled: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let data = &setup.config.data;
    let seeded = match mark_folder(data, true) {
        Ok(()) => {
            seed(actors, blobs, (tools, setup.seed.is_some()), cancelled).await.map_err(|error| match error {
                SeedingError::Conflict(conflict) => ServeError::Seed(conflict),
                SeedingError::NotKept(reason) => ServeError::Mark { path: data.clone(), reason },
                SeedingError::NotMade(error) => ServeError::Data(error),
            })
        }
        not_marked => not_marked,
    };
    if seeded.is_err() {
        actors.clone().stop().await?;
    }
    seeded
}

/// Marks the folder of a development server.
fn mark_folder(data: &Path, is_data_folder: bool) -> Result<(), ServeError> {
    mark(data, is_data_folder).map_err(|reason| ServeError::Mark { path: data.to_owned(), reason })
}

/// Runs a server beside the main one.
fn spawned(server: actix_web::dev::Server) -> ServerHandle {
    let handle = server.handle();
    actix_rt::spawn(server);
    handle
}

/// Nothing makes the exports that were pending when the server ended.
async fn fail_pending_exports(actors: &Server) {
    for realm in actors.realms() {
        match realm.execute(FailPendingExports).await {
            Ok(0) => {}
            Ok(count) => tracing::warn!(count, "exports failed because the server ended meanwhile"),
            Err(error) => tracing::warn!(%error, "pending exports could not be marked as failed"),
        }
    }
}

/// Refuses the data of other users, and production data folders for development servers; marks a new folder.
fn check_purpose(data: &Path, is_development: bool) -> Result<(), ServeError> {
    check_owner(data)?;
    match (is_development, Server::has_data(data)) {
        (true, true) if !is_marked(data) => Err(ServeError::NotForDevelopment(data.to_owned())),
        (true, false) => mark_folder(data, false),
        (false, true) if is_marked(data) => {
            tracing::warn!(
                data = %data.display(),
                "this data folder was made by `millstream dev`: the passwords of its sample accounts are public"
            );
            Ok(())
        }
        (true, true) | (false, _) => Ok(()),
    }
}

/// Binds the port, which the system may choose; connections are refused until the server listens.
fn bind(address: SocketAddr) -> std::io::Result<(TcpSocket, SocketAddr)> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Connections of a server that used the port before may linger.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let address = socket.local_addr()?;
    Ok((socket, address))
}

/// Binds the port for metrics, if it is one of their own.
fn bind_for_metrics(config: &Config) -> Result<Option<std::net::TcpListener>, ServeError> {
    let Some(address) = config.metrics.address() else { return Ok(None) };
    let bound = std::net::TcpListener::bind(address);
    bound.map(Some).map_err(|reason| ServeError::BindMetrics { address, reason })
}

/// Binds the port for mail in, if there is one.
fn bind_incoming(config: &Config) -> Result<Option<std::net::TcpListener>, ServeError> {
    let Some(address) = config.mail.incoming.address() else { return Ok(None) };
    let bound = std::net::TcpListener::bind(address);
    let bound = bound.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
    bound.map(Some).map_err(|reason| ServeError::BindMail { address, reason })
}

/// The options of the actors for a configuration, without deliveries.
pub fn options(config: &Config, is_durable: bool) -> actors::Options {
    let Config { storage, queues, .. } = config;
    actors::Options {
        data: config.data.clone(),
        shards: config.shards(),
        is_durable,
        tree_cache_bytes: storage.cache_bytes,
        journal_segment_bytes: storage.segment_bytes,
        checkpoint_frames: storage.checkpoint_frames,
        scrub_bytes_per_sec: storage.scrub_bytes_per_sec,
        compact_bytes_per_sec: storage.compact_bytes_per_sec,
        segment_kept_secs: storage.segment_kept_secs,
        erase_interval_secs: storage.erase_interval_secs,
        journal_keep: config.journal.keep,
        free_bytes_min: storage.free_bytes_min,
        free_bytes_warn: storage.free_bytes_warn,
        queues: QueueLimits {
            events_max: queues.events_max,
            queues_per_user_max: queues.per_user_max,
            bytes_per_user_max: queues.per_user_bytes_max,
            idle_secs: u32::try_from(queues.idle_secs).unwrap_or(u32::MAX),
            idle_secs_max: u32::try_from(queues.lifespan_secs_max).unwrap_or(u32::MAX),
            ..QueueLimits::default()
        },
        web_sessions: WebSessionLimits {
            idle_secs: config.sessions.idle_secs.get(),
            lifetime_secs: config.sessions.lifetime_secs.get(),
            per_user_max: config.sessions.per_user_max.get(),
        },
        write_bytes_daily_max: config.limits.daily(config.limits.write_bytes_by_user_daily),
        conversations_daily_max: config.limits.daily(config.limits.direct_conversations_by_user_daily),
        sweep_secs: config.actors.sweep_secs.get(),
        unclaimed_secs: config.uploads.unclaimed_days.get() * 24 * 3600,
        released_secs: config.uploads.released_hours * 3600,
        budget: ByteBudget::new(config.memory.in_flight_bytes_max.get(), config.memory.share_bytes_max.get()),
        search_write_after: config.search.enabled.then(|| Duration::from_secs(config.search.write_secs)),
        #[cfg(feature = "cluster")]
        cluster: cluster_options(config),
        outbox: None,
        clock: Arc::new(SystemClock),
    }
}

/// The cluster that the server is to be a node of.
#[cfg(feature = "cluster")]
pub fn cluster_options(config: &Config) -> Option<actors::cluster::ClusterOptions> {
    let cluster = &config.cluster;
    cluster.is_on().then(|| actors::cluster::ClusterOptions {
        database: cluster.database.0.clone(),
        node: cluster.node.clone(),
        advertise: cluster.advertise.clone(),
        allow_single_copy: cluster.allow_single_copy,
        shared: crate::integrations::blobs::shared_files::opener(config),
        log_keep: cluster.log_keep,
        standbys: cluster.standbys,
    })
}

/// Folds timings and evicts unused entries, every few seconds.
async fn run_housekeeping(shared: Arc<EncodedLists>) {
    let mut tick = tokio::time::interval(FOLD_EVERY);
    loop {
        tick.tick().await;
        fold_metrics();
        shared.forget_unused();
    }
}

impl Running {
    /// The listening address, with the real port if 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The listening address for e-mail, if mail in is configured.
    pub fn mail_address(&self) -> Option<SocketAddr> {
        self.mail_address
    }

    /// The listening address for metrics, if it is one of their own.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The scheme and the address, without a slash at the end.
    pub fn url(&self) -> String {
        let scheme = if self.app.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// The state shared by all requests.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Stops gracefully: waiting polls are answered, accepted requests finished, idle connections closed; then the
    /// journal and the database are closed and the data folder is released. Requests are waited for up to
    /// `http.stop_secs_max`. Fails if the database could not be written, or does not answer: then threads that wait for it
    /// are left behind, and the process must be ended. The journal is complete even then.
    pub async fn stop(self) -> Result<(), DomainError> {
        let app = self.app;
        #[cfg(feature = "cluster")]
        app.server.leave_cluster().await;
        app.stopping().begin();
        app.server.release_polls();
        app.exports.stop();
        self.handle.pause().await;
        app.stopping().drain().await;
        if let Some(metrics) = self.metrics {
            metrics.stop(false).await;
        }
        self.handle.stop(true).await;
        let stopped = self.done.await.unwrap_or(Err(DomainError::Stopping));
        // The app holds handles of the actors; the thread ends only without it.
        let server = Arc::downgrade(&app.server);
        drop(app);
        let deadline = Instant::now() + THREAD_TIMEOUT;
        while !self.thread.is_finished() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if self.thread.is_finished() {
            let _ = self.thread.join();
        }
        // Workers release what they shared shortly after they reported their end.
        let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
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
