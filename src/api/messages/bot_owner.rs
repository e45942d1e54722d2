//! A bot that writes where nobody reads fails silently, so the notification bot tells its owner (endpoints.md 1,
//! step 7; 14). At most once in five minutes for each bot: a bot may try again and again.

use actors::{DirectDraft, RealmHandle, draft_notice, notification_bot};
use model::{Directory, User};
use rules::names::parse_channel_name;
use rules::notices::{bot_channel_empty_text, bot_channel_id_missing_text, bot_channel_missing_text};
use rules::permissions::channel::ChannelRef;

/// What to tell the owner of a bot that writes to this channel; nothing for people, for channels with subscribers,
/// and where the owner was told a moment ago.
pub fn owner_notice(
    realm: &RealmHandle,
    directory: &Directory,
    sender: &User,
    wanted: ChannelRef<'_>,
) -> Option<Box<DirectDraft>> {
    let owner = sender.bot.as_ref()?.owner?;
    let content = notice_text(directory, sender, wanted)?;
    if !directory.user(owner).is_some_and(|owner| owner.is_active) || !realm.may_alert_owner(sender.id) {
        return None;
    }
    let mut users = vec![notification_bot(directory)?.id, owner];
    users.sort_unstable();
    let draft = draft_notice(realm, directory, sender, content)?;
    Some(Box::new(DirectDraft { draft, users }))
}

fn notice_text(directory: &Directory, bot: &User, wanted: ChannelRef<'_>) -> Option<String> {
    let email = &bot.delivery_email;
    let found = match wanted {
        ChannelRef::Id(id) => {
            let found = u32::try_from(id).ok().and_then(|id| directory.channel(model::ChannelId(id)));
            found.ok_or_else(|| bot_channel_id_missing_text(email, id))
        }
        ChannelRef::Name(raw) => {
            // A name that no channel can have is refused for that.
            let name = parse_channel_name(raw).ok()?;
            directory.channel_by_name(name).ok_or_else(|| bot_channel_missing_text(email, name))
        }
    };
    match found {
        Err(text) => Some(text),
        Ok(channel) if directory.subscriber_ids(channel.id).next().is_some() => None,
        Ok(channel) => Some(bot_channel_empty_text(email, channel)),
    }
}

/// Sends it. Whether that works changes nothing for the bot.
pub async fn tell_owner(realm: &RealmHandle, notice: DirectDraft) {
    if let Err(error) = realm.send_direct(notice).await {
        tracing::warn!(%error, "a bot's owner could not be told where its messages went");
    }
}
