//! Frames applied in memory, written as rows and loaded again. See also `property_tests`.

use super::ReadCache;
use super::View;
use super::read_cache::READ_BYTES_MAX;
use super::recent::RECENT_BYTES_MAX;
use super::{JOBS_FAILED_MAX, JOBS_WAITING_MAX};
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::projection::Trees;
use model::fact::DeletedFrom;
use model::job::{JobOutcome, MailTask, Task, TaskKind};
use model::{
    ChannelId, Fact, Flag, FlagOp, JobFact, JobId, Message, MessageFact, MessageId, MessageRanges,
    NamedStatus, NavigationView, PersonalFact, ProfileFields, ProfileValue, RealmFact, Sequence, Timestamp,
    UserFact, UserId, UserStatus,
};
use roaring::RoaringBitmap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

/// An organization with its trees.
pub(super) struct World {
    pub run: Run<MemoryLog>,
    pub trees: Trees,
    _folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trees = trees(folder.path());
        let mut run = Run::new(memory_log());
        run.frame(first_facts());
        Self { run, trees, _folder: folder }
    }

    /// Loads the organization again; it must equal the one in memory before.
    pub fn restart(&mut self) -> &View {
        self.run.write_all(&self.trees);
        let loaded = self.trees.load(REALM).unwrap().unwrap();
        assert_eq!(loaded.messages, self.run.view().messages);
        assert_eq!(loaded.directory, self.run.view().directory);
        assert_eq!(loaded.queues, self.run.view().queues);
        assert_eq!(loaded.progress, self.run.view().progress);
        assert_eq!(loaded.moves, self.run.view().moves);
        assert_eq!(loaded.arrivals, self.run.view().arrivals);
        self.run.view = Some(loaded);
        self.run.trees = Some(self.trees.clone());
        self.run.view()
    }

    pub fn flags(&self, user: u32, message: &Message) -> model::Flags {
        self.run.view().flags_for(UserId(user), message)
    }
}

#[test]
fn deleted_messages_of_several_conversations_and_senders_are_in_no_set() {
    let mut world = World::new();
    world.run.frame(vec![direct(1000, &[1, 2])]);
    let messages = [
        channel_message(1, 1, 1, "tea"),
        channel_message(2, 2, 1, "milk"),
        channel_message(3, 2, 2, "tea"),
        direct_message(4, 1, 1000),
        channel_message(5, 1, 1, "tea"),
    ];
    world.run.frame(messages.map(sent).to_vec());
    // The senders are no longer in memory.
    world.restart();
    world.run.frame(vec![sent(channel_message(6, 3, 1, "tea"))]);
    let from = DeletedFrom::Topic { channel: ChannelId(1), topic: "Tea".into() };
    let gone = MessageRanges::from_sorted([1, 2, 3, 4, 6].map(MessageId));
    world.run.frame(vec![Fact::Message(MessageFact::Deleted { from, messages: gone, by: None })]);
    let index = &world.run.view().messages;
    assert_eq!(index.all, RoaringBitmap::from_iter([5]));
    assert_eq!(index.channels.keys().collect::<Vec<_>>(), [&ChannelId(1)]);
    assert_eq!(index.senders.keys().collect::<Vec<_>>(), [&UserId(1)]);
    assert!(index.directs.is_empty());
    world.restart();
}

fn read_by_sender(id: u32) -> Message {
    let mut message = channel_message(id, 1, 1, "tea");
    message.traits.read_by_sender = true;
    message
}

#[test]
fn message_marked_unread_by_sender_stays_unread() {
    let mut world = World::new();
    let (first, second) = (read_by_sender(1), read_by_sender(2));
    world.run.frame(vec![sent(first.clone())]);
    assert_eq!(world.flags(1, &first), flags(&[Flag::Read]));
    assert_eq!(world.flags(2, &first), flags(&[]));
    world.run.frame(vec![flags_changed(1, Flag::Read, FlagOp::Remove, &[(1, 1)])]);
    // In the same block, but after the messages that the block's row covers.
    world.run.frame(vec![sent(second.clone())]);
    world.restart();
    assert_eq!(world.flags(1, &first), flags(&[]));
    assert_eq!(world.flags(1, &second), flags(&[Flag::Read]));
    world.run.frame(vec![flags_changed(1, Flag::Read, FlagOp::Add, &[(1, 1)])]);
    world.restart();
    assert_eq!(world.flags(1, &first), flags(&[Flag::Read]));
}

#[test]
fn flag_on_undelivered_message_makes_it_historical() {
    let mut world = World::new();
    let message = channel_message(1, 1, 1, "tea");
    world.run.frame(vec![sent(message.clone()), sent(channel_message(2, 1, 1, "tea"))]);
    // Nothing is stored for it, and it reads as historical and read.
    assert_eq!(world.flags(3, &message), flags(&[Flag::Historical, Flag::Read]));
    assert!(!world.run.view().messages.users.contains_key(&UserId(3)));

    world.run.frame(vec![flags_changed(3, Flag::Starred, FlagOp::Add, &[(1, 1)])]);
    world.restart();
    assert_eq!(world.flags(3, &message), flags(&[Flag::Historical, Flag::Read, Flag::Starred]));

    world.run.frame(vec![flags_changed(3, Flag::Starred, FlagOp::Remove, &[(1, 1)])]);
    world.run.frame(vec![flags_changed(3, Flag::Read, FlagOp::Remove, &[(1, 1)])]);
    world.restart();
    assert_eq!(world.flags(3, &message), flags(&[Flag::Historical]));

    // Starring it again does not make it read again.
    world.run.frame(vec![flags_changed(3, Flag::Starred, FlagOp::Add, &[(1, 1)])]);
    world.restart();
    assert_eq!(world.flags(3, &message), flags(&[Flag::Historical, Flag::Starred]));
}

#[test]
fn historical_message_can_be_marked_unread() {
    let mut world = World::new();
    let message = channel_message(1, 1, 1, "tea");
    world.run.frame(vec![sent(message.clone())]);
    world.run.frame(vec![flags_changed(3, Flag::Read, FlagOp::Remove, &[(1, 1)])]);
    world.restart();
    assert_eq!(world.flags(3, &message), flags(&[Flag::Historical]));
}

#[test]
fn delivery_follows_subscription_spans() {
    let mut world = World::new();
    let messages: Vec<Message> = (1..=6).map(|id| channel_message(id, 1, 1, "tea")).collect();
    world.run.frame(vec![sent(messages[0].clone()), sent(messages[1].clone())]);
    world.run.frame(vec![unsubscribed(1, &[2], 2)]);
    world.run.frame(vec![sent(messages[2].clone()), sent(messages[3].clone())]);
    let before = world.run.view().directory.subscription(model::ChannelId(1), UserId(2)).unwrap();
    let mut again = model::Subscription::clone(before);
    again.resubscribe(MessageId(4));
    let subscribers = vec![(UserId(2), again)];
    world.run.frame(vec![model::Fact::Subscription(model::SubscriptionFact::Added {
        channel: model::ChannelId(1),
        subscribers,
        by: UserId(1),
    })]);
    world.run.frame(vec![sent(messages[4].clone()), sent(messages[5].clone())]);
    let view = world.restart();
    let delivered =
        |user| view.delivered_in_channel(UserId(user), model::ChannelId(1)).iter().collect::<Vec<_>>();
    assert_eq!(delivered(1), [1, 2, 3, 4, 5, 6]);
    assert_eq!(delivered(2), [1, 2, 5, 6]);
    assert!(delivered(3).is_empty());
    let asked: RoaringBitmap = [2, 3, 5].into_iter().collect();
    assert_eq!(view.delivered_among(UserId(2), &asked).iter().collect::<Vec<_>>(), [2, 5]);
    for message in &messages {
        assert_eq!(view.is_delivered(UserId(2), message), delivered(2).contains(&message.id.0));
    }
}

#[test]
fn direct_message_is_delivered_to_all_participants() {
    let mut world = World::new();
    let message = direct_message(1, 1, 9);
    world.run.frame(vec![direct(9, &[1, 3]), sent(message.clone())]);
    let view = world.restart();
    assert_eq!(view.direct_messages_of(UserId(3)).iter().collect::<Vec<_>>(), [1]);
    assert!(view.direct_messages_of(UserId(2)).is_empty());
    assert!(view.is_delivered(UserId(1), &message) && !view.is_delivered(UserId(2), &message));
}

#[test]
fn flags_persist_across_blocks_and_gaps() {
    let mut world = World::new();
    let ids = [4094, 4095, 4096, 4097, 8191, 8192, 12_288];
    for id in ids {
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
    }
    let rows = world.run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Add, &[(1, u32::MAX)])]);
    assert_eq!(rows.0.len(), 4, "one row for each block with a message in it");
    world.restart();
    assert_eq!(world.run.view().messages.users[&UserId(2)].read.iter().collect::<Vec<_>>(), ids);
    world.run.frame(vec![flags_changed(2, Flag::Read, FlagOp::Remove, &[(4095, 4096), (12_288, 12_288)])]);
    let next = channel_message(12_289, 1, 1, "tea");
    world.run.frame(vec![sent(next.clone())]);
    let view = world.restart();
    assert_eq!(view.messages.users[&UserId(2)].read.iter().collect::<Vec<_>>(), [4094, 4097, 8191, 8192]);
    let unread = view.unread_of(UserId(2), &view.delivered_in_channel(UserId(2), model::ChannelId(1)));
    assert_eq!(unread.iter().collect::<Vec<_>>(), [4095, 4096, 12_288, 12_289]);
    // A message that came after a range over all ids is not read by it.
    assert_eq!(world.flags(2, &next), flags(&[]));
}

#[test]
fn topic_is_spelled_as_on_its_newest_message() {
    let mut world = World::new();
    for (id, topic) in [(1, "tea"), (2, "TEA"), (3, "Tea")] {
        world.run.frame(vec![sent(channel_message(id, 1, 1, topic))]);
    }
    let view = world.restart();
    let topic = view.messages.topic(model::ChannelId(1), &model::TopicKey::new("tEa")).unwrap();
    assert_eq!((topic.name.as_str(), topic.ids.len()), ("Tea", 3));
}

#[test]
fn event_positions_precede_every_later_event() {
    let mut world = World::new();
    let mut first_events = vec![(1, 1)];
    for id in 1..=300 {
        let next = world.run.view().progress.last_event.0 + 1;
        world.run.frame(vec![sent(channel_message(id, 1, 1, "tea"))]);
        first_events.push((u64::from(id) + 1, next));
    }
    world.restart();
    let newest = world.run.view().progress.last_event.0;
    for event in 0..=newest {
        let from = world.trees.frame_before_event(REALM, model::EventNumber(event)).unwrap();
        let (sequence, _) = first_events.iter().rev().find(|(_, first)| *first <= event + 1).unwrap();
        assert!(from.0 <= *sequence, "event {event} is in frame {sequence}, reading starts at {from}");
        assert!(sequence - from.0 < 128, "event {event}: reading starts at {from} for frame {sequence}");
    }
}

#[test]
fn only_stored_bodies_are_evicted() {
    let mut world = World::new();
    let size = 200_000;
    let count = 2 * RECENT_BYTES_MAX / size;
    for id in 1..=count as u32 {
        let mut message = channel_message(id, 1, 1, "tea");
        message.content = "x".repeat(size);
        world.run.frame(vec![sent(message)]);
    }
    let recent = &world.run.view().recent;
    assert_eq!(recent.len(), count, "they are not in the trees");
    // Most frames are in the trees.
    recent.stored().store(1 + count as u64 * 3 / 4, Ordering::Release);
    world.run.frame(vec![sent(channel_message(count as u32 + 1, 1, 1, "tea"))]);
    let recent = &world.run.view().recent;
    let kept: Vec<u32> = (1..=count as u32 + 1).filter(|id| recent.get(MessageId(*id)).is_some()).collect();
    let bytes: usize = kept.iter().map(|id| recent.get(MessageId(*id)).unwrap().content.len()).sum();
    assert!(kept.contains(&(count as u32 * 3 / 4 + 1)) && kept.contains(&(count as u32 + 1)));
    assert!(bytes <= RECENT_BYTES_MAX && bytes + 2 * size > RECENT_BYTES_MAX, "{bytes} bytes in memory");
    assert!(kept.windows(2).all(|pair| pair[0] + 1 == pair[1]), "the oldest are evicted first");
}

#[test]
fn changed_message_is_recent_and_others_are_evicted() {
    let mut recent = super::RecentMessages::default();
    let message = |id: u32| {
        let mut message = channel_message(id, 1, 1, "tea");
        message.content = "x".repeat(RECENT_BYTES_MAX / 4);
        Arc::new(message)
    };
    for id in 1..=3 {
        recent.put(Sequence(id.into()), message(id));
    }
    // The oldest changes again and again, and is never in the trees yet.
    for sequence in 4..=20 {
        recent.put(Sequence(sequence), message(1));
        recent.put(Sequence(sequence), message(sequence as u32));
        recent.stored().store(sequence - 1, Ordering::Release);
    }
    assert!(recent.get(MessageId(1)).is_some() && recent.get(MessageId(2)).is_none());
    assert!(recent.len() <= 4, "{}", recent.len());
    recent.remove(MessageId(1));
    assert!(recent.get(MessageId(1)).is_none());
}

#[test]
fn read_bodies_are_kept_until_they_change() {
    let cache = ReadCache::default();
    let view_of = |stored: &[u32]| {
        let mut recent = super::RecentMessages::default();
        recent.keep_read_in(&cache);
        let read: Vec<Arc<model::Message>> =
            stored.iter().map(|id| Arc::new(channel_message(*id, 1, 1, "tea"))).collect();
        recent.keep_read(&read, recent.revision());
        recent
    };
    let mut recent = view_of(&[1, 2, 3, 4]);
    let kept = |recent: &super::RecentMessages| -> Vec<u32> {
        (1..=5).filter(|id| recent.read_lately(MessageId(*id)).is_some()).collect()
    };
    assert_eq!(kept(&recent), [1, 2, 3, 4]);
    assert_eq!(kept(&view_of(&[])), [0; 0], "of another view");
    recent.change(Sequence(1), MessageId(1), |message| message.topic_links.clear());
    recent.warm(Sequence(2), Arc::new(channel_message(2, 1, 1, "coffee")));
    recent.remove(MessageId(3));
    assert_eq!(kept(&recent), [4]);
    // What was read before a change may be out of date.
    let before = recent.revision();
    recent.change(Sequence(3), MessageId(5), |message| message.topic_links.clear());
    recent.keep_read([&Arc::new(channel_message(5, 1, 1, "tea"))], before);
    assert_eq!(kept(&recent), [4]);
}

#[test]
fn bodies_read_before_an_organization_began_again_are_not_kept() {
    let cache = ReadCache::default();
    let mut recent = super::RecentMessages::default();
    recent.keep_read_in(&cache);
    let read = [Arc::new(channel_message(1, 1, 1, "tea"))];
    let before = recent.revision();
    recent.keep_read(&read, before);
    let recent = recent.emptied();
    assert!(recent.read_lately(MessageId(1)).is_none());
    recent.keep_read(&read, before);
    assert!(recent.read_lately(MessageId(1)).is_none(), "it is of before");
    recent.keep_read(&read, recent.revision());
    assert!(recent.read_lately(MessageId(1)).is_some());
}

#[test]
fn read_bodies_are_bounded_in_bytes() {
    let cache = ReadCache::default();
    let mut recent = super::RecentMessages::default();
    recent.keep_read_in(&cache);
    for id in 1..=100 {
        let mut message = channel_message(id, 1, 1, "tea");
        message.content = "x".repeat(READ_BYTES_MAX as usize / 50);
        recent.keep_read([&Arc::new(message)], recent.revision());
    }
    assert!(cache.bytes() <= READ_BYTES_MAX && cache.bytes() > READ_BYTES_MAX / 2, "{} bytes", cache.bytes());
}

#[test]
fn flags_of_many_users_count_as_memory() {
    let mut message = channel_message(1, 1, 1, "tea");
    message.user_flags = (1..=2_000_000).map(|user| (UserId(user), flags(&[Flag::Mentioned]))).collect();
    let mut recent = super::RecentMessages::default();
    recent.stored().store(u64::MAX, Ordering::Release);
    recent.put(Sequence(1), Arc::new(message));
    assert!(recent.is_empty());
}

#[test]
fn first_frame_must_create_the_organization() {
    let frame = model::Frame {
        at: model::Timestamp(1),
        first_event: model::EventNumber(1),
        facts: vec![sent(channel_message(1, 1, 1, "tea"))],
    };
    let error = View::create(Sequence(1), &frame).unwrap_err();
    assert!(error.to_string().contains("does not create an organization"), "{error}");
}

#[test]
fn personal_records_persist_and_can_be_removed() {
    let mut world = World::new();
    let before = world.run.view().directory.clone();
    let (user, muted, field) = (UserId(1), UserId(2), model::ProfileFieldId(1));
    let status = Some(UserStatus { text: "tea".into(), emoji: None });
    let view = Some(NavigationView { is_pinned: true, name: Some("Tea".into()) });
    let value = Some(ProfileValue { text: "*tea*".into(), html: Some("<p><em>tea</em></p>".into()) });
    let named = NamedStatus::default();
    let fragment = || "narrow/topic/\u{2615}".to_owned();
    world.run.frame(vec![
        Fact::Personal(PersonalFact::StatusSet { user, status: status.clone(), named }),
        Fact::Personal(PersonalFact::Muted { user, muted, since: Some(Timestamp(7)) }),
        Fact::Personal(PersonalFact::Muted { user: UserId(3), muted, since: Some(Timestamp(8)) }),
        Fact::Personal(PersonalFact::NavigationViewSet {
            user,
            fragment: fragment(),
            before: None,
            view: view.clone(),
        }),
        Fact::Realm(RealmFact::ProfileFieldsChanged(Box::new(ProfileFields {
            list: Vec::new(),
            last: field,
        }))),
        Fact::User(UserFact::ProfileValuesSet { user, values: vec![(field, value.clone())] }),
    ]);
    let directory = &world.restart().directory;
    assert_eq!(directory.status(user).map(|status| &**status), status.as_ref());
    assert_eq!(directory.muted_by(user).collect::<Vec<_>>(), [(muted, Timestamp(7))]);
    assert_eq!(directory.muters_of(muted).collect::<Vec<_>>(), [user, UserId(3)]);
    assert_eq!(directory.navigation_view(user, &fragment()).map(|view| &**view), view.as_ref());
    assert_eq!(directory.profile_fields().last, field);
    assert_eq!(directory.user(user).unwrap().profile_data.get(&field), value.as_ref());
    world.run.frame(vec![
        Fact::Personal(PersonalFact::StatusSet { user, status: None, named }),
        Fact::Personal(PersonalFact::Muted { user, muted, since: None }),
        Fact::Personal(PersonalFact::Muted { user: UserId(3), muted, since: None }),
        Fact::Personal(PersonalFact::NavigationViewSet {
            user,
            fragment: fragment(),
            before: view,
            view: None,
        }),
        Fact::Realm(RealmFact::ProfileFieldsChanged(Box::default())),
        Fact::User(UserFact::ProfileValuesSet { user, values: vec![(field, None)] }),
    ]);
    assert_eq!(world.restart().directory, before);
}

#[test]
fn jobs_persist_until_they_end_and_failed_ones_are_bounded() {
    let mut world = World::new();
    let task =
        |old: &str| Box::new(Task::Mail(MailTask::AddressChanged { user: UserId(1), old: old.into() }));
    let added = |old: &str| Fact::Job(JobFact::Added { due: Timestamp(7), task: task(old) });
    world.run.frame(vec![
        Fact::Personal(PersonalFact::Muted { user: UserId(1), muted: UserId(2), since: None }),
        added("a"),
        added("b"),
    ]);
    let jobs = world.restart().jobs.clone();
    let ids: Vec<JobId> = jobs.after(JobId(0)).map(|job| job.id).collect();
    let sequence = world.run.view().progress.sequence;
    assert_eq!(ids, [JobId::of(sequence, 1), JobId::of(sequence, 2)]);
    assert_eq!((jobs.get(ids[0]).unwrap().due, jobs.waiting_count(TaskKind::Mail)), (Timestamp(7), 2));
    assert_eq!(jobs.after(ids[0]).count(), 1);
    let destinations: Vec<_> = jobs.waiting_by_destination(TaskKind::Mail).collect();
    assert_eq!(destinations, [(jobs.get(ids[0]).unwrap().task.destination(), 2)]);
    let end = |job, outcome| Fact::Job(JobFact::Ended { job, outcome });
    let gave_up = || JobOutcome::GaveUp { why: "no route to host".into() };
    world.run.frame(vec![end(ids[0], JobOutcome::Delivered), end(ids[1], gave_up()), end(ids[0], gave_up())]);
    let jobs = &world.restart().jobs;
    assert_eq!((jobs.after(JobId(0)).count(), jobs.waiting_count(TaskKind::Mail)), (0, 0));
    assert_eq!(jobs.waiting_by_destination(TaskKind::Mail).count(), 0);
    let failed: Vec<_> =
        jobs.failed().map(|job| (job.id, job.failure.as_ref().unwrap().why.as_str())).collect();
    assert_eq!(failed, [(ids[1], "no route to host")], "an ended job stays as it is");
    for _ in 0..JOBS_FAILED_MAX {
        world.run.frame(vec![added("c")]);
        let job = JobId::of(world.run.view().progress.sequence, 0);
        world.run.frame(vec![end(job, gave_up())]);
    }
    let jobs = &world.restart().jobs;
    assert_eq!(jobs.failed().count(), JOBS_FAILED_MAX);
    assert!(jobs.failed().all(|job| job.id != ids[1]), "the oldest is removed");
}

#[test]
fn pending_jobs_are_bounded_by_kind() {
    let mut world = World::new();
    let task = Task::Mail(MailTask::AddressChanged { user: UserId(1), old: "a".into() });
    let added = Fact::Job(JobFact::Added { due: Timestamp(7), task: Box::new(task) });
    for _ in 0..11 {
        world.run.frame(vec![added.clone(); JOBS_WAITING_MAX / 10]);
    }
    let jobs = &world.restart().jobs;
    assert_eq!(jobs.waiting_count(TaskKind::Mail), JOBS_WAITING_MAX);
    assert!(!jobs.has_room(TaskKind::Mail) && jobs.has_room(TaskKind::Webhook));
}
