//! What all requests of a process share.

use super::host::Hosts;
use super::limits::Limits;
use super::observe::Observer;
use super::router::Router;
use super::routes::Route;
use crate::api::account::new_login::RecentLogins;
use crate::config::Config;
use crate::outside::blobs::Blobs;
use crate::outside::images::Images;
use crate::outside::ldap::LdapDirectory;
use crate::outside::mail::Mailer;
use crate::outside::push_service::PushService;
use crate::passwords::Passwords;
use actors::Server;
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
    /// The organizations.
    pub server: Arc<Server>,
    /// Takes turns at what is slow on purpose.
    pub passwords: Passwords,
    /// Who takes notifications to phones, where somebody does.
    pub push: Option<PushService>,
    /// The directory that knows people's passwords, where there is one.
    pub ldap: Option<LdapDirectory>,
    /// The files that people upload.
    pub blobs: Blobs,
    /// Takes turns at unpacking pictures.
    pub images: Images,
    /// Whether this is a development server, with its shortcuts for logging in.
    pub is_development: bool,
    pub(super) router: Router,
    pub(super) observer: Observer,
    /// What the server is called.
    pub hosts: Arc<Hosts>,
    /// Who logged in lately.
    pub logins: RecentLogins,
    /// Who carries mail.
    pub mail: Arc<Mailer>,
    stopping: Stopping,
}

impl App {
    /// Puts the parts together. `routes` is the table.
    pub fn new(
        config: Config,
        routes: Vec<Route>,
        (server, hosts, mail, blobs): (Arc<Server>, Arc<Hosts>, Arc<Mailer>, Blobs),
        is_development: bool,
    ) -> Self {
        let limits = match config.limits.enabled {
            true => Limits::new(config.limits.rules(), config.limits.keys_max),
            false => Limits::off(),
        };
        let observer = Observer::new(&routes);
        let router = Router::new(routes);
        let stopping = Stopping(watch::Sender::new(false));
        let passwords = Passwords::default();
        let ldap = LdapDirectory::of(&config.ldap);
        let push = PushService::new(&config.push).unwrap_or_else(|error| {
            tracing::error!(%error, "there are no push notifications");
            None
        });
        let parts = Parts {
            blobs,
            images: Images::default(),
            config,
            limits,
            server,
            passwords,
            ldap,
            push,
            is_development,
            router,
            observer,
            hosts,
            mail,
            logins: RecentLogins::default(),
            stopping,
        };
        Self(Arc::new(parts))
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
