//! Who is told of messages outside of a client, decided beside the way that messages take.
//!
//! Sending writes nothing for it. A **reader** of each organization follows the messages that are durable, in their order, and
//! decides from the view who is told of each: whose phones show it (one job for the message, with those who have a phone)
//! and who gets an e-mail if it is still unread a while later (one job for all whose while begins with that message). How far
//! it has come is a fact (`NoticedUpTo`) in the same frame as the jobs, so that a crash neither loses nor repeats a decision: what
//! was durable and not looked at is looked at after the restart. What is older than a day by then is no news.
//!
//! Looking at a message costs a look-up for each of those who may hear of it at all: mentioned, following, wanting to
//! hear of everything. Only a mention of everybody looks at all subscribers.
//!
//! Phones that show a message are remembered (`PushFact::Shown`); once it is read, deleted or out of reach, they are told.
//!
//! Nothing runs where neither notifications nor e-mail are configured.

mod candidates;
mod mentions;
mod plan;

pub use mentions::{Mention, mention_of};
pub use plan::{missed_messages, shown, still_news};

use crate::error::DomainError;
use crate::shard::Committer;
use crate::shared::RealmShared;
use model::fact::Movement;
use model::job::TaskKind;
use model::push::PushFact;
use model::{Fact, Flag, FlagOp, MessageId, UserId};
use parking_lot::Mutex;
use plan::{Pending, Plan, Wanted};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How often the reader looks even if nobody wakes it.
const TICK: Duration = Duration::from_secs(5);
/// How long to wait before a refused frame is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Notes that are kept one by one; past it everything is looked at.
const NOTES_MAX: usize = 10_000;

/// What happened since the reader last looked, as far as the view does not say it.
#[derive(Default)]
struct Notes {
    /// Who read something that their phones may show.
    readers: BTreeSet<UserId>,
    /// Anybody may have lost something that their phones show.
    is_anybody: bool,
    /// Messages whose content changed.
    edited: BTreeSet<MessageId>,
}

/// What the threads of the server share of it.
#[derive(Default)]
pub(crate) struct Noticing {
    is_running: AtomicBool,
    is_stopping: AtomicBool,
    notes: Mutex<Notes>,
    woken: Notify,
}

impl Noticing {
    /// Looks over a frame that was just published.
    pub fn note(&self, facts: &[Fact]) {
        if !self.is_running.load(Ordering::Relaxed) {
            return;
        }
        let mut is_news = false;
        for fact in facts {
            is_news |= match fact {
                Fact::MessageSent { .. } => true,
                Fact::FlagsChanged { user, flag: Flag::Read, op: FlagOp::Add, .. } => self.add(|notes| {
                    notes.readers.insert(*user);
                }),
                Fact::MessagesDeleted { .. } | Fact::Unsubscribed { .. } => {
                    self.add(|notes| notes.is_anybody = true)
                }
                Fact::MessageUpdated(update) => self.add(|notes| {
                    let leaves = |movement: &Movement| movement.new_channel.is_some();
                    notes.is_anybody |= update.movement.as_ref().is_some_and(leaves);
                    if update.edited.is_some() && notes.edited.len() < NOTES_MAX {
                        notes.edited.insert(update.target);
                    }
                }),
                Fact::Push(push) => match &**push {
                    // What was read while it was on its way.
                    PushFact::Shown { users, .. } => self.add(|notes| notes.readers.extend(users)),
                    _ => false,
                },
                _ => false,
            };
        }
        if is_news {
            self.woken.notify_one();
        }
    }

    fn add(&self, note: impl FnOnce(&mut Notes)) -> bool {
        let mut notes = self.notes.lock();
        note(&mut notes);
        if notes.readers.len() > NOTES_MAX {
            notes.readers.clear();
            notes.is_anybody = true;
        }
        true
    }

    /// Begins nothing more.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.woken.notify_one();
    }
}

/// How far the reader has come.
struct Place {
    /// The newest message that it looked at.
    upto: MessageId,
    /// For whom a mail is prepared.
    pending: Pending,
}

/// The reader of one organization. Lives on its shard; what takes long happens on a blocking thread.
pub(crate) struct Reader {
    realm: Arc<RealmShared>,
    committer: Rc<Committer>,
    wanted: Wanted,
}

impl Reader {
    /// Starts the reader on this thread, where anybody can be told of anything.
    pub fn start(realm: &Arc<RealmShared>, committer: &Rc<Committer>) {
        let carries = |kind| realm.carries(kind);
        let wanted = Wanted { push: carries(TaskKind::Push), mail: carries(TaskKind::Mail) };
        if !wanted.push && !wanted.mail {
            return;
        }
        realm.noticing.is_running.store(true, Ordering::Relaxed);
        realm.noticing.notes.lock().is_anybody = true;
        let reader = Self { realm: realm.clone(), committer: committer.clone(), wanted };
        actix::spawn(reader.run());
    }

    async fn run(self) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let (noticed, last, pending) = {
            let view = self.realm.view.read();
            (view.directory.noticed_up_to(), view.messages.last, Pending::of(&view))
        };
        let mut place = Place { upto: noticed.unwrap_or(last), pending };
        // The first time that anybody can be told of anything: what was before is no news, what comes is, also for a
        // server that is started again.
        if noticed.is_none() && self.commit(Vec::new(), place.upto).await.is_err() {
            return;
        }
        loop {
            let is_tick = tokio::select! {
                () = self.realm.noticing.woken.notified() => false,
                _ = tick.tick() => true,
            };
            match self.catch_up(place, is_tick).await {
                Some(after) => place = after,
                None => return,
            }
        }
    }

    /// Looks at everything that there is. None: nothing can be decided any more.
    async fn catch_up(&self, mut place: Place, is_tick: bool) -> Option<Place> {
        loop {
            if self.realm.noticing.is_stopping.load(Ordering::SeqCst) {
                return None;
            }
            let notes = std::mem::take(&mut *self.realm.noticing.notes.lock());
            let (realm, wanted) = (self.realm.clone(), self.wanted);
            let planned = tokio::task::spawn_blocking(move || {
                let plan = Plan::make(&realm, wanted, place.upto, &notes, &mut place.pending);
                (plan, place)
            });
            let (plan, after) = planned.await.ok()?;
            place = after;
            let Ok(plan) = plan else {
                // What is read from the trees cannot be read just now.
                self.realm.noticing.notes.lock().is_anybody = true;
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            place.upto = plan.upto;
            let is_stored = self.realm.view.read().directory.noticed_up_to() == Some(plan.upto);
            if !plan.facts.is_empty() || is_tick && !is_stored {
                self.commit(plan.facts, plan.upto).await.ok()?;
            }
            if plan.is_done {
                return Some(place);
            }
        }
    }

    /// Makes it durable, however long that takes.
    async fn commit(&self, mut facts: Vec<Fact>, upto: MessageId) -> Result<(), DomainError> {
        facts.push(Fact::Push(Box::new(PushFact::NoticedUpTo(upto))));
        loop {
            let (done, is_done) = oneshot::channel();
            let result = match self.committer.ids(self.realm.id) {
                Ok(ids) => {
                    let done = Box::new(move |result| drop(done.send(result)));
                    self.committer.commit(&self.realm, ids, facts.clone(), done);
                    is_done.await.unwrap_or(Err(DomainError::Stopping))
                }
                Err(error) => Err(error),
            };
            match result {
                Err(DomainError::Overloaded) => tokio::time::sleep(AGAIN).await,
                result => return result,
            }
        }
    }
}
