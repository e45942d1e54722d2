//! Properties of any sequence of frames: memory, trees, loaded trees and trees replayed from the first frame agree, and
//! all of them agree with a simple model of users and messages.

mod attachments;
mod changes;
mod checkpoints;
mod checks;
mod plain;
mod records;

use super::{ReadCache, View};
use crate::check::compare;
use crate::fixture::*;
use crate::log::MemoryLog;
use crate::open::replay;
use crate::projection::Trees;
use model::picture::PictureFact;
use model::push::PushFact;
use model::{
    AttachmentFact, ChannelFact, Fact, GroupFact, InvitationFact, JobFact, JobId, MessageFact, MessageId,
    PersonalFact, QueueFact, RealmFact, Subscription, SubscriptionFact, UserFact,
};
use plain::Plain;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use std::collections::BTreeSet;
use std::sync::Arc;
use tempfile::TempDir;

/// A random step; numbers are taken modulo the existing records.
#[derive(Clone, Debug)]
enum Step {
    /// Creates a user, or renames the newest one.
    User { renamed: bool },
    /// Creates a group with the groups and users of two bit sets.
    Group { below: u8, members: u8 },
    /// Adds a member to a group or removes one.
    Members { group: u8, user: u8, is_added: bool },
    /// Creates a channel, private or not.
    Channel { privacy: u8 },
    /// Subscribes the users of a bit set.
    Subscribe { channel: u8, users: u8 },
    /// Unsubscribes a single user.
    Unsubscribe { channel: u8, user: u8 },
    /// Sends a message to a channel.
    Send { channel: u8, topic: u8, sender: u8, traits: u8, flagged: u8 },
    /// Sends a direct message to the users of a bit set.
    SendDirect { users: u8, sender: u8 },
    /// Leaves message ids unused.
    Skip { ids: u16 },
    /// Changes a flag on a range of messages.
    Flags { user: u8, flag: u8, is_added: bool, from: u32, ids: u32 },
    /// Sets a policy for a topic.
    Policy { user: u8, channel: u8, topic: u8, policy: u8 },
    /// Registers or ends an event queue.
    Queue { user: u8, is_ended: bool },
    /// Reserves event numbers for ephemeral events.
    Reserve,
    /// Changes a profile picture, a picture of the organization, or a custom emoji.
    Picture { number: u8, kind: u8 },
    /// Any other record: see [`records`].
    Record { kind: u8, number: u8, bits: u8 },
    /// Replaces the default channels.
    Realm { channel: u8 },
    /// Changes whether a channel is recently active.
    Activity { channel: u8, is_active: bool },
    /// Edits the content of a message.
    Edit { message: u8, flagged: u8, traits: u8 },
    /// Moves messages of a topic.
    Move(Shift),
    /// Deletes messages of a conversation.
    Delete { message: u8, count: u8 },
    /// Adds or removes a reaction.
    React { message: u8, user: u8 },
    /// Adds a part to a widget.
    Submessage { message: u8 },
    /// Erases the old versions of a message.
    EraseHistory { message: u8 },
}

/// A move of messages of a topic, with numbers as in [`Step`].
#[derive(Clone, Debug)]
struct Shift {
    /// The target.
    message: u8,
    mode: u8,
    /// None for a move within the channel.
    channel: Option<u8>,
    /// None if the topics do not change.
    topic: Option<u8>,
    /// Bit set of users who retain access when the channel changes.
    keepers: u8,
    /// Bit set of users who receive the messages.
    newcomers: u8,
    is_resolve: bool,
    /// With an edit of the target's content.
    is_edit: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let byte = any::<u8>;
    prop_oneof![
        1 => any::<bool>().prop_map(|renamed| Step::User { renamed }),
        1 => (byte(), byte()).prop_map(|(below, members)| Step::Group { below, members }),
        1 => (byte(), byte(), any::<bool>())
            .prop_map(|(group, user, is_added)| Step::Members { group, user, is_added }),
        1 => byte().prop_map(|privacy| Step::Channel { privacy }),
        4 => (byte(), byte()).prop_map(|(channel, users)| Step::Subscribe { channel, users }),
        3 => (byte(), byte()).prop_map(|(channel, user)| Step::Unsubscribe { channel, user }),
        12 => (byte(), byte(), byte(), byte(), byte())
            .prop_map(|(channel, topic, sender, traits, flagged)| Step::Send { channel, topic, sender, traits, flagged }),
        3 => (byte(), byte()).prop_map(|(users, sender)| Step::SendDirect { users, sender }),
        1 => (0u16..5000).prop_map(|ids| Step::Skip { ids }),
        8 => (byte(), byte(), any::<bool>(), 0u32..9000, prop_oneof![0u32..3, 0u32..20_000])
            .prop_map(|(user, flag, is_added, from, ids)| Step::Flags { user, flag, is_added, from, ids }),
        2 => (byte(), byte(), byte(), byte())
            .prop_map(|(user, channel, topic, policy)| Step::Policy { user, channel, topic, policy }),
        2 => (byte(), any::<bool>()).prop_map(|(user, is_ended)| Step::Queue { user, is_ended }),
        1 => Just(Step::Reserve),
        2 => (any::<u8>(), 0..4u8).prop_map(|(number, kind)| Step::Picture { number, kind }),
        20 => (0..records::KINDS, byte(), byte())
            .prop_map(|(kind, number, bits)| Step::Record { kind, number, bits }),
        1 => byte().prop_map(|channel| Step::Realm { channel }),
        1 => (byte(), any::<bool>()).prop_map(|(channel, is_active)| Step::Activity { channel, is_active }),
        6 => (byte(), byte(), byte())
            .prop_map(|(message, flagged, traits)| Step::Edit { message, flagged, traits }),
        10 => shift().prop_map(Step::Move),
        3 => (byte(), 0u8..5).prop_map(|(message, count)| Step::Delete { message, count }),
        5 => (byte(), byte()).prop_map(|(message, user)| Step::React { message, user }),
        3 => byte().prop_map(|message| Step::Submessage { message }),
        3 => byte().prop_map(|message| Step::EraseHistory { message }),
    ]
}

fn shift() -> impl Strategy<Value = Shift> {
    let byte = any::<u8>;
    let place = (proptest::option::of(byte()), proptest::option::of(byte()));
    (byte(), byte(), place, byte(), byte(), any::<bool>(), any::<bool>()).prop_map(
        |(message, mode, (channel, topic), keepers, newcomers, is_resolve, is_edit)| Shift {
            message,
            mode,
            channel,
            topic,
            keepers,
            newcomers,
            is_resolve,
            is_edit,
        },
    )
}

fn check_same(live: &View, loaded: &View) -> Result<(), TestCaseError> {
    prop_assert_eq!(&loaded.directory, &live.directory);
    prop_assert_eq!(&loaded.messages, &live.messages);
    prop_assert_eq!(&loaded.queues, &live.queues);
    prop_assert_eq!(&loaded.pending_reads, &live.pending_reads);
    prop_assert_eq!(&loaded.jobs, &live.jobs);
    prop_assert_eq!(&loaded.claims, &live.claims);
    prop_assert_eq!(loaded.progress, live.progress);
    prop_assert_eq!(&loaded.edited, &live.edited);
    prop_assert_eq!(&loaded.with_submessage, &live.with_submessage);
    prop_assert_eq!(&loaded.deleted, &live.deleted);
    prop_assert_eq!(&loaded.moves, &live.moves);
    prop_assert_eq!(&loaded.arrivals, &live.arrivals);
    prop_assert_eq!(&loaded.chunks, &live.chunks);
    Ok(())
}

/// Runs frames; after some of them a batch is written, after some the organization is loaded again.
fn run(
    frames: &[(Vec<Step>, u8)],
    trees: &Trees,
    plain: &mut Plain,
) -> Result<Run<MemoryLog>, TestCaseError> {
    let mut run = Run::new(memory_log());
    let read_cache = ReadCache::default();
    run.frame(first_facts());
    (plain.users, plain.channels, plain.newest) = (3, 2, 4_090);
    for (channel, user) in [(1, 1), (1, 2), (2, 1)] {
        plain.subscriptions.insert((channel, user), Subscription::start("#76ce90".into(), MessageId(0)));
    }
    for (steps, write) in frames {
        let facts: Vec<Fact> = steps.iter().flat_map(|step| plain.facts(step)).collect();
        run.frame(facts);
        plain.check_read_lately(run.view())?;
        plain.jobs =
            run.view().jobs.after(JobId(0)).chain(run.view().jobs.failed()).map(|job| job.id).collect();
        match write % 16 {
            0 => {
                run.write_all(trees);
                let loaded = trees.load(REALM).map_err(|error| TestCaseError::fail(error.to_string()))?;
                let mut loaded = loaded.ok_or_else(|| TestCaseError::fail("nothing is in the trees"))?;
                check_same(run.view(), &loaded)?;
                plain.check(run.view(), trees)?;
                plain.check(&loaded, trees)?;
                plain.check_erased(trees)?;
                loaded.recent.keep_read_in(&read_cache);
                plain.keep_read(&loaded, trees)?;
                run.view = Some(loaded);
                run.trees = Some(trees.clone());
            }
            count @ 1..8 => run.write(trees, usize::from(count)),
            _ => {}
        }
    }
    Ok(run)
}

fn folders() -> (TempDir, Trees, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let trees = trees(folder.path());
    (folder, trees, tempfile::tempdir().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn memory_trees_and_log_agree(
        frames in proptest::collection::vec((proptest::collection::vec(step(), 0..4), any::<u8>()), 1..60),
    ) {
        let (_folder, trees, scratch) = folders();
        let mut plain = Plain::default();
        let mut run = run(&frames, &trees, &mut plain)?;
        plain.check(run.view(), &trees)?;
        // Rows are absolute, so writing them again makes no difference.
        let last: Vec<_> = run.waiting.iter().map(|applied| crate::Applied {
            realm: applied.realm,
            progress: applied.progress,
            rows: applied.rows.clone(),
            stored: Arc::default(),
        }).collect();
        run.write_all(&trees);
        let rows: Vec<_> = trees.rows(REALM).map(Result::unwrap).collect();
        trees.write(last).unwrap();
        prop_assert_eq!(&rows, &trees.rows(REALM).map(Result::unwrap).collect::<Vec<_>>());

        let loaded = trees.load(REALM).unwrap().unwrap();
        check_same(run.view(), &loaded)?;
        plain.check(&loaded, &trees)?;
        plain.check_erased(&trees)?;
        let compared = compare(&run.log, &trees, REALM, scratch.path()).unwrap();
        prop_assert!(compared.is_clean(), "{:?}", compared.listed);
        // Of chunks, the messages are compared.
        let (chunks, others): (Vec<_>, Vec<_>) =
            rows.iter().partition(|row| crate::view::records::is_chunk(&row.key));
        let in_chunks = 2 * run.view().messages.all.len();
        prop_assert!(chunks.len() as u64 <= in_chunks + 2, "{} chunks", chunks.len());
        prop_assert_eq!(compared.rows, others.len() as u64 + in_chunks);
    }

    #[test]
    fn lagging_trees_are_replayed_from_any_frame(
        frames in proptest::collection::vec((proptest::collection::vec(step(), 0..4), 1u8..16), 1..40),
    ) {
        let (_folder, trees, scratch) = folders();
        let mut plain = Plain::default();
        let run = run(&frames, &trees, &mut plain)?;
        // Queued rows are lost, as when the process is killed.
        let lagging = trees.load(REALM).unwrap();
        let view = replay(&run.log, &trees, REALM, lagging).unwrap().unwrap();
        check_same(run.view(), &view)?;
        let compared = compare(&run.log, &trees, REALM, scratch.path()).unwrap();
        prop_assert!(compared.is_clean(), "{:?}", compared.listed);
    }
}

/// The names of a type's variants, as serde knows them.
fn variants<'de, T: serde::Deserialize<'de>>() -> Vec<String> {
    let unknown = T::deserialize(IntoDeserializer::<ValueError>::into_deserializer("?"));
    let error = unknown.err().unwrap().to_string();
    error.split('`').skip(1).step_by(2).skip(1).map(str::to_owned).collect()
}

#[test]
fn random_histories_contain_every_fact() {
    let mut runner = TestRunner::deterministic();
    let mut plain = Plain { jobs: vec![JobId(7)], ..Plain::default() };
    (plain.users, plain.channels, plain.newest) = (3, 2, 4_090);
    plain.subscriptions.insert((1, 1), Subscription::start("#76ce90".into(), MessageId(0)));
    let mut found = BTreeSet::from([["Realm".to_owned(), "Created".to_owned()]]);
    for _ in 0..6_000 {
        for fact in plain.facts(&step().new_tree(&mut runner).unwrap().current()) {
            let words = format!("{fact:?}");
            let mut names = words.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned);
            found.extend(names.next().zip(names.next()).map(<[String; 2]>::from));
        }
    }
    let families: [(&str, Vec<String>); 13] = [
        ("Realm", variants::<RealmFact>()),
        ("User", variants::<UserFact>()),
        ("Personal", variants::<PersonalFact>()),
        ("Group", variants::<GroupFact>()),
        ("Channel", variants::<ChannelFact>()),
        ("Subscription", variants::<SubscriptionFact>()),
        ("Message", variants::<MessageFact>()),
        ("Queue", variants::<QueueFact>()),
        ("Job", variants::<JobFact>()),
        ("Push", variants::<PushFact>()),
        ("Invitation", variants::<InvitationFact>()),
        ("Picture", variants::<PictureFact>()),
        ("Attachment", variants::<AttachmentFact>()),
    ];
    let mut names: Vec<String> = families.iter().map(|(family, _)| family.to_string()).collect();
    // In the order of the facts.
    names.insert(names.len() - 1, "PreImages".to_owned());
    names.push("Audit".to_owned());
    assert_eq!(variants::<Fact>(), names);
    let wanted = families
        .into_iter()
        .flat_map(|(family, variants)| variants.into_iter().map(move |variant| [family.to_owned(), variant]));
    let mut wanted: Vec<[String; 2]> = wanted.collect();
    assert!(wanted.len() > 40, "{wanted:?}");
    wanted.push(["Audit".to_owned(), "AuditEntry".to_owned()]);
    wanted.retain(|name| !found.contains(name));
    assert_eq!(wanted, [] as [[String; 2]; 0], "no random history has these");
}
