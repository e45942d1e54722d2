//! Sends what the notification bot says when channels are created and people subscribed (endpoints.md 7, companions.md 6).
//! The texts are in `rules::notices`.

use crate::http::Caller;
use actors::{
    ChannelDraft, DirectDraft, DomainError, Draft, Notice, RealmHandle, draft_notice, notification_bot,
};
use futures_util::future::join_all;
use model::fact::MessageRanges;
use model::{Channel, ChannelId, Directory, Flag, FlagOp, User, UserId};
use rules::notices::{
    NEW_CHANNELS_TOPIC, announced_text, created_text, sends_channel_events, subscribed_text,
};
use rules::permissions::create::ChannelPrivacy;
use rules::settings::realm_int;
use std::collections::BTreeMap;

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
    if !sends_channel_events(directory.realm()) {
        return None;
    }
    let content = created_text(creator, privacy, description);
    let draft = draft_notice(realm, directory, creator, content)?;
    Some(Notice { draft, read_by: creator.id })
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
    let content = announced_text(&caller.user, &channels(directory, names))?;
    Some((channel.id, draft_notice(&caller.realm, directory, &caller.user, content)?))
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
        let content = subscribed_text(&caller.user, &channels(&directory, names))?;
        let draft = draft_notice(&caller.realm, &directory, &caller.user, content)?;
        let mut users = vec![bot.id, *user];
        users.sort_unstable();
        Some(caller.realm.send_direct(DirectDraft { draft, users }))
    });
    for outcome in join_all(sends).await {
        note_failure(outcome.map(|_| ()));
    }
    true
}

fn channels<'d>(directory: &'d Directory, names: &[String]) -> Vec<&'d Channel> {
    names.iter().filter_map(|name| directory.channel_by_name(name)).map(|channel| &**channel).collect()
}

/// A notice that could not be sent takes nothing back: what it is about has happened.
fn note_failure(outcome: Result<(), DomainError>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "a notice about channels could not be sent");
    }
}
