//! The order in which answers of several connections are written.

use super::*;
use tokio::io::ReadBuf;

/// A stream that records what is written to it.
struct Recording {
    stream: DuplexStream,
    order: Rc<RefCell<Vec<&'static str>>>,
}

impl AsyncRead for Recording {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl AsyncWrite for Recording {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.order.borrow_mut().push("write");
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The order of calls and writes when several connections have the same request at the same time.
async fn order_of(connections: usize, path: &str) -> Vec<&'static str> {
    let order = Rc::new(RefCell::new(Vec::new()));
    let mut shared = shared(&Draining::default());
    shared.bursts = Bursts::within(LONG);
    let mut ends = Vec::new();
    for _ in 0..connections {
        let (mut client, stream) = tokio::io::duplex(1 << 20);
        let request = format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
        client.write_all(request.as_bytes()).await.unwrap();
        let (calls, shared) = (order.clone(), shared.clone());
        let stream = Recording { stream, order: order.clone() };
        let noting = move |request: Request| {
            calls.borrow_mut().push("call");
            answer(request)
        };
        let served = actix_rt::spawn(async move { serve(stream, None, &fn_service(noting), &shared).await });
        ends.push((client, served));
    }
    for (mut client, served) in ends {
        client.read_to_end(&mut Vec::new()).await.unwrap();
        drop(client);
        served.await.unwrap().unwrap();
    }
    order.take()
}

#[actix_web::test]
async fn answers_of_a_burst_are_written_after_all_were_decided() {
    let together = ["call", "write", "call", "call", "call", "write", "write", "write"];
    assert_eq!(order_of(4, "/").await, together);
    // Those that waited come together already.
    let order = order_of(3, "/later").await;
    assert_eq!(order, ["call", "call", "call", "write", "write", "write"]);
}
