//! The listener: accepts connections, a bounded number at once, until the server stops.

use super::Incoming;
use super::session::Session;
use crate::http::App;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at once; further ones are asked to come later.
const CONNECTIONS_MAX: usize = 64;
/// How long to wait after accepting failed.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// How long a client that is refused may take to read why.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(100);

/// Accepts connections until the server stops.
pub async fn run_incoming(app: App, listener: std::net::TcpListener) {
    let incoming = &app.config.mail.incoming;
    let (Some(pattern), Ok(listener)) = (incoming.pattern(), TcpListener::from_std(listener)) else { return };
    let bytes_max = usize::try_from(incoming.bytes_max).unwrap_or(usize::MAX);
    let incoming =
        Arc::new(Incoming { app: app.clone(), pattern, bytes_max, duplicates: Default::default() });
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = app.stopping().wait() => return,
        };
        match accepted {
            Ok((stream, peer)) => match places.clone().try_acquire_owned() {
                Ok(place) => {
                    let session = Session::new(incoming.clone(), stream, peer.ip());
                    actix_rt::spawn(async move {
                        session.run().await;
                        drop(place);
                    });
                }
                Err(_) => refuse(stream),
            },
            Err(error) => {
                tracing::warn!(%error, "a connection with mail could not be accepted");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }
}

/// A new connection takes a short line without waiting.
fn refuse(mut stream: TcpStream) {
    actix_rt::spawn(async move {
        let line = b"421 4.3.2 too many connections, try again later\r\n";
        let _ = tokio::time::timeout(REFUSAL_TIMEOUT, stream.write_all(line)).await;
    });
}
