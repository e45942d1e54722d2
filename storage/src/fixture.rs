//! Records and frames for the tests of this package.

use crate::batch::Applied;
use crate::error::StoreError;
use crate::log::{Durable, FrameBytes, LogError, MemoryLog, RealmLog, Ticket};
use crate::open::encode_frame;
use crate::projection::Trees;
use crate::view::{Rows, View};
use model::channel::ChannelPermissions;
use model::fact::{MessageRanges, MessageUpdate};
use model::group::GroupPermissions;
use model::queue::{ClientCapabilities, QueueOptions};
use model::{
    Channel, ChannelFact, ChannelId, ConversationId, DirectConversation, EventKinds, EventNumber, Fact, Flag,
    FlagOp, Flags, Frame, GroupId, GroupSetting, Message, MessageFact, MessageId, MessageVersion, Place,
    QueueId, QueueRecord, Realm, RealmFact, RealmId, RecipientId, Role, Sequence, Subscription,
    SubscriptionFact, Timestamp, User, UserFact, UserGroup, UserId,
};
use std::path::Path;
use std::sync::Arc;

/// The organization of all frames in these tests.
pub const REALM: RealmId = RealmId(3);

/// Page cache of trees in tests, in bytes.
pub const CACHE_BYTES: u64 = 16 * 1024 * 1024;

/// A sink that ignores the reports of a log.
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

/// Those of the messages 1 to `last` that are in the trees, as they were sent.
pub fn stored_messages(trees: &Trees, last: u32) -> Result<Vec<Message>, StoreError> {
    let ids: Vec<MessageId> = (1..=last).map(MessageId).collect();
    trees.messages_as_sent(REALM, &ids)
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

fn system_group() -> GroupSetting {
    GroupSetting::Group(GroupId(1))
}

pub fn group(id: u32, members: &[u32], subgroups: &[u32]) -> UserGroup {
    UserGroup {
        members: members.iter().copied().map(UserId).collect(),
        subgroups: subgroups.iter().copied().map(GroupId).collect(),
        ..UserGroup::new(GroupId(id), format!("group {id}"), "", GroupPermissions::all(system_group()))
    }
}

/// A channel; its recipient has the same number.
pub fn channel(id: u32) -> Channel {
    let permissions = ChannelPermissions {
        administer_channel: GroupSetting::only(UserId(1)),
        ..ChannelPermissions::all(system_group())
    };
    let name = format!("Channel {id}");
    Channel {
        creator: Some(UserId(1)),
        ..Channel::new(ChannelId(id), RecipientId(id), name, Timestamp(1_000), permissions)
    }
}

fn message(id: u32, sender: u32, recipient: u32, place: Place) -> Message {
    let sent = Timestamp(2_000 + u64::from(id));
    Message {
        content: format!("tea {id}"),
        rendered: format!("<p>tea {id}</p>"),
        client: "website".into(),
        ..Message::new(MessageId(id), UserId(sender), RecipientId(recipient), place, sent)
    }
}

pub fn channel_message(id: u32, sender: u32, channel: u32, topic: &str) -> Message {
    message(id, sender, channel, Place::Channel { channel: ChannelId(channel), topic: topic.into() })
}

/// Characters that compression cannot shorten much, the same ones for the same id.
pub fn noise_of(id: u32, count: usize) -> String {
    let mut state = u64::from(id);
    let next = |_| {
        state = xxhash_rust::xxh3::xxh3_64(&state.to_le_bytes());
        char::from(b' ' + (state % 95) as u8)
    };
    (0..count).map(next).collect()
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
    Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })
}

/// An edit of a message of channel 1; `number` is that of the version.
pub fn edited(id: u32, number: u32, word: &str) -> Fact {
    let version = MessageVersion {
        number,
        by: UserId(1),
        at: Timestamp(10_500),
        content: format!("{word} edited {number}"),
        rendered: format!("<p>{word} edited {number}</p>"),
        traits: Default::default(),
        user_flags: Vec::new(),
    };
    Fact::Message(MessageFact::Updated(Box::new(MessageUpdate {
        target: MessageId(id),
        by: UserId(1),
        at: Timestamp(10_500),
        conversation: ConversationId::Channel(ChannelId(1)),
        edited: Some(Arc::new(version)),
        movement: None,
    })))
}

pub fn subscribed(channel: u32, users: &[u32], after: u32) -> Fact {
    let record = Subscription::start("#76ce90".into(), MessageId(after));
    Fact::Subscription(SubscriptionFact::Added {
        channel: ChannelId(channel),
        subscribers: users.iter().map(|user| (UserId(*user), record.clone())).collect(),
        by: UserId(1),
    })
}

pub fn unsubscribed(channel: u32, users: &[u32], last: u32) -> Fact {
    let users = users.iter().copied().map(UserId).collect();
    Fact::Subscription(SubscriptionFact::Removed {
        channel: ChannelId(channel),
        last: MessageId(last),
        users,
        by: UserId(1),
    })
}

pub fn flags_changed(user: u32, flag: Flag, op: FlagOp, ranges: &[(u32, u32)]) -> Fact {
    let messages = ranges.iter().map(|(first, last)| (MessageId(*first), MessageId(*last))).collect();
    Fact::Message(MessageFact::FlagsChanged {
        user: UserId(user),
        flag,
        op,
        messages: MessageRanges(messages),
    })
}

pub fn direct(recipient: u32, users: &[u32]) -> Fact {
    let users = users.iter().copied().map(UserId).collect();
    Fact::Message(MessageFact::ConversationCreated(DirectConversation {
        recipient: RecipientId(recipient),
        users,
    }))
}

/// Three users in two channels.
pub fn first_facts() -> Vec<Fact> {
    let mut facts = vec![Fact::Realm(RealmFact::Created(Box::new(realm())))];
    facts.extend((1..=3).map(|id| Fact::User(UserFact::Created(Box::new(user(id))))));
    facts.extend((1..=2).map(|id| Fact::Channel(ChannelFact::Created(Box::new(channel(id))))));
    facts.push(subscribed(1, &[1, 2], 0));
    facts.push(subscribed(2, &[1], 0));
    facts
}

/// An organization with a log, run as by an actor and the projection, but without threads.
pub struct Run<L: RealmLog> {
    pub log: L,
    pub view: Option<View>,
    pub waiting: Vec<Applied>,
    /// The source of bodies that are not in memory, once the organization was loaded.
    pub trees: Option<Trees>,
    epoch: u64,
}

impl<L: RealmLog> Run<L> {
    pub fn new(log: L) -> Self {
        let epoch = log.open(REALM.0, 0).unwrap().epoch;
        Self { log, view: None, waiting: Vec::new(), trees: None, epoch }
    }

    /// Waits until everything that was appended is durable.
    pub fn sync(&mut self) {
        self.epoch = self.log.open(REALM.0, 0).unwrap().epoch;
    }

    pub fn view(&self) -> &View {
        self.view.as_ref().unwrap()
    }

    /// Appends a frame of these facts and applies it; its rows wait.
    pub fn frame(&mut self, facts: Vec<Fact>) -> Rows {
        let sequence = self.view.as_ref().map(|view| view.progress.sequence).unwrap_or_default().next();
        self.frame_at(Timestamp(10_000 + sequence.0), facts)
    }

    /// As [`Self::frame`], with the time of the frame.
    pub fn frame_at(&mut self, at: Timestamp, facts: Vec<Fact>) -> Rows {
        let progress = self.view.as_ref().map(|view| view.progress).unwrap_or_default();
        let newest = progress.last_event.max(progress.reserved_events);
        let sequence = progress.sequence.next();
        let frame = Frame { at, first_event: newest.next(), facts };
        let payload = encode_frame(&frame).unwrap();
        self.log
            .append(FrameBytes { realm: REALM.0, sequence: sequence.0, payload, original: None }, self.epoch)
            .unwrap();
        self.apply(sequence, &frame)
    }

    /// Loads bodies that a frame changes into memory, as the commit pipeline does.
    fn warm(&mut self, sequence: Sequence, frame: &Frame) {
        let (Some(view), Some(trees)) = (&mut self.view, &self.trees) else { return };
        for id in frame.facts.iter().filter_map(Fact::changed_message) {
            if view.recent.get(id).is_none() && view.messages.all.contains(id.0) {
                let own = trees.message(REALM, id, view.changes_of(id)).unwrap();
                view.warm(sequence, Arc::new(own.unwrap()));
            }
        }
    }

    fn apply(&mut self, sequence: Sequence, frame: &Frame) -> Rows {
        self.warm(sequence, frame);
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

/// Exactly these flags.
pub fn flags(all: &[Flag]) -> Flags {
    all.iter().fold(Flags::NONE, |flags, flag| flags.with(*flag))
}
