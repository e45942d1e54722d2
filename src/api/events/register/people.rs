//! Users, bots and groups of a registration.

use super::request::State;
use crate::api::encoded_lists::{Listed, ListedGroups};
use crate::api::wire::bot::bot as bot_json;
use crate::api::wire::list::push_list;
use crate::api::wire::user::{UserForm, unknown_user, user};
use crate::http::{ApiError, Envelope};
use model::{BotConfig, BotIntegration, Directory, Role, User, UserId};
use rules::avatar::{AvatarSize, avatar_source, shown_avatar_url};
use rules::permissions::group_setting::holds_realm;
use rules::permissions::spectators::spectator;
use rules::permissions::users::{UserScope, api_email, user_scope};
use rules::settings::RealmPermission;
use serde::Serialize;

/// Adds the requested parts of `realm_user`, `realm_bot` and `realm_user_groups`.
pub fn people_fields(mut envelope: Envelope, state: &State<'_>) -> Result<Envelope, ApiError> {
    if state.wants("realm_user") {
        list_people(&mut envelope, state);
        envelope = match state.me {
            Some(me) => envelope.fields(&own_fields(state.directory(), me))?,
            None => envelope.fields(&own_fields(state.directory(), &spectator()))?,
        };
    }
    if state.wants("realm_bot") {
        list_bots(&mut envelope, state);
    }
    if state.wants("realm_user_groups") {
        let listed = ListedGroups {
            with_deactivated: state.request.capabilities.include_deactivated_groups,
            // Spectators need the groups that permissions name; their members are known from the list of users.
            only_system: state.me.is_none(),
        };
        envelope.open_field("realm_user_groups");
        envelope.splice(state.request.shared.groups(state.directory(), listed));
    }
    Ok(envelope)
}

/// Lists users. Hidden users are left out, or shown as placeholders to clients that need a record of every user.
fn list_people(envelope: &mut Envelope, state: &State<'_>) {
    let directory = state.directory();
    let form = UserForm {
        client_gravatar: state.request.client_gravatar,
        profile_data: state.me.is_some(),
        is_active: false,
    };
    let scope = state.me.map_or(UserScope::All, |me| user_scope(directory, me));
    let shows_unknown = !state.request.capabilities.user_list_incomplete;
    let scope = &scope;
    let people = |is_active: bool| {
        let users = directory.users().filter(|user| !user.is_system_bot());
        users.filter_map(move |listed| match scope.contains(listed.id) {
            true => (listed.is_active == is_active).then(|| user(directory, state.me, listed, form)),
            // Placeholders do not reveal whether a hidden user is deactivated.
            false => (is_active && shows_unknown).then(|| unknown_user(directory, listed, form)),
        })
    };
    for (name, listed, is_active) in
        [("realm_users", Listed::Active, true), ("realm_non_active_users", Listed::Inactive, false)]
    {
        match state.request.shared.people(directory, state.me, form, listed) {
            Some(list) => list.add_to(envelope, name, state.me),
            None => push_list(envelope.open_field(name), people(is_active)),
        }
    }
    let system_bots = directory.bots().filter(|bot| bot.is_system_bot());
    // This list mixes active and deactivated bots, so each entry needs the field.
    let form = UserForm { is_active: true, ..form };
    let system_bots = system_bots.map(|bot| user(directory, state.me, bot, form));
    push_list(envelope.open_field("cross_realm_bots"), system_bots);
}

/// Properties and permissions of the caller.
#[derive(Serialize)]
struct OwnFields<'a> {
    avatar_source: &'static str,
    avatar_url_medium: String,
    avatar_url: String,
    can_create_private_streams: bool,
    can_create_public_streams: bool,
    can_create_web_public_streams: bool,
    can_create_streams: bool,
    can_invite_others_to_realm: bool,
    is_admin: bool,
    is_owner: bool,
    is_moderator: bool,
    is_guest: bool,
    user_id: UserId,
    email: String,
    delivery_email: &'a str,
    full_name: &'a str,
}

fn own_fields<'a>(directory: &Directory, me: &'a User) -> OwnFields<'a> {
    let may = |permission| !me.is_guest() && holds_realm(directory, permission, me.id);
    let private = may(RealmPermission::CreatePrivateChannel);
    let public = may(RealmPermission::CreatePublicChannel);
    let is_open = rules::settings::realm_bool(directory.realm(), "enable_spectator_access");
    let web_public = is_open && may(RealmPermission::CreateWebPublicChannel);
    OwnFields {
        avatar_source: avatar_source(directory, me),
        avatar_url_medium: shown_avatar_url(directory, me, me, AvatarSize::Medium),
        avatar_url: shown_avatar_url(directory, me, me, AvatarSize::Small),
        can_create_private_streams: private,
        can_create_public_streams: public,
        can_create_web_public_streams: web_public,
        can_create_streams: private || public || web_public,
        can_invite_others_to_realm: may(RealmPermission::InviteUsers),
        is_admin: me.is_administrator(),
        is_owner: me.role == Role::Owner,
        is_moderator: me.is_moderator(),
        is_guest: me.is_guest(),
        user_id: me.id,
        email: api_email(directory, me).into_owned(),
        delivery_email: &me.delivery_email,
        full_name: &me.full_name,
    }
}

/// Lists the caller's own bots with their keys; all bots for administrators.
fn list_bots(envelope: &mut Envelope, state: &State<'_>) {
    let directory = state.directory();
    let is_own = |bot: &User| state.me.is_some_and(|me| bot.owner() == Some(me.id));
    let manages = |bot: &User| is_own(bot) || state.me.is_some_and(User::is_administrator);
    let bots = directory.bots().filter(|bot| !bot.is_system_bot() && manages(bot));
    let realm = &state.request.realm;
    let (default, none) = (BotConfig::default(), BotIntegration::default());
    let config = |bot: &User| directory.bot_config(bot.id).map_or(&default, |config| &**config);
    let integration =
        |bot: &User| directory.bot_integration(bot.id).map_or(&none, |integration| &**integration);
    let items = bots.map(|bot| bot_json(realm, directory, bot, (config(bot), integration(bot)), is_own(bot)));
    push_list(envelope.open_field("realm_bots"), items);
}
