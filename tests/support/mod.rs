//! What tests are written with, in the words of the product.
//!
//! `TestServer::start().await` is a server of the test's own, on its own folder, with the people of the
//! sample organization and nothing else. `t.user("iago")` is one of them, who can do over HTTP what a
//! client can: create a channel, send, register a queue and wait for events. Nothing here sleeps: whoever
//! expects something waits for it. At the end of each test the server is stopped, and what it left on
//! disk must hold together.

pub mod call;
pub mod certificates;
pub mod channel;
pub mod people;
pub mod person;
pub mod phone;
pub mod process;
pub mod queue;
pub mod server;
pub mod service;
pub mod shape;
pub mod slapd;
pub mod smtp;
pub mod wire;

pub use call::{Answer, Call, Params};
pub use channel::Channel;
pub use person::Person;
pub use process::ServerProcess;
pub use queue::Queue;
pub use server::TestServer;
pub use service::{Reaction, Service};
pub use shape::keys;

use std::time::Duration;

/// How long anything may take that should happen at once. Long, because machines that run tests are busy.
pub const PATIENCE: Duration = Duration::from_secs(30);
