//! What all requests of a process share.

use super::caller::Admission;
use super::limits::Limits;
use super::observe::Observer;
use super::router::Router;
use super::routes::Route;
use crate::config::Config;
use std::ops::Deref;
use std::sync::Arc;
use tokio::sync::watch;

/// The process as handlers see it. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    /// The settings it runs with.
    pub config: Config,
    /// Rate limits; endpoints count their own buckets here.
    pub limits: Limits,
    pub(super) router: Router,
    pub(super) observer: Observer,
    pub(super) admission: Box<dyn Admission>,
    stopping: Stopping,
}

impl App {
    /// Puts the parts together. `routes` is the table, `admission` knows the accounts.
    pub fn new(config: Config, routes: Vec<Route>, admission: Box<dyn Admission>) -> Self {
        let limits = match config.limits.enabled {
            true => Limits::new(config.limits.rules(), config.limits.keys_max),
            false => Limits::off(),
        };
        let observer = Observer::new(&routes);
        let router = Router::new(routes);
        let stopping = Stopping(watch::Sender::new(false));
        Self(Arc::new(Parts { config, limits, router, observer, admission, stopping }))
    }

    /// Tells whether the server is stopping.
    pub fn stopping(&self) -> &Stopping {
        &self.0.stopping
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

/// The news that the server is stopping. Whoever parks a request waits for this too, and answers at once.
pub struct Stopping(watch::Sender<bool>);

impl Stopping {
    /// Whether it is stopping already.
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns when the server starts to stop; at once when it has.
    pub async fn wait(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|stopping| *stopping).await;
    }

    pub(crate) fn begin(&self) {
        self.0.send_replace(true);
    }
}
