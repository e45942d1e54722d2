//! The HTTP server as a whole: binds, runs, and stops without cutting anybody off.

use crate::config::Config;
use crate::http::app::App;
use crate::http::caller::Admission;
use crate::http::dispatch::dispatch;
use crate::http::observe::fold_metrics;
use crate::http::routes::Route;
use actix_web::dev::ServerHandle;
use actix_web::{App as Service, HttpServer, web};
use std::net::SocketAddr;
use std::thread::JoinHandle;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::oneshot;

/// How often recorded timings are folded into their histograms.
const FOLD_EVERY: Duration = Duration::from_secs(5);
/// How long a stopping server still takes in what clients had sent before they could know.
const LAST_CALL: Duration = Duration::from_millis(50);

/// Why the server does not run.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {reason}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The server's own thread did not start.
    #[error("cannot start the HTTP threads: {0}")]
    Start(#[from] std::io::Error),
}

/// A server that accepts requests. Dropping it without [`Running::stop`] leaves it running.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    app: AppHandle,
    handle: ServerHandle,
    done: oneshot::Receiver<()>,
    thread: JoinHandle<()>,
}

struct AppHandle(App);

impl std::fmt::Debug for AppHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

/// Binds and starts serving on threads of its own; may be called from any runtime. When it returns, the
/// port accepts connections.
pub async fn serve(
    config: Config,
    routes: Vec<Route>,
    admission: Box<dyn Admission>,
) -> Result<Running, ServeError> {
    let listen = config.listen;
    let app = App::new(config, routes, admission);
    let (started_tx, started) = oneshot::channel();
    let (done_tx, done) = oneshot::channel();
    let shared = app.clone();
    let thread = std::thread::Builder::new().name("http".to_owned()).spawn(move || {
        actix_rt::System::new().block_on(async move {
            let server = match build(&shared) {
                Ok((server, address)) => {
                    // Nobody waits for the answer any more only if the caller is gone.
                    let _ = started_tx.send(Ok((server.handle(), address)));
                    server
                }
                Err(reason) => return drop(started_tx.send(Err(reason))),
            };
            actix_rt::spawn(fold_metrics_regularly());
            if let Err(reason) = server.await {
                tracing::error!(%reason, "the HTTP server ended");
            }
            let _ = done_tx.send(());
        });
    })?;
    let bind_error = |reason| ServeError::Bind { address: listen, reason };
    let (handle, address) =
        started.await.map_err(|_| std::io::Error::other("it ended at once"))?.map_err(bind_error)?;
    Ok(Running { address, app: AppHandle(app), handle, done, thread })
}

fn build(app: &App) -> std::io::Result<(actix_web::dev::Server, SocketAddr)> {
    let settings = &app.config.http;
    let data = web::Data::new(app.clone());
    let server =
        HttpServer::new(move || Service::new().app_data(data.clone()).default_service(web::to(dispatch)))
            .workers(app.config.http_workers())
            .max_connections(settings.connections_max.get())
            .backlog(settings.backlog)
            .keep_alive(Duration::from_secs(settings.keep_alive_secs))
            .client_request_timeout(Duration::from_secs(settings.head_secs_max))
            .client_disconnect_timeout(Duration::from_secs(2))
            .shutdown_timeout(settings.stop_secs_max)
            .tcp_nodelay(true)
            // A client that closes its side has gone away: its parked poll ends then, not at the next event.
            .h1_allow_half_closed(false)
            .disable_signals()
            .bind(app.config.listen)?;
    let address = server.addrs()[0];
    Ok((server.run(), address))
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

    /// Stops: parked polls are answered, accepted requests finished, idle connections closed. Returns when
    /// all of that is done, or `http.stop_secs_max` has passed.
    pub async fn stop(self) {
        self.app.0.stopping().begin();
        self.handle.pause().await;
        tokio::time::sleep(LAST_CALL).await;
        self.handle.stop(true).await;
        let _ = self.done.await;
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests;
