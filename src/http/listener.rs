//! The listener: the parts of the HTTP library, put together for connections of our own type.

use super::app::App;
use super::compression::CompressLarge;
use super::connection::Connection;
use super::dispatch::{Dispatcher, dispatch};
use super::route::Route;
use super::shard_thread::ShardService;
use super::tls::Stream;
use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_rt::net::TcpStream;
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::{App as Service, web};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// How long a connection that is being closed waits for its client to close it.
const DISCONNECT_MAX: Duration = Duration::from_secs(2);

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
    let dispatcher = web::Data::new(Dispatcher::new(app.clone(), routes));
    let make = move || service(&own, dispatcher.clone(), address, &stopping);
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

fn service(
    app: &App,
    dispatcher: web::Data<Dispatcher>,
    address: SocketAddr,
    stopping: &GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<>
{
    let settings = &app.config.http;
    let stopping = stopping.clone();
    let unread_max = Duration::from_secs(settings.write_secs_max.get());
    let routes = Service::new().app_data(dispatcher).wrap(CompressLarge).default_service(web::to(dispatch));
    let (is_development, tls) = (app.is_development, app.tls.clone());
    let handshakes_end = stopping.clone();
    let http = HttpService::build()
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .keep_alive(Duration::from_secs(settings.keep_alive_secs))
        .client_request_timeout(Duration::from_secs(settings.head_secs_max))
        .client_disconnect_timeout(DISCONNECT_MAX)
        // A client that closes its side has disconnected: its waiting poll ends then, not at the next event.
        .h1_allow_half_closed(false)
        .local_addr(address);
    let http = match is_development {
        true => {
            http.on_connect_ext(|stream: &Stream, data| drop(data.insert(stream.connection().cut().clone())))
        }
        false => http,
    };
    let http = http.finish(map_config(routes, |()| AppConfig::default()));
    fn_service(move |stream: TcpStream| {
        let peer = stream.peer_addr().ok();
        let connection = Connection::new(stream, unread_max);
        let (tls, stopping) = (tls.clone(), handshakes_end.clone());
        async move {
            let Some(tls) = tls else { return Ok((Stream::Plain(connection), Protocol::Http1, peer)) };
            // Of its own, so that other connections do not hold the room that a handshake takes.
            let accepting = Box::pin(tls.accept(connection, peer.map(|peer| peer.ip())));
            let accepted = tokio::select! {
                accepted = accepting => accepted,
                () = stopping.notified() => Err(io::ErrorKind::ConnectionAborted.into()),
            };
            Ok::<_, DispatchError>((accepted.map_err(DispatchError::Io)?, Protocol::Http1, peer))
        }
    })
    .and_then(http)
}
