use super::*;
use crate::error::GroupObjection;
use crate::fixture::{
    self, ADMINISTRATOR, BOT, FORMER, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER, SYSTEM_BOT,
};
use crate::permissions::group_setting::parse_group_setting;
use crate::permissions::group_setting_change::parse_group_setting_change;
use model::{ChannelId, SettingValue};
use proptest::prelude::*;
use serde_json::json;

const COOKS: GroupId = GroupId(20);
const STAFF: GroupId = GroupId(21);
const CLOSED: GroupId = GroupId(22);

fn group(id: GroupId, name: &str, members: &[UserId], subgroups: &[GroupId]) -> UserGroup {
    let mut permissions = fixture::group_permissions();
    permissions.manage = GroupSetting::only(MEMBER);
    UserGroup {
        is_deactivated: id == CLOSED,
        creator: Some(MEMBER),
        members: members.iter().copied().collect(),
        subgroups: subgroups.iter().copied().collect(),
        ..UserGroup::new(id, name, "", permissions)
    }
}

/// `MEMBER` manages cooks, staff (who contain the cooks) and a deactivated group.
fn directory() -> Directory {
    let mut dir = fixture::directory();
    dir.put_group(group(COOKS, "cooks", &[MEMBER, OTHER_MEMBER, FORMER], &[]));
    dir.put_group(group(STAFF, "staff", &[], &[COOKS]));
    dir.put_group(group(CLOSED, "closed", &[], &[]));
    dir
}

fn change(dir: &mut Directory, id: GroupId, change: impl FnOnce(&mut UserGroup)) {
    let mut group = UserGroup::clone(dir.group(id).unwrap());
    change(&mut group);
    dir.put_group(group);
}

#[test]
fn group_names() {
    let long = "g".repeat(101);
    for (raw, expected) in [
        (" cooks ", Ok("cooks")),
        ("", Err("User group name can't be empty!")),
        (&long, Err("User group name cannot exceed 100 characters.")),
        (&long[..100], Ok(&long[..100])),
        ("@cooks", Err("User group name cannot start with '@'.")),
        ("role:x", Err("User group name cannot start with 'role:'.")),
        ("channel:x", Err("User group name cannot start with 'channel:'.")),
        ("Role:x", Ok("Role:x")),
    ] {
        let found = parse_group_name(raw).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{raw:?}");
    }
}

#[test]
fn creating_a_group_needs_permission() {
    let dir = directory();
    let request = |name: &str| GroupRequest { name: name.into(), ..Default::default() };
    let make =
        |requester, request: &GroupRequest| check_new_group(&dir, dir.user(requester).unwrap(), request);
    let plan =
        make(MEMBER, &GroupRequest { members: vec![4, 5, 4], subgroups: vec![20], ..request(" new ") })
            .unwrap();
    assert_eq!((plan.name.as_str(), plan.members.len(), plan.subgroups.len()), ("new", 2, 1));
    assert_eq!(plan.permissions.manage, GroupSetting::only(MEMBER));
    assert_eq!(plan.permissions.leave, fixture::group("role:everyone"));
    let joins = parse_group_setting(&json!(6)).unwrap();
    let open = GroupRequest { permissions: vec![(GroupPermission::Join, joins)], ..request("open") };
    assert_eq!(make(MEMBER, &open).unwrap().permissions.join, fixture::group("role:members"));
    let exists = |name: &str| GroupError::AlreadyExists { name: name.into() }.into();
    for (requester, request, expected) in [
        (GUEST, request("new"), RuleError::GuestsRefused),
        (MEMBER, request("COOKS"), exists("COOKS")),
        (MEMBER, request("closed"), exists("closed")),
        (MEMBER, GroupRequest { members: vec![99], ..request("new") }, RuleError::InvalidMember { id: 99 }),
        (MEMBER, GroupRequest { members: vec![9], ..request("new") }, RuleError::InvalidMember { id: 9 }),
        (MEMBER, GroupRequest { subgroups: vec![22], ..request("new") }, RuleError::InvalidUserGroup),
    ] {
        assert_eq!(make(requester, &request), Err(expected), "{request:?}");
    }
    let mut strict = directory();
    fixture::set_realm(&mut strict, "can_create_groups", SettingValue::Group(fixture::group("role:owners")));
    let found = check_new_group(&strict, strict.user(MEMBER).unwrap(), &request("new"));
    assert_eq!(found, Err(RuleError::InsufficientPermission));
    assert!(active_member(&dir, SYSTEM_BOT.0.into()).is_err());
}

#[test]
fn groups_are_changed_by_their_managers() {
    let dir = directory();
    let name = |name: &str| GroupUpdate { name: Some(name.into()), ..Default::default() };
    let update = |requester, id, update: &GroupUpdate| {
        check_group_update(&dir, dir.user(requester).unwrap(), id, update).map(|(_, changes)| changes)
    };
    let mention = parse_group_setting_change(&json!({"new": 6, "old": 1})).unwrap();
    let all = GroupUpdate {
        description: Some("they cook".into()),
        permissions: vec![(GroupPermission::Mention, mention)],
        is_deactivated: Some(false),
        ..name("chefs")
    };
    let expected = vec![
        GroupChange::Name("chefs".into()),
        GroupChange::Description("they cook".into()),
        GroupChange::Permission(GroupPermission::Mention, fixture::group("role:members")),
    ];
    assert_eq!(update(MEMBER, 20, &all), Ok(expected.clone()));
    assert_eq!(update(OWNER, 20, &all), Ok(expected.clone()));
    assert_eq!(update(MEMBER, 22, &all).unwrap()[0], GroupChange::Reactivated);
    let mut changed = UserGroup::clone(dir.group(COOKS).unwrap());
    expected.iter().for_each(|change| apply_group_change(&mut changed, change));
    assert_eq!((changed.name.as_str(), changed.description.as_str()), ("chefs", "they cook"));
    for (requester, id, request, expected) in [
        (MEMBER, 20, GroupUpdate::default(), GroupError::NothingNew.into()),
        (OTHER_MEMBER, 20, name("x"), RuleError::InsufficientPermission),
        (ADMINISTRATOR, 20, name("x"), RuleError::InsufficientPermission),
        (GUEST, 20, name("x"), RuleError::GuestsRefused),
        (OWNER, 2, name("x"), RuleError::InvalidUserGroup),
        (OWNER, 99, name("x"), RuleError::InvalidUserGroup),
        (MEMBER, 20, name("staff"), GroupError::AlreadyExists { name: "staff".into() }.into()),
        (MEMBER, 20, name("@x"), GroupError::NamePrefix { prefix: "@" }.into()),
    ] {
        assert_eq!(update(requester, id, &request), Err(expected), "{requester} {id} {request:?}");
    }
    assert_eq!(update(MEMBER, 20, &name("Cooks")), Ok(vec![GroupChange::Name("Cooks".into())]));
    assert_eq!(update(MEMBER, 20, &name("cooks")), Ok(vec![]));
}

#[test]
fn changing_members_needs_permission() {
    let mut dir = directory();
    change(&mut dir, COOKS, |group| {
        group.permissions.join = fixture::group("role:members");
        group.permissions.leave = fixture::group("role:everyone");
        group.permissions.add_members = GroupSetting::only(ADMINISTRATOR);
        group.permissions.remove_members = GroupSetting::only(OTHER_MEMBER);
    });
    let add = |ids: &[i64]| MembersRequest { add: ids.to_vec(), ..Default::default() };
    let delete = |ids: &[i64]| MembersRequest { delete: ids.to_vec(), ..Default::default() };
    let below = |ids: &[i64]| MembersRequest { add_subgroups: ids.to_vec(), ..Default::default() };
    let not_below = |ids: &[i64]| MembersRequest { delete_subgroups: ids.to_vec(), ..Default::default() };
    let denied = || Err(RuleError::InsufficientPermission.to_string());
    for (requester, id, request, expected) in [
        (MEMBER, 20, add(&[1, 2]), Ok(())),
        (ADMINISTRATOR, 20, add(&[1]), Ok(())),
        (ADMINISTRATOR, 20, add(&[1, 2]), Ok(())),
        (MODERATOR, 20, add(&[3]), Ok(())),
        (MODERATOR, 20, add(&[3, 1]), denied()),
        (GUEST, 20, add(&[6]), denied()),
        (OTHER_MEMBER, 20, delete(&[4]), Ok(())),
        (MODERATOR, 20, delete(&[4]), denied()),
        (OTHER_MEMBER, 20, MembersRequest { add: vec![1], delete: vec![4], ..Default::default() }, denied()),
        (ADMINISTRATOR, 20, below(&[3]), Ok(())),
        (OTHER_MEMBER, 20, below(&[3]), denied()),
        (MEMBER, 20, MembersRequest::default(), Err(GroupError::NobodyToChange.to_string())),
        (MEMBER, 20, add(&[5]), Err("User 5 is already a member of this group".into())),
        (MEMBER, 20, add(&[99]), Err("Invalid user ID: 99".into())),
        (MEMBER, 20, delete(&[9]), Ok(())),
        (MEMBER, 20, delete(&[1]), Err("There is no member '1' in this user group".into())),
        (MEMBER, 21, below(&[20]), Err("User group 20 is already a subgroup of this group.".into())),
        (MEMBER, 20, not_below(&[21]), Err("User group 21 is not a subgroup of this group.".into())),
        (MEMBER, 21, not_below(&[20]), Ok(())),
        (
            MEMBER,
            20,
            below(&[21]),
            Err("User group 20 is already a subgroup of one of the passed subgroups.".into()),
        ),
        (
            MEMBER,
            20,
            below(&[20]),
            Err("User group 20 is already a subgroup of one of the passed subgroups.".into()),
        ),
        (MEMBER, 20, below(&[22]), Err("Invalid user group".into())),
        // Deactivated, but its members can still be changed.
        (MEMBER, 22, add(&[1]), Ok(())),
        (OTHER_MEMBER, 22, add(&[1]), denied()),
        (OWNER, 2, add(&[4]), Err("Invalid user group".into())),
    ] {
        let found = check_members_change(&dir, dir.user(requester).unwrap(), id, &request);
        assert_eq!(
            found.map(|_| ()).map_err(|error| error.to_string()),
            expected,
            "{requester} {id} {request:?}"
        );
    }
}

#[test]
fn guests_may_leave_and_nothing_else() {
    let mut dir = directory();
    let guest = GroupSetting::only(GUEST);
    change(&mut dir, COOKS, |group| {
        group.members.insert(GUEST);
        let permissions = &mut group.permissions;
        for setting in [&mut permissions.manage, &mut permissions.join, &mut permissions.add_members] {
            *setting = guest.clone();
        }
    });
    let check = |dir: &Directory, request: &MembersRequest| {
        check_members_change(dir, dir.user(GUEST).unwrap(), 20, request).map(|(_, change)| change.removed)
    };
    let leave = MembersRequest { delete: vec![6], ..Default::default() };
    assert_eq!(check(&dir, &leave), Err(RuleError::InsufficientPermission));
    change(&mut dir, COOKS, |group| group.permissions.leave = fixture::group("role:everyone"));
    assert_eq!(check(&dir, &leave), Ok(BTreeSet::from([GUEST])));
    change(&mut dir, COOKS, |group| {
        group.members.remove(&GUEST);
    });
    let join = MembersRequest { add: vec![6], ..Default::default() };
    assert_eq!(check(&dir, &join), Err(RuleError::InsufficientPermission));
}

#[test]
fn subgroups_have_a_separate_endpoint() {
    let dir = directory();
    let member = dir.user(MEMBER).unwrap();
    let (_, change) = check_subgroups_change(&dir, member, 20, vec![3, 3], vec![]).unwrap();
    assert_eq!(change.added_subgroups, BTreeSet::from([GroupId(3)]));
    let nothing = check_subgroups_change(&dir, member, 20, vec![], vec![]).unwrap_err();
    assert_eq!(nothing.to_string(), "Nothing to do. Specify at least one of \"add\" or \"delete\".");
    assert_eq!(
        GroupError::NobodyToChange.to_string(),
        "Nothing to do. Specify at least one of \"add\", \"delete\", \"add_subgroups\" or \"delete_subgroups\"."
    );
}

#[test]
fn an_organization_has_limited_groups_and_subgroups() {
    let mut dir = directory();
    let member = dir.user(MEMBER).unwrap().clone();
    let present: usize = dir.groups().map(|group| group.subgroups.len()).sum();
    for id in (100..).take(SUBGROUPS_MAX - present) {
        dir.put_group(of_administrator(id, &[COOKS]));
    }
    let change = |id, request: MembersRequest| check_members_change(&dir, &member, id, &request).map(|_| ());
    let create = |dir: &Directory, subgroups: Vec<i64>| {
        let request = GroupRequest { name: "new".into(), subgroups, ..Default::default() };
        check_new_group(dir, &member, &request).map(|_| ())
    };
    let full = RuleError::from(GroupError::TooManySubgroups { limit: SUBGROUPS_MAX });
    let below = MembersRequest { add_subgroups: vec![20], ..Default::default() };
    assert_eq!(change(22, below), Err(full.clone()));
    assert_eq!(create(&dir, vec![20]), Err(full));
    // What adds none is permitted.
    assert_eq!(change(22, MembersRequest { add: vec![1], ..Default::default() }), Ok(()));
    let replaced =
        MembersRequest { add_subgroups: vec![100], delete_subgroups: vec![20], ..Default::default() };
    assert_eq!(change(21, replaced), Ok(()));
    assert_eq!(create(&dir, Vec::new()), Ok(()));
    for id in (20_000..).take(GROUPS_MAX - dir.group_count()) {
        dir.put_group(of_administrator(id, &[]));
    }
    assert_eq!(create(&dir, Vec::new()), Err(GroupError::TooMany { limit: GROUPS_MAX }.into()));
}

fn of_administrator(id: u32, subgroups: &[GroupId]) -> UserGroup {
    UserGroup { creator: Some(ADMINISTRATOR), ..group(GroupId(id), &format!("group {id}"), &[], subgroups) }
}

/// One account that is no administrator leaves room for others, with its bots and the groups of others that it may change.
#[test]
fn a_member_has_limited_groups_and_subgroups() {
    let mut dir = directory();
    let create = |dir: &Directory, by: UserId, subgroups: Vec<i64>| {
        let request = GroupRequest { name: "new".into(), subgroups, ..Default::default() };
        check_new_group(dir, dir.user(by).unwrap(), &request).map(|_| ())
    };
    let add = |dir: &Directory, by: UserId, id: i64| {
        check_subgroups_change(dir, dir.user(by).unwrap(), id, vec![22, 23], vec![]).map(|_| ())
    };
    change(&mut dir, CLOSED, |group| group.is_deactivated = false);
    dir.put_group(of_administrator(23, &[]));
    let present: usize =
        dir.groups().filter(|group| group.creator == Some(MEMBER)).map(|group| group.subgroups.len()).sum();
    for id in (100..).take(CREATED_SUBGROUPS_MAX - present - 1) {
        let by = if id % 2 == 0 { BOT } else { MEMBER };
        dir.put_group(UserGroup {
            creator: Some(by),
            ..group(GroupId(id), &format!("group {id}"), &[], &[COOKS])
        });
    }
    let full = Err(RuleError::from(GroupError::TooManyOwnSubgroups { limit: CREATED_SUBGROUPS_MAX }));
    assert_eq!(create(&dir, MEMBER, vec![20]), Ok(()));
    assert_eq!(create(&dir, MEMBER, vec![20, 22]), full);
    assert_eq!(create(&dir, OTHER_MEMBER, vec![20, 22]), Ok(()));
    assert_eq!(add(&dir, MEMBER, 20), full);
    // Also in the group of another account.
    dir.put_group(of_administrator(24, &[]));
    change(&mut dir, GroupId(24), |group| {
        group.permissions.manage =
            GroupSetting::Anonymous { members: vec![ADMINISTRATOR, MEMBER], subgroups: Vec::new() };
    });
    assert_eq!(add(&dir, MEMBER, 24), full);
    assert_eq!(add(&dir, ADMINISTRATOR, 24), Ok(()));
    let mine = dir.groups().filter(|group| [Some(MEMBER), Some(BOT)].contains(&group.creator)).count();
    for id in (20_000..).take(CREATED_MAX - mine - 1) {
        dir.put_group(group(GroupId(id), &format!("group {id}"), &[], &[]));
    }
    assert_eq!(create(&dir, MEMBER, Vec::new()), Ok(()));
    dir.put_group(UserGroup { creator: Some(BOT), ..group(GroupId(99), "last", &[], &[]) });
    let full = Err(RuleError::from(GroupError::TooManyOwn { limit: CREATED_MAX }));
    assert_eq!((create(&dir, MEMBER, Vec::new()), create(&dir, BOT, Vec::new())), (full.clone(), full));
    assert_eq!(
        (create(&dir, OTHER_MEMBER, Vec::new()), create(&dir, ADMINISTRATOR, Vec::new())),
        (Ok(()), Ok(()))
    );
}

/// New members count once for the group and once for each group that contains it, and those of a new subgroup likewise.
#[test]
fn an_organization_has_limited_members_of_groups() {
    let dir = directory();
    let room = |direct, subgroups: &[GroupId], groups| {
        check_room_for_members(&dir, direct, &subgroups.iter().copied().collect(), groups)
    };
    let left = MEMBERSHIPS_MAX - dir.membership_count();
    let cooks = dir.members_of(COOKS).len();
    assert!(cooks > 0);
    let full = Err(RuleError::from(GroupError::TooManyMembers { limit: MEMBERSHIPS_MAX }));
    assert_eq!((room(left, &[], 1), room(left + 1, &[], 1)), (Ok(()), full.clone()));
    assert_eq!(
        (room(left - cooks, &[COOKS], 1), room(left - cooks + 1, &[COOKS], 1)),
        (Ok(()), full.clone())
    );
    assert_eq!((room(left / 2, &[], 2), room(left / 2 + 1, &[], 2)), (Ok(()), full));
    assert_eq!(room(0, &[], 100), Ok(()));
}

#[test]
fn groups_in_use_cannot_be_deactivated() {
    let mut dir = directory();
    let check = |dir: &Directory, requester, id| {
        access_group_to_deactivate(dir, dir.user(requester).unwrap(), id).map(|group| group.id)
    };
    assert_eq!(check(&dir, MEMBER, 21), Ok(STAFF));
    assert_eq!(check(&dir, ADMINISTRATOR, 21), Err(RuleError::InsufficientPermission));
    assert_eq!(check(&dir, MEMBER, 22), Err(RuleError::InvalidUserGroup));
    assert_eq!(check(&dir, OWNER, 3), Err(RuleError::InvalidUserGroup));
    let listed = GroupSetting::Anonymous { members: vec![MEMBER], subgroups: vec![COOKS] };
    fixture::set_realm(&mut dir, "can_create_groups", SettingValue::Group(listed.clone()));
    let mut channel = fixture::channel(1, "kitchen");
    channel.permissions.send_message = GroupSetting::Group(COOKS);
    channel.permissions.subscribe = listed;
    dir.put_channel(channel.clone());
    (channel.id, channel.name, channel.is_archived) = (ChannelId(2), "cellar".into(), true);
    dir.put_channel(channel);
    for id in [COOKS, STAFF, CLOSED] {
        change(&mut dir, id, |group| group.permissions.mention = GroupSetting::Group(COOKS));
    }
    let objections = vec![
        GroupObjection::Subgroup { supergroups: vec![STAFF] },
        GroupObjection::Realm { settings: vec!["can_create_groups"] },
        GroupObjection::Channel {
            channel: ChannelId(1),
            settings: vec!["can_send_message_group", "can_subscribe_group"],
        },
        GroupObjection::UserGroup { group: STAFF, settings: vec!["can_mention_group"] },
    ];
    assert_eq!(check(&dir, MEMBER, 20), Err(GroupError::InUse { objections }.into()));
}

proptest! {
    /// However subgroups are added, no group is its own direct or indirect subgroup.
    #[test]
    fn groups_never_contain_themselves(attempts in proptest::collection::vec((30_u32..36, 30_u32..36), 0..40)) {
        let mut dir = fixture::directory();
        for id in 30..36 {
            dir.put_group(group(GroupId(id), &format!("group {id}"), &[], &[]));
        }
        for (outer, inner) in attempts {
            let member = dir.user(MEMBER).unwrap().clone();
            let found = check_subgroups_change(&dir, &member, outer.into(), vec![inner.into()], vec![]);
            let added = found.ok().map(|(_, change)| change.added_subgroups);
            if let Some(added) = added {
                change(&mut dir, GroupId(outer), |group| group.subgroups.extend(added));
            }
            for id in 30..36 {
                let record = dir.group(GroupId(id)).unwrap();
                for below in &record.subgroups {
                    prop_assert!(below.0 != id && !dir.subgroups_of(*below).contains(&record.id));
                }
            }
        }
    }
}
