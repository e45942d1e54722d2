//! What the notification bot says when channels are created and people subscribed (endpoints.md 7, companions.md 6).

use crate::api::markdown::RealmMarkdown;
use crate::http::Caller;
use actors::{ChannelDraft, DirectDraft, DomainError, Draft, Notice, RealmHandle, SYSTEM_BOTS};
use futures_util::future::join_all;
use model::fact::MessageRanges;
use model::{ChannelId, Directory, Flag, FlagOp, User, UserId};
use rules::markdown::{Rendered, render};
use rules::permissions::create::ChannelPrivacy;
use rules::settings::{realm_bool, realm_int};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where new channels are announced.
const NEW_CHANNELS_TOPIC: &str = "new channels";

/// More people than this are not told one by one (`max_bulk_new_subscription_messages`).
pub const PEOPLE_TOLD_MAX: usize = 100;

/// The first message of a new channel; none where the organization wants no such messages.
pub fn creation_notice(
    realm: &RealmHandle,
    directory: &Directory,
    creator: &User,
    privacy: ChannelPrivacy,
    description: &str,
) -> Option<Notice> {
    if !realm_bool(directory.realm(), "send_channel_events_messages") {
        return None;
    }
    let sender = notification_bot(directory)?.id;
    let kind = privacy_name(privacy);
    let description = if description.is_empty() { "*No description.*" } else { description };
    let creator_name = silent_mention(creator);
    let content = format!(
        "**{kind}** channel created by {creator_name}. **Description:**\n```` quote\n{description}\n````"
    );
    let rendered = rendered(realm, directory, creator, &content)?;
    Some(Notice { sender, content, rendered, read_by: creator.id })
}

/// Tells the organization of new channels, where it has a channel for that. Best effort: the channels are there anyway.
pub async fn announce_channels(caller: &Caller, names: &[String]) {
    let directory = caller.realm.directory();
    let Some((channel, draft)) = announcement(caller, &directory, names) else { return };
    let topic = NEW_CHANNELS_TOPIC.to_owned();
    let sent = caller.realm.send_to_channel(ChannelDraft { draft, channel, topic, topic_links: Vec::new() });
    let outcome = match sent.await {
        Ok(sent) if directory.is_subscribed(channel, caller.user.id) => {
            let own = MessageRanges::from_sorted([sent.id]);
            caller.realm.change_flags(caller.user.id, Flag::Read, FlagOp::Add, own).await.map(|_| ())
        }
        other => other.map(|_| ()),
    };
    note_failure(outcome);
}

fn announcement(caller: &Caller, directory: &Directory, names: &[String]) -> Option<(ChannelId, Draft)> {
    let id = realm_int(directory.realm(), "new_stream_announcements_stream_id")?;
    let channel = directory.channel(ChannelId(u32::try_from(id).ok()?)).filter(|found| !found.is_archived)?;
    let creator = silent_mention(&caller.user);
    let links: Vec<String> = names.iter().map(|name| format!("#**{name}**")).collect();
    let content = match links.as_slice() {
        [] => return None,
        [link] => format!("{creator} created a new channel {link}."),
        links => format!("{creator} created the following channels: {}.", links.join(", ")),
    };
    Some((channel.id, draft(&caller.realm, directory, &caller.user, content)?))
}

/// Tells people which channels somebody else subscribed them to. Bots are not told. False when they are too many.
pub async fn tell_subscribed(caller: &Caller, channels_by_user: &BTreeMap<UserId, Vec<String>>) -> bool {
    if channels_by_user.len() > PEOPLE_TOLD_MAX {
        return false;
    }
    let directory = caller.realm.directory();
    let Some(bot) = notification_bot(&directory) else { return false };
    let is_told = |user: &UserId| {
        *user != caller.user.id && directory.user(*user).is_some_and(|user| user.is_active && !user.is_bot())
    };
    let told = channels_by_user.iter().filter(|(user, names)| is_told(user) && !names.is_empty());
    let sends = told.filter_map(|(user, names)| {
        let content = subscribed_text(&caller.user, names);
        let draft = draft(&caller.realm, &directory, &caller.user, content)?;
        let mut users = vec![bot.id, *user];
        users.sort_unstable();
        Some(caller.realm.send_direct(DirectDraft { draft, users }))
    });
    for outcome in join_all(sends).await {
        note_failure(outcome.map(|_| ()));
    }
    true
}

fn subscribed_text(actor: &User, names: &[String]) -> String {
    let actor = format!("@**{}|{}**", actor.full_name, actor.id);
    if let [name] = names {
        return format!("{actor} subscribed you to #**{name}**.");
    }
    let mut text = format!("{actor} subscribed you to the following channels:\n\n");
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    for name in names {
        text.push_str(&format!("* #**{name}**\n"));
    }
    text.trim_end().to_owned()
}

/// A text by the notification bot, in which names mean what they mean to `author`.
fn draft(realm: &RealmHandle, directory: &Directory, author: &User, content: String) -> Option<Draft> {
    let rendered = rendered(realm, directory, author, &content)?;
    Some(Draft {
        sender: notification_bot(directory)?.clone(),
        content,
        rendered,
        client: "Internal".to_owned(),
        read_by_sender: true,
        echo: None,
    })
}

fn rendered(realm: &RealmHandle, directory: &Directory, author: &User, content: &str) -> Option<Rendered> {
    render(content, &RealmMarkdown::of_message(realm, directory, author)).ok()
}

fn notification_bot(directory: &Directory) -> Option<&Arc<User>> {
    let (address, _) = SYSTEM_BOTS[0];
    directory.user_by_email(&format!("{address}@{}", directory.realm().email_domain))
}

fn silent_mention(user: &User) -> String {
    format!("@_**{}|{}**", user.full_name, user.id)
}

/// What people call the privacy of a channel.
fn privacy_name(privacy: ChannelPrivacy) -> &'static str {
    match privacy {
        ChannelPrivacy { is_web_public: true, .. } => "Web-public",
        ChannelPrivacy { invite_only: false, .. } => "Public",
        ChannelPrivacy { history_public_to_subscribers: true, .. } => "Private, shared history",
        ChannelPrivacy { .. } => "Private, protected history",
    }
}

/// A notice that could not be sent takes nothing back: what it is about has happened.
fn note_failure(outcome: Result<(), DomainError>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "a notice about channels could not be sent");
    }
}
