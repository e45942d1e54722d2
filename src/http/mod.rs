//! HTTP: everything between a socket and a handler of `api`, in both directions.
//!
//! `dispatch` takes one request from its head to its response; the table of routes is `crate::routes`.

pub mod accept_encoding;
#[cfg(feature = "cluster")]
pub mod account_queries;
pub mod address;
pub mod admission;
pub mod app;
pub mod authenticate;
pub mod basic_auth;
pub mod body;
pub mod browser;
pub mod call;
pub mod caller;
mod compression;
pub mod conditions;
pub mod connection;
pub mod connection_slots;
pub mod development;
pub mod dispatch;
pub mod error;
pub mod file_stream;
#[cfg(feature = "cluster")]
mod forward;
pub mod found_accounts;
#[cfg(feature = "cluster")]
pub mod gateway;
mod h1;
pub mod host;
pub mod known_addresses;
pub mod listener;
mod merged_path;
pub mod metric_names;
mod metric_text;
pub mod metrics_listener;
pub mod observe;
pub mod operations;
pub mod origins;
#[cfg(feature = "cluster")]
mod outage;
pub mod params;

mod preflight;
#[cfg(feature = "cluster")]
mod proxy;
pub mod recent_logins;
mod recorded_body;
mod rendered_metrics;
pub mod reply;
mod requester;
pub mod route;
pub mod router;
mod running_handler;
mod segmented_body;
mod shard_thread;
mod stopping;
pub mod tls;
mod truncation;
pub mod upload;
mod vary;
pub mod web_session;
pub mod webhook_body;

pub use app::App;
pub use browser::{FormToken, OwnSession};
pub use call::{Address, Audience, BodyStream, ClientName, Path, RawQuery, UserAgent};
pub use caller::{Caller, Login};
pub use conditions::IfNoneMatch;
pub use error::{ApiError, Code};
pub use host::{HostHeader, Realm, RealmUrl, no_realm};
pub use params::{BodyKind, Fields, FromFields, Params};
pub use reply::{Envelope, HandlerResult, Reply, reply, reply_field, reply_ok, reply_with_msg};
pub use web_session::Cookies;
