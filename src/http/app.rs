//! The state shared by all requests of a process.

use super::known_addresses::KnownAddresses;
use super::recent_logins::RecentLogins;
use super::rendered_metrics::RenderedMetrics;
use super::stopping::Stopping;
use super::tls::Tls;
use crate::api::encoded_lists::EncodedLists;
use crate::background::Background;
use crate::config::Config;
use crate::dev::tools::DevTools;
use crate::fair_queue::{FairQueue, FairQueueLimits};
use crate::hosts::Hosts;
use crate::integrations::blobs::Blobs;
use crate::integrations::images::decoding_threads;
use crate::integrations::incoming::Catalog;
use crate::integrations::ldap::LdapDirectory;
use crate::integrations::mail::Mailer;
use crate::integrations::partial_uploads::PartialUploads;
use crate::integrations::push_service::PushService;
use crate::integrations::thumbnails::Thumbnails;
use crate::passwords::Passwords;
use crate::probe::Probe;
use crate::rate_limit::{Limits, MonotonicTime};
use crate::transfer::export::Exports;
use crate::web_app::WebApp;
use crate::work_queue::WorkQueue;
use actors::{Clock, RealmHandle, Server};
use std::ops::Deref;
use std::sync::Arc;

/// Maximum number of lists and parts of large responses that wait to be encoded; their memory is reserved before.
const PAGES_WAITING_MAX: usize = 4096;

/// Maximum number of texts whose formulas are rendered or wait for it: one takes up to a tenth of a second.
const FORMULAS_WAITING_MAX: usize = 64;

/// Limits of rendering texts with formulas, each with a permit of its own: a client waits for one text of each other client of its
/// organization, and an organization has at most a quarter of the places.
const FORMULA_QUEUE: FairQueueLimits =
    FairQueueLimits { client_max: 1, client_waiting_max: 16, organization_max: 16 };

/// Limits of decoding pictures, each of which takes up to a second.
const IMAGE_QUEUE: FairQueueLimits =
    FairQueueLimits { client_max: 2, client_waiting_max: 16, organization_max: 8 };

/// The shared state as handlers see it. Cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of an [`App`].
pub struct Parts {
    pub config: Config,
    /// Rate limits; some endpoints count in buckets of their own.
    pub limits: Limits,
    pub clock: Arc<dyn Clock>,
    /// The IP addresses that accounts were used from.
    pub known: KnownAddresses,
    pub server: Arc<Server>,
    pub passwords: Passwords,
    pub push: Option<PushService>,
    pub ldap: Option<LdapDirectory>,
    pub blobs: Blobs,
    pub images: Background,
    pub thumbnails: Thumbnails,
    pub partial_uploads: Arc<PartialUploads>,
    /// Whether this is a development server, which gives out API keys without passwords.
    pub is_development: bool,
    /// Faults on demand and the record of calls, of a development server.
    pub tools: Option<DevTools>,
    /// The names of the server, and the URLs of organizations.
    pub hosts: Arc<Hosts>,
    /// The logins of the last day.
    pub logins: RecentLogins,
    pub mail: Arc<Mailer>,
    /// The integrations of incoming webhooks.
    pub incoming: Arc<Catalog>,
    pub encoded_lists: Arc<EncodedLists>,
    pub registers: WorkQueue,
    pub pages: WorkQueue,
    /// Texts with formulas: there is one engine.
    pub formulas: WorkQueue,
    pub formula_queue: FairQueue,
    /// For decoding pictures (`images`).
    pub image_queue: FairQueue,
    pub metrics: Arc<RenderedMetrics>,
    /// Zulip's web app, if it is installed.
    pub web_app: WebApp,
    /// Exports of organizations.
    pub exports: Exports,
    /// When the server started.
    pub started: MonotonicTime,
    /// HTTPS, if it is configured.
    pub tls: Option<Arc<Tls>>,
    /// To the other nodes of a cluster.
    #[cfg(feature = "cluster")]
    pub gateway: Option<super::gateway::Gateway>,
    /// By which the request of `millstream doctor` is recognized.
    pub probe: Probe,
    stopping: Stopping,
}

/// What the state is made of besides the configuration: opened before, and used by other parts of the process, too.
pub struct Services {
    pub server: Arc<Server>,
    pub hosts: Arc<Hosts>,
    pub mail: Arc<Mailer>,
    pub tls: Option<Arc<Tls>>,
    pub blobs: Blobs,
    pub partial_uploads: PartialUploads,
    /// The integrations of incoming webhooks.
    pub catalog: Arc<Catalog>,
}

impl App {
    /// Creates the state; nothing is running yet.
    pub fn new(config: Config, services: Services, clock: Arc<dyn Clock>, tools: Option<DevTools>) -> Self {
        let Services { server, hosts, mail, tls, blobs, partial_uploads, catalog } = services;
        let push = PushService::new(&config.push).unwrap_or_else(|error| {
            tracing::error!(%error, "push notifications are disabled");
            None
        });
        if push.is_some() && config.push.org_id.is_empty() {
            tracing::warn!(
                "push.service_url is set without push.org_id and push.org_key; most push services refuse that"
            );
        }
        let registers_max = config.http.registers_waiting_max.get();
        #[cfg(feature = "cluster")]
        let gateway = server.cluster().and_then(|cluster| {
            let gateway = super::gateway::Gateway::new(cluster.clone());
            gateway.inspect_err(|error| tracing::error!(%error, "requests cannot be passed on to other nodes of the cluster")).ok()
        });
        let parts = Parts {
            started: MonotonicTime::now(&*clock),
            limits: Limits::new(config.rate_limit_rules(), config.limits.keys_max),
            clock,
            known: KnownAddresses::default(),
            server,
            passwords: Passwords::default(),
            push,
            ldap: LdapDirectory::of(&config.ldap),
            thumbnails: Thumbnails::new(blobs.clone()),
            partial_uploads: Arc::new(partial_uploads),
            blobs,
            images: decoding_threads(),
            is_development: tools.is_some(),
            tools,
            hosts,
            logins: RecentLogins::default(),
            mail,
            incoming: catalog,
            encoded_lists: Arc::default(),
            registers: WorkQueue::new("register", config.registers_at_once(), registers_max),
            pages: WorkQueue::new("page", config.pages_at_once(), PAGES_WAITING_MAX),
            formulas: WorkQueue::new("formula", 1, FORMULAS_WAITING_MAX),
            formula_queue: FairQueue::new(FORMULA_QUEUE),
            image_queue: FairQueue::new(IMAGE_QUEUE),
            metrics: Arc::default(),
            web_app: WebApp::open(config.web_app_folder(), config.names_web_app()),
            exports: Exports::default(),
            tls,
            probe: Probe::new(),
            #[cfg(feature = "cluster")]
            gateway,
            stopping: Stopping::new(),
            config,
        };
        Self(Arc::new(parts))
    }

    /// The current monotonic time, for rate limits.
    pub fn moment(&self) -> MonotonicTime {
        MonotonicTime::now(&*self.clock)
    }

    /// The organization of a `Host` header, if there is one.
    pub fn realm_of(&self, host: Option<&str>) -> Option<RealmHandle> {
        self.hosts.realm(&self.server, host, |subdomain| self.is_elsewhere(subdomain))
    }

    /// Whether the cluster has an organization with a subdomain, on whichever node.
    #[cfg(feature = "cluster")]
    fn is_elsewhere(&self, subdomain: &str) -> bool {
        self.gateway.as_ref().is_some_and(|gateway| gateway.cluster.knows(subdomain))
    }

    /// There are no other nodes.
    #[cfg(not(feature = "cluster"))]
    fn is_elsewhere(&self, _subdomain: &str) -> bool {
        false
    }

    /// The shutdown signal.
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
