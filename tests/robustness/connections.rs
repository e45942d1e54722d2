//! Connections that do nothing, in larger numbers than the server has slots.

use super::{assert_healthy, stage};
use crate::support::raw_connection::RawConnection;

const HEALTH: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[tokio::test]
async fn idle_connections_make_room_and_polls_stay() {
    let t = stage(&[("http.workers", "1"), ("http.connections_max", "32")]).await;
    let person = t.user("desdemona");
    let queue = person.register().events(&["message"]).await;
    let poll = t.hold_poll(&queue).await;
    let mut idle = Vec::new();
    for number in 0..100 {
        let mut wire = RawConnection::connect(&t.url).await;
        wire.write(HEALTH).await;
        let answer = wire.read_until("\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{number}: {answer}");
        idle.push(wire);
    }
    // The first ones were closed for the last ones.
    for mut wire in idle.drain(..50) {
        wire.read_to_end().await;
    }
    assert!(t.is_polled(&queue));
    assert_healthy(&person).await;
    let metrics = t.anonymous().get("/metrics", &[]).await.body;
    let metrics = metrics.as_str().expect("text");
    let displaced =
        metrics.lines().find(|line| line.starts_with("millstream_http_connections_displaced_total "));
    assert!(displaced.is_some_and(|line| !line.ends_with(" 0")), "{metrics}");
    person.send_direct(&[&person], "still there").await;
    assert_eq!(poll.await.expect("the poll ends").status, 200);
}
