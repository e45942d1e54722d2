//! The bound of every bot: its owner, as the owner is now.
//!
//! A bot's stored role is never above the owner's: whoever demotes a person demotes the bots in the same frame, and
//! whoever hands a bot on caps its role by that of the new owner. Only the owner ever sees a valid key: handing a bot
//! on replaces the key. So nobody can act through a bot with rights that he does not have himself.

use crate::error::RuleError;
use crate::permissions::channel::{History, history_of};
use model::{ChannelId, Directory, Role, User, UserId};
use std::sync::Arc;

/// The role of a bot that asks for `role` and belongs to `owner`. A greater role is a less powerful one.
pub fn capped_role(role: Role, owner: &User) -> Role {
    role.max(owner.role)
}

/// Refuses those whose role is below `role`: they may not manage an account that has it.
///
/// # Errors
/// `OwnerRequired`, `AdministratorRequired`, `InsufficientPermission`.
pub fn check_rank(by: &User, role: Role) -> Result<(), RuleError> {
    match role {
        _ if by.role <= role => Ok(()),
        Role::Owner => Err(RuleError::OwnerRequired),
        Role::Administrator => Err(RuleError::AdministratorRequired),
        Role::Moderator | Role::Member | Role::Guest => Err(RuleError::InsufficientPermission),
    }
}

/// Whether somebody who may manage a bot may also hand it to another owner: its owner, and those who are not below its
/// owner. A deactivated owner has no rank.
///
/// # Errors
/// As [`check_rank`].
pub fn check_takeover(dir: &Directory, by: &User, bot: &User) -> Result<(), RuleError> {
    let owner = bot.owner().and_then(|owner| dir.user(owner)).filter(|owner| owner.is_active);
    owner.map_or(Ok(()), |owner| check_rank(by, owner.role))
}

/// A bot as it is when it belongs to a new owner: with another key, which only the new owner can get, and no more than
/// the new owner's role.
pub fn handed_on(bot: &User, owner: &User) -> User {
    let mut after = bot.clone();
    if let Some(record) = &mut after.bot {
        record.owner = Some(owner.id);
    }
    after.api_key_rotation = after.api_key_rotation.wrapping_add(1);
    after.role = capped_role(after.role, owner);
    after
}

/// Private channels that a bot has to leave when it is handed on: those of which it reads more than the new owner.
pub fn channels_to_leave(dir: &Directory, bot: &User, owner: UserId) -> Vec<ChannelId> {
    let Some(owner) = dir.user(owner) else { return Vec::new() };
    let own = dir.subscriptions_of_user(bot.id).filter(|(_, own)| own.is_active);
    let channels = own.filter_map(|(channel, _)| dir.channel(channel)).filter(|channel| channel.invite_only);
    let reads_more = |channel: &&Arc<model::Channel>| {
        !covers(history_of(dir, owner, channel), history_of(dir, bot, channel))
    };
    channels.filter(reads_more).map(|channel| channel.id).collect()
}

/// Whether what one person may read of a channel includes all that another one may.
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

/// The bots that must be demoted with their owner, as they are then; `owner` is the record after the demotion.
/// Deactivated bots are demoted, too: they may be reactivated.
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
    fn nobody_manages_a_bot_above_the_own_role() {
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
    fn keys_are_for_owners_of_bots_alone() {
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
    fn bots_of_somebody_above_are_not_taken_over() {
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
    fn a_bot_that_is_handed_on_is_no_more_than_its_new_owner() {
        let dir = with_bot(Role::Administrator, OWNER);
        let before = user(&dir, BOT);
        for (owner, role) in
            [(OWNER, Role::Administrator), (MODERATOR, Role::Moderator), (GUEST, Role::Guest)]
        {
            let after = handed_on(&before, &user(&dir, owner));
            assert_eq!((after.role, after.owner()), (role, Some(owner)));
            assert_ne!(after.api_key_rotation, before.api_key_rotation, "the old owner knows the old key");
        }
    }

    #[test]
    fn a_bot_leaves_private_channels_of_which_it_reads_more_than_its_new_owner() {
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
    fn a_bot_holds_only_what_its_owner_holds_too() {
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
