//! Events for the managers of a bot: its owner and administrators (docs/api/events.md#realm_bot). Keys and tokens are
//! sent to the owner only.

use super::context::Announcements;
use model::event::BotChange;
use model::{BotConfig, BotIntegration, Directory, EventBody, Fact, User, UserFact, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether a user manages a bot and receives its events. System bots have no managers.
pub(crate) fn manages_bot(user: &User, bot: &User) -> bool {
    user.is_active && !bot.is_system_bot() && (user.is_administrator() || bot.owner() == Some(user.id))
}

/// An event about a bot: with key and tokens for its owner, without them for its other managers.
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

/// The event that adds a bot; with key and tokens or without.
fn added(directory: &Directory, bot: &Arc<User>, config: Arc<BotConfig>) -> impl Fn(bool) -> EventBody {
    let integration = directory.bot_integration(bot.id).cloned().unwrap_or_default();
    let bot = bot.clone();
    move |with_secrets| {
        let (bot, config, integration) = (bot.clone(), config.clone(), integration.clone());
        EventBody::BotAdded { bot, config, integration, with_secrets }
    }
}

/// The integration of a bot, or its configuration, changed.
pub(super) fn integration_set(bot: UserId, integration: &BotIntegration, out: &mut Announcements<'_>) {
    let Some(bot) = out.context.after.user(bot) else { return };
    let change = BotChange::Integration(Arc::new(integration.clone()));
    out.to(bot_managers(out.context.after, bot), EventBody::BotChanged { bot: bot.id, change });
}

/// A bot was created (`before` is none) or configured.
pub(super) fn configured(
    bot: UserId,
    before: Option<&BotConfig>,
    config: &BotConfig,
    out: &mut Announcements<'_>,
) {
    let Some(bot) = out.context.after.user(bot) else { return };
    let bot_managers = bot_managers(out.context.after, bot);
    let Some(before) = before else {
        let added = added(out.context.after, bot, Arc::new(config.clone()));
        return out.each(for_managers(bot, bot_managers, added));
    };
    for change in config_differences(before, config) {
        out.to(bot_managers.iter().copied(), EventBody::BotChanged { bot: bot.id, change });
    }
    if before.service != config.service {
        out.each(for_managers(bot, bot_managers, |with_secrets| service_event(bot.id, config, with_secrets)));
    }
}

/// The avatar of a bot changed.
pub(super) fn avatar_changed(bot: &User, out: &mut Announcements<'_>) {
    if bot.is_bot() {
        out.to(
            bot_managers(out.context.after, bot),
            EventBody::BotChanged { bot: bot.id, change: BotChange::Avatar },
        );
    }
}

fn config_differences(was: &BotConfig, is: &BotConfig) -> impl Iterator<Item = BotChange> {
    let changes = [
        (was.sending_channel != is.sending_channel).then_some(BotChange::SendingChannel(is.sending_channel)),
        (was.register_channel != is.register_channel)
            .then_some(BotChange::RegisterChannel(is.register_channel)),
        (was.all_public_channels != is.all_public_channels)
            .then_some(BotChange::AllPublicChannels(is.all_public_channels)),
    ];
    changes.into_iter().flatten()
}

fn service_event(bot: UserId, config: &BotConfig, with_secrets: bool) -> EventBody {
    let service = config.service.clone();
    EventBody::BotChanged { bot, change: BotChange::Service { service, with_secrets } }
}

/// A bot's record or owner changed: it is added for new managers, removed for former ones, and changed for the rest.
pub(super) fn changed(was: &User, is: &Arc<User>, out: &mut Announcements<'_>) {
    let context = out.context;
    let (before, after) = (bot_managers(context.before(), was), bot_managers(context.after, is));
    let config = context.after.bot_config(is.id).cloned().unwrap_or_default();
    let added = added(context.after, is, config.clone());
    // Users who were deactivated with the bot receive nothing.
    let is_active = |id: &UserId| context.after.is_active_user(*id);
    let former = before.difference(&after).copied().filter(is_active).collect();
    let new: Vec<UserId> = after.difference(&before).copied().collect();
    out.each([(former, EventBody::BotRemoved(is.id))].into_iter().chain(for_managers(is, new, added)));
    let staying: Vec<UserId> = before.intersection(&after).copied().collect();
    for change in differences(was, is) {
        out.to(staying.iter().copied(), EventBody::BotChanged { bot: is.id, change });
    }
    let is_among = |owner: &UserId| staying.contains(owner);
    if let Some(owner) = is.owner().filter(is_among)
        && was.api_key_rotation != is.api_key_rotation
    {
        let change = BotChange::ApiKey(is.api_key_rotation);
        out.to([owner], EventBody::BotChanged { bot: is.id, change });
    }
    if was.owner() == is.owner() {
        return;
    }
    // An administrator who is no longer the owner keeps the bot without its secrets, one who becomes the owner receives the token.
    if let Some(former) = was.owner().filter(is_among) {
        out.to([former], EventBody::BotChanged { bot: is.id, change: BotChange::ApiKeyHidden });
    }
    if config.service.is_some() {
        let of_owner = |owner: Option<UserId>| owner.filter(is_among).into_iter().collect::<Vec<_>>();
        out.each([
            (of_owner(was.owner()), service_event(is.id, &config, false)),
            (of_owner(is.owner()), service_event(is.id, &config, true)),
        ]);
    }
}

/// A user's role changed: administrators manage all bots, active or not, others only their own. Bots that the frame itself
/// changes are announced with those facts.
pub(super) fn bot_manager_changed(manager: UserId, out: &mut Announcements<'_>) {
    let context = out.context;
    let (Some(was), Some(is)) = (context.before().user(manager), context.after.user(manager)) else { return };
    if !was.is_active || !is.is_active || was.is_administrator() == is.is_administrator() {
        return;
    }
    let has_news = |bot: &User| context.frame.facts.iter().any(|fact| changed_account(fact) == Some(bot.id));
    // In a replay the directory also has bots that were created later.
    let exists = |bot: &User| bot.joined <= context.frame.at;
    let bots = context.after.users().filter(|bot| bot.is_bot() && exists(bot) && !has_news(bot));
    for bot in bots {
        match (manages_bot(was, bot), manages_bot(is, bot)) {
            (false, true) => {
                let config = context.after.bot_config(bot.id).cloned().unwrap_or_default();
                out.to([manager], added(context.after, bot, config)(false));
            }
            (true, false) => out.to([manager], EventBody::BotRemoved(bot.id)),
            _ => {}
        }
    }
}

/// The user whose record or account a fact changes.
fn changed_account(fact: &Fact) -> Option<UserId> {
    let Fact::User(fact) = fact else { return None };
    match fact {
        UserFact::Changed(user) | UserFact::Created(user) => Some(user.id),
        UserFact::ActiveSet { user, .. } => Some(*user),
        UserFact::VisibilityChanged { .. }
        | UserFact::ProfileValuesSet { .. }
        | UserFact::DataErased { .. }
        | UserFact::SettingsRestated { .. }
        | UserFact::BotConfigured { .. }
        | UserFact::BotIntegrationSet { .. } => None,
    }
}

fn differences(was: &User, is: &User) -> impl Iterator<Item = BotChange> {
    let has_new_address = was.delivery_email != is.delivery_email;
    let changes = [
        (was.full_name != is.full_name).then(|| BotChange::FullName(is.full_name.clone())),
        has_new_address.then(|| BotChange::Email(is.delivery_email.clone())),
        (was.is_active != is.is_active).then_some(BotChange::IsActive(is.is_active)),
        // The avatar may be derived from the address.
        (was.avatar_version != is.avatar_version || has_new_address).then_some(BotChange::Avatar),
        (was.owner() != is.owner()).then(|| BotChange::Owner(is.owner())),
    ];
    changes.into_iter().flatten()
}
