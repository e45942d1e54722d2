//! Messages of a day: which are carried over, where, and with which text.

use super::conversations::SlackConversations;
use super::emoji::emoji_name;
use super::mrkdwn::{Names, to_markdown};
use super::people::{People, Profile};
use crate::transfer::report::Report;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The tables of the report.
pub const TABLE: &str = "slack messages";
const REACTIONS: &str = "slack reactions";
pub const FILES: &str = "slack files";
/// The topic of messages outside of threads.
pub const TOPIC: &str = "imported from Slack";
/// Characters of a message.
const CONTENT_CHARS_MAX: usize = 10_000;
/// Characters of a text that are converted: more than Slack allows, and than a message keeps.
const TEXT_CHARS_MAX: usize = 40_000;
const TRUNCATED: &str = "\n[message truncated]";

/// Kinds of messages that say what happened, and are left out.
const NOTICES: [&str; 25] = [
    "channel_join",
    "channel_leave",
    "channel_topic",
    "channel_purpose",
    "channel_name",
    "channel_archive",
    "channel_unarchive",
    "channel_convert_to_private",
    "channel_posting_permissions",
    "group_join",
    "group_leave",
    "group_topic",
    "group_purpose",
    "group_name",
    "group_archive",
    "group_unarchive",
    "pinned_item",
    "unpinned_item",
    "bot_add",
    "bot_remove",
    "bot_enable",
    "bot_disable",
    "reminder_add",
    "joiner_notification",
    "tombstone",
];

/// A file of a message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SlackFile {
    pub id: String,
    pub name: Option<String>,
    pub title: Option<String>,
    pub mimetype: Option<String>,
    pub size: Option<u64>,
    pub url_private_download: Option<String>,
    pub url_private: Option<String>,
    pub permalink: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct SlackReaction {
    name: String,
    users: Vec<String>,
}

/// What integrations add below a message.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Addition {
    pretext: Option<String>,
    title: Option<String>,
    title_link: Option<String>,
    text: Option<String>,
    fallback: Option<String>,
    /// A preview of a link, which is not part of the message.
    from_url: Option<String>,
}

/// A row of a file of messages.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct SlackMessage {
    pub ts: String,
    text: Option<String>,
    subtype: Option<String>,
    user: Option<String>,
    user_profile: Option<Profile>,
    bot_id: Option<String>,
    username: Option<String>,
    bot_profile: Option<Profile>,
    thread_ts: Option<String>,
    pub files: Vec<Option<SlackFile>>,
    attachments: Vec<Addition>,
    reactions: Vec<SlackReaction>,
}

/// Topics of threads, numbered by channel and day as Zulip's converter does.
#[derive(Debug, Default)]
pub struct Threads {
    topics: HashMap<(usize, String), String>,
    counts: BTreeMap<(usize, String), usize>,
}

impl Threads {
    /// The topic of a message of a channel.
    fn topic(&mut self, channel: usize, thread: Option<&str>) -> String {
        let Some(thread) = thread else { return TOPIC.to_owned() };
        let counts = &mut self.counts;
        let named = self.topics.entry((channel, thread.to_owned())).or_insert_with(|| {
            let day = day_of(thread);
            let count = counts.entry((channel, day.clone())).or_default();
            *count += 1;
            format!("{day} Slack thread {count}")
        });
        named.clone()
    }
}

/// The day of a time in seconds, in UTC.
fn day_of(ts: &str) -> String {
    let at = seconds(ts).unwrap_or_default();
    let at = jiff::Timestamp::from_second(at as i64).unwrap_or_default();
    at.strftime("%Y-%m-%d").to_string()
}

/// A time in seconds.
pub fn seconds(ts: &str) -> Option<f64> {
    ts.parse().ok().filter(|at: &f64| at.is_finite() && *at > 0.0)
}

/// A reaction of a message: user, name, code.
pub type ReactionOf = (u32, &'static str, &'static str);

impl SlackMessage {
    /// Why the message is left out; none if it is carried over.
    pub fn refusal(&self) -> Option<&'static str> {
        let kind = self.subtype.as_deref().unwrap_or_default();
        if kind.ends_with("_join") || kind.ends_with("_leave") {
            return Some("joining and leaving");
        }
        if NOTICES.contains(&kind) {
            return Some("notices of changes");
        }
        seconds(&self.ts).is_none().then_some("without a time")
    }

    /// The account of the sender, created if it is not known.
    pub fn sender(&self, people: &mut People) -> u32 {
        if let Some(user) = self.user.as_deref().filter(|user| !user.is_empty()) {
            let profile = self.user_profile.clone().unwrap_or_default();
            return people.stranger(user, profile.real_name.or(profile.name), false);
        }
        let bot = self.bot_id.clone().or_else(|| self.username.clone());
        let named = self.bot_profile.clone().and_then(|profile| profile.name.or(profile.real_name));
        let name = named.or_else(|| self.username.clone());
        people.stranger(bot.as_deref().unwrap_or("unknown"), name.or_else(|| Some("Slack bot".into())), true)
    }

    /// The topic of a message in a channel.
    pub fn topic(&self, channel: usize, threads: &mut Threads) -> String {
        threads.topic(channel, self.thread_ts.as_deref().filter(|ts| seconds(ts).is_some()))
    }

    /// The text with what integrations added. `files` are the links to files.
    pub fn content(
        &self,
        people: &People,
        conversations: &SlackConversations,
        files: &[String],
        report: &mut Report,
    ) -> String {
        let mut texts = Texts { names: Names { people, conversations }, cut: 0 };
        let mut parts = Vec::new();
        let text = texts.markdown(self.text.as_deref().unwrap_or_default());
        parts.push(if self.subtype.as_deref() == Some("me_message") { format!("/me {text}") } else { text });
        for addition in self.attachments.iter().filter(|addition| addition.from_url.is_none()) {
            parts.push(addition.markdown(&mut texts));
        }
        parts.extend(files.iter().cloned());
        parts.retain(|part| !part.trim().is_empty());
        let content = parts.join("\n");
        report.change("texts of more than 40,000 characters are cut before they are converted", texts.cut);
        let is_whole = texts.cut == 0 || content.is_empty();
        if is_whole && content.chars().count() <= CONTENT_CHARS_MAX {
            return content.trim().to_owned();
        }
        report.change("messages of more than 10,000 characters are cut", 1);
        let cut: String = content.chars().take(CONTENT_CHARS_MAX - TRUNCATED.len()).collect();
        cut + TRUNCATED
    }

    /// The reactions with emoji that are known here.
    pub fn reactions(&self, people: &People, report: &mut Report) -> Vec<ReactionOf> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for reaction in &self.reactions {
            report.read(REACTIONS, reaction.users.len() as u64);
            let known = emoji_name(&reaction.name);
            let Some((name, code)) = known.and_then(|name| Some((name, rules::emoji::code_of(name)?))) else {
                let why = "with an emoji of the workspace, or one that is not known here";
                report.leave_out(REACTIONS, why, reaction.users.len() as u64);
                continue;
            };
            for user in &reaction.users {
                match people.known(user) {
                    Some(user) if seen.insert((user, code)) => {
                        found.push((user, name, code));
                        report.carry(REACTIONS, 1);
                    }
                    Some(_) => report.leave_out(REACTIONS, "the same twice", 1),
                    None => report.leave_out(REACTIONS, "of a user who is not in the export", 1),
                }
            }
        }
        found
    }

    /// Accounts that the text mentions.
    pub fn mentioned(&self, people: &People) -> Vec<u32> {
        let text = self.text.as_deref().unwrap_or_default();
        let ids = text.split("<@").skip(1).filter_map(|rest| rest.split(['>', '|']).next());
        let mut users: Vec<u32> = ids.filter_map(|id| people.known(id)).collect();
        users.sort_unstable();
        users.dedup();
        users
    }
}

/// Converts the texts of one message.
struct Texts<'n> {
    names: Names<'n>,
    /// How many of them were cut.
    cut: u64,
}

impl Texts<'_> {
    fn markdown(&mut self, text: &str) -> String {
        let end = text.char_indices().nth(TEXT_CHARS_MAX).map(|(end, _)| end);
        self.cut += u64::from(end.is_some());
        to_markdown(text.get(..end.unwrap_or(text.len())).unwrap_or(text), self.names)
    }
}

impl Addition {
    fn markdown(&self, texts: &mut Texts<'_>) -> String {
        let mut text = |text: &Option<String>| text.as_deref().map(|text| texts.markdown(text));
        let title = match (&self.title, &self.title_link) {
            (Some(title), Some(link)) => Some(format!("[{}]({link})", title.replace(['[', ']'], ""))),
            (Some(title), None) => Some(format!("**{title}**")),
            (None, _) => None,
        };
        let parts: Vec<String> =
            [text(&self.pretext), title, text(&self.text)].into_iter().flatten().collect();
        if parts.is_empty() { text(&self.fallback).unwrap_or_default() } else { parts.join("\n") }
    }
}

impl SlackFile {
    /// The name of the file.
    pub fn shown_name(&self) -> String {
        let name = [&self.title, &self.name].into_iter().flatten().find(|name| !name.trim().is_empty());
        name.cloned().unwrap_or_else(|| "file".to_owned()).replace(['[', ']'], "")
    }

    /// A link to where it is at Slack; none if there is none.
    pub fn link(&self) -> Option<String> {
        let url = self.permalink.as_ref().or(self.url_private.as_ref())?;
        Some(format!("[{}]({url})", self.shown_name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_and_counted() {
        let reported = |text: String| {
            let message = SlackMessage { text: Some(text), ..SlackMessage::default() };
            let mut report = Report::default();
            let content =
                message.content(&People::default(), &SlackConversations::default(), &[], &mut report);
            (content, report.to_json()["changed"].clone())
        };
        let (content, changed) = reported("&amp;".repeat(TEXT_CHARS_MAX / 5));
        assert_eq!((content, changed), ("&".repeat(TEXT_CHARS_MAX / 5), serde_json::json!({})));
        let cut = "messages of more than 10,000 characters are cut";
        let (content, changed) = reported("&amp;".repeat(TEXT_CHARS_MAX / 5) + "and more");
        assert_eq!(content, "&".repeat(TEXT_CHARS_MAX / 5) + TRUNCATED);
        let before = "texts of more than 40,000 characters are cut before they are converted";
        assert_eq!(changed, serde_json::json!({ cut: 1, before: 1 }));
        let (content, changed) = reported("é".repeat(CONTENT_CHARS_MAX + 1));
        assert_eq!(content, "é".repeat(CONTENT_CHARS_MAX - TRUNCATED.len()) + TRUNCATED);
        assert_eq!(changed, serde_json::json!({ cut: 1 }));
    }
}
