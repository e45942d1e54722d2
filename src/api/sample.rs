//! A running server with the sample organization, for tests of endpoints.

use crate::config::{Config, Overrides};
use crate::dev::ensure_sample;
use crate::http::Caller;
use actors::{RealmHandle, Server};
use model::UserId;
use std::sync::Arc;
use tempfile::TempDir;

/// A server whose only organization is the sample.
pub struct Sample {
    pub realm: RealmHandle,
    server: Arc<Server>,
    _data: TempDir,
}

impl Sample {
    /// Starts it with a temporary data folder.
    pub async fn start() -> Self {
        let data = tempfile::tempdir().unwrap();
        let flags = Overrides::default().set("data", "test", Some(data.path().display()));
        let config = Config::load(None, [], flags).unwrap();
        let server = Server::start(crate::server::options(&config, false)).await.unwrap();
        let realm = ensure_sample(&server).await.unwrap();
        Self { realm, server, _data: data }
    }

    /// The id of the user with this address.
    pub fn id(&self, address: &str) -> UserId {
        self.caller(address).user.id
    }

    /// The user with this address as a caller.
    pub fn caller(&self, address: &str) -> Caller {
        let user = self.realm.directory().user_by_email(address).unwrap().clone();
        Caller { realm: self.realm.clone(), user }
    }

    /// Stops it, after all accepted commands are done.
    pub async fn stop(self) {
        self.server.stop().await.unwrap();
    }
}
