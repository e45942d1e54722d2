//! The seed of the sample organization, and the one with only an owner.

use super::content::{
    Audience, AudienceName, Bytes, Change, Channel, Conversation, Emoji, Field, FieldName, File, Folder,
    Group, Linkifier, Message, RoleName, SeedBot, SeedDocument, Seen, Topic, User,
};
use super::forms::Value;
use crate::dev::files::{BUCKETS, GREEN_TICK};
use crate::dev::people::{self, CREATOR, EMAIL_DOMAIN, FIRST_ID, HAMLET_CHARACTERS, PEOPLE};
use crate::dev::{SAMPLE_NAME, channels, lists, messages};
use actors::{Report, SeedChange, SeedChannel, SeedThread, SeedUser, Subscribers};
use model::{BotKind, FieldKind, Role, SettingValue};

impl SeedDocument {
    /// The sample organization, which test suites of clients know.
    pub fn sample() -> Self {
        let (users, bots): (Vec<SeedUser<'_>>, Vec<SeedUser<'_>>) =
            people::users().into_iter().partition(|user| user.bot.is_none());
        let (topics, conversations): (Vec<SeedThread<'_>>, Vec<SeedThread<'_>>) =
            messages::threads().into_iter().partition(|thread| thread.topic.is_some());
        Self {
            name: SAMPLE_NAME.to_owned(),
            description: "The sample organization of a development server. It is great for testing!"
                .to_owned(),
            email_domain: EMAIL_DOMAIN.to_owned(),
            creator: CREATOR.to_owned(),
            first_user_id: FIRST_ID.0,
            onboarding_seen: vec!["narrow_to_dm_with_welcome_bot_new_user".to_owned()],
            settings: [
                ("enable_spectator_access".to_owned(), Value::Flag(true)),
                ("invite_required".to_owned(), Value::Flag(false)),
            ]
            .into(),
            users: users.into_iter().map(user).collect(),
            bots: bots.into_iter().filter_map(bot).collect(),
            groups: vec![Group {
                name: "hamletcharacters".to_owned(),
                description: "Characters of Hamlet".to_owned(),
                members: owned(&HAMLET_CHARACTERS),
            }],
            profile_fields: fields(),
            folders: lists::folders()
                .into_iter()
                .map(|it| Folder { name: it.name.to_owned(), description: it.description.to_owned() })
                .collect(),
            linkifiers: lists::linkifiers()
                .into_iter()
                .map(|(pattern, url)| Linkifier { pattern: pattern.to_owned(), url_template: url.to_owned() })
                .collect(),
            emoji: emoji(),
            files: files(),
            channels: channels::channels().into_iter().map(channel).collect(),
            topics: topics.into_iter().filter_map(topic).collect(),
            conversations: conversations.into_iter().map(conversation).collect(),
            seen: seen(),
        }
    }

    /// An organization with only an owner, Desdemona, and no channels.
    pub fn empty() -> Self {
        let owner = people::users().into_iter().find(|user| user.email == CREATOR).map(user);
        Self {
            name: "Empty".to_owned(),
            email_domain: EMAIL_DOMAIN.to_owned(),
            creator: CREATOR.to_owned(),
            first_user_id: FIRST_ID.0,
            users: owner.into_iter().collect(),
            ..Self::default()
        }
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn value(value: &SettingValue) -> Option<Value> {
    match value {
        SettingValue::Bool(flag) => Some(Value::Flag(*flag)),
        SettingValue::Int(number) => Some(Value::Number(*number)),
        SettingValue::Text(text) => Some(Value::Text(text.clone())),
        SettingValue::Group(_) | SettingValue::Null => None,
    }
}

fn user(user: SeedUser<'_>) -> User {
    let settings = user.settings.iter();
    User {
        email: user.email.to_owned(),
        full_name: user.full_name.to_owned(),
        role: match user.role {
            Role::Owner => RoleName::Owner,
            Role::Administrator => RoleName::Administrator,
            Role::Moderator => RoleName::Moderator,
            Role::Member => RoleName::Member,
            Role::Guest => RoleName::Guest,
        },
        timezone: user.timezone.to_owned(),
        password: None,
        settings: settings.filter_map(|(name, it)| Some(((*name).to_owned(), value(it)?))).collect(),
        password_hash: user.password_hash.unwrap_or_default().to_owned(),
    }
}

fn bot(user: SeedUser<'_>) -> Option<SeedBot> {
    use super::content::BotName;
    let (kind, owner) = user.bot?;
    let kind = match kind {
        BotKind::Generic => BotName::Generic,
        BotKind::IncomingWebhook => BotName::IncomingWebhook,
        BotKind::OutgoingWebhook => BotName::OutgoingWebhook,
        // Cannot be created.
        BotKind::Embedded => return None,
    };
    let (email, full_name) = (user.email.to_owned(), user.full_name.to_owned());
    Some(SeedBot { email, full_name, owner: owner.to_owned(), kind })
}

fn fields() -> Vec<Field> {
    let fields = lists::fields().into_iter().map(|field| Field {
        name: field.name.to_owned(),
        kind: match field.kind {
            FieldKind::ShortText => FieldName::ShortText,
            FieldKind::LongText => FieldName::LongText,
            FieldKind::Choice => FieldName::Choice,
            FieldKind::Date => FieldName::Date,
            FieldKind::Link => FieldName::Link,
            FieldKind::Person => FieldName::Person,
            FieldKind::ExternalAccount => FieldName::ExternalAccount,
            FieldKind::Pronouns => FieldName::Pronouns,
        },
        hint: field.hint.to_owned(),
        data: field.data.to_owned(),
        in_summary: field.is_in_summary,
        values: field.values.iter().map(|(email, text)| ((*email).to_owned(), (*text).to_owned())).collect(),
    });
    fields.collect()
}

fn emoji() -> Vec<Emoji> {
    let emoji = lists::emoji().into_iter().map(|emoji| Emoji {
        name: emoji.name.to_owned(),
        author: emoji.author.to_owned(),
        file: emoji.file.to_owned(),
        base64: Bytes(GREEN_TICK.to_vec()),
    });
    emoji.collect()
}

fn files() -> Vec<File> {
    let files = lists::files().into_iter().map(|file| File {
        path: file.path.to_owned(),
        name: file.name.to_owned(),
        owner: file.owner.to_owned(),
        content_type: file.content_type.to_owned(),
        width: file.pixels.0,
        height: file.pixels.1,
        base64: Bytes(BUCKETS.to_vec()),
    });
    files.collect()
}

fn channel(channel: SeedChannel<'_>) -> Channel {
    Channel {
        name: channel.name.to_owned(),
        description: channel.description.to_owned(),
        private: channel.is_private,
        web_public: channel.is_web_public,
        shared_history: channel.shows_history,
        default: channel.is_default,
        folder: channel.folder.map(str::to_owned),
        subscribers: match channel.subscribers {
            Subscribers::Everyone => Audience::All(AudienceName::Everyone),
            Subscribers::Members => Audience::All(AudienceName::Members),
            Subscribers::Moderators => Audience::All(AudienceName::Moderators),
            Subscribers::Named(emails) => Audience::Named(owned(&emails)),
        },
    }
}

fn change(change: &SeedChange<'_>) -> Change {
    match *change {
        SeedChange::Edited { message, text } => Change::Edited { message, text: text.to_owned() },
        SeedChange::Moved { by, topic } => Change::Moved { by: by.to_owned(), topic: topic.to_owned() },
        SeedChange::Reacted { message, by, emoji } => {
            Change::Reacted { message, by: by.to_owned(), emoji: emoji.to_owned() }
        }
        SeedChange::Starred { message, by } => Change::Starred { message, by: by.to_owned() },
    }
}

fn texts(thread: &SeedThread<'_>) -> Vec<Message> {
    thread.texts.iter().map(|text| Message::Text((*text).to_owned())).collect()
}

fn topic(thread: SeedThread<'_>) -> Option<Topic> {
    let (channel, name) = thread.topic?;
    Some(Topic {
        channel: channel.to_owned(),
        name: name.to_owned(),
        messages: texts(&thread),
        changes: thread.changes.iter().map(change).collect(),
        writers: thread.writers,
    })
}

fn conversation(thread: SeedThread<'_>) -> Conversation {
    let (messages, changes) = (texts(&thread), thread.changes.iter().map(change).collect());
    Conversation { people: thread.writers, messages, changes }
}

fn seen() -> Vec<Seen> {
    let seen = lists::seen().into_iter();
    seen.map(|(email, report, secs_ago)| Seen {
        email: email.to_owned(),
        secs_ago,
        idle: matches!(report, Report::Idle),
    })
    .collect()
}

/// The stored password of a person of the sample, if it is the address.
pub(super) fn known_hash(email: &str) -> Option<&'static str> {
    PEOPLE.iter().find(|person| person.email == email).map(|person| person.password_hash)
}
