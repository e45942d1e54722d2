//! What a seed must fulfil beyond its form: names that exist, texts within the limits of the API.

use super::check_creation::check_creation;
use super::check_lists::check_lists;
use super::check_rights::check_rights;
use super::check_settings::{check_realm_settings, check_user_settings};
use super::content::{Audience, Change, Channel, FieldName, Message, RoleName, SeedDocument, User};
use super::document_path::At;
use super::forms::Value;
use super::mistake::{Checked, Mistake, Unique, accepted, each, refuse, stored_as_written};
use actors::SYSTEM_BOTS;
use rules::RuleError;
use rules::address_list::is_address;
use rules::content::{CONTENT_LENGTH_MAX, parse_content};
use rules::error::BotError;
use rules::names::{parse_channel_name, parse_description, parse_full_name};
use rules::passwords::PASSWORD_LENGTH_MAX;
use rules::reactions::find_emoji;
use rules::settings::{check_realm_description, parse_realm_name};
use rules::topics::{TOPIC_LENGTH_MAX, parse_topic};
use std::collections::HashSet;

/// The most people and bots of a seed.
const USERS_MAX: usize = 10_000;
/// The most channels.
const CHANNELS_MAX: usize = 1_000;
/// The most messages.
const MESSAGES_MAX: usize = 50_000;
/// The most entries of each other list.
const ENTRIES_MAX: usize = 1_000;
/// Leaves room for the seed's accounts and later ones below the largest number of 31 bits, which clients may use for ids.
const FIRST_USER_ID_MAX: u32 = 1_000_000_000;
/// The shortest password that is too long, in characters.
const PASSWORD_LENGTH_OVER: usize = PASSWORD_LENGTH_MAX + 1;

/// Checks everything; the first mistake is the error.
pub(super) fn check(seed: &SeedDocument) -> Checked {
    let document = At::Document;
    check_sizes(seed)?;
    let names = Names::of(seed)?;
    names.person(&document.key("creator"), &seed.creator)?;
    if seed.name.trim().is_empty() {
        refuse(&document.key("name"), "the name of the organization must not be empty")?;
    }
    stored_as_written(&document.key("name"), &seed.name, parse_realm_name(&seed.name))?;
    accepted(&document.key("description"), check_realm_description(&seed.description))?;
    if !is_address(&format!("bot@{}", seed.email_domain)) {
        let why = format!("email_domain must be a domain such as acme.example, not `{}`", seed.email_domain);
        refuse(&document.key("email_domain"), why)?;
    }
    check_realm_settings(&document.key("settings"), seed, &names.accounts)?;
    if !seed.users.iter().any(|user| user.role == RoleName::Owner) {
        refuse(
            &document.name("users"),
            "none of these users is an owner: give one of them the role \"owner\"",
        )?;
    }
    each(&document.key("users"), &seed.users, check_user)?;
    each(&document.key("bots"), &seed.bots, |at, bot| names.person(&at.key("owner"), &bot.owner))?;
    each(&document.key("groups"), &seed.groups, |at, group| {
        each(&at.key("members"), &group.members, |at, email| names.account(at, email))
    })?;
    each(&document.key("profile_fields"), &seed.profile_fields, |at, field| {
        let values = at.key("values");
        field.values.iter().try_for_each(|(email, value)| {
            names.person(&values.name(email), email)?;
            if field.kind == FieldName::Person { names.person(&values.key(email), value) } else { Ok(()) }
        })
    })?;
    each(&document.key("emoji"), &seed.emoji, |at, emoji| names.person(&at.key("author"), &emoji.author))?;
    each(&document.key("files"), &seed.files, |at, file| {
        names.person(&at.key("owner"), &file.owner)?;
        check_file_path(&at.key("path"), &file.path)
    })?;
    check_lists(seed)?;
    each(&document.key("seen"), &seed.seen, |at, seen| names.person(&at.key("email"), &seen.email))?;
    each(&document.key("channels"), &seed.channels, |at, channel| check_channel(at, channel, seed, &names))?;
    check_threads(seed, &names)?;
    check_rights(seed)?;
    check_creation(seed)
}

fn check_sizes(seed: &SeedDocument) -> Checked {
    let document = At::Document;
    let messages = seed.topics.iter().map(|topic| topic.messages.len());
    let direct = seed.conversations.iter().map(|conversation| conversation.messages.len());
    let messages: usize = messages.chain(direct).sum();
    let sizes = [
        ("users", seed.users.len() + seed.bots.len(), USERS_MAX),
        ("channels", seed.channels.len(), CHANNELS_MAX),
        ("groups", seed.groups.len(), ENTRIES_MAX),
        ("profile_fields", seed.profile_fields.len(), ENTRIES_MAX),
        ("folders", seed.folders.len(), ENTRIES_MAX),
        ("linkifiers", seed.linkifiers.len(), ENTRIES_MAX),
        ("emoji", seed.emoji.len(), ENTRIES_MAX),
        ("files", seed.files.len(), ENTRIES_MAX),
        ("seen", seed.seen.len(), USERS_MAX),
    ];
    if let Some((name, size, max)) = sizes.into_iter().find(|(_, size, max)| size > max) {
        refuse(&document.name(name), format!("there are {size} {name}, more than {max}"))?;
    }
    if messages > MESSAGES_MAX {
        let list = if seed.topics.is_empty() { "conversations" } else { "topics" };
        refuse(&document.name(list), format!("there are {messages} messages, more than {MESSAGES_MAX}"))?;
    }
    if seed.first_user_id < 4 {
        let why = "first_user_id must be 4 or more: the server's bots come before";
        refuse(&document.key("first_user_id"), why)?;
    }
    if seed.first_user_id > FIRST_USER_ID_MAX {
        let why = format!("first_user_id must be {FIRST_USER_ID_MAX} or less");
        refuse(&document.key("first_user_id"), why)?;
    }
    Ok(())
}

/// The accounts, channels and emoji of a seed.
struct Names<'s> {
    people: HashSet<&'s str>,
    accounts: HashSet<&'s str>,
    channels: HashSet<&'s str>,
    emoji: HashSet<&'s str>,
}

impl<'s> Names<'s> {
    fn of(seed: &'s SeedDocument) -> Result<Self, Mistake> {
        let (users, bots) = (At::Document.key("users"), At::Document.key("bots"));
        let people = seed.users.iter().map(|user| (user.email.as_str(), user.full_name.as_str()));
        let own_bots = seed.bots.iter().map(|bot| (bot.email.as_str(), bot.full_name.as_str()));
        let places = (0..).map(|number| users.entry(number)).zip(people.clone());
        let places = places.chain((0..).map(|number| bots.entry(number)).zip(own_bots));
        let are_unique = seed.settings.get("require_unique_names") == Some(&Value::Flag(true));
        let (mut accounts, mut full_names) = (Unique::default(), Unique::default());
        for (_, name) in SYSTEM_BOTS {
            full_names.add(&At::Document, name, String::new)?;
        }
        for (number, (at, (email, full_name))) in places.enumerate() {
            if !is_address(email) {
                refuse(&at.key("email"), format!("`{email}` is not an e-mail address"))?;
            }
            let parsed = parse_full_name(full_name);
            let parsed = parsed.map_err(|error| format!("the name of {email} cannot be used: {error}"));
            stored_as_written(&at.key("full_name"), full_name, parsed)?;
            // People may have the names of others, bots may not.
            let is_bot = number >= seed.users.len();
            if is_bot && full_names.exact.contains(full_name) {
                refuse(&at.key("full_name"), BotError::NameTaken.to_string())?;
            }
            let added = full_names.add(&at.key("full_name"), full_name, || RuleError::NameTaken.to_string());
            if are_unique && !is_bot {
                added?;
            }
            accounts.add(&at.key("email"), email, || format!("two accounts have the address {email}"))?;
        }
        let mut channels = Unique::default();
        for (number, channel) in seed.channels.iter().enumerate() {
            let (list, name) = (At::Document.key("channels"), &channel.name);
            channels.add(&list.entry(number).key("name"), name, || {
                format!("two channels have the name {name}")
            })?;
        }
        Ok(Self {
            people: people.map(|(email, _)| email).collect(),
            accounts: accounts.exact,
            channels: channels.exact,
            emoji: seed.emoji.iter().map(|emoji| emoji.name.as_str()).collect(),
        })
    }

    fn person(&self, at: &At<'_>, email: &str) -> Checked {
        match self.people.contains(email) {
            true => Ok(()),
            false => refuse(at, format!("there is no person {email} in `users`")),
        }
    }

    fn account(&self, at: &At<'_>, email: &str) -> Checked {
        match self.accounts.contains(email) {
            true => Ok(()),
            false => refuse(at, format!("there is no account {email} in `users` or `bots`")),
        }
    }

    fn emoji(&self, at: &At<'_>, name: &str) -> Checked {
        match self.emoji.contains(name) || find_emoji(name, &[]).is_ok() {
            true => Ok(()),
            false => refuse(at, format!("there is no emoji with the name `{name}`")),
        }
    }
}

fn check_user(at: &At<'_>, user: &User) -> Checked {
    let password = at.key("password");
    match user.password.as_ref().map(|text| text.chars().count()) {
        Some(0) => {
            let why = "a password must not be empty; without the entry `password` it is the e-mail address";
            refuse(&password, why)?;
        }
        Some(PASSWORD_LENGTH_OVER..) => {
            let why = format!("a password must not be longer than {PASSWORD_LENGTH_MAX} characters");
            refuse(&password, why)?;
        }
        Some(_) | None => {}
    }
    if !user.timezone.is_empty() && jiff::tz::TimeZone::get(&user.timezone).is_err() {
        let why = format!("`{}` is not a time zone; such names are Europe/Berlin and Etc/UTC", user.timezone);
        refuse(&at.key("timezone"), why)?;
    }
    check_user_settings(&at.key("settings"), &user.settings)
}

fn check_length(at: &At<'_>, what: &str, text: &str, max: usize) -> Checked {
    match text.chars().count() {
        0 => refuse(at, format!("{what} must not be empty")),
        chars if chars > max => refuse(at, format!("{what} must not be longer than {max} characters")),
        _ => Ok(()),
    }
}

/// A path must not leave the folder of the organization's files.
fn check_file_path(at: &At<'_>, path: &str) -> Checked {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| !part.is_empty() && !part.starts_with('.');
    match parts.as_slice() {
        [short, long, _] if short.len() == 2 && long.len() == 24 && parts.iter().all(is_plain) => Ok(()),
        _ => refuse(at, "a path has 2 characters, 24 characters and a name, with slashes between"),
    }
}

fn check_channel(at: &At<'_>, channel: &Channel, seed: &SeedDocument, names: &Names<'_>) -> Checked {
    stored_as_written(&at.key("name"), &channel.name, parse_channel_name(&channel.name))?;
    accepted(&at.key("description"), parse_description(&channel.description))?;
    if channel.private && channel.web_public {
        refuse(&at.key("web_public"), "a private channel cannot be web-public")?;
    }
    if channel.private && channel.default {
        refuse(&at.key("default"), RuleError::DefaultChannelPrivate.to_string())?;
    }
    if !channel.private && !channel.shared_history {
        refuse(&at.key("shared_history"), "only private channels can have a history that is not shared")?;
    }
    if let Some(folder) = &channel.folder
        && !seed.folders.iter().any(|known| known.name == *folder)
    {
        refuse(&at.key("folder"), format!("there is no folder {folder}"))?;
    }
    match &channel.subscribers {
        Audience::Named(emails) => each(&at.key("subscribers"), emails, |at, email| names.account(at, email)),
        Audience::All(_) => Ok(()),
    }
}

fn check_threads(seed: &SeedDocument, names: &Names<'_>) -> Checked {
    let document = At::Document;
    each(&document.key("topics"), &seed.topics, |at, topic| {
        if !names.channels.contains(topic.channel.as_str()) {
            refuse(&at.key("channel"), format!("there is no channel {}", topic.channel))?;
        }
        if !topic.name.is_empty() {
            check_topic(&at.key("name"), "the name of a topic", &topic.name)?;
        }
        let writers = &topic.writers;
        each(&at.key("writers"), writers, |at, email| names.account(at, email))?;
        check_messages(&at.key("messages"), &topic.messages, writers, names)?;
        each(&at.key("changes"), &topic.changes, |at, change| {
            check_change(at, change, topic.messages.len(), names)
        })
    })?;
    each(&document.key("conversations"), &seed.conversations, |at, conversation| {
        let people = &conversation.people;
        check_people(&at.key("people"), people, names)?;
        let list = at.key("messages");
        check_messages(&list, &conversation.messages, people, names)?;
        each(&list, &conversation.messages, |at, message| match message {
            Message::From { from, .. } if !people.contains(from) => {
                refuse(&at.key("from"), format!("{from} is not in the conversation's `people`"))
            }
            Message::From { .. } | Message::Text(_) => Ok(()),
        })?;
        each(&at.key("changes"), &conversation.changes, |at, change| match change {
            Change::Moved { .. } => {
                refuse(at, "messages of a conversation have no topic, so none can be moved")
            }
            Change::Edited { .. } | Change::Reacted { .. } | Change::Starred { .. } => {
                check_change(at, change, conversation.messages.len(), names)
            }
        })
    })
}

fn check_messages(at: &At<'_>, messages: &[Message], writers: &[String], names: &Names<'_>) -> Checked {
    each(at, messages, |at, message| match message {
        Message::Text(_) if writers.is_empty() => refuse(
            at,
            "this message has no sender: add `writers` to its topic, or write { from = …, text = … }",
        ),
        Message::Text(text) => check_text(at, text),
        Message::From { from, text } => {
            names.account(&at.key("from"), from)?;
            check_text(&at.key("text"), text)
        }
    })
}

/// The people of a conversation, each once.
fn check_people(at: &At<'_>, people: &[String], names: &Names<'_>) -> Checked {
    let mut known = HashSet::new();
    for (number, email) in people.iter().enumerate() {
        let at = at.entry(number);
        names.account(&at, email)?;
        if !known.insert(email) {
            refuse(&at, format!("{email} is in `people` twice"))?;
        }
    }
    Ok(())
}

fn check_text(at: &At<'_>, text: &str) -> Checked {
    check_length(at, "the text of a message", text, CONTENT_LENGTH_MAX)?;
    accepted(at, parse_content(text)).map(drop)
}

fn check_topic(at: &At<'_>, what: &str, topic: &str) -> Checked {
    check_length(at, what, topic, TOPIC_LENGTH_MAX)?;
    stored_as_written(at, topic, parse_topic(topic))
}

fn check_change(at: &At<'_>, change: &Change, messages: usize, names: &Names<'_>) -> Checked {
    let check_number = |at: &At<'_>, message: usize| match messages.checked_sub(1) {
        Some(last) if message <= last => Ok(()),
        Some(last) => refuse(
            &at.key("message"),
            format!("there is no message {message}: they are numbered from 0 to {last}"),
        ),
        None => refuse(&at.key("message"), format!("there is no message {message}: there are none here")),
    };
    match change {
        Change::Edited { message, text } => {
            let at = at.key("edited");
            check_number(&at, *message)?;
            check_text(&at.key("text"), text)
        }
        Change::Moved { by, topic } => {
            let at = at.key("moved");
            names.person(&at.key("by"), by)?;
            check_topic(&at.key("topic"), "the new topic", topic)
        }
        Change::Reacted { message, by, emoji } => {
            let at = at.key("reacted");
            check_number(&at, *message)?;
            names.person(&at.key("by"), by)?;
            names.emoji(&at.key("emoji"), emoji)
        }
        Change::Starred { message, by } => {
            let at = at.key("starred");
            check_number(&at, *message)?;
            names.person(&at.key("by"), by)
        }
    }
}
