//! Events for those who look after a bot: its owner, and administrators (events.md 3, `realm_bot`).

use super::{Announcements, Moment};
use model::event::BotChange;
use model::{BotConfig, Directory, EventBody, User, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

fn owner(bot: &User) -> Option<UserId> {
    bot.bot.as_ref().and_then(|bot| bot.owner)
}

/// Who looks after a bot. Nobody does after the server's own ones.
fn keepers(directory: &Directory, bot: &User) -> BTreeSet<UserId> {
    let looks_after = |user: &&Arc<User>| user.is_administrator() || owner(bot) == Some(user.id);
    let users = directory.users().filter(|user| user.is_active && !bot.is_system_bot());
    users.filter(looks_after).map(|user| user.id).collect()
}

/// A bot was made, or is set in another way. Without a record from before it is new.
pub(super) fn configured(
    moment: &Moment<'_>,
    bot: UserId,
    before: Option<&BotConfig>,
    config: &BotConfig,
    out: &mut Announcements,
) {
    let Some(bot) = moment.after.user(bot) else { return };
    let keepers = keepers(moment.after, bot);
    let Some(before) = before else {
        let config = Arc::new(config.clone());
        return out.to(keepers, EventBody::BotAdded { bot: bot.clone(), config });
    };
    for change in config_differences(before, config) {
        out.to(keepers.iter().copied(), EventBody::BotChanged { bot: bot.id, change });
    }
}

/// A bot has another picture.
pub(super) fn avatar_changed(moment: &Moment<'_>, bot: &User, out: &mut Announcements) {
    if bot.is_bot() {
        out.to(keepers(moment.after, bot), EventBody::BotChanged { bot: bot.id, change: BotChange::Avatar });
    }
}

fn config_differences(was: &BotConfig, is: &BotConfig) -> Vec<BotChange> {
    let mut found = Vec::new();
    if was.sending_channel != is.sending_channel {
        found.push(BotChange::SendingChannel(is.sending_channel));
    }
    if was.register_channel != is.register_channel {
        found.push(BotChange::RegisterChannel(is.register_channel));
    }
    if was.all_public_channels != is.all_public_channels {
        found.push(BotChange::AllPublicChannels(is.all_public_channels));
    }
    if was.service != is.service {
        found.push(BotChange::Service(is.service.clone()));
    }
    found
}

/// A bot's record changed, or who answers for it: the bot comes to some people, goes from others, and is another one
/// for the rest.
pub(super) fn changed(moment: &Moment<'_>, was: &User, is: &Arc<User>, out: &mut Announcements) {
    let (before, after) = (keepers(moment.before(), was), keepers(moment.after, is));
    let config = moment.after.bot_config(is.id).cloned().unwrap_or_default();
    // Whoever is out of use with the bot is told nothing any more.
    let is_active = |id: &UserId| moment.after.user(*id).is_some_and(|user| user.is_active);
    let gone = before.difference(&after).copied().filter(is_active).collect();
    let come = after.difference(&before).copied().collect();
    out.each([(gone, EventBody::BotRemoved(is.id)), (come, EventBody::BotAdded { bot: is.clone(), config })]);
    let staying: Vec<UserId> = before.intersection(&after).copied().collect();
    for change in differences(was, is) {
        out.to(staying.iter().copied(), EventBody::BotChanged { bot: is.id, change });
    }
}

fn differences(was: &User, is: &User) -> Vec<BotChange> {
    let mut found = Vec::new();
    if was.full_name != is.full_name {
        found.push(BotChange::FullName(is.full_name.clone()));
    }
    if was.delivery_email != is.delivery_email {
        found.push(BotChange::Email(is.delivery_email.clone()));
    }
    if was.is_active != is.is_active {
        found.push(BotChange::IsActive(is.is_active));
    }
    if was.api_key_rotation != is.api_key_rotation {
        found.push(BotChange::ApiKey);
    }
    // A picture may be the one that the address stands for.
    if was.avatar_version != is.avatar_version || was.delivery_email != is.delivery_email {
        found.push(BotChange::Avatar);
    }
    if owner(was) != owner(is) {
        found.push(BotChange::Owner(owner(is)));
    }
    found
}
