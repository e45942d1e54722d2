//! Connections of clients that behave unusually, without the rest of the server.

mod order;

use super::*;
use actix_http::error::PayloadError;
use actix_service::fn_service;
use actix_web::body::{BodyStream, SizedStream};
use actors::budget::ByteBudget;
use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

const LONG: Duration = Duration::from_secs(600);

/// Answers with the method, the path and the body, or as the path says.
async fn answer(mut request: Request) -> Result<Response<BoxBody>, actix_web::Error> {
    let path = request.path().to_owned();
    let mut payload = request.take_payload();
    match path.as_str() {
        "/wait" => std::future::pending().await,
        "/later" => tokio::task::yield_now().await,
        "/refused" => {
            return Ok(Response::with_body(StatusCode::FORBIDDEN, "no".to_owned()).map_into_boxed_body());
        }
        "/pieces" => {
            let pieces =
                stream::iter([b"one", b"two"]).map(|piece| Ok::<_, PayloadError>(Bytes::from_static(piece)));
            return Ok(Response::ok().set_body(BodyStream::new(pieces)).map_into_boxed_body());
        }
        "/short" => {
            let pieces = stream::iter([Ok::<_, PayloadError>(Bytes::from_static(b"half"))]);
            return Ok(Response::ok().set_body(SizedStream::new(8, pieces)).map_into_boxed_body());
        }
        "/cut" => {
            let mut response = Response::ok().set_body(Bytes::from_static(b"12345678")).map_into_boxed_body();
            response.extensions_mut().insert(Truncation::SecondHalf);
            return Ok(response);
        }
        _ => {}
    }
    let mut body = format!("{} {path} ", request.method()).into_bytes();
    while let Some(chunk) = payload.next().await {
        match chunk {
            Ok(chunk) => body.extend_from_slice(&chunk),
            Err(_) => body.extend_from_slice(b"(broken)"),
        }
    }
    Ok(Response::ok().set_body(body).map_into_boxed_body())
}

fn shared(draining: &Draining) -> Shared {
    with_times((Duration::from_secs(10), Duration::from_secs(75)), draining)
}

fn with_times(times: (Duration, Duration), draining: &Draining) -> Shared {
    with_budget(times, draining, ByteBudget::unbounded())
}

fn with_budget(times: (Duration, Duration), draining: &Draining, budget: ByteBudget) -> Shared {
    let local = SocketAddr::from(([127, 0, 0, 1], 80));
    let share = move |address| BodyShare::of_address(budget.clone(), address);
    Shared::new(local, times, draining.clone(), Rc::new(share))
}

/// A connection that is being served.
struct Client {
    stream: DuplexStream,
    draining: Draining,
    served: actix_rt::task::JoinHandle<io::Result<()>>,
}

impl Client {
    fn connect() -> Self {
        Self::with_room(1 << 20)
    }

    /// The connection has room for this many bytes in each direction.
    fn with_room(bytes: usize) -> Self {
        let (stream, server) = tokio::io::duplex(bytes);
        let draining = Draining::default();
        let shared = shared(&draining);
        let served = actix_rt::spawn(async move { serve(server, None, &fn_service(answer), &shared).await });
        Self { stream, draining, served }
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Everything up to the end of the connection.
    async fn read_all(mut self) -> (String, io::Result<()>) {
        let mut all = Vec::new();
        self.stream.read_to_end(&mut all).await.unwrap();
        drop(self.stream);
        (String::from_utf8(all).unwrap(), self.served.await.unwrap())
    }

    /// What a client gets that sends this and then waits.
    async fn answer_to(text: &str) -> String {
        let mut client = Self::connect();
        client.send(text).await;
        client.read_all().await.0
    }

    /// Reads until some text has come.
    async fn read_until(&mut self, end: &str) -> String {
        let mut read = Vec::new();
        while !read.ends_with(end.as_bytes()) {
            read.push(self.stream.read_u8().await.unwrap());
        }
        String::from_utf8(read).unwrap()
    }
}

fn bodies(answer: &str) -> Vec<&str> {
    answer.split("HTTP/1.1 ").filter_map(|one| Some(one.split_once("\r\n\r\n")?.1)).collect()
}

/// A client that sends many requests at once does not delay those of others.
#[actix_web::test]
async fn others_have_turns_between_pipelined_requests() {
    let order = Rc::new(RefCell::new(Vec::new()));
    let (stream, server) = tokio::io::duplex(1 << 20);
    let (calls, others) = (order.clone(), order.clone());
    let noting = move |request: Request| {
        calls.borrow_mut().push("call");
        answer(request)
    };
    let draining = Draining::default();
    let mut client = Client {
        stream,
        served: actix_rt::spawn({
            let shared = shared(&draining);
            async move { serve(server, None, &fn_service(noting), &shared).await }
        }),
        draining,
    };
    let other = actix_rt::spawn(async move {
        loop {
            others.borrow_mut().push("other");
            tokio::task::yield_now().await;
        }
    });
    client.send(&"GET / HTTP/1.1\r\nhost: a\r\n\r\n".repeat(20)).await;
    client.send("GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    let (answers, _) = client.read_all().await;
    other.abort();
    assert_eq!(bodies(&answers).len(), 21);
    let order = order.borrow();
    // The runtime wakes tasks that have yielded in either order.
    assert!(order.windows(3).all(|three| three != ["call"; 3]), "{order:?}");
    let calls = order.iter().filter(|one| **one == "call").count();
    assert!(calls == 21 && order.len() - calls >= 20, "{order:?}");
}

#[actix_web::test]
async fn pipelined_requests_are_answered_in_order() {
    let requests = "GET /1 HTTP/1.1\r\nhost: a\r\n\r\n\
        POST /2 HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nhello\
        POST /3 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n\
        HEAD /4 HTTP/1.1\r\nhost: a\r\n\r\n\
        GET /5 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    let answer = Client::answer_to(requests).await;
    assert_eq!(bodies(&answer), ["GET /1 ", "POST /2 hello", "POST /3 abcde", "", "GET /5 "]);
    assert!(answer.contains("content-length: 8\r\n") && answer.contains("connection: close\r\n"), "{answer}");
}

/// RFC 9112, section 6.1: no chunks for clients of HTTP/1.0.
#[actix_web::test]
async fn bodies_of_unknown_length_end_with_the_connection_in_http_1_0() {
    for keep_alive in ["", "connection: keep-alive\r\n"] {
        let answer = Client::answer_to(&format!("GET /pieces HTTP/1.0\r\n{keep_alive}\r\n")).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, "onetwo");
        assert!(head.starts_with("HTTP/1.0 200") && !head.contains("transfer-encoding"), "{head}");
        assert!(!head.contains("keep-alive"), "{head}");
    }
    let both = "GET /1 HTTP/1.0\r\nconnection: keep-alive\r\n\r\nHEAD /pieces HTTP/1.0\r\n\r\n";
    let answer = Client::answer_to(both).await;
    assert!(answer.contains("content-length: 7\r\n") && answer.contains("GET /1 "), "{answer}");
    assert!(answer.ends_with("\r\n\r\n") && !answer.contains("transfer-encoding"), "{answer}");
}

#[actix_web::test]
async fn body_may_arrive_byte_by_byte() {
    let mut client = Client::with_room(3);
    let (mut read, mut write) = tokio::io::split(client.stream);
    let request = "POST /x HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 6\r\nconnection: close\r\n\r\nabcdef";
    let sent = async {
        for byte in request.bytes() {
            write.write_u8(byte).await.unwrap();
        }
    };
    let mut answer = String::new();
    futures_util::join!(sent, async { read.read_to_string(&mut answer).await.unwrap() });
    assert!(answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("POST /x abcdef"), "{answer}");
    client.served = actix_rt::spawn(async { Ok(()) });
}

#[actix_web::test]
async fn invalid_requests_are_refused() {
    let long = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}\r\n", "y".repeat(200_000));
    let both =
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    let cases =
        [("nonsense\r\n\r\n", "400"), ("GET / HTTP/1.1\r\n\r\n", "400"), (both, "400"), (&long, "431")];
    for (request, status) in cases {
        let answer = Client::answer_to(request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("connection: close\r\n"), "{answer}");
    }
}

/// A request whose head has this many bytes.
fn with_head_of(bytes: usize) -> String {
    let start = "GET /1 HTTP/1.1\r\nhost: a\r\nconnection: close\r\nx: ";
    format!("{start}{}\r\n\r\n", "y".repeat(bytes - start.len() - 4))
}

#[actix_web::test]
async fn heads_have_a_limit_whether_they_are_complete_or_not() {
    let whole = Client::answer_to(&with_head_of(input::HEAD_BYTES_MAX)).await;
    assert_eq!(bodies(&whole), ["GET /1 "]);
    for (larger, left_out) in [(1, 0), (3, 2)] {
        let request = with_head_of(input::HEAD_BYTES_MAX + larger);
        let answer = Client::answer_to(&request[..request.len() - left_out]).await;
        assert!(answer.starts_with("HTTP/1.1 431 ") && answer.contains("connection: close\r\n"), "{answer}");
        let body = "{\"result\":\"error\",\"msg\":\"Request head is too large (limit: 81920 bytes)\",\
            \"code\":\"BAD_REQUEST\"}\n";
        assert_eq!(bodies(&answer), [body], "{larger} {left_out}");
    }
}

#[actix_web::test]
async fn paths_and_queries_have_a_limit_of_their_own() {
    for (bytes, limit) in
        [(input::TARGET_BYTES_MAX, None), (input::TARGET_BYTES_MAX + 1, Some(65_534)), (81_900, Some(81_920))]
    {
        let path = format!("/1?{}", "y".repeat(bytes - 3));
        let answer =
            Client::answer_to(&format!("GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")).await;
        let status = if limit.is_some() { 431 } else { 200 };
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{bytes} {answer}");
        if let Some(limit) = limit {
            assert!(
                answer.contains(&format!("too large (limit: {limit} bytes)\",\"code\":\"BAD_REQUEST\"}}")),
                "{answer}"
            );
        }
    }
}

#[actix_web::test]
async fn incomplete_heads_of_an_address_share_a_budget() {
    let budget = ByteBudget::new(64 << 20, 64 << 20);
    let shared = with_budget((LONG, LONG), &Draining::default(), budget.clone());
    let peer = Some(SocketAddr::from(([192, 0, 2, 1], 4000)));
    let mut clients = Vec::new();
    for _ in 0..300 {
        let (mut stream, server) = tokio::io::duplex(64 << 10);
        let shared = shared.clone();
        let served = async move { serve(server, peer, &fn_service(answer), &shared).await };
        let served = actix_rt::spawn(served);
        stream.write_all(&with_head_of(20_000).as_bytes()[..19_000]).await.unwrap();
        clients.push((stream, served));
    }
    let (last, _) = clients.last_mut().unwrap();
    let mut read = vec![0; 12];
    last.read_exact(&mut read).await.unwrap();
    assert_eq!(String::from_utf8(read).unwrap(), "HTTP/1.1 429");
    let used = budget.used_bytes();
    assert!((2 << 20..=4 << 20).contains(&used), "{used}");
    // A head that becomes complete holds nothing more.
    let (first, _) = &mut clients[0];
    first.write_all(&with_head_of(20_000).as_bytes()[19_000..]).await.unwrap();
    first.read_exact(&mut [0; 12]).await.unwrap();
    assert!(budget.used_bytes() < used);
    for (stream, served) in clients {
        drop(stream);
        let _ = served.await.unwrap();
    }
    assert_eq!(budget.used_bytes(), 0);
}

#[actix_web::test]
async fn broken_body_is_an_error_for_the_handler() {
    let chunked =
        "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nnot a length\r\n";
    assert_eq!(bodies(&Client::answer_to(chunked).await), ["POST /x abc(broken)"]);
    let mut client = Client::connect();
    client.send("POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nabc").await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(bodies(&client.read_all().await.0), ["POST /x abc(broken)"]);
}

#[actix_web::test]
async fn response_before_the_body_has_arrived_closes_the_connection() {
    let mut client = Client::connect();
    client.send("POST /refused HTTP/1.1\r\nhost: a\r\ncontent-length: 900000\r\n\r\nabc").await;
    let answer = client.read_until("no").await;
    assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains("connection: close\r\n"), "{answer}");
    // The client may go on sending, and the connection is not reset meanwhile.
    for _ in 0..20 {
        client.send(&"x".repeat(30_000)).await;
    }
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.read_all().await.0, "");
}

#[actix_web::test]
async fn client_that_sends_without_end_is_not_read_for_long() {
    let mut client = Client::connect();
    client.send("POST /refused HTTP/1.1\r\nhost: a\r\ncontent-length: 900000000000\r\n\r\n").await;
    client.read_until("no").await;
    // Until the connection is closed.
    while client.stream.write_all(&[7; 1 << 16]).await.is_ok() {}
    client.served.await.unwrap().unwrap();
}

#[actix_web::test]
async fn waiting_request_does_not_keep_what_follows_without_a_bound() {
    let mut client = Client::with_room(1 << 10);
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut accepted = 0;
    while let Ok(written) =
        tokio::time::timeout(Duration::from_millis(200), client.stream.write(&[b'x'; 1024])).await
    {
        accepted += written.unwrap();
    }
    assert!(accepted < 32 << 10, "{accepted}");
}

#[actix_web::test]
async fn waiting_request_ends_with_its_client() {
    let mut client = Client::connect();
    client.send("GET /wait HTTP/1.1\r\nhost: a\r\n\r\n").await;
    drop(client.stream);
    client.served.await.unwrap().unwrap();
}

#[actix_web::test]
async fn bodies_that_are_made_while_they_are_sent() {
    let close = "host: a\r\nconnection: close\r\n\r\n";
    let answer = Client::answer_to(&format!("GET /pieces HTTP/1.1\r\n{close}")).await;
    assert_eq!(bodies(&answer), ["3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"]);
    let answer = Client::answer_to(&format!("HEAD /pieces HTTP/1.1\r\n{close}")).await;
    assert_eq!(bodies(&answer), [""]);
    let mut client = Client::connect();
    client.send("GET /short HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (answer, served) = client.read_all().await;
    assert_eq!((bodies(&answer), served.unwrap_err().kind()), (vec!["half"], io::ErrorKind::UnexpectedEof));
    let mut client = Client::connect();
    client.send("GET /cut HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let (answer, _) = client.read_all().await;
    assert!(answer.contains("content-length: 8\r\n") && answer.ends_with("\r\n\r\n1234"), "{answer}");
}

#[actix_web::test]
async fn stopping_ends_idle_connections_and_lets_requests_finish() {
    let mut idle = Client::connect();
    idle.send("GET /1 HTTP/1.1\r\nhost: a\r\n\r\n").await;
    idle.read_until("GET /1 ").await;
    idle.draining.begin();
    assert_eq!(idle.read_all().await.0, "");
    let mut busy = Client::connect();
    busy.send("POST /2 HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\na").await;
    tokio::task::yield_now().await;
    busy.draining.begin();
    busy.send("b").await;
    let answer = busy.read_all().await.0;
    assert!(answer.contains("connection: close\r\n") && answer.ends_with("POST /2 ab"), "{answer}");
}

/// What a client gets that sends this, with short limits: whether the head or the idle connection took too long.
async fn answer_within(limits: (Duration, Duration), sent: &str) -> String {
    let (mut stream, server) = tokio::io::duplex(1 << 20);
    let shared = with_times(limits, &Draining::default());
    let served = actix_rt::spawn(async move { serve(server, None, &fn_service(answer), &shared).await });
    stream.write_all(sent.as_bytes()).await.unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).await.unwrap();
    drop(stream);
    served.await.unwrap().unwrap();
    all
}

#[actix_web::test]
async fn slow_heads_are_refused_and_idle_connections_end() {
    const SHORT: Duration = Duration::from_millis(20);
    let request = "GET /1 HTTP/1.1\r\nhost: a\r\n\r\n";
    for slow in ["", "GET / HTTP/1.1\r\nhost:"] {
        let answer = answer_within((SHORT, LONG), slow).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    }
    let answer = answer_within((LONG, SHORT), request).await;
    assert!(bodies(&answer) == ["GET /1 "] && !answer.contains("408"), "{answer}");
    let answer = answer_within((SHORT, LONG), &format!("{request}GET /2")).await;
    assert!(bodies(&answer) == ["GET /1 ", ""] && answer.contains("HTTP/1.1 408 "), "{answer}");
}

#[actix_web::test]
async fn handler_that_does_not_read_stops_the_client() {
    let (mut stream, server) = tokio::io::duplex(1 << 10);
    let shared = shared(&Draining::default());
    let (reads, may_read) = tokio::sync::oneshot::channel();
    let may_read = Rc::new(Cell::new(Some(may_read)));
    let held = Rc::new(Cell::new(0));
    let counted = held.clone();
    let service = fn_service(move |mut request: Request| {
        let (held, may_read) = (counted.clone(), may_read.take());
        async move {
            let mut payload = request.take_payload();
            let _ = may_read.unwrap().await;
            while let Some(Ok(chunk)) = payload.next().await {
                held.set(held.get() + chunk.len());
            }
            Ok::<_, actix_web::Error>(Response::ok().map_into_boxed_body())
        }
    });
    let served = actix_rt::spawn(async move { serve(server, None, &service, &shared).await });
    let head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1000000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut accepted = 0;
    while let Ok(written) = tokio::time::timeout(Duration::from_millis(200), stream.write(&[7; 1024])).await {
        accepted += written.unwrap();
    }
    assert!((100 << 10..256 << 10).contains(&accepted), "{accepted}");
    reads.send(()).unwrap();
    stream.write_all(&vec![7; 1_000_000 - accepted]).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    served.await.unwrap().unwrap();
    assert_eq!((held.get(), answer.starts_with("HTTP/1.1 200 ")), (1_000_000, true));
}

proptest! {
    /// However the bytes of requests are cut, the answers are the same.
    #[test]
    fn any_split_gives_the_same_answers(cuts in prop::collection::vec(1usize..40, 1..40)) {
        let requests = b"POST /1 HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nwxyz\
            POST /2 HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n\
            GET /3 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        let answer = actix_rt::System::new().block_on(async {
            let mut client = Client::connect();
            let mut rest = &requests[..];
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (now, later) = rest.split_at(cut.min(rest.len()));
                client.stream.write_all(now).await.unwrap();
                tokio::task::yield_now().await;
                rest = later;
            }
            client.read_all().await.0
        });
        prop_assert_eq!(bodies(&answer), ["POST /1 wxyz", "POST /2 abc", "GET /3 "]);
    }

    /// Arbitrary bytes end with a response or the end of the connection, never with a panic.
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        actix_rt::System::new().block_on(async {
            let mut client = Client::connect();
            client.stream.write_all(&bytes).await.unwrap();
            client.stream.shutdown().await.unwrap();
            let mut all = Vec::new();
            client.stream.read_to_end(&mut all).await.unwrap();
        });
    }
}
