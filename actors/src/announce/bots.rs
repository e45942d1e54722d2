//! Events for the managers of a bot: its owner and administrators (docs/api/events.md#realm_bot). Keys and tokens are
//! sent to the owner only.

use super::context::{Announcements, EventContext};
use model::event::BotChange;
use model::{BotConfig, Directory, EventBody, Fact, User, UserFact, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether somebody manages a bot, and is told of it. Nobody manages the server's own ones.
pub(crate) fn manages_bot(user: &User, bot: &User) -> bool {
    user.is_active && !bot.is_system_bot() && (user.is_administrator() || bot.owner() == Some(user.id))
}

/// An event about a bot for its owner, with key and tokens, and for others who manage it, without.
fn for_managers(
    bot: &User,
    managers: impl IntoIterator<Item = UserId>,
    body: impl Fn(bool) -> EventBody,
) -> [(Vec<UserId>, EventBody); 2] {
    let (owner, others) = managers.into_iter().partition(|user| bot.owner() == Some(*user));
    [(owner, body(true)), (others, body(false))]
}

fn bot_managers(directory: &Directory, bot: &User) -> BTreeSet<UserId> {
    directory.users().filter(|user| manages_bot(user, bot)).map(|user| user.id).collect()
}

/// A bot was made, or is set in another way. Without a record from before it is new.
pub(super) fn configured(
    context: &EventContext<'_>,
    bot: UserId,
    before: Option<&BotConfig>,
    config: &BotConfig,
    out: &mut Announcements,
) {
    let Some(bot) = context.after.user(bot) else { return };
    let bot_managers = bot_managers(context.after, bot);
    let Some(before) = before else {
        let config = Arc::new(config.clone());
        let added =
            |with_secrets| EventBody::BotAdded { bot: bot.clone(), config: config.clone(), with_secrets };
        return out.each(for_managers(bot, bot_managers, added));
    };
    for change in config_differences(before, config) {
        out.to(bot_managers.iter().copied(), EventBody::BotChanged { bot: bot.id, change });
    }
    if before.service != config.service {
        out.each(for_managers(bot, bot_managers, |with_secrets| service_event(bot.id, config, with_secrets)));
    }
}

/// A bot has another picture.
pub(super) fn avatar_changed(context: &EventContext<'_>, bot: &User, out: &mut Announcements) {
    if bot.is_bot() {
        out.to(
            bot_managers(context.after, bot),
            EventBody::BotChanged { bot: bot.id, change: BotChange::Avatar },
        );
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
    found
}

fn service_event(bot: UserId, config: &BotConfig, with_secrets: bool) -> EventBody {
    let service = config.service.clone();
    EventBody::BotChanged { bot, change: BotChange::Service { service, with_secrets } }
}

/// A bot's record changed, or who answers for it: the bot comes to some people, goes from others, and is another one
/// for the rest.
pub(super) fn changed(context: &EventContext<'_>, was: &User, is: &Arc<User>, out: &mut Announcements) {
    let (before, after) = (bot_managers(context.before(), was), bot_managers(context.after, is));
    let config = context.after.bot_config(is.id).cloned().unwrap_or_default();
    // Whoever is out of use with the bot is told nothing any more.
    let is_active = |id: &UserId| context.after.is_active_user(*id);
    let gone = before.difference(&after).copied().filter(is_active).collect();
    let come = after.difference(&before).copied().collect();
    let come: Vec<UserId> = come;
    let added = |with_secrets| EventBody::BotAdded { bot: is.clone(), config: config.clone(), with_secrets };
    out.each([(gone, EventBody::BotRemoved(is.id))].into_iter().chain(for_managers(is, come, added)));
    let staying: Vec<UserId> = before.intersection(&after).copied().collect();
    for change in differences(was, is) {
        out.to(staying.iter().copied(), EventBody::BotChanged { bot: is.id, change });
    }
    let owner = staying.into_iter().filter(|user| is.owner() == Some(*user));
    for owner in owner {
        if was.api_key_rotation != is.api_key_rotation {
            let change = BotChange::ApiKey(is.api_key_rotation);
            out.to([owner], EventBody::BotChanged { bot: is.id, change });
        }
        // An administrator who becomes the owner learns the token.
        if was.owner() != is.owner() && config.service.is_some() {
            out.to([owner], service_event(is.id, &config, true));
        }
    }
}

/// Somebody has another role: administrators look after all bots, in use or not, others after their own. What the frame
/// says of a bot itself is told with it.
pub(super) fn bot_manager_changed(context: &EventContext<'_>, manager: UserId, out: &mut Announcements) {
    let (Some(was), Some(is)) = (context.before().user(manager), context.after.user(manager)) else { return };
    if !was.is_active || !is.is_active || was.is_administrator() == is.is_administrator() {
        return;
    }
    let has_news = |bot: &User| {
        context.frame.facts.iter().any(|fact| match fact {
            Fact::User(UserFact::Changed(user) | UserFact::Created(user)) => user.id == bot.id,
            Fact::User(UserFact::ActiveSet { user, .. }) => *user == bot.id,
            Fact::User(
                UserFact::VisibilityChanged { .. }
                | UserFact::ProfileValuesSet { .. }
                | UserFact::SettingsRestated { .. }
                | UserFact::BotConfigured { .. },
            )
            | Fact::Realm(_)
            | Fact::Group(_)
            | Fact::Channel(_)
            | Fact::Subscription(_)
            | Fact::Message(_)
            | Fact::Personal(_)
            | Fact::Queue(_)
            | Fact::Job(_)
            | Fact::Push(_)
            | Fact::Invitation(_)
            | Fact::Picture(_)
            | Fact::PreImages(_) => false,
        })
    };
    // In a replay the directory knows those, too, that were made later.
    let is_there = |bot: &User| bot.joined <= context.frame.at;
    let bots = context.after.users().filter(|bot| bot.is_bot() && is_there(bot) && !has_news(bot));
    for bot in bots {
        match (manages_bot(was, bot), manages_bot(is, bot)) {
            (false, true) => {
                let config = context.after.bot_config(bot.id).cloned().unwrap_or_default();
                let body = EventBody::BotAdded { bot: bot.clone(), config, with_secrets: false };
                out.to([manager], body);
            }
            (true, false) => out.to([manager], EventBody::BotRemoved(bot.id)),
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
    // A picture may be the one that the address stands for.
    if was.avatar_version != is.avatar_version || was.delivery_email != is.delivery_email {
        found.push(BotChange::Avatar);
    }
    if was.owner() != is.owner() {
        found.push(BotChange::Owner(is.owner()));
    }
    found
}
