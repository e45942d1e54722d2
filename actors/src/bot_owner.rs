//! Notices about messages of bots without readers: the channel does not exist or has no subscribers. The notification bot
//! notifies the owner, at most every five minutes for each bot.

use crate::bot_notices::notification_bot;
use crate::draft::DirectDraft;
use crate::handle::RealmHandle;
use model::{Directory, User};
use rules::bot_notices::{bot_channel_empty_text, bot_channel_id_missing_text, bot_channel_missing_text};
use rules::names::parse_channel_name;
use rules::permissions::channel::{ChannelRef, may_address};

/// The notice about a message of `sender` to a channel; none for users, for channels with subscribers, and within five
/// minutes of the last one.
pub fn owner_notice(
    realm: &RealmHandle,
    directory: &Directory,
    sender: &User,
    wanted: ChannelRef<'_>,
) -> Option<Box<DirectDraft>> {
    // Nearly all senders are people, whose channels need not be searched.
    sender.owner()?;
    let content = notice_text(directory, sender, wanted)?;
    owner_message(realm, directory, sender, content).map(Box::new)
}

/// A direct message of the notification bot to the owner of a bot; none within five minutes of the last one.
pub fn owner_message(
    realm: &RealmHandle,
    directory: &Directory,
    bot: &User,
    content: String,
) -> Option<DirectDraft> {
    let owner = bot.bot.as_ref()?.owner?;
    if !directory.user(owner).is_some_and(|owner| owner.is_active) || !realm.may_alert_owner(bot.id) {
        return None;
    }
    let mut users = vec![notification_bot(directory)?.id, owner];
    users.sort_unstable();
    let draft = realm.draft_notice(directory, bot, content)?;
    Some(DirectDraft { draft, users })
}

fn notice_text(directory: &Directory, bot: &User, wanted: ChannelRef<'_>) -> Option<String> {
    let email = &bot.delivery_email;
    // A channel that the bot may not see counts as missing.
    let is_known = |channel: &&std::sync::Arc<model::Channel>| may_address(directory, bot, channel);
    let found = match wanted {
        ChannelRef::Id(id) => {
            let found = u32::try_from(id).ok().and_then(|id| directory.channel(model::ChannelId(id)));
            found.filter(is_known).ok_or_else(|| bot_channel_id_missing_text(email, id))
        }
        ChannelRef::Name(raw) => {
            // Sending refuses an invalid name.
            let name = parse_channel_name(raw).ok()?;
            directory
                .channel_by_name(name)
                .filter(is_known)
                .ok_or_else(|| bot_channel_missing_text(email, name))
        }
    };
    match found {
        Err(text) => Some(text),
        Ok(channel) if directory.subscriber_ids(channel.id).next().is_some() => None,
        Ok(channel) => Some(bot_channel_empty_text(email, channel)),
    }
}
