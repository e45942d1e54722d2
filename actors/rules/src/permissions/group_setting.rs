//! Group-setting values: defaults, parsing, validation (docs/api/permissions.md#group-setting-values).

use crate::error::RuleError;
use crate::settings::{ChannelPermission, GroupPermission, PermissionRule, RealmPermission};
use model::channel::ChannelPermissions;
use model::group::{GroupPermissions, counted};
use model::{Directory, GroupId, GroupSetting, SettingValue, UserGroup, UserId};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The value for a system group; an empty group if there is no such group.
pub fn system_group(dir: &Directory, name: &str) -> GroupSetting {
    match dir.group_by_name(name) {
        Some(group) => GroupSetting::Group(group.id),
        None => GroupSetting::Anonymous { members: Vec::new(), subgroups: Vec::new() },
    }
}

/// Who holds a permission of the organization: the stored value, or the default.
pub fn realm_group_setting(dir: &Directory, permission: RealmPermission) -> GroupSetting {
    let rule = permission.rule();
    match dir.realm().settings.get(rule.name) {
        Some(SettingValue::Group(value)) => value.clone(),
        _ => system_group(dir, rule.default_group_name),
    }
}

/// Whether a user holds a permission of the organization.
pub fn holds_realm(dir: &Directory, permission: RealmPermission, user: UserId) -> bool {
    let rule = permission.rule();
    match dir.realm().settings.get(rule.name) {
        Some(SettingValue::Group(value)) => dir.holds(value, user),
        _ => dir
            .group_by_name(rule.default_group_name)
            .is_some_and(|group| dir.holds(&GroupSetting::Group(group.id), user)),
    }
}

/// Refuses those without a permission of the organization: `InsufficientPermission`.
pub fn check_holds_realm(
    dir: &Directory,
    permission: RealmPermission,
    user: UserId,
) -> Result<(), RuleError> {
    if holds_realm(dir, permission, user) { Ok(()) } else { Err(RuleError::InsufficientPermission) }
}

/// The default permissions of a new channel.
pub fn default_channel_permissions(dir: &Directory, creator: Option<UserId>) -> ChannelPermissions {
    let mut permissions = ChannelPermissions::all(system_group(dir, "role:nobody"));
    for permission in ChannelPermission::ALL {
        permission.set(&mut permissions, default_for(dir, permission.rule(), creator));
    }
    permissions
}

/// The default permissions of a new group; without a creator it is a system group.
pub fn default_group_permissions(dir: &Directory, creator: Option<UserId>) -> GroupPermissions {
    let mut permissions = GroupPermissions::all(system_group(dir, "role:nobody"));
    if creator.is_some() {
        for permission in GroupPermission::ALL {
            permission.set(&mut permissions, default_for(dir, permission.rule(), creator));
        }
    }
    permissions
}

fn default_for(dir: &Directory, rule: &PermissionRule, creator: Option<UserId>) -> GroupSetting {
    match (rule.default_group_name, creator) {
        ("stream_creator_or_nobody" | "group_creator", Some(user)) => creator_setting(dir, user),
        ("stream_creator_or_nobody" | "group_creator", None) => system_group(dir, "role:nobody"),
        (name, _) => system_group(dir, name),
    }
}

/// The value for the creator of a record. A bot holds a permission only together with its owner, so it includes both.
fn creator_setting(dir: &Directory, creator: UserId) -> GroupSetting {
    let mut members: Vec<UserId> = dir.bot_owner(creator).into_iter().chain([creator]).collect();
    members.sort_unstable();
    GroupSetting::Anonymous { members, subgroups: Vec::new() }
}

/// A value as clients see it: without deactivated users.
pub fn shown_group_setting<'s>(dir: &Directory, setting: &'s GroupSetting) -> Cow<'s, GroupSetting> {
    let is_active = |id: &UserId| dir.user(*id).is_some_and(|user| user.is_active);
    match setting {
        GroupSetting::Anonymous { members, subgroups } if !members.iter().all(is_active) => {
            let members = members.iter().copied().filter(is_active).collect();
            Cow::Owned(GroupSetting::Anonymous { members, subgroups: subgroups.clone() })
        }
        _ => Cow::Borrowed(setting),
    }
}

/// A group-setting value as sent, with ids that are not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposedGroupSetting {
    Group(i64),
    Listed { members: Vec<i64>, subgroups: Vec<i64> },
}

/// Parses either form; none if the value is neither.
pub fn parse_group_setting(value: &Value) -> Option<ProposedGroupSetting> {
    if let Some(id) = value.as_i64() {
        return Some(ProposedGroupSetting::Group(id));
    }
    let object = value.as_object()?;
    let members = ids(object.get("direct_members")?)?;
    let subgroups = ids(object.get("direct_subgroups")?)?;
    Some(ProposedGroupSetting::Listed { members, subgroups })
}

fn ids(value: &Value) -> Option<Vec<i64>> {
    value.as_array()?.iter().map(Value::as_i64).collect()
}

/// Most users and groups that the value of one setting may list; a user group has room for more.
pub const LISTED_MAX: usize = 1_000;

/// Most users and groups that the permissions of all channels and groups list together: each is in memory and in the first
/// answer to every client.
pub const LISTED_IN_ALL_MAX: usize = 250_000;

/// Refuses values that list `more` users and groups where there would be more than [`LISTED_IN_ALL_MAX`].
pub fn check_room_for_listed(dir: &Directory, more: usize) -> Result<(), RuleError> {
    match more > 0 && dir.listed_count().saturating_add(more) > LISTED_IN_ALL_MAX {
        true => Err(RuleError::TooManyListedInAll { limit: LISTED_IN_ALL_MAX }),
        false => Ok(()),
    }
}

/// Looks the ids up and checks that the setting may have this value. The result is normalized, see `normal_form`.
pub fn check_group_setting(
    dir: &Directory,
    rule: &'static PermissionRule,
    proposed: &ProposedGroupSetting,
) -> Result<GroupSetting, RuleError> {
    let value = match proposed {
        ProposedGroupSetting::Group(id) => GroupSetting::Group(active_group(dir, *id)?.id),
        ProposedGroupSetting::Listed { members, subgroups } => listed(dir, members, subgroups)?,
    };
    let group = match value {
        GroupSetting::Group(id) => Some(dir.group(id).ok_or(RuleError::InvalidUserGroup)?),
        GroupSetting::Anonymous { .. } => None,
    };
    if rule.require_system_group && !group.is_some_and(|group| group.is_system) {
        return Err(RuleError::SystemGroupRequired { setting: rule.name });
    }
    let Some(group) = group else { return Ok(value) };
    let is_forbidden = match group.name.as_str() {
        "role:internet" => !rule.allow_internet_group,
        "role:nobody" => !rule.allow_nobody_group,
        "role:everyone" => !rule.allow_everyone_group,
        _ => false,
    };
    let allowed = rule.allowed_system_groups;
    if is_forbidden || !allowed.is_empty() && !allowed.contains(&group.name.as_str()) {
        return Err(RuleError::GroupForbidden { setting: rule.name, group: group.name.clone() });
    }
    Ok(value)
}

fn listed(dir: &Directory, members: &[i64], subgroups: &[i64]) -> Result<GroupSetting, RuleError> {
    if members.len() + subgroups.len() > LISTED_MAX {
        return Err(RuleError::TooManyListed { limit: LISTED_MAX });
    }
    // What a value replaces is not subtracted; one group instead of a list is always possible.
    check_room_for_listed(dir, counted(members.len() + subgroups.len()))?;
    let groups =
        subgroups.iter().map(|id| Ok(active_group(dir, *id)?.id)).collect::<Result<_, RuleError>>()?;
    let active_user = |id: &i64| {
        let user = u32::try_from(*id).ok().map(UserId).filter(|id| dir.is_active_user(*id));
        user.ok_or(RuleError::InvalidMember { id: *id })
    };
    let users = members.iter().map(active_user).collect::<Result<_, _>>()?;
    Ok(normal_form(dir, users, groups))
}

/// The normalized value: a single group is a named group, and no users and groups are `role:nobody`.
pub(super) fn normal_form(
    dir: &Directory,
    members: BTreeSet<UserId>,
    subgroups: BTreeSet<GroupId>,
) -> GroupSetting {
    match (members.is_empty(), subgroups.first()) {
        (true, None) => system_group(dir, "role:nobody"),
        (true, Some(group)) if subgroups.len() == 1 => GroupSetting::Group(*group),
        _ => GroupSetting::Anonymous {
            members: members.into_iter().collect(),
            subgroups: subgroups.into_iter().collect(),
        },
    }
}

/// Finds an active group by its id as sent: `InvalidUserGroup`.
pub(crate) fn active_group(dir: &Directory, id: i64) -> Result<&UserGroup, RuleError> {
    let group = u32::try_from(id).ok().and_then(|id| dir.group(GroupId(id)));
    match group {
        Some(group) if !group.is_deactivated => Ok(group),
        _ => Err(RuleError::InvalidUserGroup),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use serde_json::json;

    #[test]
    fn defaults_by_role() {
        let dir = fixture::directory();
        for (permission, holders) in [
            (RealmPermission::CreateWebPublicChannel, vec![fixture::OWNER]),
            (RealmPermission::MentionManyUsers, vec![fixture::OWNER, fixture::ADMINISTRATOR]),
            (
                RealmPermission::SetDeleteMessagePolicy,
                vec![fixture::OWNER, fixture::ADMINISTRATOR, fixture::MODERATOR],
            ),
        ] {
            let found: Vec<_> =
                fixture::ALL_USERS.into_iter().filter(|user| holds_realm(&dir, permission, *user)).collect();
            assert_eq!(found, holders, "{permission:?}");
        }
        assert!(holds_realm(&dir, RealmPermission::CreatePublicChannel, fixture::MEMBER));
        assert!(!holds_realm(&dir, RealmPermission::CreatePublicChannel, fixture::GUEST));
        assert!(holds_realm(&dir, RealmPermission::DirectMessage, fixture::GUEST));
    }

    #[test]
    fn lists_of_all_permissions_are_bounded_together() {
        let mut dir = fixture::directory();
        let rule = ChannelPermission::SendMessage.rule();
        let list = |dir: &Directory, members: &[UserId]| {
            let members = members.iter().map(|user| i64::from(user.0)).collect();
            let proposed = ProposedGroupSetting::Listed { members, subgroups: Vec::new() };
            check_group_setting(dir, rule, &proposed).map(|_| ())
        };
        let three = [fixture::OWNER, fixture::MEMBER, fixture::OTHER_MEMBER];
        let mut channel = fixture::channel(77, "many");
        let users = |count: usize| (1..).map(UserId).take(count).collect();
        let members = users(LISTED_IN_ALL_MAX - 3 - dir.listed_count());
        channel.permissions.subscribe = GroupSetting::Anonymous { members, subgroups: Vec::new() };
        dir.put_channel(channel.clone());
        assert_eq!(list(&dir, &three), Ok(()));
        assert_eq!(
            check_room_for_listed(&dir, 4),
            Err(RuleError::TooManyListedInAll { limit: LISTED_IN_ALL_MAX })
        );
        channel.permissions.send_message =
            GroupSetting::Anonymous { members: users(3), subgroups: Vec::new() };
        dir.put_channel(channel.clone());
        assert_eq!(dir.listed_count(), LISTED_IN_ALL_MAX);
        assert_eq!(list(&dir, &three), Err(RuleError::TooManyListedInAll { limit: LISTED_IN_ALL_MAX }));
        // A creator with a bot is no list, and one group is none either.
        assert_eq!(list(&dir, &three[..2]), Ok(()));
        channel.permissions = ChannelPermissions::all(fixture::no_users());
        dir.put_channel(channel);
        assert_eq!((dir.listed_count(), list(&dir, &three)), (0, Ok(())));
    }

    #[test]
    fn stored_values_win() {
        let mut dir = fixture::directory();
        let only = GroupSetting::only(fixture::GUEST);
        fixture::set_realm(&mut dir, "can_create_groups", SettingValue::Group(only.clone()));
        assert_eq!(realm_group_setting(&dir, RealmPermission::CreateGroups), only);
        assert!(holds_realm(&dir, RealmPermission::CreateGroups, fixture::GUEST));
        assert!(!holds_realm(&dir, RealmPermission::CreateGroups, fixture::OWNER));
    }

    #[test]
    fn new_channels_are_administered_by_their_creator() {
        let dir = fixture::directory();
        let permissions = default_channel_permissions(&dir, Some(fixture::MEMBER));
        assert_eq!(permissions.administer_channel, GroupSetting::only(fixture::MEMBER));
        assert_eq!(permissions.send_message, fixture::group("role:everyone"));
        assert_eq!(permissions.remove_subscribers, fixture::group("role:administrators"));
        assert_eq!(permissions.subscribe, fixture::no_users());
        let both =
            GroupSetting::Anonymous { members: vec![fixture::MEMBER, fixture::BOT], subgroups: vec![] };
        assert_eq!(default_channel_permissions(&dir, Some(fixture::BOT)).administer_channel, both);
        let orphan = default_channel_permissions(&dir, None);
        assert_eq!(orphan.administer_channel, fixture::no_users());
    }

    #[test]
    fn deactivated_users_are_not_listed() {
        let dir = fixture::directory();
        let listed = |members: Vec<UserId>| GroupSetting::Anonymous { members, subgroups: vec![] };
        let stored = listed(vec![fixture::MEMBER, fixture::FORMER]);
        assert_eq!(*shown_group_setting(&dir, &stored), listed(vec![fixture::MEMBER]));
        let group = fixture::no_users();
        assert_eq!(*shown_group_setting(&dir, &group), group);
    }

    #[test]
    fn values_are_read_checked_and_normalized() {
        let dir = fixture::directory();
        let administer = ChannelPermission::AdministerChannel.rule();
        let remove = ChannelPermission::RemoveSubscribers.rule();
        let web_public = RealmPermission::CreateWebPublicChannel.rule();
        let listed =
            |members: &[u32], groups: &[u32]| json!({"direct_members": members, "direct_subgroups": groups});
        let forbidden =
            |setting, group: &str| Err(RuleError::GroupForbidden { setting, group: group.into() });
        for (rule, value, expected) in [
            (remove, json!(3), Ok(fixture::group("role:administrators"))),
            (remove, json!(77), Err(RuleError::InvalidUserGroup)),
            (remove, json!(-1), Err(RuleError::InvalidUserGroup)),
            (remove, json!(8), forbidden("can_remove_subscribers_group", "role:internet")),
            (remove, listed(&[], &[3]), Ok(fixture::group("role:administrators"))),
            (remove, listed(&[], &[]), Ok(fixture::no_users())),
            (
                remove,
                listed(&[5, 4, 4], &[]),
                Ok(GroupSetting::Anonymous { members: vec![UserId(4), UserId(5)], subgroups: vec![] }),
            ),
            (
                remove,
                listed(&[4; LISTED_MAX], &[]),
                Ok(GroupSetting::Anonymous { members: vec![UserId(4)], subgroups: vec![] }),
            ),
            (remove, listed(&[4; LISTED_MAX], &[3]), Err(RuleError::TooManyListed { limit: LISTED_MAX })),
            (remove, listed(&[9], &[]), Err(RuleError::InvalidMember { id: 9 })),
            (remove, listed(&[4], &[99]), Err(RuleError::InvalidUserGroup)),
            (administer, json!(7), forbidden("can_administer_channel_group", "role:everyone")),
            (web_public, json!(6), forbidden("can_create_web_public_channel_group", "role:members")),
            (
                web_public,
                listed(&[4], &[]),
                Err(RuleError::SystemGroupRequired { setting: "can_create_web_public_channel_group" }),
            ),
        ] {
            let proposed = parse_group_setting(&value).unwrap();
            assert_eq!(check_group_setting(&dir, rule, &proposed), expected, "{value}");
        }
        for value in [
            json!("3"),
            json!(null),
            json!({"direct_members": []}),
            json!({"direct_members": ["x"], "direct_subgroups": []}),
        ] {
            assert_eq!(parse_group_setting(&value), None, "{value}");
        }
    }
}
