//! Organizations with initial content: an owner, or the users, channels and messages of a sample.
//!
//! The directory of the seed includes facts that are not stored yet: texts are rendered and recipients computed as by a
//! server on which all of it happened.

use crate::bootstrap::{NewRealm, first_user};
use crate::draft::message_traits;
use crate::error::DomainError;
use crate::handle::RealmHandle;
use crate::realm::NewUser;
use crate::server::Server;
use model::fact::MessageRanges;
use model::{
    Bot, BotKind, Channel, ChannelFact, ChannelId, DirectConversation, Directory, Fact, Flag, Flags,
    GroupFact, GroupId, Message, MessageFact, MessageId, Place, RealmFact, RecipientId, Role, SettingValue,
    Subscription, SubscriptionFact, Timestamp, User, UserFact, UserGroup, UserId,
};
use rules::markdown::{ChannelRef, EmojiRef, GroupRef, MarkdownContext, Mentions, Rendered, UserRef};
use rules::permissions::group_setting::{default_channel_permissions, default_group_permissions};
use rules::permissions::roles::system_groups_of;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How long ago all users joined.
const JOINED_BEFORE_MILLIS: u64 = 30 * 24 * 3600 * 1000;
/// How long ago the first message was sent; the last one is a few minutes old.
const FIRST_MESSAGE_BEFORE_MILLIS: u64 = 4 * 24 * 3600 * 1000;
/// Messages in one frame, to stay well below its largest size.
const FRAME_MESSAGES_MAX: usize = 128;
/// The client that the messages came from.
const CLIENT: &str = "website";

/// The content of a sample organization. People are named by their e-mail addresses.
pub struct Seed {
    pub description: &'static str,
    /// Settings of the organization that differ from the defaults.
    pub settings: Vec<(&'static str, SettingValue)>,
    /// The id of the first user; the others follow.
    pub first_id: UserId,
    /// Owners come before their bots.
    pub users: Vec<SeedUser>,
    /// Creates the groups and channels.
    pub creator: &'static str,
    pub groups: Vec<SeedGroup>,
    /// Channels; their ids count from 1.
    pub channels: Vec<SeedChannel>,
    /// Topics and direct conversations. Their messages are interleaved.
    pub threads: Vec<SeedThread>,
}

/// A person or bot.
pub struct SeedUser {
    pub email: &'static str,
    pub full_name: &'static str,
    pub role: Role,
    /// IANA identifier, or empty.
    pub timezone: &'static str,
    /// None: no login with a password.
    pub password_hash: Option<&'static str>,
    /// Settings that differ from the defaults.
    pub settings: Vec<(&'static str, SettingValue)>,
    /// The kind of a bot, and its owner.
    pub bot: Option<(BotKind, &'static str)>,
}

/// A user group.
pub struct SeedGroup {
    pub name: &'static str,
    pub description: &'static str,
    pub members: Vec<&'static str>,
}

/// A channel of a seed.
pub struct SeedChannel {
    pub name: &'static str,
    /// The Markdown source.
    pub description: &'static str,
    /// Whether only subscribers know of it.
    pub is_private: bool,
    /// Whether new members are subscribed.
    pub is_default: bool,
    pub subscribes: fn(&User) -> bool,
}

/// A topic or direct conversation.
pub struct SeedThread {
    /// Channel and topic; none for a direct conversation of its writers.
    pub topic: Option<(&'static str, &'static str)>,
    /// E-mail addresses, in turns.
    pub writers: Vec<String>,
    /// The Markdown source of each message.
    pub texts: Vec<&'static str>,
}

impl Server {
    /// Creates an organization with its first user. It is durable when this returns.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`].
    pub async fn create_owned_realm(
        &self,
        new: NewRealm,
        owner: &NewUser,
    ) -> Result<RealmHandle, DomainError> {
        self.create_realm(new, |directory| vec![first_user(directory, owner)]).await
    }

    /// Creates an organization with the content of a seed. It is durable when this returns.
    ///
    /// # Errors
    /// Those of [`Server::create_realm`].
    pub async fn create_seeded_realm(&self, new: NewRealm, seed: &Seed) -> Result<RealmHandle, DomainError> {
        self.create_realm(new, |directory| frames(directory, seed)).await
    }
}

/// The facts of a seed, frame by frame. `directory` has the system groups and the server's own bots already.
fn frames(directory: &Directory, seed: &Seed) -> Vec<Vec<Fact>> {
    let mut seeding = Seeding {
        seed,
        now: directory.realm().created,
        directory: directory.clone(),
        newest: HashMap::new(),
        received: BTreeMap::new(),
    };
    let mut first = seeding.users();
    first.extend(seeding.groups());
    first.extend(seeding.channels());
    first.push(seeding.realm());
    let mut frames = vec![first];
    let messages = seeding.messages();
    frames.extend(messages.chunks(FRAME_MESSAGES_MAX).map(<[Fact]>::to_vec));
    frames.push(seeding.reads());
    frames
}

/// The facts of a seed, and the directory with them.
struct Seeding<'s> {
    seed: &'s Seed,
    now: Timestamp,
    directory: Directory,
    /// Newest message of each topic, which links to the topic carry.
    newest: HashMap<(ChannelId, String), MessageId>,
    /// The messages that each person received from others.
    received: BTreeMap<UserId, Vec<MessageId>>,
}

/// A message without its id and time.
struct Unsent {
    sender: UserId,
    recipient: RecipientId,
    place: Place,
    readers: Vec<UserId>,
    text: &'static str,
}

impl Seeding<'_> {
    fn joined(&self) -> Timestamp {
        Timestamp(self.now.0.saturating_sub(JOINED_BEFORE_MILLIS))
    }

    /// A user of the seed, by e-mail address.
    fn user(&self, email: &str) -> UserId {
        self.directory.user_by_email(email).map(|user| user.id).unwrap_or_default()
    }

    fn users(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (id, seed) in (self.seed.first_id.0..).zip(&self.seed.users) {
            let mut user = User::new(UserId(id), seed.email, seed.full_name, seed.role, self.joined());
            user.timezone = seed.timezone.to_owned();
            user.password_hash = seed.password_hash.map(str::to_owned);
            user.settings.extend(seed.settings.iter().map(|(name, value)| ((*name).into(), value.clone())));
            user.bot =
                seed.bot.map(|(kind, owner)| Bot { kind, owner: Some(self.user(owner)), is_system: false });
            self.directory.put_user(user.clone());
            facts.push(Fact::User(UserFact::Created(Box::new(user))));
        }
        facts
    }

    fn groups(&mut self) -> Vec<Fact> {
        let mut members: BTreeMap<GroupId, Vec<UserId>> = BTreeMap::new();
        for user in self.directory.users().filter(|user| !user.is_system_bot()) {
            for name in system_groups_of(user, 0, self.now) {
                if let Some(group) = self.directory.group_by_name(name) {
                    members.entry(group.id).or_default().push(user.id);
                }
            }
        }
        let mut facts = Vec::new();
        for (group, added) in members {
            self.directory.change_members(group, &added, &[]);
            facts.push(Fact::Group(GroupFact::MembersChanged { group, added, removed: Vec::new() }));
        }
        let creator = self.user(self.seed.creator);
        for seed in &self.seed.groups {
            let last = self.directory.groups().map(|group| group.id).max().unwrap_or_default();
            let permissions = default_group_permissions(&self.directory, Some(creator));
            let group = UserGroup {
                creator: Some(creator),
                created: Some(self.joined()),
                members: seed.members.iter().map(|email| self.user(email)).collect(),
                ..UserGroup::new(last.next(), seed.name, seed.description, permissions)
            };
            self.directory.put_group(group.clone());
            facts.push(Fact::Group(GroupFact::Created(Box::new(group))));
        }
        facts
    }

    fn channels(&mut self) -> Vec<Fact> {
        let by = self.user(self.seed.creator);
        let mut facts = Vec::new();
        for (number, seed) in (1..).zip(&self.seed.channels) {
            let channel = self.channel(number, seed, by);
            let id = channel.id;
            self.directory.put_channel(channel.clone());
            facts.push(Fact::Channel(ChannelFact::Created(Box::new(channel))));
            let mut subscribers = Vec::new();
            for user in self.subscribers(seed.subscribes) {
                let own = self.directory.subscriptions_of_user(user);
                let color =
                    rules::colors::pick_color(own.map(|(_, subscription)| subscription.color.as_str()));
                let subscription = Subscription::start(color.to_owned(), MessageId::ZERO);
                subscribers.push((user, subscription));
            }
            for (user, subscription) in &subscribers {
                self.directory.put_subscription(id, *user, subscription.clone());
            }
            facts.push(Fact::Subscription(SubscriptionFact::Added { channel: id, subscribers, by }));
        }
        facts
    }

    fn channel(&self, number: u32, seed: &SeedChannel, by: UserId) -> Channel {
        let creator = seed.is_private.then_some(by);
        Channel {
            description: seed.description.to_owned(),
            rendered_description: self.render(seed.description).html,
            creator,
            invite_only: seed.is_private,
            history_public_to_subscribers: !seed.is_private,
            ..Channel::new(
                ChannelId(number),
                RecipientId(number),
                seed.name,
                self.joined(),
                default_channel_permissions(&self.directory, creator),
            )
        }
    }

    fn subscribers(&self, subscribes: fn(&User) -> bool) -> Vec<UserId> {
        let people = self.directory.users().filter(|user| !user.is_bot() && subscribes(user));
        people.map(|user| user.id).collect()
    }

    fn realm(&self) -> Fact {
        let mut realm = model::Realm::clone(self.directory.realm());
        realm.description = self.seed.description.into();
        realm.settings.extend(self.seed.settings.iter().map(|(name, value)| ((*name).into(), value.clone())));
        let defaults = self.seed.channels.iter().filter(|channel| channel.is_default);
        let defaults = defaults.filter_map(|channel| self.directory.channel_by_name(channel.name));
        realm.default_channels = defaults.map(|channel| channel.id).collect();
        Fact::Realm(RealmFact::Changed(Box::new(realm)))
    }

    fn render(&self, text: &str) -> Rendered {
        // The texts are our own and far below the length limit.
        rules::markdown::render(text, self).unwrap_or_default()
    }

    fn messages(&mut self) -> Vec<Fact> {
        let (unsent, mut facts) = self.unsent();
        let step_millis = FIRST_MESSAGE_BEFORE_MILLIS / (unsent.len() as u64 + 1);
        for (index, unsent) in unsent.into_iter().enumerate() {
            let age_millis = FIRST_MESSAGE_BEFORE_MILLIS - step_millis * index as u64;
            let sent = Timestamp(self.now.0.saturating_sub(age_millis));
            let message = self.message(MessageId(index as u32 + 1), sent, unsent);
            facts.push(Fact::Message(MessageFact::Sent { message: Arc::new(message), echo: None }));
        }
        facts
    }

    fn message(&mut self, id: MessageId, sent: Timestamp, unsent: Unsent) -> Message {
        let rendered = self.render(unsent.text);
        if let Place::Channel { channel, topic } = &unsent.place {
            self.newest.insert((*channel, topic.to_lowercase()), id);
        }
        for reader in unsent.readers.iter().filter(|reader| **reader != unsent.sender) {
            self.received.entry(*reader).or_default().push(id);
        }
        Message {
            content: unsent.text.to_owned(),
            client: CLIENT.into(),
            traits: message_traits(&rendered, false, true),
            user_flags: self.mentioned(&rendered.mentions, &unsent.readers),
            rendered: rendered.html,
            ..Message::new(id, unsent.sender, unsent.recipient, unsent.place, sent)
        }
    }

    fn mentioned(&self, mentions: &Mentions, readers: &[UserId]) -> Vec<(UserId, Flags)> {
        let mut users: Vec<UserId> = mentions.users.iter().map(|id| UserId(*id as u32)).collect();
        for group in &mentions.groups {
            users.extend(self.directory.members_of(GroupId(*group as u32)));
        }
        users.retain(|user| readers.contains(user));
        users.sort();
        users.dedup();
        users.into_iter().map(|user| (user, Flags::only(Flag::Mentioned))).collect()
    }

    /// All messages in order, and the facts that create the direct conversations.
    fn unsent(&self) -> (Vec<Unsent>, Vec<Fact>) {
        let (mut threads, mut facts) = (Vec::new(), Vec::new());
        for thread in &self.seed.threads {
            let writers: Vec<UserId> = thread.writers.iter().map(|email| self.user(email)).collect();
            let (recipient, place, readers) = match thread.topic {
                Some((channel, topic)) => {
                    let Some(channel) = self.directory.channel_by_name(channel) else { continue };
                    let place = Place::Channel { channel: channel.id, topic: topic.to_owned() };
                    (channel.recipient, place, self.directory.subscriber_ids(channel.id).collect())
                }
                None => {
                    let mut users = writers.clone();
                    users.sort();
                    let recipient = RecipientId((self.seed.channels.len() + facts.len()) as u32 + 1);
                    let conversation = DirectConversation { recipient, users: users.clone() };
                    facts.push(Fact::Message(MessageFact::ConversationCreated(conversation)));
                    (recipient, Place::Direct, users)
                }
            };
            let texts = thread.texts.iter().zip(writers.into_iter().cycle());
            let unsent = texts.map(|(text, sender)| Unsent {
                sender,
                recipient,
                place: place.clone(),
                readers: readers.clone(),
                text,
            });
            threads.push(unsent.collect::<Vec<_>>().into_iter());
        }
        // One message of each thread after the other.
        let mut all = Vec::new();
        loop {
            let before = all.len();
            all.extend(threads.iter_mut().filter_map(Iterator::next));
            if all.len() == before {
                return (all, facts);
            }
        }
    }

    /// All messages are read: unread messages of a test are those that the test sent.
    fn reads(&self) -> Vec<Fact> {
        let read = self.received.iter().map(|(user, messages)| {
            let messages = MessageRanges::from_sorted(messages.iter().copied());
            Fact::Message(MessageFact::read(*user, messages))
        });
        read.collect()
    }
}

/// All writers of a seed may see everything that is linked to.
impl MarkdownContext for Seeding<'_> {
    fn user_by_name(&self, name: &str) -> Option<UserRef> {
        self.directory.users_by_name(name).next().map(|user| user_ref(user))
    }

    fn user_by_id(&self, id: u64) -> Option<UserRef> {
        self.directory.user(UserId(u32::try_from(id).ok()?)).map(|user| user_ref(user))
    }

    fn group_by_name(&self, name: &str) -> Option<GroupRef> {
        let group = self.directory.group_by_name(name)?;
        Some(GroupRef { id: group.id.0.into(), display_name: group.name.clone(), is_active: true })
    }

    fn channel_by_name(&self, name: &str) -> Option<ChannelRef> {
        let channel = self.directory.channel_by_name(name)?;
        Some(ChannelRef { id: channel.id.0.into(), name: channel.name.clone() })
    }

    fn newest_message_in_topic(&self, channel_id: u64, topic: &str) -> Option<u64> {
        let channel = ChannelId(u32::try_from(channel_id).ok()?);
        self.newest.get(&(channel, topic.to_lowercase())).map(|id| id.0.into())
    }

    fn custom_emoji(&self, _: &str) -> Option<EmojiRef> {
        None
    }
}

fn user_ref(user: &User) -> UserRef {
    UserRef { id: user.id.0.into(), full_name: user.full_name.clone(), is_active: user.is_active }
}
