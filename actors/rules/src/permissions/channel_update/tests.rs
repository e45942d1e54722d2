use super::*;
use crate::fixture::{self, ADMINISTRATOR, GUEST, MEMBER, MODERATOR, OTHER_MEMBER, OWNER};
use crate::permissions::group_setting_change::parse_group_setting_change;
use model::{ChannelFolder, Realm, SettingValue, Timestamp, UserId};
use serde_json::json;

/// Channel 1 is public, 2 private with `MEMBER` in it, 3 archived; `MEMBER` administers them. 4 is another.
fn directory() -> Directory {
    let mut dir = fixture::directory();
    for (id, name) in [(1, "general"), (2, "secret"), (3, "old"), (4, "other")] {
        let mut channel = fixture::channel(id, name);
        channel.invite_only = id == 2;
        channel.is_archived = id == 3;
        if id < 4 {
            channel.permissions.administer_channel = GroupSetting::only(MEMBER);
        }
        dir.put_channel(channel);
    }
    fixture::subscribe(&mut dir, 2, MEMBER, 0);
    dir.put_folder(ChannelFolder {
        id: FolderId(7),
        name: "folder".into(),
        description: String::new(),
        rendered_description: String::new(),
        order: 0,
        created: Timestamp(0),
        creator: OWNER,
        is_archived: false,
    });
    dir
}

fn check(
    dir: &Directory,
    requester: UserId,
    id: i64,
    update: &ChannelUpdate,
) -> Result<UpdatePlan, RuleError> {
    check_channel_update(dir, dir.user(requester).unwrap(), id, update, || true)
}

/// The changes, and the refusal from either place.
fn decide(
    dir: &Directory,
    requester: UserId,
    id: i64,
    update: &ChannelUpdate,
) -> (Vec<ChannelChange>, Option<RuleError>) {
    match check(dir, requester, id, update) {
        Ok(plan) => (plan.changes, plan.refusal),
        Err(refusal) => (Vec::new(), Some(refusal)),
    }
}

fn private(is_private: bool) -> ChannelUpdate {
    ChannelUpdate { is_private: Some(is_private), ..Default::default() }
}

fn privacy(invite_only: bool, is_web_public: bool, history_public_to_subscribers: bool) -> ChannelChange {
    ChannelChange::Privacy(ChannelPrivacy { invite_only, is_web_public, history_public_to_subscribers })
}

fn permission(permission: ChannelPermission, value: Value) -> ChannelUpdate {
    let change = parse_group_setting_change(&value).unwrap();
    ChannelUpdate { permissions: vec![(permission, change)], ..Default::default() }
}

#[test]
fn channels_are_changed_by_their_administrators() {
    let dir = directory();
    for (requester, id, expected) in [
        (MEMBER, 1, None),
        (ADMINISTRATOR, 1, None),
        (ADMINISTRATOR, 2, None),
        (MEMBER, 3, None),
        (OTHER_MEMBER, 1, Some(RuleError::ChannelNotAdministered)),
        (OTHER_MEMBER, 2, Some(RuleError::InvalidChannelId)),
        (GUEST, 1, Some(RuleError::InvalidChannelId)),
        (OWNER, 99, Some(RuleError::InvalidChannelId)),
    ] {
        assert_eq!(
            decide(&dir, requester, id, &ChannelUpdate::default()),
            (vec![], expected),
            "{requester} {id}"
        );
    }
}

#[test]
fn privacy_follows_the_rules_for_new_channels() {
    let web = |is_web_public| ChannelUpdate { is_web_public: Some(is_web_public), ..Default::default() };
    let history =
        |shared| ChannelUpdate { history_public_to_subscribers: Some(shared), ..Default::default() };
    let both = |is_private, shared| ChannelUpdate { is_private: Some(is_private), ..history(shared) };
    let contradiction = Err(RuleError::PrivacyContradiction);
    let denied = Err(RuleError::InsufficientPermission);
    for (requester, id, update, expected) in [
        (MEMBER, 1, private(true), Ok(Some(privacy(true, false, false)))),
        (MEMBER, 1, both(true, true), Ok(Some(privacy(true, false, true)))),
        (MEMBER, 1, private(false), Ok(None)),
        (MEMBER, 2, private(false), Ok(Some(privacy(false, false, true)))),
        (MEMBER, 2, private(true), Ok(None)),
        (MEMBER, 2, history(false), Ok(Some(privacy(true, false, false)))),
        (MEMBER, 1, history(false), contradiction.clone()),
        (MEMBER, 2, both(false, false), contradiction.clone()),
        (MEMBER, 2, web(true), contradiction.clone()),
        (OWNER, 2, private(false), Err(RuleError::ContentAccessRequired)),
        (OWNER, 2, history(false), Err(RuleError::ContentAccessRequired)),
        (OWNER, 2, history(true), Ok(None)),
        (OWNER, 1, web(true), Ok(Some(privacy(false, true, true)))),
        (MEMBER, 1, web(true), denied.clone()),
        (OWNER, 1, web(false), Ok(None)),
    ] {
        let mut dir = directory();
        fixture::set_realm(&mut dir, "enable_spectator_access", SettingValue::Bool(true));
        let found = check(&dir, requester, id, &update).map(|plan| plan.changes.into_iter().next());
        assert_eq!(found, expected, "{requester} {id} {update:?}");
    }
    let mut dir = directory();
    assert_eq!(check(&dir, OWNER, 1, &web(true)), Err(RuleError::WebPublicDisabled));
    for name in ["can_create_private_channel_group", "can_create_public_channel_group"] {
        fixture::set_realm(&mut dir, name, SettingValue::Group(fixture::group("role:owners")));
    }
    assert_eq!(
        check(&dir, MEMBER, 1, &private(true)).map(|_| ()),
        denied.clone().map(|_: Option<ChannelChange>| ())
    );
    assert_eq!(check(&dir, MEMBER, 2, &private(false)).map(|_| ()), denied.map(|_| ()));
}

#[test]
fn some_channels_must_not_change_their_privacy() {
    let mut dir = directory();
    let realm = Realm { default_channels: vec![ChannelId(1)], ..Realm::clone(dir.realm()) };
    dir.put_realm(realm);
    assert_eq!(check(&dir, MEMBER, 1, &private(true)), Err(RuleError::DefaultChannelPrivate));
    let no_longer = ChannelUpdate { is_default: Some(false), ..private(true) };
    let expected = vec![privacy(true, false, false), ChannelChange::Default(false)];
    assert_eq!(decide(&dir, ADMINISTRATOR, 1, &no_longer), (expected, None));
    let default = ChannelUpdate { is_default: Some(true), ..Default::default() };
    assert_eq!(check(&dir, MEMBER, 2, &default), Err(RuleError::DefaultChannelPrivate));
    fixture::set_realm(&mut dir, "moderation_request_channel_id", SettingValue::Int(2));
    assert_eq!(check(&dir, MEMBER, 2, &private(false)), Err(RuleError::ModerationChannelPublic));
}

#[test]
fn topics_policies_need_permission_and_no_named_topics() {
    use TopicsPolicy::{AllowEmptyTopic, EmptyTopicOnly, Inherit};
    let dir = directory();
    let member = dir.user(MEMBER).unwrap();
    let guest = dir.user(GUEST).unwrap();
    for (requester, policy, has_named, expected) in [
        (member, AllowEmptyTopic, true, Ok(())),
        (member, EmptyTopicOnly, false, Ok(())),
        (member, EmptyTopicOnly, true, Err(RuleError::NamedTopicsExist)),
        (guest, AllowEmptyTopic, false, Err(RuleError::InsufficientPermission)),
        (guest, Inherit, true, Ok(())),
    ] {
        assert_eq!(check_topics_policy_change(&dir, requester, policy, || has_named), expected);
    }
    let update = ChannelUpdate { topics_policy: Some(AllowEmptyTopic), ..Default::default() };
    assert_eq!(decide(&dir, MEMBER, 1, &update), (vec![ChannelChange::TopicsPolicy(AllowEmptyTopic)], None));
    assert_eq!(parse_topics_policy("inherit"), Ok(Inherit));
    assert_eq!(parse_topics_policy("\"empty_topic_only\""), Ok(EmptyTopicOnly));
    assert_eq!(parse_topics_policy("x").unwrap_err().to_string(), "Invalid topics_policy");
    assert!(RuleError::NamedTopicsExist.to_string().starts_with(
        "To enable this configuration, all messages in this channel must be in the general chat topic. Consider"
    ));
}

#[test]
fn single_changes_are_permitted_or_not() {
    let dir = directory();
    let name = |new: &str| ChannelUpdate { new_name: Some(new.into()), ..Default::default() };
    let folder = |id| ChannelUpdate { folder: Some(id), ..Default::default() };
    let retention = |value: Value| ChannelUpdate { retention: Some(value), ..Default::default() };
    let default = ChannelUpdate { is_default: Some(true), ..Default::default() };
    let unarchive = |archived| ChannelUpdate { is_archived: Some(archived), ..Default::default() };
    let described = |text: &str| ChannelUpdate { description: Some(text.into()), ..Default::default() };
    let changed = |change| (vec![change], None);
    let refused = |refusal| (vec![], Some(refusal));
    let nothing = (vec![], None);
    for (requester, id, update, expected) in [
        (ADMINISTRATOR, 1, default.clone(), changed(ChannelChange::Default(true))),
        (MEMBER, 1, default, refused(RuleError::DefaultChannelsNotPermitted)),
        (OWNER, 1, retention(json!(30)), changed(ChannelChange::Retention(Some(30)))),
        (OWNER, 1, retention(json!("realm_default")), nothing.clone()),
        (OWNER, 1, retention(json!("soon")), refused(RuleError::RetentionInvalid { value: json!("soon") })),
        (ADMINISTRATOR, 1, retention(json!("soon")), refused(RuleError::OwnerRequired)),
        (MEMBER, 3, unarchive(false), changed(ChannelChange::Unarchived)),
        (MEMBER, 3, unarchive(true), nothing.clone()),
        (MEMBER, 1, unarchive(false), refused(RuleError::ChannelNotArchived)),
        (MEMBER, 1, described("new"), changed(ChannelChange::Description("new".into()))),
        (MEMBER, 1, described(""), nothing.clone()),
        (MEMBER, 1, name(" kitchen "), changed(ChannelChange::Name("kitchen".into()))),
        (MEMBER, 1, name("General"), changed(ChannelChange::Name("General".into()))),
        (MEMBER, 1, name("general "), refused(RuleError::ChannelNameSame)),
        (MEMBER, 1, name("OLD"), refused(RuleError::ChannelAlreadyExists { name: "OLD".into() })),
        (MEMBER, 1, name(" "), refused(RuleError::ChannelNameEmpty)),
        (MEMBER, 1, folder(Some(7)), changed(ChannelChange::Folder(Some(FolderId(7))))),
        (MEMBER, 1, folder(Some(8)), refused(RuleError::InvalidFolderId)),
        (MEMBER, 1, folder(None), nothing),
    ] {
        assert_eq!(decide(&dir, requester, id, &update), expected, "{requester} {id} {update:?}");
    }
}

#[test]
fn granting_permissions_needs_permission() {
    use ChannelPermission::{DeleteAnyMessage, SendMessage, Subscribe};
    let dir = directory();
    let changed =
        |permission, name: &str| (vec![ChannelChange::Permission(permission, fixture::group(name))], None);
    let refused = |refusal| (vec![], Some(refusal));
    let mismatch = RuleError::ExpectationMismatch { field: "old" };
    for (requester, id, update, expected) in [
        (MEMBER, 1, permission(SendMessage, json!({"new": 3})), changed(SendMessage, "role:administrators")),
        (MEMBER, 1, permission(SendMessage, json!({"new": 3, "old": 6})), refused(mismatch)),
        (MEMBER, 1, permission(SendMessage, json!({"new": 7})), (vec![], None)),
        (
            MEMBER,
            1,
            permission(DeleteAnyMessage, json!({"new": 4})),
            refused(RuleError::InsufficientPermission),
        ),
        (
            MEMBER,
            1,
            permission(DeleteAnyMessage, json!({"new": 1})),
            refused(RuleError::InsufficientPermission),
        ),
        (
            ADMINISTRATOR,
            1,
            permission(DeleteAnyMessage, json!({"new": 4})),
            changed(DeleteAnyMessage, "role:moderators"),
        ),
        (MEMBER, 2, permission(Subscribe, json!({"new": 4})), changed(Subscribe, "role:moderators")),
        (
            ADMINISTRATOR,
            2,
            permission(Subscribe, json!({"new": 4})),
            refused(RuleError::ContentAccessRequired),
        ),
        (
            ADMINISTRATOR,
            2,
            permission(SendMessage, json!({"new": 4})),
            changed(SendMessage, "role:moderators"),
        ),
    ] {
        assert_eq!(decide(&dir, requester, id, &update), expected, "{requester} {id} {update:?}");
    }
}

#[test]
fn changes_before_a_refusal_take_effect() {
    let mut dir = directory();
    let update = ChannelUpdate {
        description: Some("new".into()),
        new_name: Some("secret".into()),
        folder: Some(Some(7)),
        ..private(true)
    };
    let plan = check(&dir, MEMBER, 1, &update).unwrap();
    assert_eq!(plan.refusal, Some(RuleError::ChannelAlreadyExists { name: "secret".into() }));
    let mut channel = Channel::clone(&plan.channel);
    for change in &plan.changes {
        apply_channel_change(&mut channel, change);
    }
    assert_eq!((channel.invite_only, channel.history_public_to_subscribers), (true, false));
    assert_eq!((channel.description.as_str(), channel.name.as_str()), ("new", "general"));
    assert_eq!(channel.folder, None);
    dir.put_channel(channel);
    let again = ChannelUpdate { new_name: None, is_private: None, ..update };
    assert_eq!(decide(&dir, MEMBER, 1, &again).0, vec![ChannelChange::Folder(Some(FolderId(7)))]);
}

#[test]
fn retention_is_a_name_or_a_number() {
    for (value, expected) in [
        (json!("realm_default"), Ok::<_, RuleError>(None)),
        (json!("unlimited"), Ok(Some(-1))),
        (json!(30), Ok(Some(30))),
    ] {
        assert_eq!(parse_retention(&value), expected, "{value}");
    }
    for (value, text) in [
        (json!(0), "0"),
        (json!(-1), "-1"),
        (json!(1.5), "1.5"),
        (json!(9_999_999_999_i64), "9999999999"),
        (json!("30"), "30"),
        (json!(null), "null"),
        (json!(true), "true"),
    ] {
        let refused = parse_retention(&value).unwrap_err();
        assert_eq!(refused.to_string(), format!("Bad value for 'message_retention_days': {text}"));
        assert_eq!(refused, RuleError::RetentionInvalid { value });
    }
}

#[test]
fn channels_are_archived_once_and_made_default_by_administrators() {
    let dir = directory();
    let user = |id| dir.user(id).unwrap();
    let archive =
        |requester, id| access_channel_to_archive(&dir, user(requester), id).map(|channel| channel.id);
    assert_eq!(archive(MEMBER, 1), Ok(ChannelId(1)));
    assert_eq!(archive(ADMINISTRATOR, 2), Ok(ChannelId(2)));
    assert_eq!(archive(MODERATOR, 1), Err(RuleError::ChannelNotAdministered));
    assert_eq!(archive(MEMBER, 3), Err(RuleError::ChannelAlreadyArchived));
    let default = |requester, id, becomes| access_default_channel(&dir, user(requester), id, becomes);
    assert_eq!(default(ADMINISTRATOR, 1, true), Ok(ChannelId(1)));
    // Administrators do not see a private channel that they are not subscribed to.
    assert_eq!(default(ADMINISTRATOR, 2, true), Err(RuleError::InvalidChannelId));
    assert_eq!(default(ADMINISTRATOR, 2, false), Err(RuleError::InvalidChannelId));
    let mut inside = directory();
    fixture::subscribe(&mut inside, 2, ADMINISTRATOR, 0);
    let own = |becomes| access_default_channel(&inside, inside.user(ADMINISTRATOR).unwrap(), 2, becomes);
    assert_eq!(own(true), Err(RuleError::PrivateChannelDefault));
    assert_eq!(own(false), Ok(ChannelId(2)));
    assert_eq!(default(MEMBER, 1, true), Err(RuleError::AdministratorRequired));
    assert_eq!(default(OWNER, 3, true), Err(RuleError::InvalidChannelId));
}
