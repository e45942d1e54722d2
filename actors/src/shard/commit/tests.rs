use super::*;
use crate::fixture::{self, HAMLET, IAGO, START, VERONA};
use crate::shard::DurableSink;
use model::MessageFact;
use model::fact::MessageRanges;
use model::{Flag, FlagOp, MessageId};
use storage::Projection;
use storage::log::{FrameBytes, MemoryLog};

/// A shard without threads: the test decides when the log's reports are processed.
struct Shard {
    committer: Rc<Committer>,
    log: Arc<MemoryLog>,
    realm: Arc<RealmShared>,
    answers: Rc<RefCell<Vec<Result<(), String>>>>,
    health: Arc<StorageHealth>,
    _projection: Projection,
    _folder: tempfile::TempDir,
}

impl Shard {
    fn start() -> Self {
        let (realm, _, folder) = fixture::shared();
        let (durability, health) = (Arc::new(Durability::default()), Arc::new(StorageHealth::default()));
        let log = Arc::new(MemoryLog::new(Box::new(DurableSink(durability.clone()))));
        let projection = Projection::start(realm.trees.clone()).unwrap();
        let epoch = log.open(1, 0).unwrap().epoch;
        // The fixture's two frames, so that sequences agree.
        for sequence in 1..=2 {
            log.append(FrameBytes { realm: 1, sequence, payload: Default::default(), original: None }, epoch)
                .unwrap();
        }
        let committer = Committer::new(log.clone(), durability, projection.sender(), (0, health.clone()));
        let sequencer = Sequencer::after(&realm.view.read());
        committer.add_realm(
            realm.clone(),
            sequencer,
            epoch,
            Rc::new(Fanout::new(realm.clone(), Default::default())),
        );
        Self {
            committer,
            log,
            realm,
            answers: Rc::default(),
            health,
            _projection: projection,
            _folder: folder,
        }
    }

    fn send(&self) -> bool {
        let mut ids = self.committer.ids(self.realm.id).unwrap();
        let id = ids.take_message().unwrap();
        let view = self.realm.view.read();
        let draft = fixture::draft(&view, HAMLET, VERONA, "t", "hi");
        let destination = crate::draft::Destination {
            recipient: model::RecipientId(1),
            place: model::Place::Channel { channel: VERONA, topic: "t".into() },
            topic_links: Vec::new(),
        };
        let message = draft.draft.into_message(id, START, destination, Default::default());
        drop(view);
        let fact = Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None });
        let answers = self.answers.clone();
        let done: CommitCallback =
            Box::new(move |result| answers.borrow_mut().push(result.map_err(|e| e.to_string())));
        self.committer.commit(&self.realm, ids, vec![fact], done)
    }

    fn newest(&self) -> MessageId {
        self.realm.view.read().messages.last
    }
}

#[actix::test]
async fn commit_is_published_and_answered_after_durable() {
    let shard = Shard::start();
    shard.log.hold();
    assert!(shard.send() && shard.send() && shard.send());
    shard.committer.publish_durable();
    assert_eq!(shard.newest(), MessageId(0));
    assert!(shard.answers.borrow().is_empty());
    shard.log.release(2);
    shard.committer.publish_durable();
    assert_eq!(shard.newest(), MessageId(2));
    assert_eq!(shard.answers.borrow().len(), 2);
    shard.log.resume();
    shard.committer.publish_durable();
    assert_eq!(shard.newest(), MessageId(3));
    assert!(shard.answers.borrow().iter().all(Result::is_ok));
}

#[actix::test]
async fn failed_write_fails_pending_commits_and_pauses() {
    let shard = Shard::start();
    assert!(shard.send());
    shard.committer.publish_durable();
    shard.log.hold();
    assert!(shard.send() && shard.send());
    shard.log.fail_next();
    shard.log.resume();
    shard.committer.publish_durable();
    let answers = shard.answers.borrow();
    assert_eq!(answers.len(), 3);
    assert!(answers[0].is_ok() && answers[1].is_err() && answers[2].is_err(), "{answers:?}");
    assert!(matches!(shard.committer.ids(shard.realm.id), Err(DomainError::Paused(Pause::JournalFailed))));
    assert_eq!(shard.newest(), MessageId(1));
    drop(answers);
    // Failed decisions release their ids, and the shard continues.
    shard.log.recover().unwrap();
    shard.committer.resume(None).unwrap();
    assert_eq!(shard.committer.generation(), 1);
    assert!(shard.send());
    shard.committer.publish_durable();
    assert_eq!(shard.newest(), MessageId(2));
    assert!(shard.answers.borrow().last().unwrap().is_ok());
    // An event that is not kept waits for nothing that failed.
    shard.committer.publish_ephemeral(&shard.realm, EventBody::Heartbeat, Audience::Everyone).unwrap();
    shard.committer.publish_durable();
    assert!(shard.committer.is_idle());
}

#[actix::test]
async fn low_space_refuses_changes_but_allows_essential_writes() {
    let shard = Shard::start();
    let space = |free_bytes| Some(storage::disk::Space { free_bytes, total_bytes: 1 << 40 });
    let reserve = crate::health::Reserve { warn_bytes: 0, min_bytes: 0 };
    shard.health.set_space(space(1 << 20), reserve);
    let refused = shard.committer.ids(shard.realm.id);
    assert!(matches!(refused, Err(DomainError::Paused(Pause::LowSpace))));
    assert!(shard.committer.essential_ids(shard.realm.id).is_ok());
    shard.health.set_space(space(1 << 30), reserve);
    assert!(shard.committer.ids(shard.realm.id).is_ok());
}

#[actix::test]
async fn refused_commit_uses_no_ids() {
    let shard = Shard::start();
    let before = shard.committer.ids(shard.realm.id).unwrap();
    let stranger = fixture::shared().0;
    let mut ids = before;
    ids.take_message().unwrap();
    // A sequence that the log does not expect.
    ids.sequence = model::Sequence(99);
    let fact = Fact::Message(MessageFact::FlagsChanged {
        user: IAGO,
        flag: Flag::Read,
        op: FlagOp::Add,
        messages: MessageRanges(Vec::new()),
    });
    let answers = shard.answers.clone();
    let done: CommitCallback =
        Box::new(move |result| answers.borrow_mut().push(result.map_err(|e| e.to_string())));
    assert!(!shard.committer.commit(&stranger, ids, vec![fact], done));
    assert_eq!(shard.answers.borrow().len(), 1);
    let after = shard.committer.ids(shard.realm.id).unwrap();
    assert_eq!((before.message, before.event, before.sequence), (after.message, after.event, after.sequence));
}

#[actix::test]
async fn frames_of_a_former_owner_are_refused_alike() {
    let shard = Shard::start();
    // From here on, another owner has the organization.
    shard.log.open(1, 0).unwrap();
    assert!(!shard.send());
    let answers = shard.answers.clone();
    let done: CommitCallback =
        Box::new(move |result| answers.borrow_mut().push(result.map_err(|e| e.to_string())));
    shard.committer.reset_realm(&shard.realm, vec![Vec::new()], done);
    let stopping: Result<(), String> = Err(DomainError::Stopping.to_string());
    assert_eq!(*shard.answers.borrow(), vec![stopping.clone(), stopping]);
    assert!(!shard.committer.is_resetting(&shard.realm));
    assert!(shard.committer.ids(shard.realm.id).is_ok(), "no id is taken, and nothing is paused");
}

#[actix::test]
async fn ephemeral_events_wait_for_earlier_commits() {
    let shard = Shard::start();
    shard.log.hold();
    assert!(shard.send());
    shard.committer.publish_ephemeral(&shard.realm, EventBody::Heartbeat, Audience::Everyone).unwrap();
    shard.committer.publish_durable();
    assert!(!shard.committer.is_idle(), "the heartbeat has a greater number than the message");
    shard.log.resume();
    shard.committer.publish_durable();
    assert!(shard.committer.is_idle());
    // Numbers of ephemeral events are never reused, not even after a restart.
    let used = shard.committer.ids(shard.realm.id).unwrap().event;
    assert!(shard.realm.view.read().progress.reserved_events >= used);
}

#[actix::test]
async fn barrier_runs_after_earlier_commits_are_published() {
    let shard = Shard::start();
    let turns = Rc::new(Cell::new(0));
    let take = |turns: &Rc<Cell<u32>>| -> CommitCallback {
        let turns = turns.clone();
        Box::new(move |result| turns.set(turns.get() + u32::from(result.is_ok())))
    };
    shard.committer.after_pending_commits(&shard.realm, take(&turns));
    assert_eq!(turns.get(), 1, "nothing was on its way");
    shard.log.hold();
    assert!(shard.send());
    shard.committer.after_pending_commits(&shard.realm, take(&turns));
    assert!(shard.send());
    shard.committer.publish_durable();
    assert_eq!(turns.get(), 1);
    shard.log.release(1);
    shard.committer.publish_durable();
    assert_eq!((turns.get(), shard.newest()), (2, MessageId(1)));
}
