//! An organization for tests: the system groups and bots, three people, two channels.

use crate::NewUser;
use crate::bootstrap::{NewRealm, realm_facts};
use crate::budget::ByteBudget;
use crate::clock::{ManualClock, SystemClock};
use crate::draft::{ChannelDraft, Destination, Draft};
use crate::handle::RealmHandle;
use crate::login::Credentials;
use crate::options::Options;
use crate::realm::new_user;
use crate::server::Server;
use crate::shared::{QueueLimits, RealmShared};
use model::{
    Channel, ChannelFact, ChannelId, Directory, EventNumber, Fact, Frame, GroupFact, MessageFact, MessageId,
    Place, RealmId, Role, Sequence, Subscription, SubscriptionFact, Timestamp, UserFact, UserId,
};
use parking_lot::RwLock;
use rules::markdown::Rendered;
use rules::permissions::group_setting::default_channel_permissions;
use std::path::Path;
use std::sync::Arc;
use storage::{Trees, View};

/// The users: an administrator, a member and a guest.
pub const IAGO: UserId = UserId(4);
pub const HAMLET: UserId = UserId(5);
pub const POLONIUS: UserId = UserId(6);
/// Public; Iago and Hamlet subscribe.
pub const VERONA: ChannelId = ChannelId(1);
/// Private; only Iago subscribes.
pub const CORE: ChannelId = ChannelId(2);
/// When everything happened.
pub const START: Timestamp = Timestamp(1_800_000_000_000);

/// The organization in memory.
pub fn view() -> View {
    let new = NewRealm { subdomain: String::new(), name: "Test".into(), email_domain: "test.example".into() };
    let frame = Frame { at: START, first_event: EventNumber(1), facts: realm_facts(RealmId(1), &new, START) };
    let (mut view, _) = View::create(Sequence(1), &frame).unwrap();
    let facts = people().chain(channels(&view.directory)).collect();
    let first_event = view.progress.last_event.next();
    view.apply(Sequence(2), &Frame { at: START, first_event, facts }).unwrap();
    view
}

fn people() -> impl Iterator<Item = Fact> {
    let people = [
        (IAGO, "iago", Role::Administrator, 3),
        (HAMLET, "hamlet", Role::Member, 6),
        (POLONIUS, "polonius", Role::Guest, 7),
    ];
    people.into_iter().flat_map(|(id, name, role, group)| {
        let new = NewUser::new(format!("{name}@test.example"), name, role);
        let group = model::GroupId(group);
        [
            Fact::User(UserFact::Created(Box::new(new_user(id, &new, START)))),
            Fact::Group(GroupFact::MembersChanged { group, added: vec![id], removed: Vec::new() }),
        ]
    })
}

/// The same organization on a server.
pub async fn on_server(server: &Server) -> RealmHandle {
    let new = NewRealm { subdomain: String::new(), name: "Test".into(), email_domain: "test.example".into() };
    let more = |directory: &Directory| [people().chain(channels(directory)).collect()];
    server.create_realm(new, more).await.unwrap()
}

/// A message to a channel.
pub fn sent(view: &View, channel: ChannelId, id: u32) -> Fact {
    let recipient = view.directory.channel(channel).unwrap().recipient;
    let draft = draft(view, IAGO, channel, "lunch", "hi").draft;
    let place = Place::Channel { channel, topic: "lunch".into() };
    let destination = Destination { recipient, place, topic_links: Vec::new() };
    let message = draft.into_message(MessageId(id), START, destination, Default::default());
    Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None })
}

/// Applies facts as the next frame.
pub fn apply(view: &mut View, facts: Vec<Fact>) {
    let first_event = view.progress.last_event.next();
    view.apply(view.progress.sequence.next(), &Frame { at: START, first_event, facts }).unwrap();
}

fn channels(directory: &Directory) -> impl Iterator<Item = Fact> + use<> {
    let permissions = default_channel_permissions(directory, None);
    let channels = [(VERONA, "Verona", false, vec![IAGO, HAMLET]), (CORE, "core team", true, vec![IAGO])];
    channels.into_iter().flat_map(move |(id, name, is_private, users)| {
        let recipient = model::RecipientId(id.0);
        let mut channel = Channel::new(id, recipient, name, Timestamp::default(), permissions.clone());
        channel.creator = Some(IAGO);
        channel.invite_only = is_private;
        let start = |user| (user, Subscription::start("#76ce90".into(), MessageId(0)));
        let subscribers = users.into_iter().map(start).collect();
        [
            Fact::Channel(ChannelFact::Created(Box::new(channel))),
            Fact::Subscription(SubscriptionFact::Added { channel: id, subscribers, by: IAGO }),
        ]
    })
}

/// The shared state of the organization, with trees in a temporary folder that the returned guard removes.
pub fn shared() -> (Arc<RealmShared>, ManualClock, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let trees = Trees::open(&folder.path().join("state"), 8 * 1024 * 1024).unwrap();
    let clock = ManualClock::new(START);
    let view = view();
    let search = crate::search::RealmSearch::new(None, RealmId(1), view.progress.sequence);
    let shared = RealmShared {
        linkifiers: Default::default(),
        id: RealmId(1),
        credentials: Credentials::new([7; 32], &view.directory),
        addresses: Default::default(),
        view: RwLock::new(view),
        trees,
        clock: Arc::new(clock.clone()),
        presence: parking_lot::Mutex::new(crate::presence::PresenceTable::starting(Timestamp(0))),
        owner_alerts: Default::default(),
        queue_limits: QueueLimits::default(),
        sweep_secs: 3600,
        unclaimed_secs: 3600,
        released_secs: 3600,
        notifications: crate::notifications::Notifications::default(),
        search,
        web_session_limits: Default::default(),
        scheduled: crate::scheduled::Claims::default(),
        outbox: Default::default(),
        resume: Default::default(),
    };
    (Arc::new(shared), clock, folder)
}

/// Options of a server in a folder: nothing is durable, and nothing runs in the background.
pub fn options(data: &Path) -> Options {
    Options {
        data: data.to_path_buf(),
        shards: 1,
        is_durable: false,
        tree_cache_bytes: 8 * 1024 * 1024,
        journal_segment_bytes: 1024 * 1024,
        checkpoint_frames: 1_000,
        scrub_bytes_per_sec: 0,
        compact_bytes_per_sec: 0,
        segment_kept_secs: 0,
        erase_interval_secs: 0,
        journal_keep: None,
        free_bytes_min: 1,
        free_bytes_warn: 1,
        queues: QueueLimits::default(),
        web_sessions: Default::default(),
        write_bytes_daily_max: 0,
        conversations_daily_max: 0,
        sweep_secs: 3600,
        unclaimed_secs: 3600,
        released_secs: 3600,
        outbox: None,
        clock: Arc::new(SystemClock),
        budget: ByteBudget::new(1 << 30, 1 << 30),
        search_write_after: None,
        #[cfg(feature = "cluster")]
        cluster: None,
    }
}

/// A handle to the organization, without its actor.
pub fn handle(shared: &Arc<RealmShared>) -> RealmHandle {
    let (mailbox, _) = actix::dev::channel::channel(1);
    let actor = Arc::new(actix::Addr::new(mailbox));
    RealmHandle { shared: shared.clone(), actor, registry: Default::default() }
}

/// A message on its way.
pub fn draft(view: &View, sender: UserId, channel: ChannelId, topic: &str, content: &str) -> ChannelDraft {
    let draft = Draft {
        sender: view.directory.user(sender).unwrap().clone(),
        content: content.to_owned(),
        rendered: Rendered { html: format!("<p>{content}</p>"), ..Rendered::default() },
        client: "test".into(),
        read_by_sender: false,
        echo: None,
        claims: Vec::new(),
        widget: None,
    };
    ChannelDraft { draft, channel, topic: topic.to_owned(), topic_links: Vec::new(), owner_notice: None }
}
