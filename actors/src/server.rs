//! Opening a data folder, starting the shards, and stopping again without losing anything.

use crate::bootstrap::{NewRealm, check_subdomain, realm_facts};
use crate::clock::Clock;
use crate::error::DomainError;
use crate::fanout::Fanout;
use crate::handle::RealmHandle;
use crate::login::{Credentials, KeyHash};
use crate::outbox::{Outbox, OutboxOptions, Outside, Worker};
use crate::placement::Placement;
use crate::presence::PresenceTable;
use crate::realm::RealmActor;
use crate::shard::{Committer, Durability, DurableSink, Sequencer};
use crate::shared::{QueueLimits, RealmShared};
use actix::prelude::*;
use model::{EventNumber, Fact, Frame, RealmId, Sequence, User};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use storage::log::{FrameBytes, Journal, JournalOptions, RealmLog, SyncPolicy};
use storage::{Applied, DataFolder, Projection, ProjectionSender, StoreError, Trees, View};
use tokio::sync::oneshot;

/// How a server is started.
#[derive(Clone)]
pub struct Options {
    /// The data folder; created when it does not exist.
    pub data: PathBuf,
    /// Threads that organizations are spread over. Kept from the folder's creation on.
    pub shards: usize,
    /// False for data that may be lost: nothing waits for the disk.
    pub is_durable: bool,
    /// Memory for pages of the trees.
    pub tree_cache_bytes: u64,
    /// Size of one file of the journal.
    pub journal_segment_bytes: u64,
    /// Bounds of event queues.
    pub queues: QueueLimits,
    /// Seconds between two looks for messages that have been kept long enough.
    pub sweep_secs: u64,
    /// Who carries what is owed to the world outside; none where the data folder is only looked at: then it waits.
    pub outbox: Option<OutboxOptions>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// A shard while it runs.
struct Shard {
    arbiter: Arbiter,
    log: Arc<dyn RealmLog>,
    durability: Arc<Durability>,
}

/// A running server: its organizations, spread over shards.
pub struct Server {
    folder: DataFolder,
    options: Options,
    outside: Option<Arc<Outside>>,
    trees: Trees,
    projection: Mutex<Option<Projection>>,
    shards: Vec<Shard>,
    placement: Placement,
    realms: RwLock<Realms>,
    creating: tokio::sync::Mutex<()>,
}

/// The organizations of a server.
#[derive(Default)]
struct Realms {
    by_id: BTreeMap<RealmId, RealmHandle>,
    /// Asked on every request.
    by_subdomain: HashMap<String, RealmHandle>,
}

thread_local! {
    /// The commit pipeline of the shard that this thread is.
    static COMMITTER: OnceLock<Rc<Committer>> = const { OnceLock::new() };
}

impl Server {
    /// Whether there is a data folder at a path.
    pub fn has_data(path: &Path) -> bool {
        DataFolder::exists(path)
    }

    /// Opens a data folder and starts everything in it. Must run inside an actix system.
    ///
    /// # Errors
    /// [`DomainError::Storage`] with what to do about it.
    pub async fn start(options: Options) -> Result<Arc<Self>, DomainError> {
        let mut secret = [0u8; storage::folder::SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|error| DomainError::Storage(error.to_string()))?;
        let folder = DataFolder::open(&options.data, options.shards, secret)?;
        let trees = Trees::open(&folder.state(), options.tree_cache_bytes)?;
        let projection = Projection::start(trees.clone())?;
        let shards = (0..folder.shards())
            .map(|index| start_shard(&folder, index, &options, projection.sender()))
            .collect::<Result<Vec<_>, _>>()?;
        let outside = options.outbox.clone().map(Outside::start).transpose()?.map(Arc::new);
        let server = Arc::new(Self {
            outside,
            placement: Placement::new(shards.len()),
            folder,
            options,
            trees,
            projection: Mutex::new(Some(projection)),
            shards,
            realms: RwLock::default(),
            creating: tokio::sync::Mutex::default(),
        });
        server.open_realms().await?;
        Ok(server)
    }

    async fn open_realms(&self) -> Result<(), DomainError> {
        let mut ids: Vec<RealmId> = self.trees.realms()?;
        ids.extend(self.shards.iter().flat_map(|shard| shard.log.realms()).map(RealmId));
        ids.sort();
        ids.dedup();
        for id in ids {
            let opened = storage::open_realm(&*self.shard_of(id).log, &self.trees, id)?;
            if let Some(view) = opened.view {
                tracing::info!(realm = %id, replayed = opened.replayed, "organization opened");
                self.start_realm(view, opened.opened.epoch).await?;
            }
        }
        Ok(())
    }

    fn shard_of(&self, realm: RealmId) -> &Shard {
        &self.shards[self.placement.shard(realm)]
    }

    /// Lets an organization's actors run on their shard.
    async fn start_realm(&self, view: View, epoch: u64) -> Result<RealmHandle, DomainError> {
        let id = view.realm();
        let sequencer = Sequencer::after(&view);
        let shared = Arc::new(RealmShared {
            linkifiers: Default::default(),
            id,
            credentials: Credentials::new(*self.folder.secret(), &view.directory),
            view: RwLock::new(view),
            trees: self.trees.clone(),
            presence: Mutex::new(PresenceTable::starting(self.options.clock.now())),
            clock: self.options.clock.clone(),
            owner_alerts: Mutex::default(),
            queue_limits: self.options.queues,
            sweep_secs: self.options.sweep_secs,
            outbox: Outbox::new(self.outside.clone()),
            noticing: crate::noticing::Noticing::default(),
            realm: OnceLock::new(),
            channels: RwLock::default(),
            directs: RwLock::default(),
            queues: RwLock::default(),
        });
        let (started, is_started) = oneshot::channel();
        let realm = shared.clone();
        self.shard_of(id).arbiter.spawn_fn(move || {
            COMMITTER.with(|committer| {
                let Some(committer) = committer.get() else { return };
                let fanout = Rc::new(Fanout::new(realm.clone()));
                committer.add_realm(id, sequencer, epoch, fanout.clone());
                Worker::start(&realm, committer);
                crate::noticing::Reader::start(&realm, committer);
                let actor = RealmActor::new(realm.clone(), committer.clone(), fanout).start();
                let _ = realm.realm.set(actor);
                let _ = started.send(());
            });
        });
        is_started.await.map_err(|_| DomainError::Stopping)?;
        let handle = RealmHandle(shared);
        let subdomain = handle.read(|view| view.directory.realm().subdomain.clone());
        let mut realms = self.realms.write();
        realms.by_subdomain.insert(subdomain, handle.clone());
        realms.by_id.insert(id, handle.clone());
        Ok(handle)
    }

    /// Creates an organization. It is durable when this returns. `more` gives further facts of its
    /// first frames, with what is there already; they are committed before anybody can use it.
    ///
    /// # Errors
    /// `Rule` for a bad subdomain or one in use, `Storage`.
    pub async fn create_realm(
        &self,
        new: NewRealm,
        more: impl FnOnce(&View, RealmId) -> Vec<Vec<Fact>>,
    ) -> Result<RealmHandle, DomainError> {
        check_subdomain(&new.subdomain)?;
        // One at a time: the id is the next free one.
        let _guard = self.creating.lock().await;
        if self.realm_by_subdomain(&new.subdomain).is_some() {
            return Err(rules::RuleError::SettingInvalid { name: "subdomain".into() }.into());
        }
        let id = self.realms.read().by_id.keys().max().copied().unwrap_or_default().next();
        let log = self.shard_of(id).log.clone();
        let opened = log.open(id.0, 0).map_err(StoreError::from)?;
        let mut writer = FirstFrames { server: self, id, epoch: opened.epoch, log, view: None };
        writer.write(realm_facts(id, &new, self.options.clock.now())).await?;
        let further = writer.view.as_ref().map(|view| more(view, id)).unwrap_or_default();
        for facts in further {
            writer.write(facts).await?;
        }
        let view = writer.view.ok_or(DomainError::Stopping)?;
        self.start_realm(view, opened.epoch).await
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

    /// The organization, when there is exactly one.
    pub fn only_realm(&self) -> Option<RealmHandle> {
        let realms = self.realms.read();
        realms.by_id.values().next().filter(|_| realms.by_id.len() == 1).cloned()
    }

    /// The account of an address and an API key, in whichever organization it is.
    ///
    /// # Errors
    /// `RealmDeactivated`, `UserDeactivated`. A key that is nobody's gives none.
    pub fn authenticate(
        &self,
        address: &str,
        api_key: &str,
    ) -> Result<Option<(RealmHandle, Arc<User>)>, DomainError> {
        let hash = KeyHash::of(api_key);
        for realm in self.realms() {
            if !realm.0.credentials.knows(&hash) {
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

    /// Answers every waiting poll with what there is, so that their connections can end.
    pub fn release_polls(&self) {
        for realm in self.realms() {
            for queue in realm.0.queues.read().values() {
                queue.session.do_send(crate::session::Close);
            }
        }
    }

    /// Stops: what was accepted is stored, journal and trees are closed, the folder is free.
    ///
    /// # Errors
    /// `Storage` when the trees could not be written; the journal has everything even then.
    pub async fn stop(self: Arc<Self>) -> Result<(), DomainError> {
        self.release_polls();
        for realm in self.realms() {
            realm.0.noticing.stop();
        }
        crate::outbox::stop(&self.realms()).await;
        if let Some(outside) = &self.outside {
            outside.close();
        }
        for shard in &self.shards {
            let log = shard.log.clone();
            // Drains what is queued; the shard publishes it when woken.
            let _ = actix::clock::timeout(std::time::Duration::from_secs(30), async {
                let _ = tokio::task::spawn_blocking(move || log.close()).await;
            })
            .await;
            shard.durability.wake();
            let (closed, is_closed) = oneshot::channel();
            shard.arbiter.spawn_fn(move || {
                COMMITTER.with(|committer| {
                    if let Some(committer) = committer.get() {
                        committer.publish_durable();
                        committer.close();
                    }
                });
                let _ = closed.send(());
            });
            let _ = is_closed.await;
            shard.arbiter.stop();
        }
        let projection = self.projection.lock().take();
        if let Some(projection) = projection {
            let closed = tokio::task::spawn_blocking(move || projection.close()).await;
            closed.map_err(|error| DomainError::Storage(error.to_string()))??;
        }
        Ok(())
    }
}

/// Writes the first frames of an organization that nobody can reach yet.
struct FirstFrames<'s> {
    server: &'s Server,
    id: RealmId,
    epoch: u64,
    log: Arc<dyn RealmLog>,
    view: Option<View>,
}

impl FirstFrames<'_> {
    async fn write(&mut self, facts: Vec<Fact>) -> Result<(), DomainError> {
        let progress = self.view.as_ref().map(|view| view.progress).unwrap_or_default();
        let sequence = Sequence(progress.sequence.0 + 1);
        let first_event = EventNumber(progress.last_event.0 + 1);
        let frame = Frame { at: self.server.options.clock.now(), first_event, facts };
        let payload = storage::encode_frame(&frame)?;
        let bytes = FrameBytes { realm: self.id.0, sequence: sequence.0, payload };
        let ticket = self.log.append(bytes, self.epoch).map_err(StoreError::from)?;
        let durability = &self.server.shard_of(self.id).durability;
        while durability.upto() < ticket {
            if let Some(why) = durability.failure() {
                return Err(DomainError::Storage(why));
            }
            actix::clock::sleep(std::time::Duration::from_micros(200)).await;
        }
        let rows = match &mut self.view {
            Some(view) => view.apply(sequence, &frame)?,
            None => {
                let (view, rows) = View::create(sequence, &frame)?;
                self.view = Some(view);
                rows
            }
        };
        if let (Some(view), Some(projection)) = (&self.view, self.server.projection.lock().as_ref()) {
            let (progress, stored) = (view.progress, view.recent.stored());
            projection.sender().send(Applied { realm: self.id, progress, rows, stored })?;
        }
        Ok(())
    }
}

fn start_shard(
    folder: &DataFolder,
    index: usize,
    options: &Options,
    projection: ProjectionSender,
) -> Result<Shard, DomainError> {
    let durability = Arc::new(Durability::default());
    let journal = JournalOptions {
        sync: if options.is_durable { SyncPolicy::Fdatasync } else { SyncPolicy::None },
        segment_bytes: options.journal_segment_bytes,
        ..JournalOptions::default()
    };
    let sink = Box::new(DurableSink(durability.clone()));
    let log = Journal::open(&folder.journal(index), &journal, sink).map_err(StoreError::from)?;
    let log: Arc<dyn RealmLog> = Arc::new(log);
    let arbiter = Arbiter::new();
    let (pipeline_log, pipeline_durability) = (log.clone(), durability.clone());
    arbiter.spawn_fn(move || {
        let committer = Committer::new(pipeline_log, pipeline_durability, projection);
        COMMITTER.with(|cell| drop(cell.set(committer.clone())));
        actix::spawn(committer.run());
    });
    Ok(Shard { arbiter, log, durability })
}
