//! Records and frames for the tests of this package.

use crate::log::{Durable, FrameBytes, LogError, MemoryLog, RealmLog, Ticket};
use crate::open::encode_frame;
use crate::projection::{Applied, Trees};
use crate::view::{Rows, View};
use model::channel::ChannelPermissions;
use model::fact::MessageRanges;
use model::group::GroupPermissions;
use model::message::MessageTraits;
use model::queue::{ClientCapabilities, QueueOptions};
use model::{
    Channel, ChannelId, DirectConversation, EventKinds, EventNumber, Fact, Flag, FlagOp, Flags, Frame,
    GroupId, GroupSetting, Message, MessageId, Place, QueueId, QueueRecord, Realm, RealmId, RecipientId,
    Role, Sequence, Subscription, Timestamp, User, UserGroup, UserId,
};
use std::path::Path;
use std::sync::Arc;

/// Where all frames of these tests belong.
pub const REALM: RealmId = RealmId(3);

/// Page cache of trees in tests.
pub const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// A sink for logs whose reports nobody waits for.
pub struct Ignored;

impl Durable for Ignored {
    fn durable(&mut self, _: Ticket, _: Result<(), LogError>) {}
}

pub fn memory_log() -> MemoryLog {
    MemoryLog::new(Box::new(Ignored))
}

pub fn trees(folder: &Path) -> Trees {
    Trees::open(folder, CACHE_BYTES).unwrap()
}

pub fn realm() -> Realm {
    Realm::new(REALM, "tea", "Tea", "tea.example", Timestamp(1_000))
}

pub fn user(id: u32) -> User {
    User::new(
        UserId(id),
        format!("person{id}@tea.example"),
        format!("Person {id}"),
        Role::Member,
        Timestamp(1_000),
    )
}

fn nobody() -> GroupSetting {
    GroupSetting::Group(GroupId(1))
}

pub fn group(id: u32, members: &[u32], subgroups: &[u32]) -> UserGroup {
    UserGroup {
        members: members.iter().copied().map(UserId).collect(),
        subgroups: subgroups.iter().copied().map(GroupId).collect(),
        ..UserGroup::new(GroupId(id), format!("group {id}"), "", GroupPermissions::all(nobody()))
    }
}

/// A channel; its recipient has the same number.
pub fn channel(id: u32) -> Channel {
    let permissions = ChannelPermissions {
        administer_channel: GroupSetting::only(UserId(1)),
        ..ChannelPermissions::all(nobody())
    };
    let name = format!("Channel {id}");
    Channel {
        creator: Some(UserId(1)),
        ..Channel::new(ChannelId(id), RecipientId(id), name, Timestamp(1_000), permissions)
    }
}

fn message(id: u32, sender: u32, recipient: u32, place: Place) -> Message {
    Message {
        id: MessageId(id),
        sender: UserId(sender),
        recipient: RecipientId(recipient),
        place,
        sent: Timestamp(2_000 + u64::from(id)),
        content: format!("tea {id}"),
        rendered: format!("<p>tea {id}</p>"),
        client: "website".into(),
        traits: MessageTraits::default(),
        user_flags: Vec::new(),
        topic_links: Vec::new(),
        edits: Vec::new(),
        last_edited: None,
        last_moved: None,
        reactions: Vec::new(),
        submessages: Vec::new(),
    }
}

pub fn channel_message(id: u32, sender: u32, channel: u32, topic: &str) -> Message {
    message(id, sender, channel, Place::Channel { channel: ChannelId(channel), topic: topic.into() })
}

pub fn direct_message(id: u32, sender: u32, recipient: u32) -> Message {
    message(id, sender, recipient, Place::Direct)
}

pub fn queue(id: &str, user: u32, after: u64) -> QueueRecord {
    QueueRecord {
        id: QueueId(id.into()),
        user: UserId(user),
        registered: Timestamp(3_000),
        after: EventNumber(after),
        options: QueueOptions {
            kinds: EventKinds::ALL,
            apply_markdown: true,
            client_gravatar: false,
            slim_presence: false,
            all_public_channels: false,
            narrow: vec![("is".into(), "starred".into())],
            capabilities: ClientCapabilities::default(),
            idle_secs_max: 600,
        },
    }
}

pub fn sent(message: Message) -> Fact {
    Fact::MessageSent { message: Arc::new(message), echo: None }
}

pub fn subscribed(channel: u32, users: &[u32], after: u32) -> Fact {
    let record = Subscription::start("#76ce90".into(), MessageId(after));
    Fact::Subscribed {
        channel: ChannelId(channel),
        subscribers: users.iter().map(|user| (UserId(*user), record.clone())).collect(),
        by: UserId(1),
    }
}

pub fn unsubscribed(channel: u32, users: &[u32], last: u32) -> Fact {
    let users = users.iter().copied().map(UserId).collect();
    Fact::Unsubscribed { channel: ChannelId(channel), last: MessageId(last), users, by: UserId(1) }
}

pub fn flags_changed(user: u32, flag: Flag, op: FlagOp, ranges: &[(u32, u32)]) -> Fact {
    let messages = ranges.iter().map(|(first, last)| (MessageId(*first), MessageId(*last))).collect();
    Fact::FlagsChanged { user: UserId(user), flag, op, messages: MessageRanges(messages) }
}

pub fn direct(recipient: u32, users: &[u32]) -> Fact {
    let users = users.iter().copied().map(UserId).collect();
    Fact::DirectConversationCreated(DirectConversation { recipient: RecipientId(recipient), users })
}

/// Three users in two channels.
pub fn first_facts() -> Vec<Fact> {
    let mut facts = vec![Fact::RealmCreated(Box::new(realm()))];
    facts.extend((1..=3).map(|id| Fact::UserCreated(Box::new(user(id)))));
    facts.extend((1..=2).map(|id| Fact::ChannelCreated(Box::new(channel(id)))));
    facts.push(subscribed(1, &[1, 2], 0));
    facts.push(subscribed(2, &[1], 0));
    facts
}

/// An organization with a log, as an actor and the projection would run it, without threads.
pub struct Run<L: RealmLog> {
    pub log: L,
    pub view: Option<View>,
    pub waiting: Vec<Applied>,
    epoch: u64,
}

impl<L: RealmLog> Run<L> {
    pub fn new(log: L) -> Self {
        let epoch = log.open(REALM.0, 0).unwrap().epoch;
        Self { log, view: None, waiting: Vec::new(), epoch }
    }

    pub fn view(&self) -> &View {
        self.view.as_ref().unwrap()
    }

    /// Appends a frame of these facts and applies it; its rows wait.
    pub fn frame(&mut self, facts: Vec<Fact>) -> Rows {
        let progress = self.view.as_ref().map(|view| view.progress).unwrap_or_default();
        let newest = progress.last_event.max(progress.reserved_events);
        let sequence = progress.sequence.next();
        let frame = Frame { at: Timestamp(10_000 + sequence.0), first_event: newest.next(), facts };
        let payload = encode_frame(&frame).unwrap();
        self.log.append(FrameBytes { realm: REALM.0, sequence: sequence.0, payload }, self.epoch).unwrap();
        self.apply(sequence, &frame)
    }

    fn apply(&mut self, sequence: Sequence, frame: &Frame) -> Rows {
        let rows = match &mut self.view {
            Some(view) => view.apply(sequence, frame).unwrap(),
            None => {
                let (view, rows) = View::create(sequence, frame).unwrap();
                self.view = Some(view);
                rows
            }
        };
        let view = self.view();
        let (progress, stored) = (view.progress, view.recent.stored());
        self.waiting.push(Applied { realm: REALM, progress, rows: rows.clone(), stored });
        rows
    }

    /// Writes the oldest `count` waiting frames' rows as one batch.
    pub fn write(&mut self, trees: &Trees, count: usize) {
        let count = count.min(self.waiting.len());
        trees.write(self.waiting.drain(..count).collect()).unwrap();
    }

    /// Writes all waiting rows.
    pub fn write_all(&mut self, trees: &Trees) {
        self.write(trees, usize::MAX);
    }
}

/// Flags with these and no others.
pub fn flags(all: &[Flag]) -> Flags {
    all.iter().fold(Flags::NONE, |flags, flag| flags.with(*flag))
}
