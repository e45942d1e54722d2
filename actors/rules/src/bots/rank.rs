//! A bot never has more rights than its owner.
//!
//! A bot's stored role is never above the owner's: demoting a user demotes the user's bots in the same frame, and changing
//! the owner of a bot caps its role by that of the new owner. Only the owner ever sees a valid key: changing the owner
//! replaces the key. Who leaves a channel, or is removed, and cannot read it any more takes their bots along; so does who
//! loses it by a change of the channel, of a group or of the own role. So a bot gives no user rights that the user does not
//! have, unless another subscriber adds it to a channel without its owner.

use crate::error::RuleError;
use crate::permissions::channel::{History, history_of, sees_content, sees_content_unsubscribed};
use model::{Channel, ChannelId, Directory, Role, User, UserId};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The role of a bot of `owner`, at most `role`. A greater role is a less powerful one.
pub fn capped_role(role: Role, owner: &User) -> Role {
    role.max(owner.role)
}

/// Refuses users whose role is below `role`: they may not manage accounts with it. `OwnerRequired`,
/// `AdministratorRequired`, `InsufficientPermission`.
pub fn check_rank(by: &User, role: Role) -> Result<(), RuleError> {
    match role {
        _ if by.role <= role => Ok(()),
        Role::Owner => Err(RuleError::OwnerRequired),
        Role::Administrator => Err(RuleError::AdministratorRequired),
        Role::Moderator | Role::Member | Role::Guest => Err(RuleError::InsufficientPermission),
    }
}

/// Whether a user who may manage a bot may also change its owner: the owner, and users whose role is not below the
/// owner's, unless the owner is deactivated. The errors of [`check_rank`].
pub fn check_takeover(dir: &Directory, by: &User, bot: &User) -> Result<(), RuleError> {
    let owner = bot.owner().and_then(|owner| dir.user(owner)).filter(|owner| owner.is_active);
    owner.map_or(Ok(()), |owner| check_rank(by, owner.role))
}

/// A bot's record after a change of its owner: with a new key, which only the new owner can see, and at most the new
/// owner's role.
pub fn with_new_owner(bot: &User, owner: &User) -> User {
    let mut after = bot.clone();
    if let Some(record) = &mut after.bot {
        record.owner = Some(owner.id);
    }
    after.api_key_rotation = after.api_key_rotation.wrapping_add(1);
    after.role = capped_role(after.role, owner);
    after
}

/// Channels that a bot must leave when its owner changes: the bot can read more of them than the new owner.
pub fn channels_to_leave(dir: &Directory, bot: &User, owner: UserId) -> Vec<ChannelId> {
    let Some(owner) = dir.user(owner) else { return Vec::new() };
    let own = dir.subscriptions_of_user(bot.id).filter(|(_, own)| own.is_active);
    let channels = own.filter_map(|(channel, _)| dir.channel(channel));
    let reads_more = |channel: &&Arc<model::Channel>| {
        !covers(history_of(dir, owner, channel), history_of(dir, bot, channel))
    };
    channels.filter(reads_more).map(|channel| channel.id).collect()
}

/// The bots that leave a channel together with users who cannot read it any more: their key would go on showing its messages.
/// Includes bots that are not subscribed.
pub fn bots_leaving_with(dir: &Directory, channel: &Channel, users: &[UserId]) -> Vec<UserId> {
    let reads_on =
        |user: &UserId| dir.user(*user).is_some_and(|user| sees_content_unsubscribed(dir, user, channel));
    let leaving: HashSet<UserId> = users.iter().copied().filter(|user| !reads_on(user)).collect();
    let is_of_them = |bot: &&Arc<User>| bot.owner().is_some_and(|owner| leaving.contains(&owner));
    dir.bots().filter(is_of_them).map(|bot| bot.id).collect()
}

/// The subscribed bots that leave channels with a change, by channel: their owners, of those that `is_concerned` selects,
/// can read a channel before the change and not after it. A bot in a channel that its owner could not read stays: another
/// subscriber added it. Includes deactivated bots, which may be reactivated.
pub fn bots_left_behind(
    before: &Directory,
    after: &Directory,
    is_concerned: impl Fn(UserId) -> bool,
) -> BTreeMap<ChannelId, Vec<UserId>> {
    let mut leaving: BTreeMap<ChannelId, Vec<UserId>> = BTreeMap::new();
    for bot in before.bots().filter(|bot| bot.owner().is_some_and(&is_concerned)) {
        for (channel, _) in before.subscriptions_of_user(bot.id).filter(|(_, own)| own.is_active) {
            if owner_loses(before, after, bot, channel) {
                leaving.entry(channel).or_default().push(bot.id);
            }
        }
    }
    leaving
}

/// The bots of [`bots_left_behind`] of one channel, of all owners.
pub fn bots_left_in(before: &Directory, after: &Directory, channel: ChannelId) -> Vec<UserId> {
    let subscribed = before.bots().filter(|bot| before.is_subscribed(channel, bot.id));
    subscribed.filter(|bot| owner_loses(before, after, bot, channel)).map(|bot| bot.id).collect()
}

/// Whether the owner of a bot can read a channel before a change and not after it.
fn owner_loses(before: &Directory, after: &Directory, bot: &User, channel: ChannelId) -> bool {
    let Some(owner) = bot.owner() else { return false };
    let reads = |dir: &Directory| {
        let found = dir.user(owner).zip(dir.channel(channel));
        found.is_some_and(|(owner, channel)| sees_content(dir, owner, channel))
    };
    reads(before) && !reads(after)
}

/// Whether one history of a channel includes all of another.
fn covers(outer: Option<History<'_>>, inner: Option<History<'_>>) -> bool {
    match (outer, inner) {
        (_, None) | (Some(History::Whole), _) => true,
        (None, Some(_)) | (Some(History::Delivered(_)), Some(History::Whole)) => false,
        (Some(History::Delivered(outer)), Some(History::Delivered(inner))) => inner.iter().all(|span| {
            let includes = |wider: &model::SubscriptionSpan| {
                wider.after <= span.after
                    && wider.until.is_none_or(|end| span.until.is_some_and(|until| until <= end))
            };
            outer.iter().any(includes)
        }),
    }
}

/// The records of bots that are demoted with their owner; `owner` is the record after the demotion. Includes deactivated
/// bots, which may be reactivated.
pub fn demoted_bots(dir: &Directory, owner: &User) -> Vec<User> {
    let above = dir.bots_of(owner.id).filter(|bot| bot.role < owner.role);
    above.map(|bot| User { role: capped_role(bot.role, owner), ..User::clone(bot) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::{access_bot, access_bot_key};
    use crate::error::BotError;
    use crate::fixture::{self, ADMINISTRATOR, BOT, FORMER, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER};

    fn user(dir: &Directory, id: UserId) -> Arc<User> {
        dir.user(id).unwrap().clone()
    }

    /// The fixture's bot with another role and owner.
    fn with_bot(role: Role, owner: UserId) -> Directory {
        let mut dir = fixture::directory();
        let mut bot = User::clone(dir.user(BOT).unwrap());
        bot.role = role;
        bot.bot.as_mut().unwrap().owner = Some(owner);
        dir.put_user(bot);
        dir
    }

    #[test]
    fn managing_a_bot_needs_at_least_its_role() {
        for (role, by, expected) in [
            (Role::Owner, ADMINISTRATOR, Err(RuleError::OwnerRequired)),
            (Role::Owner, OWNER, Ok(BOT)),
            (Role::Administrator, ADMINISTRATOR, Ok(BOT)),
            (Role::Guest, ADMINISTRATOR, Ok(BOT)),
        ] {
            let dir = with_bot(role, OWNER);
            assert_eq!(
                access_bot(&dir, &user(&dir, by), BOT.0.into()).map(|bot| bot.id),
                expected,
                "{role:?}"
            );
        }
    }

    #[test]
    fn only_owners_access_keys_of_bots() {
        let dir = fixture::directory();
        for (by, expected) in [
            (MEMBER, Ok(BOT)),
            (ADMINISTRATOR, Err(BotError::KeyOfOwner.into())),
            (OWNER, Err(BotError::KeyOfOwner.into())),
            (OTHER_MEMBER, Err(RuleError::InsufficientPermission)),
        ] {
            assert_eq!(
                access_bot_key(&dir, &user(&dir, by), BOT.0.into()).map(|bot| bot.id),
                expected,
                "{by}"
            );
        }
    }

    #[test]
    fn bots_of_higher_roles_cannot_be_taken_over() {
        for (owner, by, expected) in [
            (OWNER, ADMINISTRATOR, Err(RuleError::OwnerRequired)),
            (OWNER, OWNER, Ok(())),
            (MEMBER, ADMINISTRATOR, Ok(())),
            (FORMER, ADMINISTRATOR, Ok(())),
        ] {
            let dir = with_bot(Role::Member, owner);
            let bot = user(&dir, BOT);
            assert_eq!(check_takeover(&dir, &user(&dir, by), &bot), expected, "{owner} {by}");
        }
    }

    #[test]
    fn changing_the_owner_caps_the_role() {
        let dir = with_bot(Role::Administrator, OWNER);
        let before = user(&dir, BOT);
        for (owner, role) in
            [(OWNER, Role::Administrator), (MODERATOR, Role::Moderator), (GUEST, Role::Guest)]
        {
            let after = with_new_owner(&before, &user(&dir, owner));
            assert_eq!((after.role, after.owner()), (role, Some(owner)));
            assert_ne!(after.api_key_rotation, before.api_key_rotation, "the old owner knows the old key");
        }
    }

    #[test]
    fn changing_the_owner_leaves_channels_that_the_new_one_cannot_read() {
        let mut dir = fixture::directory();
        for (id, is_private, is_shared) in
            [(1, false, true), (2, true, true), (3, true, true), (4, true, false), (5, true, false)]
        {
            let mut channel = fixture::channel(id, &format!("c{id}"));
            (channel.invite_only, channel.history_public_to_subscribers) = (is_private, is_shared);
            dir.put_channel(channel);
            fixture::subscribe(&mut dir, id, BOT, 10);
        }
        fixture::subscribe(&mut dir, 3, ADMINISTRATOR, 20);
        fixture::subscribe(&mut dir, 4, ADMINISTRATOR, 20);
        fixture::subscribe(&mut dir, 5, ADMINISTRATOR, 5);
        let left = channels_to_leave(&dir, &user(&dir, BOT), ADMINISTRATOR);
        assert_eq!(left, [ChannelId(2), ChannelId(4)]);
        // Guests read public channels only if they are subscribed.
        let left = channels_to_leave(&dir, &user(&dir, BOT), GUEST);
        assert_eq!(left, [1, 2, 3, 4, 5].map(ChannelId));
        fixture::subscribe(&mut dir, 1, GUEST, 20);
        assert!(!channels_to_leave(&dir, &user(&dir, BOT), GUEST).contains(&ChannelId(1)));
    }

    #[test]
    fn bots_leave_with_owners_who_cannot_read_on() {
        let with = |role: Role, change: &dyn Fn(&mut Channel)| {
            let mut dir = fixture::directory();
            dir.put_user(User { role, ..fixture::member() });
            let mut channel = fixture::channel(1, "a");
            change(&mut channel);
            bots_leaving_with(&dir, &channel, &[MEMBER, OTHER_MEMBER])
        };
        assert_eq!(with(Role::Member, &|_| {}), []);
        assert_eq!(with(Role::Guest, &|_| {}), [BOT]);
        assert_eq!(with(Role::Guest, &|channel| channel.is_web_public = true), []);
        assert_eq!(with(Role::Member, &|channel| channel.invite_only = true), [BOT]);
        let granted = |channel: &mut Channel| {
            channel.invite_only = true;
            channel.permissions.subscribe = fixture::group("role:members");
        };
        assert_eq!(with(Role::Member, &granted), []);
        assert_eq!(with(Role::Guest, &granted), [BOT]);
    }

    #[test]
    fn bots_leave_where_a_change_takes_access_from_their_owner() {
        let mut before = fixture::directory();
        let mut secret = fixture::channel(2, "secret");
        secret.invite_only = true;
        for channel in [fixture::channel(1, "open"), secret, fixture::channel(3, "left")] {
            before.put_channel(channel);
        }
        // Another subscriber has added it to the second one, and it has left the third one.
        for channel in [1, 2, 3] {
            fixture::subscribe(&mut before, channel, BOT, 0);
        }
        fixture::unsubscribe(&mut before, 3, BOT, 9);
        let all_private = |dir: &Directory| {
            let mut after = dir.clone();
            for channel in dir.channels() {
                after.put_channel(Channel { invite_only: true, ..Channel::clone(channel) });
            }
            after
        };
        let after = all_private(&before);
        assert_eq!(bots_left_behind(&before, &before, |_| true), BTreeMap::new());
        assert_eq!(bots_left_behind(&before, &after, |_| true), BTreeMap::from([(ChannelId(1), vec![BOT])]));
        assert_eq!(bots_left_behind(&before, &after, |owner| owner != MEMBER), BTreeMap::new());
        let left = |before: &Directory, after: &Directory| {
            [1, 2, 3].map(|channel| bots_left_in(before, after, ChannelId(channel)))
        };
        assert_eq!(left(&before, &after), [vec![BOT], Vec::new(), Vec::new()]);
        let mut demoted = before.clone();
        demoted.put_user(User { role: Role::Guest, ..fixture::member() });
        assert_eq!(left(&before, &demoted), [vec![BOT], Vec::new(), Vec::new()]);
        fixture::subscribe(&mut before, 1, MEMBER, 0);
        assert_eq!(left(&before, &all_private(&before)), [const { Vec::new() }; 3]);
    }

    #[test]
    fn bots_are_demoted_with_their_owner() {
        let dir = with_bot(Role::Administrator, OWNER);
        let demote = |role| demoted_bots(&dir, &User { role, ..User::clone(&user(&dir, OWNER)) });
        assert_eq!(demote(Role::Administrator), []);
        let roles: Vec<Role> = demote(Role::Guest).iter().map(|bot| bot.role).collect();
        assert_eq!(roles, [Role::Guest]);
    }

    #[test]
    fn a_bot_needs_permissions_of_its_owner() {
        use crate::permissions::group_setting::holds_realm;
        use crate::settings::RealmPermission::CreateGroups;
        use model::{GroupSetting, SettingValue};
        for (members, expected) in [
            (vec![BOT], false),
            (vec![MEMBER], false),
            (vec![MEMBER, BOT], true),
            (vec![ADMINISTRATOR, BOT], false),
        ] {
            let mut dir = fixture::directory();
            let setting = GroupSetting::Anonymous { members: members.clone(), subgroups: Vec::new() };
            fixture::set_realm(&mut dir, "can_create_groups", SettingValue::Group(setting));
            assert_eq!(holds_realm(&dir, CreateGroups, BOT), expected, "{members:?}");
        }
        // By default members may; the bot is one, its owner a guest.
        let dir = with_bot(Role::Member, GUEST);
        assert!(!holds_realm(&dir, CreateGroups, BOT) && holds_realm(&dir, CreateGroups, MEMBER));
    }
}
