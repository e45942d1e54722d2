//! Serves connections on the thread of a shard. On a machine with few cores, waking another thread for each request and for
//! each answer costs more than a second thread brings, and memory that one thread allocates and another one frees costs again.
//!
//! The HTTP library's own thread accepts connections, limits their number and ends them; it only waits for each of them here.

use actix_rt::ArbiterHandle;
use actix_rt::net::TcpStream;
use actix_service::{Service, ServiceFactory};
use std::io;
use std::rc::Rc;
use tokio::sync::{mpsc, oneshot};

/// A connection. It ends when nothing waits for `served` any more.
struct Accepted {
    stream: std::net::TcpStream,
    served: oneshot::Sender<()>,
}

/// The way to a service on another thread.
#[derive(Clone)]
pub struct ShardService {
    /// At most `http.connections_max` are in it, because each is waited for.
    accepted: mpsc::UnboundedSender<Accepted>,
}

impl ShardService {
    /// Starts a service on a thread. It ends with the last clone.
    pub fn start<F>(thread: &ArbiterHandle, make: impl FnOnce() -> F + Send + 'static) -> Self
    where
        F: ServiceFactory<TcpStream, Config = (), Response = (), Error = io::Error, InitError = ()> + 'static,
    {
        let (accepted, connections) = mpsc::unbounded_channel();
        thread.spawn_fn(move || {
            actix_rt::spawn(run(make(), connections));
        });
        Self { accepted }
    }

    /// Serves a connection to its end; it ends early when the returned future is dropped.
    pub async fn serve(self, stream: TcpStream) -> io::Result<()> {
        let stream = stream.into_std()?;
        let (served, ended) = oneshot::channel();
        let sent = self.accepted.send(Accepted { stream, served });
        // Held no longer than necessary: the service ends with the listener.
        drop(self);
        let stopped = || io::ErrorKind::ConnectionAborted.into();
        sent.map_err(|_| stopped())?;
        ended.await.map_err(|_| stopped())
    }
}

async fn run<F>(factory: F, mut connections: mpsc::UnboundedReceiver<Accepted>)
where
    F: ServiceFactory<TcpStream, Config = (), Response = (), Error = io::Error, InitError = ()> + 'static,
{
    let Ok(service) = factory.new_service(()).await else {
        tracing::error!("the HTTP service could not be started");
        return;
    };
    let service = Rc::new(service);
    while let Some(Accepted { stream, mut served }) = connections.recv().await {
        let stream = match TcpStream::from_std(stream) {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                continue;
            }
        };
        let service = service.clone();
        actix_rt::spawn(async move {
            tokio::select! {
                result = service.call(stream) => {
                    if let Err(error) = result {
                        tracing::debug!(%error, "a connection has failed");
                    }
                    let _ = served.send(());
                }
                () = served.closed() => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_rt::Arbiter;
    use actix_service::fn_service;
    use std::thread::{self, ThreadId};
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::mpsc::UnboundedSender;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(20);

    /// Both ends of a connection.
    async fn pair() -> (TcpStream, TcpStream) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        (listener.accept().await.unwrap().0, client)
    }

    /// A service that reports its thread, and answers one byte with the next one.
    fn service(threads: UnboundedSender<ThreadId>) -> ShardService {
        let make = move || {
            fn_service(move |mut stream: TcpStream| {
                let _ = threads.send(thread::current().id());
                async move {
                    let byte = stream.read_u8().await?;
                    stream.write_u8(byte + 1).await
                }
            })
        };
        ShardService::start(&Arbiter::new().handle(), make)
    }

    #[actix_web::test]
    async fn connections_are_served_on_the_thread_of_the_shard() {
        let (threads, mut reported) = mpsc::unbounded_channel();
        let service = service(threads);
        for _ in 0..2 {
            let (server, mut client) = pair().await;
            client.write_u8(7).await.unwrap();
            timeout(LONG, service.clone().serve(server)).await.unwrap().unwrap();
            assert_eq!(client.read_u8().await.unwrap(), 8);
        }
        let served_by = [reported.recv().await.unwrap(), reported.recv().await.unwrap()];
        assert!(served_by[0] == served_by[1] && served_by[0] != thread::current().id());
    }

    #[actix_web::test]
    async fn connection_ends_when_nothing_waits_for_it() {
        let (threads, mut reported) = mpsc::unbounded_channel();
        let service = service(threads);
        let (server, mut client) = pair().await;
        let served = actix_rt::spawn(service.serve(server));
        reported.recv().await.unwrap();
        served.abort();
        let read = timeout(LONG, client.read(&mut [0; 8])).await.expect("the connection is closed");
        assert_eq!(read.unwrap_or(0), 0);
    }
}
