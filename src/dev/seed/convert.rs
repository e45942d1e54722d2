//! How a seed file becomes an organization.

use super::content::{
    Change, Channel, Conversation, Emoji, Field, File, Folder, Group, Message, SeedDocument, Seen, Topic,
};
use super::forms::{Holders, Value};
use actors::{
    NewRealm, Report, Seed, SeedChannel, SeedEmoji, SeedField, SeedFile, SeedFolder, SeedGroup,
    SeedPermission, SeedThread, SeedUser,
};
use model::{Role, SettingValue, UserId};
use rules::settings::{RealmPermission, Setting, realm_setting, user_setting};
use std::collections::BTreeMap;

impl SeedDocument {
    /// The organization to create.
    pub fn new_realm(&self, subdomain: &str) -> NewRealm {
        NewRealm {
            subdomain: subdomain.to_owned(),
            name: self.name.clone(),
            email_domain: self.email_domain.clone(),
        }
    }

    /// The names of the stored pictures of emoji, with their bytes.
    pub fn emoji_files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.emoji.iter().map(|emoji| (emoji.file.as_str(), &*emoji.base64.0))
    }

    /// The paths of uploaded files below the organization's, with their bytes.
    pub fn uploads(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|file| (file.path.as_str(), &*file.base64.0))
    }

    /// Who was seen; the earliest comes first.
    pub fn seen(&self) -> Vec<(&str, Report, u64)> {
        let report = |seen: &Seen| if seen.idle { Report::Idle } else { Report::Active };
        self.seen.iter().map(|seen| (seen.email.as_str(), report(seen), seen.secs_ago)).collect()
    }

    /// The content for the actors.
    pub fn seed(&self) -> Seed<'_> {
        Seed {
            description: &self.description,
            settings: settings(&self.settings, realm_setting),
            permissions: self.settings.iter().filter_map(|(name, value)| permission(name, value)).collect(),
            first_id: UserId(self.first_user_id),
            users: self.accounts(),
            creator: &self.creator,
            groups: self.groups.iter().map(group).collect(),
            fields: self.profile_fields.iter().map(field).collect(),
            folders: self.folders.iter().map(folder).collect(),
            onboarding_seen: self.onboarding_seen.iter().map(String::as_str).collect(),
            linkifiers: self.linkifiers.iter().map(|it| (&*it.pattern, &*it.url_template)).collect(),
            emoji: self.emoji.iter().map(emoji).collect(),
            files: self.files.iter().map(file).collect(),
            channels: self.channels.iter().map(channel).collect(),
            threads: self
                .topics
                .iter()
                .map(topic)
                .chain(self.conversations.iter().map(conversation))
                .collect(),
            seen: self.seen(),
        }
    }

    fn accounts(&self) -> Vec<SeedUser<'_>> {
        let people = self.users.iter().map(|user| SeedUser {
            email: &user.email,
            full_name: &user.full_name,
            role: user.role.into(),
            timezone: &user.timezone,
            password_hash: Some(user.password_hash.as_str()).filter(|hash| !hash.is_empty()),
            settings: settings(&user.settings, user_setting),
            bot: None,
        });
        let bots = self.bots.iter().map(|bot| SeedUser {
            email: &bot.email,
            full_name: &bot.full_name,
            role: Role::Member,
            timezone: "",
            password_hash: None,
            settings: Vec::new(),
            bot: Some((bot.kind.into(), &*bot.owner)),
        });
        people.chain(bots).collect()
    }
}

/// The settings that are in a table, which has those of the organization or of users.
fn settings(
    settings: &BTreeMap<String, Value>,
    find: fn(&str) -> Option<&'static Setting>,
) -> Vec<(&str, SettingValue)> {
    let stored = settings.iter().filter_map(|(name, value)| {
        let stored = match (find(name), value) {
            (Some(setting), value) => value.stored(setting)?,
            // What accounts may do that is no setting of the API.
            (None, Value::Flag(flag)) => SettingValue::Bool(*flag),
            (None, Value::Number(_) | Value::Text(_) | Value::Holders(_)) => return None,
        };
        Some((name.as_str(), stored))
    });
    stored.collect()
}

/// A setting that is a permission; none for others.
fn permission<'s>(name: &str, value: &'s Value) -> Option<SeedPermission<'s>> {
    let permission = RealmPermission::from_name(name)?;
    match value {
        Value::Text(group) => Some(SeedPermission { permission, users: Vec::new(), groups: vec![group] }),
        Value::Holders(Holders { users, groups }) => Some(SeedPermission {
            permission,
            users: users.iter().map(String::as_str).collect(),
            groups: groups.iter().map(String::as_str).collect(),
        }),
        Value::Flag(_) | Value::Number(_) => None,
    }
}

fn group(group: &Group) -> SeedGroup<'_> {
    let members = group.members.iter().map(String::as_str).collect();
    SeedGroup { name: &group.name, description: &group.description, members }
}

fn field(field: &Field) -> SeedField<'_> {
    SeedField {
        kind: field.kind.into(),
        name: &field.name,
        hint: &field.hint,
        data: &field.data,
        is_in_summary: field.in_summary,
        values: field.values.iter().map(|(email, text)| (email.as_str(), text.as_str())).collect(),
    }
}

fn folder(folder: &Folder) -> SeedFolder<'_> {
    SeedFolder { name: &folder.name, description: &folder.description }
}

fn emoji(emoji: &Emoji) -> SeedEmoji<'_> {
    SeedEmoji { name: &emoji.name, file: &emoji.file, author: &emoji.author }
}

fn file(file: &File) -> SeedFile<'_> {
    SeedFile {
        path: &file.path,
        name: &file.name,
        owner: &file.owner,
        bytes: file.base64.0.len() as u64,
        content_type: &file.content_type,
        pixels: (file.width, file.height),
    }
}

fn channel(channel: &Channel) -> SeedChannel<'_> {
    SeedChannel {
        name: &channel.name,
        description: &channel.description,
        is_private: channel.private,
        is_web_public: channel.web_public,
        shows_history: channel.shared_history,
        folder: channel.folder.as_deref(),
        is_default: channel.default,
        subscribers: channel.subscribers.seed(),
    }
}

fn topic(topic: &Topic) -> SeedThread<'_> {
    thread(Some((&topic.channel, &topic.name)), &topic.writers, &topic.messages, &topic.changes)
}

fn conversation(conversation: &Conversation) -> SeedThread<'_> {
    thread(None, &conversation.people, &conversation.messages, &conversation.changes)
}

fn thread<'s>(
    topic: Option<(&'s str, &'s str)>,
    writers: &[String],
    messages: &'s [Message],
    changes: &'s [Change],
) -> SeedThread<'s> {
    let mut turns = writers.iter().cycle();
    let senders = messages.iter().map(|message| match message {
        Message::From { from, .. } => from.clone(),
        Message::Text(_) => turns.next().cloned().unwrap_or_default(),
    });
    SeedThread {
        topic,
        writers: writers.to_vec(),
        senders: senders.collect(),
        texts: messages.iter().map(Message::text).collect(),
        changes: changes.iter().map(Change::seed).collect(),
    }
}
