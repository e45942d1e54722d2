//! The tools of development servers below `/dev/`.

mod clock;
mod faults;
mod ready;
mod realms;
mod requests;
mod reset;
mod seeds;

use crate::support::TestServer;
use millstream::routes::development_table;
use reqwest::Method;

/// A server without the tools does not have their paths.
#[tokio::test]
async fn other_servers_have_no_tools() {
    let t = TestServer::start().await;
    let tools: Vec<_> =
        development_table().into_iter().filter(|route| route.path.starts_with("/dev/")).collect();
    assert_eq!(tools.len(), 10);
    for route in tools {
        let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
        let answer = t.user("iago").call(method, route.path, &[]).await;
        assert_eq!(answer.status, 404, "{answer:?}");
    }
}
