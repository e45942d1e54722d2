//! Events for those who look after a bot: its owner, and administrators (events.md 3, `realm_bot`).

use super::{Announcements, Moment};
use model::event::BotChange;
use model::{BotConfig, Directory, EventBody, Fact, User, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

fn owner(bot: &User) -> Option<UserId> {
    bot.bot.as_ref().and_then(|bot| bot.owner)
}

/// Whether somebody looks after a bot, and is shown its key. Nobody does after the server's own ones.
pub(crate) fn looks_after(user: &User, bot: &User) -> bool {
    user.is_active && !bot.is_system_bot() && (user.is_administrator() || owner(bot) == Some(user.id))
}

fn keepers(directory: &Directory, bot: &User) -> BTreeSet<UserId> {
    directory.users().filter(|user| looks_after(user, bot)).map(|user| user.id).collect()
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
    let is_active = |id: &UserId| moment.after.is_active_user(*id);
    let gone = before.difference(&after).copied().filter(is_active).collect();
    let come = after.difference(&before).copied().collect();
    out.each([(gone, EventBody::BotRemoved(is.id)), (come, EventBody::BotAdded { bot: is.clone(), config })]);
    let staying: Vec<UserId> = before.intersection(&after).copied().collect();
    for change in differences(was, is) {
        out.to(staying.iter().copied(), EventBody::BotChanged { bot: is.id, change });
    }
}

/// Somebody has another role: administrators look after all bots, in use or not, others after their own. What the frame
/// says of a bot itself is told with it.
pub(super) fn keeper_changed(moment: &Moment<'_>, keeper: UserId, out: &mut Announcements) {
    let (Some(was), Some(is)) = (moment.before().user(keeper), moment.after.user(keeper)) else { return };
    if !was.is_active || !is.is_active || was.is_administrator() == is.is_administrator() {
        return;
    }
    let has_news = |bot: &User| {
        moment.frame.facts.iter().any(|fact| match fact {
            Fact::UserChanged(user) | Fact::UserCreated(user) => user.id == bot.id,
            Fact::UserActiveSet { user, .. } => *user == bot.id,
            _ => false,
        })
    };
    // In a replay the directory knows those, too, that were made later.
    let is_there = |bot: &User| bot.joined <= moment.frame.at;
    let bots = moment.after.users().filter(|bot| bot.is_bot() && is_there(bot) && !has_news(bot));
    for bot in bots {
        match (looks_after(was, bot), looks_after(is, bot)) {
            (false, true) => {
                let config = moment.after.bot_config(bot.id).cloned().unwrap_or_default();
                out.to([keeper], EventBody::BotAdded { bot: bot.clone(), config });
            }
            (true, false) => out.to([keeper], EventBody::BotRemoved(bot.id)),
            _ => {}
        }
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
