use super::*;
use crate::fixture;
use model::{GroupSetting, SettingValue, UserId};

const NOW: Timestamp = Timestamp(100 * DAY_SECS * 1000);

fn request(role: i64) -> InvitationRequest {
    InvitationRequest {
        role,
        channels: Vec::new(),
        groups: Vec::new(),
        includes_default_channels: false,
        notifies_inviter: true,
        welcome_text: None,
        valid_minutes: Some(60),
    }
}

fn invite(dir: &Directory, by: UserId, addresses: &str, role: i64) -> Result<InvitationPlan, RuleError> {
    check(dir, dir.user(by).unwrap(), addresses, request(role), NOW, 0)
}

/// Checks invitations of an organization with a bound of mails a day.
fn check(
    dir: &Directory,
    by: &User,
    addresses: &str,
    request: InvitationRequest,
    now: Timestamp,
    daily_max: usize,
) -> Result<InvitationPlan, RuleError> {
    let limits = InvitationLimits { daily_max, ..InvitationLimits::default() };
    let resent = ResentInvitations::default();
    check_invitations(dir, by, addresses, request, now, SentInvitations { limits, resent: &resent })
}

fn word(error: InvitationError) -> RuleError {
    error.into()
}

#[test]
fn access_is_checked_once_for_each_id() {
    assert_eq!(distinct(&[7, 3, 7, 7, 3, 9]).collect::<Vec<_>>(), [7, 3, 9]);
}

#[test]
fn inviter_must_have_the_role_that_it_grants() {
    let dir = fixture::directory();
    let administrator = || Some(word(InvitationError::AdministratorRequired));
    for (by, role, refusal) in [
        (fixture::OWNER, 100, None),
        (fixture::ADMINISTRATOR, 100, Some(RuleError::OwnerRequired)),
        (fixture::ADMINISTRATOR, 200, None),
        (fixture::ADMINISTRATOR, 300, None),
        (fixture::MODERATOR, 200, administrator()),
        (fixture::MODERATOR, 300, administrator()),
        (fixture::MODERATOR, 400, None),
        (fixture::MEMBER, 400, None),
        (fixture::MEMBER, 600, None),
        (fixture::MEMBER, 500, Some(word(InvitationError::RoleInvalid))),
        (fixture::MEMBER, 0, Some(word(InvitationError::RoleInvalid))),
        (fixture::GUEST, 600, Some(RuleError::InsufficientPermission)),
    ] {
        assert_eq!(invite(&dir, by, "new@x.example", role).err(), refusal, "{by} {role}");
    }
}

#[test]
fn permission_comes_first_and_addresses_before_channels() {
    let mut dir = fixture::directory();
    fixture::set_realm(
        &mut dir,
        "can_invite_users_group",
        SettingValue::Group(GroupSetting::only(fixture::OWNER)),
    );
    assert_eq!(invite(&dir, fixture::MEMBER, "", 7), Err(RuleError::InsufficientPermission));
    assert_eq!(invite(&dir, fixture::OWNER, " ,\n", 7), Err(word(InvitationError::RoleInvalid)));
    let owner = dir.user(fixture::OWNER).unwrap();
    let with_channel = InvitationRequest { channels: vec![99], ..request(400) };
    let refusal = check(&dir, owner, " ,", with_channel.clone(), NOW, 0).err();
    assert_eq!(refusal, Some(word(InvitationError::NoAddress)));
    let refusal = check(&dir, owner, "bad", with_channel, NOW, 0).err();
    assert_eq!(refusal, Some(word(InvitationError::ChannelInvalid { id: 99 })));
}

#[test]
fn channels_must_be_readable_and_subscribable() {
    let mut dir = fixture::directory();
    let mut private = fixture::channel(2, "private");
    private.invite_only = true;
    let mut archived = fixture::channel(3, "archived");
    archived.is_archived = true;
    for channel in [fixture::channel(1, "open"), private, archived, fixture::channel(4, "default")] {
        dir.put_channel(channel);
    }
    let mut realm = model::Realm::clone(dir.realm());
    realm.default_channels = vec![ChannelId(4)];
    dir.put_realm(realm);
    let check = |dir: &Directory, channels: &[i64]| {
        let wanted = InvitationRequest { channels: channels.to_vec(), ..request(400) };
        let member = dir.user(fixture::MEMBER).unwrap();
        check_reusable(dir, member, wanted).map(|invitation| invitation.channels)
    };
    let invalid = |id| Err(word(InvitationError::ChannelInvalid { id }));
    assert_eq!(check(&dir, &[4, 1, 4]), Ok(vec![ChannelId(1), ChannelId(4)]));
    for id in [2, 3, 99, -1] {
        assert_eq!(check(&dir, &[1, id]), invalid(id), "{id}");
    }
    let no_users = SettingValue::Group(fixture::no_users());
    fixture::set_realm(&mut dir, "can_add_subscribers_group", no_users);
    assert_eq!(check(&dir, &[4]), Ok(vec![ChannelId(4)]), "default channels need no permission");
    assert_eq!(check(&dir, &[1]), Err(word(InvitationError::SubscribingNotPermitted)));
    assert_eq!(check(&dir, &[1, 99]), invalid(99), "missing channels are checked first");
}

fn check_reusable(dir: &Directory, by: &User, wanted: InvitationRequest) -> Result<Invitation, RuleError> {
    let mut dir = dir.clone();
    let requester = SettingValue::Group(GroupSetting::only(by.id));
    fixture::set_realm(&mut dir, "create_multiuse_invite_group", requester);
    check_reusable_invitation(&dir, by, wanted, NOW)
}

#[test]
fn reusable_invitations_have_a_separate_permission() {
    let dir = fixture::directory();
    let check = |id| check_reusable_invitation(&dir, dir.user(id).unwrap(), request(400), NOW).err();
    assert_eq!(check(fixture::MEMBER), Some(RuleError::InsufficientPermission));
    assert_eq!(check(fixture::ADMINISTRATOR), None);
}

#[test]
fn inviter_must_be_able_to_add_members_to_groups() {
    let mut dir = fixture::directory();
    let group = |id, by, is_deactivated| model::UserGroup {
        id: GroupId(id),
        name: format!("group {id}"),
        description: String::new(),
        is_system: false,
        is_deactivated,
        creator: Some(by),
        created: None,
        members: Default::default(),
        subgroups: Default::default(),
        permissions: model::group::GroupPermissions {
            add_members: GroupSetting::only(by),
            ..fixture::group_permissions()
        },
    };
    dir.put_group(group(20, fixture::MEMBER, false));
    dir.put_group(group(21, fixture::OTHER_MEMBER, false));
    dir.put_group(group(22, fixture::MEMBER, true));
    let member = dir.user(fixture::MEMBER).unwrap();
    let check = |groups: &[i64]| {
        let wanted = InvitationRequest { groups: groups.to_vec(), ..request(400) };
        check_reusable(&dir, member, wanted).map(|invitation| invitation.groups)
    };
    assert_eq!(check(&[20, 20]), Ok(vec![GroupId(20)]));
    assert_eq!(check(&[21]), Err(RuleError::InsufficientPermission));
    for id in [22, 99, 1] {
        assert_eq!(check(&[id]), Err(RuleError::InvalidUserGroup), "{id}");
    }
}

#[test]
fn custom_welcome_messages_need_an_administrator() {
    let dir = fixture::directory();
    let check = |id, text: &str| {
        let wanted = InvitationRequest { welcome_text: Some(text.to_owned()), ..request(400) };
        check_reusable(&dir, dir.user(id).unwrap(), wanted).map(|invitation| invitation.welcome_text)
    };
    assert_eq!(check(fixture::ADMINISTRATOR, ""), Ok(Some(String::new())));
    assert_eq!(check(fixture::ADMINISTRATOR, &"é".repeat(8000)), Ok(Some("é".repeat(8000))));
    let long = RuleError::TooLong { field: "welcome_message_custom_text", limit: 8000 };
    assert_eq!(check(fixture::ADMINISTRATOR, &"é".repeat(8001)), Err(long));
    let refusal = Err(word(InvitationError::AdministratorRequired));
    assert_eq!(check(fixture::MODERATOR, &"é".repeat(8001)), refusal);
}

#[test]
fn addresses_are_separated_into_new_known_and_invalid() {
    let dir = fixture::directory();
    let not_sent = |why, problems: &[(&str, AddressProblem)]| {
        let problems = problems.iter().map(|(address, problem)| ((*address).to_owned(), *problem)).collect();
        Err(word(InvitationError::NotSent { why, problems }))
    };
    let plan = invite(&dir, fixture::MEMBER, "a@x.example, A@x.example\nOther@example.org", 400).unwrap();
    assert_eq!(plan.addresses, ["a@x.example"]);
    assert_eq!(plan.skipped, [("Other@example.org".to_owned(), AddressProblem::Taken)]);
    assert_eq!(plan.invitation.expires, Some(NOW.plus_secs(3600)));
    let known = [
        ("former@example.org", AddressProblem::Deactivated),
        ("notification-bot@example.org", AddressProblem::Reserved),
    ];
    assert_eq!(
        invite(&dir, fixture::MEMBER, "former@example.org,notification-bot@example.org", 400),
        not_sent(InvitingRefusal::AllKnown, &known)
    );
    assert_eq!(
        invite(&dir, fixture::MEMBER, "former@example.org,a@x.example,what,a@mailinator.com", 400),
        not_sent(
            InvitingRefusal::SomeInvalid,
            &[
                ("what", AddressProblem::Invalid),
                ("a@mailinator.com", AddressProblem::Refused(crate::addresses::AddressRefusal::Disposable)),
                known[0],
            ]
        )
    );
}

fn invitation(id: u32, inviter: UserId, role: Role, address: Option<&str>) -> Invitation {
    Invitation {
        id: InvitationId(id),
        address: address.map(str::to_owned),
        inviter,
        role,
        channels: Vec::new(),
        groups: Vec::new(),
        includes_default_channels: false,
        notifies_inviter: true,
        welcome_text: None,
        sent: NOW,
        expires: Some(NOW.plus_secs(60)),
        state: InvitationState::Pending,
        has_expired: false,
    }
}

#[test]
fn limits_are_checked_before_addresses() {
    let mut dir = fixture::directory();
    let refused = |why| Some(word(InvitationError::NotSent { why, problems: Vec::new() }));
    let refusal = |dir: &Directory, id, now, daily_max| {
        check(dir, dir.user(id).unwrap(), "wrong,b@x.example", request(400), now, daily_max).err().filter(
            |error| {
                !matches!(error, RuleError::Invitation(InvitationError::NotSent { why, .. })
                if *why == InvitingRefusal::SomeInvalid)
            },
        )
    };
    dir.put_invitation(invitation(1, fixture::MEMBER, Role::Member, Some("a@x.example")));
    dir.put_invitation(invitation(2, fixture::MEMBER, Role::Member, None));
    assert_eq!(refusal(&dir, fixture::MEMBER, NOW, 2), refused(InvitingRefusal::DailyLimit));
    assert_eq!(refusal(&dir, fixture::MEMBER, NOW, 3), None);
    assert_eq!(refusal(&dir, fixture::MEMBER, NOW.plus_secs(DAY_SECS), 2), None);
    let young = Timestamp(2 * DAY_SECS * 1000);
    assert_eq!(refusal(&dir, fixture::MEMBER, young, 0), None);
    fixture::set_realm(&mut dir, "invite_required", SettingValue::Bool(false));
    assert_eq!(refusal(&dir, fixture::MEMBER, young, 0), refused(InvitingRefusal::AccountTooNew));
    assert_eq!(refusal(&dir, fixture::ADMINISTRATOR, young, 0), None);
    assert_eq!(refusal(&dir, fixture::MEMBER, Timestamp(3 * DAY_SECS * 1000), 0), None);
}

#[test]
fn open_and_recent_invitations_are_limited() {
    let mut dir = fixture::directory();
    let sent_before = |days: u64| Timestamp(NOW.0 - days * DAY_SECS * 1000);
    let put = |dir: &mut Directory, ids: std::ops::Range<usize>, inviter: UserId, like: &Invitation| {
        for id in ids {
            dir.put_invitation(Invitation { id: InvitationId(id as u32), inviter, ..like.clone() });
        }
    };
    let link = invitation(1, fixture::OWNER, Role::Member, None);
    let link = Invitation { sent: sent_before(29), expires: None, ..link };
    let revoked = Invitation { state: InvitationState::Revoked, ..link.clone() };
    let reuse = |dir: &Directory, by| check_reusable(dir, dir.user(by).unwrap(), request(400)).map(|_| ());
    // Long ago and over: these do not count.
    let old = Invitation { sent: sent_before(31), ..revoked.clone() };
    put(&mut dir, 1..100, fixture::OWNER, &old);
    // Revoking makes no room.
    put(&mut dir, 100..99 + INVITATIONS_OF_INVITER_MAX, fixture::OWNER, &revoked);
    assert_eq!(reuse(&dir, fixture::OWNER), Ok(()));
    put(&mut dir, 50..51, fixture::OWNER, &Invitation { sent: sent_before(31), ..link.clone() });
    let full = word(InvitationError::TooMany { limit: INVITATIONS_OF_INVITER_MAX });
    assert_eq!(reuse(&dir, fixture::OWNER), Err(full.clone()));
    assert_eq!(invite(&dir, fixture::OWNER, "new@x.example", 400).err(), Some(full));
    assert_eq!(reuse(&dir, fixture::ADMINISTRATOR), Ok(()));
    let from = 100 + INVITATIONS_OF_INVITER_MAX;
    put(&mut dir, from..from + INVITATIONS_MAX - INVITATIONS_OF_INVITER_MAX, fixture::MEMBER, &link);
    let full = word(InvitationError::TooManyOfRealm { limit: INVITATIONS_MAX });
    assert_eq!(reuse(&dir, fixture::ADMINISTRATOR), Err(full));
}

#[test]
fn texts_of_open_and_recent_invitations_are_limited() {
    let mut dir = fixture::directory();
    let text = "x".repeat(WELCOME_TEXT_LENGTH_MAX);
    let wanted = InvitationRequest { welcome_text: Some(text.clone()), ..request(400) };
    let check = |dir: &Directory, wanted: &InvitationRequest| {
        check_reusable(dir, dir.user(fixture::OWNER).unwrap(), wanted.clone()).map(|_| ())
    };
    let count = INVITATION_BYTES_MAX / WELCOME_TEXT_LENGTH_MAX;
    for id in 1..=count {
        assert_eq!(check(&dir, &wanted), Ok(()));
        let known = invitation(id as u32, fixture::OWNER, Role::Member, None);
        dir.put_invitation(Invitation { sent: NOW, welcome_text: Some(text.clone()), ..known });
    }
    let full = word(InvitationError::TooLarge { limit: INVITATION_BYTES_MAX });
    assert_eq!(check(&dir, &wanted), Err(full));
    assert_eq!(check(&dir, &request(400)), Ok(()));
}

#[test]
fn inviters_and_administrators_revoke_invitations() {
    let mut dir = fixture::directory();
    dir.put_invitation(invitation(1, fixture::MEMBER, Role::Member, Some("a@x.example")));
    dir.put_invitation(invitation(2, fixture::OWNER, Role::Owner, Some("b@x.example")));
    dir.put_invitation(invitation(3, fixture::ADMINISTRATOR, Role::Member, None));
    let ended =
        |id, address, state| Invitation { state, ..invitation(id, fixture::MEMBER, Role::Member, address) };
    dir.put_invitation(ended(4, Some("c@x.example"), InvitationState::Used(fixture::GUEST)));
    dir.put_invitation(ended(5, None, InvitationState::Revoked));
    let check = |id, invitation, is_reusable| {
        access_invitation(&dir, dir.user(id).unwrap(), InvitationId(invitation), is_reusable).err()
    };
    let missing = || Some(word(InvitationError::Missing));
    for (by, id, is_reusable, refusal) in [
        (fixture::MEMBER, 1, false, None),
        (fixture::MEMBER, 1, true, missing()),
        (fixture::MEMBER, 99, false, missing()),
        (fixture::OTHER_MEMBER, 1, false, Some(word(InvitationError::AdministratorRequired))),
        (fixture::ADMINISTRATOR, 1, false, None),
        (fixture::ADMINISTRATOR, 2, false, Some(RuleError::OwnerRequired)),
        (fixture::MEMBER, 2, false, Some(RuleError::OwnerRequired)),
        (fixture::OWNER, 3, true, None),
        (fixture::MODERATOR, 3, true, Some(word(InvitationError::AdministratorRequired))),
        (fixture::MEMBER, 4, false, Some(word(InvitationError::Ended))),
        (fixture::MEMBER, 5, true, Some(word(InvitationError::AlreadyRevoked))),
    ] {
        assert_eq!(check(by, id, is_reusable), refusal, "{by} {id} {is_reusable}");
    }
    let sees = |id, invitation: &Invitation| sees_invitation(dir.user(id).unwrap(), invitation);
    let link = invitation(6, fixture::OWNER, Role::Owner, None);
    let own = invitation(7, fixture::MEMBER, Role::Member, None);
    assert!(sees(fixture::OWNER, &link) && !sees(fixture::ADMINISTRATOR, &link));
    assert!(sees(fixture::ADMINISTRATOR, dir.invitation(InvitationId(2)).unwrap()));
    assert!(sees(fixture::ADMINISTRATOR, &own) && sees(fixture::MEMBER, &own));
    assert!(!sees(fixture::MODERATOR, &own));
}

#[test]
fn invitations_are_superseded_and_renewed() {
    let mut dir = fixture::directory();
    let first = invitation(1, fixture::MEMBER, Role::Member, Some("a@x.example"));
    assert_eq!(check_open(&first, NOW), Ok(()));
    let late = NOW.plus_secs(60);
    assert_eq!(check_open(&first, late), Err(InvitationEnd::Expired));
    assert_eq!(renewed_expiry(&first, late), Some(NOW.plus_secs(120)));
    assert_eq!(renewed_expiry(&Invitation { expires: None, ..first.clone() }, late), None);
    dir.put_invitation(first);
    dir.put_invitation(invitation(2, fixture::ADMINISTRATOR, Role::Guest, Some("A@x.example")));
    dir.put_invitation(invitation(3, fixture::MEMBER, Role::Member, Some("b@x.example")));
    dir.put_invitation(invitation(4, fixture::MEMBER, Role::Member, None));
    let ids = |ids: &[u32]| ids.iter().copied().map(InvitationId).collect::<Vec<_>>();
    assert_eq!(superseded_invitations(&dir, "a@X.example", Some(InvitationId(2))), ids(&[1]));
    assert_eq!(superseded_invitations(&dir, "a@x.example", None), ids(&[1, 2]));
    assert_eq!(invitations_of(&dir, dir.user(fixture::MEMBER).unwrap()), ids(&[1, 3, 4]));
}

/// The fixture's users, one of them with another role.
fn with_role(id: UserId, role: Role) -> Directory {
    let mut dir = fixture::directory();
    for group in dir.groups().map(|group| group.id).collect::<Vec<_>>() {
        dir.change_members(group, &[], &[id]);
    }
    let user = User { role, ..User::clone(dir.user(id).unwrap()) };
    for name in crate::permissions::roles::system_groups_of(&user, 0, NOW) {
        let group = dir.group_by_name(name).unwrap().id;
        dir.change_members(group, &[id], &[]);
    }
    dir.put_user(user);
    dir
}

#[test]
fn invitations_are_limited_by_present_permissions_of_the_inviter() {
    let made_by = |by: UserId, role: i64, is_reusable: bool| {
        let dir = fixture::directory();
        let by = dir.user(by).unwrap();
        match is_reusable {
            true => check_reusable_invitation(&dir, by, request(role), NOW).unwrap(),
            false => {
                let plan = check(&dir, by, "new@x.example", request(role), NOW, 0).unwrap();
                Invitation { address: plan.addresses.into_iter().next(), ..plan.invitation }
            }
        }
    };
    let (owner, administrator) = (fixture::OWNER, fixture::ADMINISTRATOR);
    for (by, now, role, is_reusable, is_given) in [
        (owner, Role::Owner, 100, true, true),
        (owner, Role::Administrator, 100, true, false),
        (owner, Role::Administrator, 200, true, true),
        (owner, Role::Member, 200, false, false),
        // Members may not make links, whatever the role.
        (administrator, Role::Member, 400, true, false),
        (administrator, Role::Member, 400, false, true),
        (administrator, Role::Guest, 400, false, false),
    ] {
        let mut dir = with_role(by, now);
        let invitation = Invitation { id: InvitationId(1), ..made_by(by, role, is_reusable) };
        assert_eq!(still_grantable(&dir, &invitation).is_some(), is_given, "{now:?} {role} {is_reusable}");
        let open = open_invitation(&dir, &invitation, NOW).map(|_| ());
        assert_eq!(open, if is_given { Ok(()) } else { Err(InvitationEnd::Revoked) });
        dir.put_invitation(invitation);
        assert_eq!(overreaching_invitations(&dir, by).is_empty(), is_given);
    }
    let mut dir = fixture::directory();
    let gone = User { is_active: false, ..User::clone(dir.user(owner).unwrap()) };
    dir.put_user(gone);
    assert_eq!(still_grantable(&dir, &made_by(owner, 400, false)), None);
}

#[test]
fn channels_groups_and_texts_need_present_permissions_of_the_inviter() {
    let mut dir = fixture::directory();
    let mut channel = fixture::channel(1, "core");
    channel.invite_only = true;
    dir.put_channel(channel);
    dir.put_channel(fixture::channel(2, "general"));
    fixture::subscribe(&mut dir, 1, fixture::ADMINISTRATOR, 0);
    let permissions = model::group::GroupPermissions {
        add_members: fixture::group("role:administrators"),
        ..fixture::group_permissions()
    };
    dir.put_group(model::UserGroup::new(GroupId(50), "deployers", "", permissions));
    let request = InvitationRequest {
        channels: vec![1, 2],
        groups: vec![50],
        welcome_text: Some("Hi".into()),
        ..request(400)
    };
    let by = dir.user(fixture::ADMINISTRATOR).unwrap().clone();
    let plan = check(&dir, &by, "new@x.example", request, NOW, 0).unwrap();
    let invitation = Invitation { address: plan.addresses.into_iter().next(), ..plan.invitation };
    assert_eq!(still_grantable(&dir, &invitation).as_ref(), Some(&invitation));
    fixture::unsubscribe(&mut dir, 1, by.id, 0);
    assert_eq!(still_grantable(&dir, &invitation).unwrap().channels, [ChannelId(2)]);
    let administrators = dir.group_by_name("role:administrators").unwrap().id;
    let members = dir.group_by_name("role:members").unwrap().id;
    dir.change_members(administrators, &[], &[by.id]);
    dir.change_members(members, &[by.id], &[]);
    dir.put_user(User { role: Role::Member, ..User::clone(&by) });
    let given = still_grantable(&dir, &invitation).unwrap();
    assert_eq!((given.groups.as_slice(), given.welcome_text), (&[][..], None));
}
