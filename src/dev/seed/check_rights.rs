//! What the API would refuse because of who does it, or because of the state that it meets.

use super::content::{Audience, Change, Channel, Message, RoleName, SeedDocument, Topic};
use super::document_path::At;
use super::forms::Value;
use super::mistake::{Checked, accepted, each, refuse};
use actors::SYSTEM_BOTS;
use rules::RuleError;
use rules::emoji::code_of;
use rules::error::{EmojiError, PictureError};
use rules::onboarding::mark_step_seen;
use rules::reactions::find_emoji;
use rules::settings::{SettingKind, realm_setting};
use std::collections::{HashMap, HashSet};

/// Checks a seed whose names exist; the first mistake is the error.
pub(super) fn check_rights(seed: &SeedDocument) -> Checked {
    let document = At::Document;
    check_addresses(seed)?;
    each(&document.key("onboarding_seen"), &seed.onboarding_seen, |at, step| {
        accepted(at, mark_step_seen(&[], step)).map(drop)
    })?;
    check_channels_of_settings(&document.key("settings"), seed)?;
    let people = People::of(seed);
    each(&document.key("emoji"), &seed.emoji, |at, emoji| match people.role(&emoji.author) {
        RoleName::Owner | RoleName::Administrator => Ok(()),
        RoleName::Guest => refuse(&at.key("author"), RuleError::InsufficientPermission.to_string()),
        RoleName::Moderator | RoleName::Member if code_of(&emoji.name).is_some() => {
            refuse(&at.key("name"), PictureError::EmojiOverridesDefault.to_string())
        }
        RoleName::Moderator | RoleName::Member => Ok(()),
    })?;
    let custom: HashSet<&str> = seed.emoji.iter().map(|emoji| emoji.name.as_str()).collect();
    let refuses_empty =
        seed.settings.get("topics_policy") == Some(&Value::Text("disable_empty_topic".into()));
    each(&document.key("topics"), &seed.topics, |at, topic| {
        if refuses_empty && topic.name.is_empty() {
            refuse(&at.key("name"), RuleError::EmptyTopicRefused.to_string())?;
        }
        check_access(at, topic, &people)?;
        check_reactions(&at.key("changes"), &topic.changes, &custom)
    })?;
    each(&document.key("conversations"), &seed.conversations, |at, conversation| {
        let list = at.key("changes");
        let is_in = |by: &str| conversation.people.iter().any(|person| person == by);
        each(&list, &conversation.changes, |at, change| {
            check_actor(at, change, is_in, "in the conversation's `people`")
        })?;
        check_reactions(&list, &conversation.changes, &custom)
    })
}

/// The server's own bots have addresses in the organization's domain.
fn check_addresses(seed: &SeedDocument) -> Checked {
    let own = SYSTEM_BOTS.map(|(name, _)| format!("{name}@{}", seed.email_domain).to_lowercase());
    let check = |at: &At<'_>, email: &str| match own.contains(&email.to_lowercase()) {
        true => refuse(&at.key("email"), format!("{email} is the address of one of the server's own bots")),
        false => Ok(()),
    };
    let document = At::Document;
    each(&document.key("users"), &seed.users, |at, user| check(at, &user.email))?;
    each(&document.key("bots"), &seed.bots, |at, bot| check(at, &bot.email))
}

/// Channels have the numbers of their order; -1 is none.
fn check_channels_of_settings(at: &At<'_>, seed: &SeedDocument) -> Checked {
    for (name, value) in &seed.settings {
        let kind = realm_setting(name).map(|setting| setting.kind);
        let (Some(SettingKind::Channel | SettingKind::PrivateChannel), Value::Number(id)) = (kind, value)
        else {
            continue;
        };
        if *id == -1 {
            continue;
        }
        let number = id.checked_sub(1).and_then(|number| usize::try_from(number).ok());
        match number.and_then(|number| seed.channels.get(number)) {
            None => refuse(&at.key(name), RuleError::InvalidChannelId.to_string())?,
            Some(channel) if kind == Some(SettingKind::PrivateChannel) && !channel.private => {
                refuse(&at.key(name), RuleError::ModerationChannelPublic.to_string())?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The accounts of a seed, and the channels that they reach.
struct People<'s> {
    roles: HashMap<&'s str, RoleName>,
    /// The owners of bots.
    owners: HashMap<&'s str, &'s str>,
    channels: HashMap<&'s str, Reached<'s>>,
}

/// A channel, with the subscribers that are named.
struct Reached<'s> {
    channel: &'s Channel,
    named: HashSet<&'s str>,
}

impl<'s> People<'s> {
    fn of(seed: &'s SeedDocument) -> Self {
        let channels = seed.channels.iter().map(|channel| {
            let named = match &channel.subscribers {
                Audience::Named(emails) => emails.iter().map(String::as_str).collect(),
                Audience::All(_) => HashSet::new(),
            };
            (channel.name.as_str(), Reached { channel, named })
        });
        Self {
            roles: seed.users.iter().map(|user| (user.email.as_str(), user.role)).collect(),
            owners: seed.bots.iter().map(|bot| (bot.email.as_str(), bot.owner.as_str())).collect(),
            channels: channels.collect(),
        }
    }

    /// Bots are members.
    fn role(&self, email: &str) -> RoleName {
        self.roles.get(email).copied().unwrap_or(RoleName::Member)
    }

    /// Whether an account may write in a channel, and react there. A bot may where its owner is subscribed.
    fn reaches(&self, Reached { channel, named }: &Reached<'_>, email: &str) -> bool {
        let is_subscribed = |email: &str| match &channel.subscribers {
            Audience::Named(_) => named.contains(email),
            Audience::All(all) => self.roles.get(email).is_some_and(|role| all.includes(*role)),
        };
        channel.web_public
            || (!channel.private && self.role(email) != RoleName::Guest)
            || is_subscribed(email)
            || self.owners.get(email).is_some_and(|owner| is_subscribed(owner))
    }
}

/// Those who write in a channel, or react there, must reach it.
fn check_access(at: &At<'_>, topic: &Topic, people: &People<'_>) -> Checked {
    let Some(reached) = people.channels.get(topic.channel.as_str()) else { return Ok(()) };
    let place = format!("subscribed to {}, and so cannot write or react there", topic.channel);
    let check = |at: &At<'_>, email: &str| match people.reaches(reached, email) {
        true => Ok(()),
        false => refuse(at, format!("{email} is not {place}")),
    };
    each(&at.key("writers"), &topic.writers, |at, email| check(at, email))?;
    each(&at.key("messages"), &topic.messages, |at, message| match message {
        Message::From { from, .. } => check(&at.key("from"), from),
        Message::Text(_) => Ok(()),
    })?;
    each(&at.key("changes"), &topic.changes, |at, change| {
        check_actor(at, change, |by| people.reaches(reached, by), &place)
    })
}

/// Who changes something must see it.
fn check_actor(at: &At<'_>, change: &Change, may: impl Fn(&str) -> bool, place: &str) -> Checked {
    let (name, by) = match change {
        Change::Edited { .. } => return Ok(()),
        Change::Moved { by, .. } => ("moved", by),
        Change::Reacted { by, .. } => ("reacted", by),
        Change::Starred { by, .. } => ("starred", by),
    };
    match may(by) {
        true => Ok(()),
        false => refuse(&at.key(name).key("by"), format!("{by} is not {place}")),
    }
}

/// A person reacts to a message with an emoji once, also under another name of it.
fn check_reactions(at: &At<'_>, changes: &[Change], custom: &HashSet<&str>) -> Checked {
    let mut known = HashSet::new();
    for (number, change) in changes.iter().enumerate() {
        let Change::Reacted { message, by, emoji } = change else { continue };
        let standard = || find_emoji(emoji, &[]).ok().map(|found| found.code);
        let code = if custom.contains(emoji.as_str()) { None } else { standard() };
        let (is_custom, code) = (code.is_none(), code.unwrap_or_else(|| emoji.clone()));
        if !known.insert((*message, by.as_str(), is_custom, code)) {
            refuse(&at.entry(number).key("reacted"), EmojiError::ReactionExists.to_string())?;
        }
    }
    Ok(())
}
