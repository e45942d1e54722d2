//! What a seed must fulfil beyond its form: names that exist, texts within the limits of the API.

use super::content::{Audience, Change, Message, SeedDocument, Value};
use crate::api::users::create::check_new_account;
use rules::content::CONTENT_LENGTH_MAX;
use rules::settings::{Setting, realm_setting, user_setting};
use rules::topics::TOPIC_LENGTH_MAX;
use std::collections::{BTreeMap, HashSet};

/// The most people and bots of a seed.
const USERS_MAX: usize = 10_000;
/// The most channels.
const CHANNELS_MAX: usize = 1_000;
/// The most messages.
const MESSAGES_MAX: usize = 50_000;
/// The most entries of each other list.
const ENTRIES_MAX: usize = 1_000;
/// The longest name of a channel, in characters.
const CHANNEL_LENGTH_MAX: usize = 60;

/// A mistake, and the text in the file that has it.
pub(super) struct Mistake {
    pub why: String,
    value: String,
    /// Which of the places with this text it is, from 0.
    nth: usize,
}

impl Mistake {
    fn new(value: &str, why: String) -> Self {
        Self { why, value: value.to_owned(), nth: 0 }
    }

    /// The position of the text in the file; 0 if it is written in another way there.
    pub fn find(&self, text: &str) -> usize {
        let places = [format!("\"{}\"", self.value), format!("'{}'", self.value), self.value.clone()];
        let found = places.iter().find_map(|place| text.match_indices(place.as_str()).nth(self.nth));
        found.map_or(0, |(at, _)| at)
    }
}

type Checked = Result<(), Mistake>;

/// Checks everything; the first mistake is the error.
pub(super) fn check(seed: &SeedDocument) -> Checked {
    check_sizes(seed)?;
    let names = Names::of(seed)?;
    names.person(&seed.creator)?;
    if seed.name.trim().is_empty() {
        return Err(Mistake::new("name", "the name of the organization must not be empty".to_owned()));
    }
    check_settings(&seed.settings, realm_setting)?;
    seed.users.iter().try_for_each(|user| check_settings(&user.settings, user_setting))?;
    seed.bots.iter().try_for_each(|bot| names.person(&bot.owner))?;
    seed.groups.iter().flat_map(|group| &group.members).try_for_each(|email| names.account(email))?;
    seed.profile_fields
        .iter()
        .flat_map(|field| field.values.keys())
        .try_for_each(|email| names.person(email))?;
    seed.emoji.iter().map(|emoji| &emoji.author).try_for_each(|email| names.person(email))?;
    seed.files.iter().map(|file| &file.owner).try_for_each(|email| names.person(email))?;
    seed.files.iter().try_for_each(|file| check_file_path(&file.path))?;
    seed.seen.iter().try_for_each(|seen| names.person(&seen.email))?;
    for channel in &seed.channels {
        check_length("the name of a channel", &channel.name, CHANNEL_LENGTH_MAX)?;
        if let Some(folder) = &channel.folder
            && !seed.folders.iter().any(|known| known.name == *folder)
        {
            return Err(Mistake::new(folder, format!("there is no folder {folder}")));
        }
        if let Audience::Named(emails) = &channel.subscribers {
            emails.iter().try_for_each(|email| names.account(email))?;
        }
    }
    check_threads(seed, &names)
}

fn check_sizes(seed: &SeedDocument) -> Checked {
    let messages = seed.topics.iter().map(|topic| topic.messages.len());
    let direct = seed.conversations.iter().map(|conversation| conversation.messages.len());
    let sizes = [
        ("users", seed.users.len() + seed.bots.len(), USERS_MAX),
        ("channels", seed.channels.len(), CHANNELS_MAX),
        ("messages", messages.chain(direct).sum(), MESSAGES_MAX),
        ("groups", seed.groups.len(), ENTRIES_MAX),
        ("profile_fields", seed.profile_fields.len(), ENTRIES_MAX),
        ("folders", seed.folders.len(), ENTRIES_MAX),
        ("linkifiers", seed.linkifiers.len(), ENTRIES_MAX),
        ("emoji", seed.emoji.len(), ENTRIES_MAX),
        ("files", seed.files.len(), ENTRIES_MAX),
        ("seen", seed.seen.len(), USERS_MAX),
    ];
    match sizes.into_iter().find(|(_, size, max)| size > max) {
        Some((name, size, max)) => {
            Err(Mistake::new(name, format!("there are {size} {name}, more than {max}")))
        }
        None if seed.first_user_id < 4 => Err(Mistake::new(
            "first_user_id",
            "first_user_id must be 4 or more: the server's bots come before".to_owned(),
        )),
        None => Ok(()),
    }
}

/// Names of which no two may differ only in case.
#[derive(Default)]
struct Unique<'s> {
    exact: HashSet<&'s str>,
    folded: HashSet<String>,
}

impl<'s> Unique<'s> {
    fn add(&mut self, name: &'s str, why: impl FnOnce() -> String) -> Checked {
        let nth = usize::from(!self.exact.insert(name));
        match self.folded.insert(name.to_lowercase()) {
            true => Ok(()),
            false => Err(Mistake { nth, ..Mistake::new(name, why()) }),
        }
    }
}

/// The accounts and channels of a seed.
struct Names<'s> {
    people: HashSet<&'s str>,
    accounts: HashSet<&'s str>,
    channels: HashSet<&'s str>,
}

impl<'s> Names<'s> {
    fn of(seed: &'s SeedDocument) -> Result<Self, Mistake> {
        let people = seed.users.iter().map(|user| (user.email.as_str(), user.full_name.as_str()));
        let bots = seed.bots.iter().map(|bot| (bot.email.as_str(), bot.full_name.as_str()));
        let mut accounts = Unique::default();
        for (email, full_name) in people.clone().chain(bots) {
            check_new_account(None, email, full_name).map_err(|error| {
                Mistake::new(email, format!("the account {email} cannot be created: {}", error.msg()))
            })?;
            accounts.add(email, || format!("{email} is used twice"))?;
        }
        let mut channels = Unique::default();
        for channel in &seed.channels {
            channels.add(&channel.name, || format!("the channel {} is there twice", channel.name))?;
        }
        Ok(Self {
            people: people.map(|(email, _)| email).collect(),
            accounts: accounts.exact,
            channels: channels.exact,
        })
    }

    fn person(&self, email: &str) -> Checked {
        if self.people.contains(email) {
            return Ok(());
        }
        Err(Mistake::new(email, format!("there is no person {email} in `users`")))
    }

    fn account(&self, email: &str) -> Checked {
        if self.accounts.contains(email) {
            return Ok(());
        }
        Err(Mistake::new(email, format!("there is no account {email} in `users` or `bots`")))
    }
}

fn check_settings(settings: &BTreeMap<String, Value>, find: fn(&str) -> Option<&'static Setting>) -> Checked {
    for (name, value) in settings {
        let marks = [rules::accounts::CAN_CREATE_USERS, rules::accounts::CAN_CHANGE_USER_EMAILS];
        if marks.contains(&name.as_str()) && matches!(value, Value::Flag(_)) {
            continue;
        }
        let Some(setting) = find(name) else {
            return Err(Mistake::new(name, format!("there is no setting {name}; see `millstream settings`")));
        };
        setting
            .check(&value.stored())
            .map_err(|_| Mistake::new(name, format!("{name} must be {}", setting.kind.allowed_text())))?;
    }
    Ok(())
}

fn check_length(what: &str, text: &str, max: usize) -> Checked {
    match text.chars().count() {
        0 => Err(Mistake::new(text, format!("{what} must not be empty"))),
        chars if chars > max => {
            Err(Mistake::new(text, format!("{what} must not be longer than {max} characters")))
        }
        _ => Ok(()),
    }
}

/// A path must not leave the folder of the organization's files.
fn check_file_path(path: &str) -> Checked {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| !part.is_empty() && !part.starts_with('.');
    match parts.as_slice() {
        [short, long, _] if short.len() == 2 && long.len() == 24 && parts.iter().all(is_plain) => Ok(()),
        _ => {
            let why = "a path has 2 characters, 24 characters and a name, with slashes between";
            Err(Mistake::new(path, why.to_owned()))
        }
    }
}

fn check_threads(seed: &SeedDocument, names: &Names<'_>) -> Checked {
    for topic in &seed.topics {
        if !names.channels.contains(topic.channel.as_str()) {
            return Err(Mistake::new(&topic.channel, format!("there is no channel {}", topic.channel)));
        }
        if topic.name.chars().count() > TOPIC_LENGTH_MAX {
            check_length("the name of a topic", &topic.name, TOPIC_LENGTH_MAX)?;
        }
        check_messages(&topic.messages, &topic.writers, names)?;
        check_changes(&topic.changes, topic.messages.len(), names)?;
    }
    for conversation in &seed.conversations {
        check_messages(&conversation.messages, &conversation.people, names)?;
        check_changes(&conversation.changes, conversation.messages.len(), names)?;
        for message in &conversation.messages {
            if let Message::From { from, .. } = message
                && !conversation.people.contains(from)
            {
                return Err(Mistake::new(from, format!("{from} is not in the conversation's `people`")));
            }
        }
    }
    Ok(())
}

fn check_messages(messages: &[Message], writers: &[String], names: &Names<'_>) -> Checked {
    writers.iter().try_for_each(|email| names.account(email))?;
    for message in messages {
        check_length("the text of a message", message.text(), CONTENT_LENGTH_MAX)?;
        match message {
            Message::Text(text) if writers.is_empty() => {
                let why =
                    "this message has no sender: add `writers` to its topic, or write { from = …, text = … }";
                return Err(Mistake::new(text, why.to_owned()));
            }
            Message::Text(_) => {}
            Message::From { from, .. } => names.account(from)?,
        }
    }
    Ok(())
}

fn check_changes(changes: &[Change], messages: usize, names: &Names<'_>) -> Checked {
    for change in changes {
        let (message, by, text) = match change {
            Change::Edited { message, text } => (Some(*message), None, text),
            Change::Moved { by, topic } => (None, Some(by), topic),
            Change::Reacted { message, by, emoji } => (Some(*message), Some(by), emoji),
            Change::Starred { message, by } => (Some(*message), Some(by), by),
        };
        if let Some(by) = by {
            names.person(by)?;
        }
        if let Some(message) = message.filter(|message| *message >= messages) {
            return Err(Mistake::new(
                text,
                format!(
                    "a change is about message {message}, but the last one is {}",
                    messages.saturating_sub(1)
                ),
            ));
        }
        check_length("a text", text, CONTENT_LENGTH_MAX)?;
    }
    Ok(())
}
