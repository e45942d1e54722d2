//! The server: opens a data folder, starts the shards, and shuts down without losing data.

mod abandon;
mod addresses;
pub mod bulk;
mod data;
pub mod import_file;
pub mod interrupted;
mod making;
#[cfg_attr(not(feature = "cluster"), path = "server/standalone.rs")]
mod node;
mod stop;
mod unopened;

use data::{Data, Node, open_data};
use import_file::IMPORT_REMEDY;

use crate::addresses::AddressIndex;
use crate::budget::ByteBudget;
use crate::clock::SteadyClock;
use crate::erase::state::Erasing;
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::handle::RealmHandle;
use crate::health::{Pause, StorageHealth, StorageStatus};
use crate::login::{Credentials, KeyHash};
use crate::mailbox::BoundedMailbox;
use crate::notifications::{Notifications, Reader};
use crate::opening::{OpenLog, ends_of_unserved, report_away};
use crate::options::Options;
use crate::outbox::{DeliveryThreads, Outbox, Worker};
use crate::placement::Placement;
use crate::presence::PresenceTable;
use crate::realm::RealmActor;
use crate::registry::Registry;
use crate::resume::ResumeState;
use crate::search::{Followed, RealmSearch, SearchThread};
use crate::shard::{Budgeted, COMMITTER, Committer, DailyBudget, Durability, Sequencer};
use crate::shared::RealmShared;
use crate::upkeep::BackgroundThreads;
use actix::ArbiterHandle;
use actix::prelude::*;
use model::{RealmId, User};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::checkpoint::Started;
use storage::disk;
use storage::log::RealmLog;
use storage::view::ReadCache;
use storage::{Checkpoints, DataFolder, Projection, ProjectionSender, Trees, View};
use tokio::sync::Semaphore;

/// A running shard.
pub(crate) struct Shard {
    pub arbiter: Arbiter,
    pub log: Arc<dyn RealmLog>,
    durability: Arc<Durability>,
}

/// A running server: its organizations, spread over shards.
pub struct Server {
    pub(crate) folder: DataFolder,
    pub(crate) options: Options,
    delivery: Option<Arc<DeliveryThreads>>,
    pub(crate) trees: Trees,
    pub(crate) projection: Mutex<Option<Projection>>,
    /// The trees lack frames that memory has, and the writer of the trees was not given them.
    pub(crate) is_behind: AtomicBool,
    pub(crate) health: Arc<StorageHealth>,
    /// Locked during a recovery; true once the server stops.
    pub(crate) recovering: tokio::sync::Mutex<bool>,
    pub(crate) shards: Vec<Shard>,
    pub(crate) placement: Placement,
    realms: RwLock<Realms>,
    addresses: Arc<AddressIndex>,
    pub(crate) read_cache: ReadCache,
    creating: tokio::sync::Mutex<()>,
    /// Permits to read the log back for returning queues.
    resume_permits: Arc<Semaphore>,
    search: SearchThread,
    pub(crate) upkeep: BackgroundThreads,
    /// Held while checkpoints and bases are written.
    pub(crate) checkpointing: Mutex<()>,
    pub(crate) erasing: Erasing,
    node: Node,
}

/// The organizations of a server.
#[derive(Default)]
struct Realms {
    by_id: BTreeMap<RealmId, RealmHandle>,
    by_subdomain: HashMap<String, RealmHandle>,
}

impl Server {
    /// Whether there is a data folder at a path.
    pub fn has_data(path: &Path) -> bool {
        DataFolder::exists(path)
    }

    /// The format number of a data folder.
    ///
    /// # Errors
    /// [`DomainError::Storage`] when this version cannot open it.
    pub fn check_format(path: &Path) -> Result<u32, DomainError> {
        Ok(DataFolder::check_format(path)?)
    }

    /// Whether a folder without data can become a data folder. Nothing is changed.
    ///
    /// # Errors
    /// [`DomainError::Storage`] when it has other files.
    pub fn check_new_folder(path: &Path) -> Result<(), DomainError> {
        Ok(DataFolder::check_new(path)?)
    }

    /// Whether the secret of a data folder is there, and the one that the folder was made with. Nothing is changed.
    ///
    /// # Errors
    /// [`DomainError::Storage`] with what to do about it.
    pub fn check_secret(path: &Path) -> Result<(), DomainError> {
        Ok(DataFolder::check_secret(path)?)
    }

    /// Opens a data folder and starts everything in it. Must run inside an actix system.
    ///
    /// # Errors
    /// [`DomainError::Storage`] with what to do about it.
    pub async fn start(mut options: Options) -> Result<Arc<Self>, DomainError> {
        options.clock = Arc::new(SteadyClock::new(options.clock));
        let Data { folder, logs, trees, started, node } = open_data(&options)?;
        let is_behind = !trees.is_open() || !disk::space(folder.path()).is_none_or(|space| space.has_room(0));
        let projection = Projection::start(trees.clone())?;
        let health = Arc::new(StorageHealth::default());
        crate::counters::register();
        let shards: Vec<Shard> = logs
            .into_iter()
            .enumerate()
            .map(|(index, log)| start_shard(&options, log, projection.sender(), (index, health.clone())))
            .collect();
        let delivery = options.outbox.clone().map(DeliveryThreads::start).transpose()?.map(Arc::new);
        let server = Arc::new(Self {
            delivery,
            placement: Placement::new(shards.len()),
            folder,
            options,
            trees,
            projection: Mutex::new(Some(projection)),
            is_behind: AtomicBool::new(is_behind),
            health,
            recovering: tokio::sync::Mutex::default(),
            shards,
            realms: RwLock::default(),
            addresses: Arc::default(),
            read_cache: ReadCache::default(),
            creating: tokio::sync::Mutex::default(),
            resume_permits: Arc::new(Semaphore::new(crate::resume::PASSES_MAX)),
            search: SearchThread::start()?,
            upkeep: BackgroundThreads::default(),
            checkpointing: Mutex::default(),
            erasing: Erasing::default(),
            node,
        });
        if !server.join().await? {
            server.open_realms(started).await?;
            server.end_interrupted().await;
        }
        if is_behind {
            server.pause_shards(Pause::DiskFull, true).await?;
        }
        server.update_free_space();
        actix::spawn(Self::watch_storage(Arc::downgrade(&server)));
        actix::spawn(Self::watch_clock(Arc::downgrade(&server)));
        server.start_upkeep()?;
        Ok(server)
    }

    /// Whether changes can be stored, and how much room there is.
    pub fn storage_status(&self) -> StorageStatus {
        self.health.status()
    }

    /// Starts all organizations: those in `started` as they are, or all of them from the trees.
    async fn open_realms(&self, started: Option<Vec<Started>>) -> Result<(), DomainError> {
        let opened = match started {
            Some(started) => started,
            None => self.load_realms()?,
        };
        let mut ends = ends_of_unserved(&self.folder, |realm| self.log_of(realm));
        ends.extend(opened.iter().map(|realm| (realm.view.realm(), realm.opened.last_sequence)));
        self.folder.check_ends(&ends)?;
        report_away(&self.folder);
        for realm in opened {
            tracing::info!(realm = realm.view.realm().0, replayed = realm.replayed, "organization opened");
            self.start_realm(realm.view, realm.opened.epoch).await?;
        }
        // On a full disk the file stays as it is, which is no danger: it says less.
        if let Err(error) = self.folder.note_state(true, &ends) {
            tracing::warn!(%error, "the state of the data folder could not be recorded");
        }
        Ok(())
    }

    /// Loads all organizations from the trees.
    fn load_realms(&self) -> Result<Vec<Started>, DomainError> {
        let mut ids: Vec<RealmId> = if self.trees.is_open() { self.trees.realms()? } else { Vec::new() };
        ids.extend(self.shards.iter().flat_map(|shard| shard.log.realms()).map(RealmId));
        ids.sort();
        ids.dedup();
        let unfinished = self.unfinished_import()?.map(|import| {
            tracing::warn!(
                realm = import.realm.0,
                "an organization is not opened: {import} is not finished; {IMPORT_REMEDY}"
            );
            import.realm
        });
        let mut found = Vec::new();
        for id in ids.into_iter().filter(|id| Some(*id) != unfinished && !self.folder.is_not_served(*id)) {
            found.extend(self.load_realm(id)?);
        }
        Ok(found)
    }

    /// Loads an organization from the trees; none if it has no frame.
    fn load_realm(&self, id: RealmId) -> Result<Option<Started>, DomainError> {
        let (log, trees) = (&*self.shard_of(id).log, &self.trees);
        let opened = match self.is_behind.load(Ordering::SeqCst) {
            false => storage::open_realm(log, trees, id)?,
            true => storage::open_realm_in_memory(log, trees, id)?,
        };
        Checkpoints::of(&self.folder.checkpoints(), id).remove_after(opened.opened.last_sequence);
        let started = |view| Started { view, opened: opened.opened, replayed: opened.replayed };
        Ok(opened.view.map(started))
    }

    fn shard_of(&self, realm: RealmId) -> &Shard {
        &self.shards[self.placement.shard(realm)]
    }

    /// The journal of an organization.
    pub(crate) fn log_of(&self, realm: RealmId) -> Arc<dyn RealmLog> {
        self.shard_of(realm).log.clone()
    }

    /// Starts an organization's actors on their shard.
    async fn start_realm(&self, mut view: View, epoch: u64) -> Result<RealmHandle, DomainError> {
        let id = view.realm();
        view.recent.keep_read_in(&self.read_cache);
        let sequencer = Sequencer::after(&view);
        let indexes = self.folder.search();
        let index = self.options.search_write_after.map(|after| (&*indexes, after));
        let search = RealmSearch::new(index, id, view.progress.sequence);
        self.addresses.add_all(&view.directory);
        let shared = Arc::new(RealmShared {
            linkifiers: Default::default(),
            id,
            credentials: Credentials::new(self.secret_of(id), &view.directory),
            addresses: self.addresses.clone(),
            view: RwLock::new(view),
            trees: self.trees.clone(),
            presence: Mutex::new(PresenceTable::starting(self.options.clock.now())),
            clock: self.options.clock.clone(),
            owner_alerts: Mutex::default(),
            queue_limits: self.options.queues,
            sweep_secs: self.options.sweep_secs,
            unclaimed_secs: self.options.unclaimed_secs,
            released_secs: self.options.released_secs,
            outbox: Outbox::new(|kind| {
                self.delivery.as_ref().is_some_and(|delivery| delivery.options.worker.supports(kind))
            }),
            notifications: Notifications::default(),
            resume: ResumeState::new(self.resume_permits.clone()),
            search,
            web_session_limits: self.options.web_sessions,
            scheduled: crate::scheduled::Claims::default(),
        });
        self.search.follow(Followed::new(shared.clone(), self.shard_of(id).log.clone()));
        let delivery = self.delivery.clone();
        let start = move |committer: &Rc<Committer>| {
            let registry = Arc::new(Registry::default());
            let fanout = Rc::new(Fanout::new(shared.clone(), registry.queues.clone()));
            committer.add_realm(shared.clone(), sequencer, epoch, fanout.clone());
            Reader::start(&shared, committer);
            let actor = RealmActor::new(shared.clone(), committer.clone(), fanout, registry.clone());
            let actor = actor.start_bounded();
            let handle = RealmHandle { shared, actor: Arc::new(actor), registry };
            crate::scheduled::Worker::start(&handle);
            if let Some(delivery) = delivery {
                Worker::start(&handle, committer, delivery);
            }
            handle
        };
        let handle = self.on_shard(self.placement.shard(id), start).await?;
        let subdomain = handle.subdomain();
        let mut realms = self.realms.write();
        realms.by_subdomain.insert(subdomain, handle.clone());
        realms.by_id.insert(id, handle.clone());
        Ok(handle)
    }

    /// The budget of bytes that are held for clients.
    pub fn budget(&self) -> &ByteBudget {
        &self.options.budget
    }

    /// An organization by its id.
    pub fn realm(&self, id: RealmId) -> Option<RealmHandle> {
        self.realms.read().by_id.get(&id).cloned()
    }

    /// All organizations by id.
    pub fn realms(&self) -> Vec<RealmHandle> {
        self.realms.read().by_id.values().cloned().collect()
    }

    /// An organization by its short name; empty for the one at the root.
    pub fn realm_by_subdomain(&self, subdomain: &str) -> Option<RealmHandle> {
        self.realms.read().by_subdomain.get(subdomain).cloned()
    }

    /// The thread of the shard, when there is exactly one.
    pub fn only_shard(&self) -> Option<ArbiterHandle> {
        self.shards.first().filter(|_| self.shards.len() == 1).map(|shard| shard.arbiter.handle())
    }

    /// The organization, when there is exactly one.
    pub fn only_realm(&self) -> Option<RealmHandle> {
        let realms = self.realms.read();
        realms.by_id.values().next().filter(|_| realms.by_id.len() == 1).cloned()
    }

    /// The account of an address and an API key, with its organization.
    ///
    /// # Errors
    /// `RealmDeactivated`, `UserDeactivated`. An unknown key gives none.
    pub fn authenticate(
        &self,
        address: &str,
        api_key: &str,
    ) -> Result<Option<(RealmHandle, Arc<User>)>, DomainError> {
        let hash = KeyHash::of(api_key);
        for realm in self.realms() {
            if !realm.shared.credentials.knows(&hash) {
                continue;
            }
            match realm.authenticate(address, api_key) {
                Ok(user) => return Ok(Some((realm, user))),
                Err(DomainError::InvalidApiKey) => {}
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(None)
    }

    /// Whether a key belongs to an account of any organization.
    pub fn knows_key(&self, api_key: &str) -> bool {
        let hash = KeyHash::of(api_key);
        self.realms().iter().any(|realm| realm.shared.credentials.knows(&hash))
    }

    /// Answers all waiting polls with what there is, so that their connections can end. Later polls must not wait.
    pub fn release_polls(&self) {
        for realm in self.realms() {
            for queue in realm.registry.queues.read().values() {
                queue.release();
            }
        }
    }
}

fn start_shard(
    options: &Options,
    (log, durability): OpenLog,
    projection: ProjectionSender,
    (index, health): (usize, Arc<StorageHealth>),
) -> Shard {
    let arbiter = Arbiter::new();
    let (pipeline_log, pipeline_durability) = (log.clone(), durability.clone());
    let limit = |counted, max| DailyBudget::new(counted, max, options.clock.clone());
    let bytes = limit(Budgeted::Bytes, options.write_bytes_daily_max);
    let conversations = limit(Budgeted::Conversations, options.conversations_daily_max);
    arbiter.spawn_fn(move || {
        let committer = Committer::new(pipeline_log, pipeline_durability, projection, (index, health));
        committer.limit_writes(bytes);
        committer.limit_conversations(conversations);
        COMMITTER.with(|cell| drop(cell.set(committer.clone())));
        actix::spawn(committer.run());
    });
    Shard { arbiter, log, durability }
}
