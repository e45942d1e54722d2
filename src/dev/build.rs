//! From the tables to the facts of the sample organization.
//!
//! A directory of our own runs ahead of what is stored: texts are rendered, and readers found, as they
//! would be by a server in which all of this happened.

use super::people::{ACCOUNT_CREATORS, BOTS, FIRST_ID, HAMLET_CHARACTERS, PEOPLE};
use super::places::{PLACES, Place as SamplePlace, Readers};
use super::talk::{CONVERSATIONS, SMALL_TALK, TOPICS};
use model::fact::MessageRanges;
use model::message::MessageTraits;
use model::{
    Bot, Channel, ChannelId, DirectConversation, Directory, Fact, Flag, FlagOp, Flags, GroupId, Message,
    MessageId, Place, RecipientId, Role, SettingValue, Subscription, Timestamp, User, UserGroup, UserId,
};
use rules::markdown::{ChannelRef, EmojiRef, GroupRef, MarkdownContext, Mentions, Rendered, UserRef};
use rules::permissions::group_setting::{default_channel_permissions, default_group_permissions};
use rules::permissions::roles::system_groups_of;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// How long before now everybody joined.
const JOINED_BEFORE_MILLIS: u64 = 30 * 24 * 3600 * 1000;
/// How long before now the first message was sent; the last one is a few minutes old.
const FIRST_MESSAGE_BEFORE_MILLIS: u64 = 4 * 24 * 3600 * 1000;
/// Messages in one frame, to stay well below its largest size.
const FRAME_MESSAGES_MAX: usize = 128;
/// The client that the messages came from: one that people type into.
const CLIENT: &str = "website";

/// The facts of the sample organization, frame by frame. `directory` has the system groups and the
/// server's own bots already.
pub fn frames(directory: &Directory) -> Vec<Vec<Fact>> {
    let mut sample = Sample {
        now: directory.realm().created,
        directory: directory.clone(),
        newest: HashMap::new(),
        received: BTreeMap::new(),
    };
    let mut first = sample.people();
    first.extend(sample.groups());
    first.extend(sample.channels());
    first.push(sample.realm());
    let mut frames = vec![first];
    let messages = sample.messages();
    frames.extend(messages.chunks(FRAME_MESSAGES_MAX).map(<[Fact]>::to_vec));
    frames.push(sample.reads());
    frames
}

struct Sample {
    now: Timestamp,
    directory: Directory,
    /// Newest message of each topic, which links to the topic carry.
    newest: HashMap<(ChannelId, String), MessageId>,
    /// What each person got and did not write.
    received: BTreeMap<UserId, Vec<MessageId>>,
}

/// What is to be said next, without its id and time.
struct Remark {
    sender: UserId,
    recipient: RecipientId,
    place: Place,
    readers: Vec<UserId>,
    text: &'static str,
}

impl Sample {
    fn joined(&self) -> Timestamp {
        Timestamp(self.now.0.saturating_sub(JOINED_BEFORE_MILLIS))
    }

    /// A person or bot of the tables, by address.
    fn user(&self, email: &str) -> UserId {
        self.directory.user_by_email(email).map(|user| user.id).unwrap_or_default()
    }

    fn writer(&self, local_part: &str) -> UserId {
        self.user(&format!("{local_part}@{}", super::EMAIL_DOMAIN))
    }

    fn people(&mut self) -> Vec<Fact> {
        let mut users = Vec::new();
        for person in &PEOPLE {
            let mut user = self.blank_user(users.len(), person.email, person.full_name);
            user.role = person.role;
            user.timezone = person.timezone.to_owned();
            user.password_hash = Some(person.password_hash.to_owned());
            if ACCOUNT_CREATORS.contains(&person.email) {
                user.settings.insert(rules::accounts::CAN_CREATE_USERS.into(), SettingValue::Bool(true));
                user.settings
                    .insert(rules::accounts::CAN_CHANGE_USER_EMAILS.into(), SettingValue::Bool(true));
            }
            self.directory.put_user(user.clone());
            users.push(user);
        }
        for bot in &BOTS {
            let mut user = self.blank_user(users.len(), bot.email, bot.full_name);
            user.bot = Some(Bot { kind: bot.kind, owner: Some(self.user(bot.owner)), is_system: false });
            self.directory.put_user(user.clone());
            users.push(user);
        }
        users.into_iter().map(|user| Fact::UserCreated(Box::new(user))).collect()
    }

    fn blank_user(&self, index: usize, email: &str, full_name: &str) -> User {
        User::new(UserId(FIRST_ID + index as u32), email, full_name, Role::Member, self.joined())
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
            facts.push(Fact::GroupMembersChanged { group, added, removed: Vec::new() });
        }
        let creator = self.user(ACCOUNT_CREATORS[0]);
        let last = self.directory.groups().map(|group| group.id).max().unwrap_or_default();
        let group = UserGroup {
            creator: Some(creator),
            created: Some(self.joined()),
            members: HAMLET_CHARACTERS.iter().map(|email| self.user(email)).collect(),
            ..UserGroup::new(
                last.next(),
                "hamletcharacters",
                "Characters of Hamlet",
                default_group_permissions(&self.directory, Some(creator)),
            )
        };
        self.directory.put_group(group.clone());
        facts.push(Fact::GroupCreated(Box::new(group)));
        facts
    }

    fn channels(&mut self) -> Vec<Fact> {
        let by = self.user(ACCOUNT_CREATORS[0]);
        let mut facts = Vec::new();
        for (index, place) in PLACES.iter().enumerate() {
            let channel = self.channel(index as u32 + 1, place, by);
            let id = channel.id;
            self.directory.put_channel(channel.clone());
            facts.push(Fact::ChannelCreated(Box::new(channel)));
            let mut subscribers = Vec::new();
            for user in self.readers(place.readers) {
                let own = self.directory.subscriptions_of_user(user);
                let color =
                    rules::colors::pick_color(own.map(|(_, subscription)| subscription.color.as_str()));
                let subscription = Subscription::start(color.to_owned(), MessageId::ZERO);
                subscribers.push((user, subscription));
            }
            for (user, subscription) in &subscribers {
                self.directory.put_subscription(id, *user, subscription.clone());
            }
            facts.push(Fact::Subscribed { channel: id, subscribers, by });
        }
        facts
    }

    fn channel(&self, number: u32, place: &SamplePlace, by: UserId) -> Channel {
        let is_private = place.readers == Readers::Team;
        let creator = is_private.then_some(by);
        Channel {
            description: place.description.to_owned(),
            rendered_description: self.render(place.description).html,
            creator,
            invite_only: is_private,
            history_public_to_subscribers: !is_private,
            ..Channel::new(
                ChannelId(number),
                RecipientId(number),
                place.name,
                self.joined(),
                default_channel_permissions(&self.directory, creator),
            )
        }
    }

    fn readers(&self, readers: Readers) -> Vec<UserId> {
        let reads = |user: &User| match readers {
            Readers::Everybody => true,
            Readers::Members => !user.is_guest(),
            Readers::Team => user.is_moderator(),
        };
        let people = self.directory.users().filter(|user| !user.is_bot() && reads(user));
        people.map(|user| user.id).collect()
    }

    fn realm(&self) -> Fact {
        let mut realm = model::Realm::clone(self.directory.realm());
        realm.description =
            "The sample organization of a development server. It is great for testing!".into();
        realm.created = self.joined();
        realm.settings.insert("enable_spectator_access".into(), SettingValue::Bool(true));
        realm.settings.insert("invite_required".into(), SettingValue::Bool(false));
        let defaults = PLACES.iter().filter(|place| place.readers == Readers::Members);
        let defaults = defaults.filter_map(|place| self.directory.channel_by_name(place.name));
        realm.default_channels = defaults.map(|channel| channel.id).collect();
        Fact::RealmChanged(Box::new(realm))
    }

    fn render(&self, text: &str) -> Rendered {
        // The texts are ours and far from the only limit.
        rules::markdown::render(text, self).unwrap_or_default()
    }

    fn messages(&mut self) -> Vec<Fact> {
        let (remarks, mut facts) = self.remarks();
        let step_millis = FIRST_MESSAGE_BEFORE_MILLIS / (remarks.len() as u64 + 1);
        for (index, remark) in remarks.into_iter().enumerate() {
            let age_millis = FIRST_MESSAGE_BEFORE_MILLIS - step_millis * index as u64;
            let sent = Timestamp(self.now.0.saturating_sub(age_millis));
            let message = self.message(MessageId(index as u32 + 1), sent, remark);
            facts.push(Fact::MessageSent { message: Arc::new(message), echo: None });
        }
        facts
    }

    fn message(&mut self, id: MessageId, sent: Timestamp, remark: Remark) -> Message {
        let rendered = self.render(remark.text);
        if let Place::Channel { channel, topic } = &remark.place {
            self.newest.insert((*channel, topic.to_lowercase()), id);
        }
        for reader in remark.readers.iter().filter(|reader| **reader != remark.sender) {
            self.received.entry(*reader).or_default().push(id);
        }
        Message {
            id,
            sender: remark.sender,
            recipient: remark.recipient,
            place: remark.place,
            sent,
            content: remark.text.to_owned(),
            client: CLIENT.into(),
            traits: MessageTraits {
                is_me: rendered.is_me_message,
                has_link: rendered.has_link,
                has_image: rendered.has_image,
                has_attachment: false,
                channel_wildcard: rendered.mentions.channel_wildcard,
                read_by_sender: true,
            },
            user_flags: self.mentioned(&rendered.mentions, &remark.readers),
            rendered: rendered.html,
            topic_links: Vec::new(),
            edits: Vec::new(),
            last_edited: None,
            last_moved: None,
            reactions: Vec::new(),
            submessages: Vec::new(),
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

    /// Everything that is said, in order, and the facts that make its direct conversations.
    fn remarks(&mut self) -> (Vec<Remark>, Vec<Fact>) {
        let mut threads: Vec<std::vec::IntoIter<Remark>> = Vec::new();
        for topic in TOPICS {
            let Some(channel) = self.directory.channel_by_name(topic.channel) else { continue };
            let readers: Vec<UserId> = self.directory.subscriber_ids(channel.id).collect();
            let place = Place::Channel { channel: channel.id, topic: topic.name.to_owned() };
            let thread = self.thread(topic.writers, topic.texts, topic.more, threads.len());
            threads.push(placed(thread, channel.recipient, &place, &readers));
        }
        let mut facts = Vec::new();
        for talk in CONVERSATIONS {
            let mut users: Vec<UserId> = talk.writers.iter().map(|name| self.writer(name)).collect();
            users.sort();
            let recipient = RecipientId((PLACES.len() + facts.len()) as u32 + 1);
            let thread = self.thread(talk.writers, talk.texts, talk.more, threads.len());
            threads.push(placed(thread, recipient, &Place::Direct, &users));
            facts.push(Fact::DirectConversationCreated(DirectConversation { recipient, users }));
        }
        // Everybody talks at once: one remark of each thread in turn.
        let mut remarks = Vec::new();
        loop {
            let before = remarks.len();
            remarks.extend(threads.iter_mut().filter_map(Iterator::next));
            if remarks.len() == before {
                return (remarks, facts);
            }
        }
    }

    fn thread(
        &self,
        writers: &[&str],
        texts: &'static [&'static str],
        more: usize,
        offset: usize,
    ) -> Vec<(UserId, &'static str)> {
        // A step that has no divisor in common with the table walks through all of it.
        let talk = (0..more).map(|index| SMALL_TALK[(offset * 5 + index * 8) % SMALL_TALK.len()]);
        let texts = texts.iter().copied().chain(talk);
        texts.zip(writers.iter().cycle()).map(|(text, writer)| (self.writer(writer), text)).collect()
    }

    /// Everybody has read everything: what is unread in a test is what the test sent.
    fn reads(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (user, messages) in &self.received {
            let messages = MessageRanges::from_sorted(messages.iter().copied());
            facts.push(Fact::FlagsChanged { user: *user, flag: Flag::Read, op: FlagOp::Add, messages });
        }
        facts
    }
}

fn placed(
    thread: Vec<(UserId, &'static str)>,
    recipient: RecipientId,
    place: &Place,
    readers: &[UserId],
) -> std::vec::IntoIter<Remark> {
    let remark =
        |(sender, text)| Remark { sender, recipient, place: place.clone(), readers: readers.to_vec(), text };
    thread.into_iter().map(remark).collect::<Vec<_>>().into_iter()
}

/// Everybody who writes here may see everything that is linked to.
impl MarkdownContext for Sample {
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

#[cfg(test)]
mod tests;
