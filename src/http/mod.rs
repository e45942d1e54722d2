//! HTTP: everything between a socket and a handler of `api`, in both directions.
//!
//! `routes` is the table to start at; `dispatch` walks one request through it.

pub mod app;
pub mod basic_auth;
pub mod body;
pub mod call;
pub mod caller;
pub mod client_name;
pub mod dispatch;
pub mod error;
pub mod host;
pub mod limits;
pub mod observe;
pub mod operations;
pub mod params;
pub mod reply;
pub mod router;
pub mod routes;
pub mod upload;

pub use app::App;
pub use call::{Address, BodyStream, ClientName, IfNoneMatch, Path, RawQuery};
pub use caller::{Caller, Login};
pub use error::{ApiError, Code};
pub use host::{Realm, RealmUrl};
pub use params::{Fields, FromFields, Params};
pub use reply::{Answer, Envelope, Reply, reply, reply_ok};
