//! The facts of a seed: accounts, channels and messages.

use super::content::{Seed, SeedChannel, Subscribers};
use super::received::Received;
use crate::draft::message_traits;
use crate::markdown::preview_of;
use crate::uploads::claims_of_sent;
use model::{
    AttachmentId, Bot, Channel, ChannelFact, ChannelId, DirectConversation, Directory, Fact, Flag, Flags,
    GroupFact, GroupId, Message, MessageFact, MessageId, Place, RealmFact, RecipientId, Subscription,
    SubscriptionFact, Timestamp, User, UserFact, UserGroup, UserId,
};
use rules::colors::ColorUses;
use rules::custom_emoji::emoji_url;
use rules::markdown::{
    ChannelRef, EmojiRef, GroupRef, Linkifier, MarkdownContext, Mentions, Rendered, UploadPreview, UserRef,
};
use rules::permissions::group_setting::{default_channel_permissions, default_group_permissions};
use rules::permissions::roles::system_groups_of;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// How long ago all users joined.
const JOINED_BEFORE_MILLIS: u64 = 30 * 24 * 3600 * 1000;
/// How long ago the first message was sent; the last one is a few minutes old.
const FIRST_MESSAGE_BEFORE_MILLIS: u64 = 4 * 24 * 3600 * 1000;
/// The client that the messages came from.
const CLIENT: &str = "website";

/// The facts of a seed, and the directory with them.
pub(super) struct SeedBuilder<'s> {
    pub(super) seed: &'s Seed<'s>,
    pub(super) now: Timestamp,
    pub(super) directory: Directory,
    /// Those of the directory, compiled.
    pub(super) linkifiers: Vec<Linkifier>,
    /// Newest message of each topic, which links to the topic carry.
    pub(super) newest: HashMap<(ChannelId, String), MessageId>,
    pub(super) received: Received,
    /// The messages of each thread, as sent.
    pub(super) threads: Vec<Vec<Arc<Message>>>,
}

/// A message without its id and time.
pub(super) struct UnsentMessage<'s> {
    /// The index of its thread.
    pub(super) thread: usize,
    pub(super) sender: UserId,
    pub(super) recipient: RecipientId,
    pub(super) place: Place,
    pub(super) text: Cow<'s, str>,
}

/// The numbers of the messages that are being sent.
pub(super) struct Sending {
    pub(super) last: MessageId,
    /// The time between two messages.
    pub(super) step_millis: u64,
}

impl<'s> SeedBuilder<'s> {
    pub(super) fn joined(&self) -> Timestamp {
        Timestamp(self.now.0.saturating_sub(JOINED_BEFORE_MILLIS))
    }

    /// A user of the seed, by e-mail address.
    pub(super) fn user(&self, email: &str) -> UserId {
        self.directory.user_by_email(email).map(|user| user.id).unwrap_or_default()
    }

    pub(super) fn users(&mut self) -> Vec<Fact> {
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

    pub(super) fn groups(&mut self) -> Vec<Fact> {
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

    pub(super) fn channels(&mut self) -> Vec<Fact> {
        let by = self.user(self.seed.creator);
        let mut facts = Vec::new();
        let mut colors: HashMap<UserId, ColorUses> = HashMap::new();
        for (number, seed) in (1..).zip(&self.seed.channels) {
            let channel = self.channel(number, seed, by);
            let id = channel.id;
            self.directory.put_channel(channel.clone());
            facts.push(Fact::Channel(ChannelFact::Created(Box::new(channel))));
            let mut subscribers = Vec::new();
            for user in self.subscribers(&seed.subscribers) {
                let color = colors.entry(user).or_default().take();
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

    fn channel(&self, number: u32, seed: &SeedChannel<'_>, by: UserId) -> Channel {
        let creator = seed.is_private.then_some(by);
        Channel {
            description: seed.description.to_owned(),
            rendered_description: self.render(seed.description).html,
            creator,
            invite_only: seed.is_private,
            is_web_public: seed.is_web_public,
            history_public_to_subscribers: seed.shows_history,
            folder: seed.folder.and_then(|name| self.folder(name)),
            ..Channel::new(
                ChannelId(number),
                RecipientId(number),
                seed.name,
                self.joined(),
                default_channel_permissions(&self.directory, creator),
            )
        }
    }

    fn subscribers(&self, subscribers: &Subscribers<'_>) -> Vec<UserId> {
        let is_one: fn(&User) -> bool = match subscribers {
            Subscribers::Everyone => |_| true,
            Subscribers::Members => |user| !user.is_guest(),
            Subscribers::Moderators => |user| user.is_moderator(),
            Subscribers::Named(emails) => {
                let named = emails.iter().filter_map(|email| self.directory.user_by_email(email));
                let ids: BTreeSet<UserId> = named.map(|user| user.id).collect();
                return ids.into_iter().collect();
            }
        };
        let people = self.directory.users().filter(|user| !user.is_bot() && is_one(user));
        people.map(|user| user.id).collect()
    }

    pub(super) fn realm(&self) -> Fact {
        let mut realm = model::Realm::clone(self.directory.realm());
        realm.description = self.seed.description.into();
        realm.settings.extend(self.seed.settings.iter().map(|(name, value)| ((*name).into(), value.clone())));
        realm.settings.extend(self.permissions());
        let defaults = self.seed.channels.iter().filter(|channel| channel.is_default);
        let defaults = defaults.filter_map(|channel| self.directory.channel_by_name(channel.name));
        realm.default_channels = defaults.map(|channel| channel.id).collect();
        Fact::Realm(RealmFact::Changed(Box::new(realm)))
    }

    pub(super) fn render(&self, text: &str) -> Rendered {
        // The texts are our own and far below the length limit.
        rules::markdown::render(text, self).unwrap_or_default()
    }

    pub(super) fn messages(&mut self) -> Vec<Fact> {
        let (unsent, mut facts) = self.unsent();
        let notices = self.notices();
        let mut sending = Sending {
            last: MessageId::ZERO,
            step_millis: FIRST_MESSAGE_BEFORE_MILLIS / (unsent.len() + notices + 1) as u64,
        };
        self.threads.resize(self.seed.threads.len(), Vec::new());
        for unsent in unsent {
            facts.extend(self.send(&mut sending, unsent));
        }
        facts.extend(self.changes(&mut sending));
        facts
    }

    /// Sends the next message.
    pub(super) fn send(&mut self, sending: &mut Sending, unsent: UnsentMessage<'_>) -> Vec<Fact> {
        let age_millis = FIRST_MESSAGE_BEFORE_MILLIS - sending.step_millis * u64::from(sending.last.0);
        sending.last = sending.last.next();
        let thread = unsent.thread;
        let sent = Timestamp(self.now.0.saturating_sub(age_millis));
        let (message, claims) = self.message(sending.last, sent, unsent);
        let message = Arc::new(message);
        if let Some(sent) = self.threads.get_mut(thread) {
            sent.push(message.clone());
        }
        let claims = claims_of_sent(message.id, message.sent, claims);
        std::iter::once(Fact::Message(MessageFact::Sent { message, echo: None })).chain(claims).collect()
    }

    fn message(
        &mut self,
        id: MessageId,
        sent: Timestamp,
        unsent: UnsentMessage<'_>,
    ) -> (Message, Vec<AttachmentId>) {
        let text = unsent.text.replace("{realm}", &self.directory.realm().id.to_string());
        let rendered = self.render(&text);
        let files = rendered.upload_paths.iter().filter_map(|path| self.directory.attachment_by_path(path));
        let claims: Vec<AttachmentId> = files.map(|file| file.id).collect();
        if let Place::Channel { channel, topic } = &unsent.place {
            self.newest.insert((*channel, topic.to_lowercase()), id);
        }
        self.received.add(unsent.recipient, unsent.sender, id);
        let message = Message {
            content: text,
            client: CLIENT.into(),
            traits: message_traits(&rendered, !claims.is_empty(), true),
            user_flags: self.mentioned(&rendered.mentions, unsent.recipient),
            rendered: rendered.html,
            ..Message::new(id, unsent.sender, unsent.recipient, unsent.place, sent)
        };
        (message, claims)
    }

    /// Those of the readers of a channel or conversation who are mentioned.
    pub(super) fn mentioned(&self, mentions: &Mentions, recipient: RecipientId) -> Vec<(UserId, Flags)> {
        let mut users: Vec<UserId> = mentions.users.iter().map(|id| UserId(*id as u32)).collect();
        for group in &mentions.groups {
            users.extend(self.directory.members_of(GroupId(*group as u32)));
        }
        let readers = self.received.readers(recipient);
        users.retain(|user| readers.binary_search(user).is_ok());
        users.sort();
        users.dedup();
        users.into_iter().map(|user| (user, Flags::only(Flag::Mentioned))).collect()
    }

    /// The number of messages that were sent.
    pub(super) fn sent_count(&self) -> u32 {
        self.threads.iter().map(|thread| thread.len() as u32).sum()
    }

    /// All messages in order, and the facts that create the direct conversations.
    fn unsent(&mut self) -> (Vec<UnsentMessage<'s>>, Vec<Fact>) {
        let (mut threads, mut facts) = (Vec::new(), Vec::new());
        for (index, thread) in self.seed.threads.iter().enumerate() {
            let writers: Vec<UserId> = thread.writers.iter().map(|email| self.user(email)).collect();
            let (recipient, place) = match thread.topic {
                Some((channel, topic)) => {
                    let Some(channel) = self.directory.channel_by_name(channel) else { continue };
                    let place = Place::Channel { channel: channel.id, topic: topic.to_owned() };
                    let readers = || self.directory.subscriber_ids(channel.id).collect();
                    self.received.join(channel.recipient, readers);
                    (channel.recipient, place)
                }
                None => {
                    let mut users = writers.clone();
                    users.sort();
                    let recipient = RecipientId((self.seed.channels.len() + facts.len()) as u32 + 1);
                    self.received.join(recipient, || users.clone());
                    let conversation = DirectConversation { recipient, users };
                    facts.push(Fact::Message(MessageFact::ConversationCreated(conversation)));
                    (recipient, Place::Direct)
                }
            };
            let senders: Vec<UserId> = match thread.senders.is_empty() {
                true => writers,
                false => thread.senders.iter().map(|email| self.user(email)).collect(),
            };
            let texts = thread.texts.iter().zip(senders.into_iter().cycle());
            let unsent = texts.map(|(text, sender)| UnsentMessage {
                thread: index,
                sender,
                recipient,
                place: place.clone(),
                text: Cow::Borrowed(*text),
            });
            threads.push(unsent.collect::<Vec<_>>().into_iter());
        }
        // One message of each thread after the other.
        let mut all = Vec::new();
        while !threads.is_empty() {
            threads.retain_mut(|thread| {
                all.extend(thread.next());
                thread.len() > 0
            });
        }
        (all, facts)
    }

    /// All messages are read: unread messages of a test are those that the test sent.
    pub(super) fn reads(self) -> impl Iterator<Item = Fact> {
        let received = self.received.by_user();
        received.map(|(user, messages)| Fact::Message(MessageFact::read(user, messages)))
    }
}

/// All writers of a seed may see everything that is linked to.
impl MarkdownContext for SeedBuilder<'_> {
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

    fn custom_emoji(&self, name: &str) -> Option<EmojiRef> {
        let emoji = self.directory.realm_emoji_by_name(name)?;
        Some(EmojiRef { source_url: emoji_url(self.directory.realm().id, emoji) })
    }

    fn linkifiers(&self) -> &[Linkifier] {
        &self.linkifiers
    }

    fn shows_previews(&self) -> bool {
        true
    }

    fn upload_preview(&self, path_id: &str) -> Option<UploadPreview> {
        preview_of(self.directory.attachment_by_path(path_id)?)
    }
}

fn user_ref(user: &User) -> UserRef {
    UserRef { id: user.id.0.into(), full_name: user.full_name.clone(), is_active: user.is_active }
}
