//! The listener: the parts of the HTTP library, put together for connections of our own type.

use super::address::{Network, is_trusted};
use super::app::App;
use super::body::BodyShare;
use super::compression::CompressLarge;
use super::connection::Connection;
use super::connection_slots::ConnectionSlots;
use super::dispatch::{Dispatcher, dispatch};
use super::h1::{self, Draining};
use super::merged_path::merge_slashes;
use super::route::Route;
use super::shard_thread::ShardService;
use super::tls::{Stream, Tls};
use actix_rt::net::TcpStream;
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{ServiceFactory, fn_factory, fn_service, map_config};
use actix_web::App as Service;
use actix_web::dev::AppConfig;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Serves on a listener, with the threads and timeouts of the configuration.
pub fn listen_on(app: &App, routes: Vec<Route>, listener: TcpListener) -> io::Result<Server> {
    let settings = &app.config.http;
    let address = listener.local_addr()?;
    let builder = Server::build()
        .workers(app.config.http_workers())
        .max_concurrent_connections(settings.connections_max.get())
        .shutdown_timeout(settings.stop_secs_max)
        .disable_signals();
    let (own, stopping) = (app.clone(), builder.graceful_shutdown_signal());
    let dispatcher = Arc::new(Dispatcher::new(app.clone(), routes));
    let compression = CompressLarge::new();
    let make = move || service(&own, dispatcher.clone(), compression.clone(), (address, &stopping));
    let shard = app.config.serves_on_shard().then(|| app.server.only_shard()).flatten();
    let builder = match shard {
        None => builder.listen("http", listener, make)?,
        Some(thread) => {
            let shard = ShardService::start(&thread, make);
            builder.listen("http", listener, move || {
                let shard = shard.clone();
                fn_service(move |stream: TcpStream| shard.clone().serve(stream))
            })?
        }
    };
    Ok(builder.run())
}

/// The service of one thread.
fn service(
    app: &App,
    dispatcher: Arc<Dispatcher>,
    compression: CompressLarge,
    (address, stopping): (SocketAddr, &GracefulShutdownSignal),
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = io::Error, InitError = ()> + use<> {
    let answer = move |mut request| {
        merge_slashes(&mut request);
        dispatch(dispatcher.clone(), request)
    };
    let routes = Service::new().wrap(compression).default_service(fn_service(answer));
    let routes = Rc::new(map_config(routes, |()| AppConfig::default()));
    let settings = &app.config.http;
    let (head_secs, keep_alive_secs) = (settings.head_secs_max, settings.keep_alive_secs);
    let unread_max = Duration::from_secs(settings.write_secs_max.get());
    let (app, stopping) = (app.clone(), stopping.clone());
    fn_factory(move || {
        let (app, routes, stopping) = (app.clone(), routes.clone(), stopping.clone());
        async move {
            let routes = Rc::new(routes.new_service(()).await?);
            let draining = Draining::default();
            let slots = ConnectionSlots::new(app.config.http.connections_max.get());
            let secs = Duration::from_secs;
            let times = (secs(head_secs), secs(keep_alive_secs));
            let budget = app.clone();
            let head_share = Rc::new(move |address| BodyShare::of_head(&budget, address));
            let shared = h1::Shared::new(address, times, draining.clone(), head_share);
            let (signal, server) = (stopping.clone(), app.clone());
            actix_rt::spawn(async move {
                tokio::select! {
                    () = signal.notified() => {}
                    () = server.stopping().wait_to_close() => {}
                }
                draining.begin();
            });
            Ok(fn_service(move |stream: TcpStream| {
                let (routes, tls, stopping) = (routes.clone(), app.tls.clone(), stopping.clone());
                let shared = shared.clone();
                let peer = stream.peer_addr().ok();
                let slot = slots.take(client_network(&app, peer));
                slot.serve(async move {
                    let connection = Connection::new(stream, unread_max);
                    let stream = match tls {
                        None => Stream::Plain(connection),
                        // Of its own, so that other connections do not hold the room that a handshake takes.
                        Some(tls) => Box::pin(accept((tls, times.0), stopping, connection, peer)).await?,
                    };
                    h1::serve(stream, peer, &*routes, &shared).await
                })
            }))
        }
    })
}

/// The network of a connection's client; none for a trusted proxy.
fn client_network(app: &App, peer: Option<SocketAddr>) -> Option<Network> {
    let address = peer.map(|peer| peer.ip());
    let is_proxy = address.is_some_and(|address| is_trusted(&app.config.http.trusted_proxies, address));
    (!is_proxy).then(|| Network::from(address))
}

/// The handshake of a connection, unless it is silent for too long or the server stops.
async fn accept(
    (tls, silence_max): (Arc<Tls>, Duration),
    stopping: GracefulShutdownSignal,
    connection: Connection,
    peer: Option<SocketAddr>,
) -> io::Result<Stream> {
    tokio::select! {
        accepted = tls.accept(connection, peer.map(|peer| peer.ip()), silence_max) => accepted,
        () = stopping.notified() => Err(io::ErrorKind::ConnectionAborted.into()),
    }
}
