//! The test fixtures: servers, users, event queues, and stand-ins for external services.
//!
//! `TestServer::start().await` starts a server on a temporary data folder with the users of the sample organization and
//! no channels. `t.user("iago")` is a client of one of them, with methods for the common requests: create a channel,
//! send a message, register a queue and wait for events. When a test ends, its server is stopped and the data folder is
//! checked for consistency.
//!
//! Tests wait for a condition ([`wait_until`], [`Queue::next`]) and never sleep for a fixed time instead.

pub mod call;
pub mod certificates;
pub mod channel;
pub mod contract;
pub mod disk;
pub mod export;
pub mod http_stub;
pub mod mail_sender;
pub mod mobile_app;
pub mod people;
pub mod phone;
pub mod process;
pub mod queue;
pub mod raw_connection;
pub mod server;
pub mod shape;
pub mod skip;
pub mod slapd;
pub mod smtp;
pub mod user;
pub mod web_app;

pub use call::{ApiResponse, Call, Param, Params, as_params};
pub use channel::Channel;
pub use http_stub::{HttpStub, StubReply};
pub use process::ServerProcess;
pub use queue::Queue;
pub use server::TestServer;
pub use shape::keys;
pub use user::TestUser;

use std::time::Duration;

/// Upper bound for anything that should happen immediately. Generous, because machines that run tests are busy.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Waits until a condition is true; fails after [`TIMEOUT`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) -> impl Future<Output = ()> {
    poll_for(what, move || std::future::ready(condition().then_some(())))
}

/// Repeats a query until it gives a value; fails after [`TIMEOUT`].
#[track_caller]
pub fn poll_for<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut query: impl FnMut() -> F,
) -> impl Future<Output = T> {
    let caller = std::panic::Location::caller();
    async move {
        let deadline = tokio::time::Instant::now() + TIMEOUT;
        loop {
            if let Some(found) = query().await {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "{caller}: timed out waiting until {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
