//! Changes of the organization's settings: who may make them, and which values are valid
//! (docs/api/organization.md#update-the-organization).

use super::{PermissionRule, RealmPermission, Setting, SettingKind, realm_int, realm_value};
use crate::error::RuleError;
use crate::permissions::channel::sees_channel;
use crate::permissions::group_setting::realm_group_setting;
use crate::permissions::group_setting_change::{ProposedChange, check_group_setting_change};
use crate::permissions::roles::{check_administrator, check_owner, is_full_member};
use crate::text;
use model::{ChannelId, Directory, GroupId, GroupSetting, Realm, SettingValue, Timestamp, User, UserId};

/// Longest name of an organization, in code points.
const REALM_NAME_LENGTH_MAX: usize = 40;

/// Longest description of an organization, in code points.
const REALM_DESCRIPTION_LENGTH_MAX: usize = 1000;

/// Settings for owners alone: they decide who can join, and which messages are deleted for good.
const FOR_OWNERS: [&str; 9] = [
    "can_create_groups",
    "can_invite_users_group",
    "can_manage_all_groups",
    "create_multiuse_invite_group",
    "disallow_disposable_email_addresses",
    "emails_restricted_to_domains",
    "invite_required",
    "message_retention_days",
    "waiting_period_threshold",
];

/// Whether only owners may change this setting or permission; administrators may change the others.
pub fn is_for_owners(name: &str) -> bool {
    FOR_OWNERS.contains(&name)
}

/// The requested changes of an organization; name and description as sent.
#[derive(Clone, Debug, Default)]
pub struct RealmUpdate {
    pub name: Option<String>,
    pub description: Option<String>,
    /// Plain settings with values of the right type.
    pub settings: Vec<(&'static Setting, SettingValue)>,
    pub permissions: Vec<(RealmPermission, ProposedChange)>,
}

/// One change of an organization; the value differs from the stored one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RealmChange {
    Name(String),
    Description(String),
    Setting(&'static Setting, SettingValue),
    Permission(&'static PermissionRule, GroupSetting),
}

/// Decides a change of the organization: role, name and description, plain settings, permissions.
pub fn check_realm_update(
    dir: &Directory,
    requester: &User,
    update: &RealmUpdate,
) -> Result<Vec<RealmChange>, RuleError> {
    check_administrator(requester)?;
    let settings = update.settings.iter().map(|(setting, _)| setting.name);
    let permissions = update.permissions.iter().map(|(permission, _)| permission.rule().name);
    if settings.chain(permissions).any(is_for_owners) {
        check_owner(requester)?;
    }
    let mut changes = Vec::new();
    if let Some(raw) = &update.name {
        let name = parse_realm_name(raw)?;
        changes.extend((name != dir.realm().name).then(|| RealmChange::Name(name.to_owned())));
    }
    if let Some(description) = &update.description {
        check_realm_description(description)?;
        let is_new = *description != dir.realm().description;
        changes.extend(is_new.then(|| RealmChange::Description(description.clone())));
    }
    for (setting, value) in &update.settings {
        let value = check_setting(dir, requester, setting, value)?;
        if value != realm_value(dir.realm(), setting) {
            changes.push(RealmChange::Setting(setting, value));
        }
    }
    for (permission, change) in &update.permissions {
        let (rule, stored) = (permission.rule(), realm_group_setting(dir, *permission));
        let new = check_group_setting_change(dir, rule, &stored, change)?;
        changes.extend(new.map(|new| RealmChange::Permission(rule, new)));
    }
    Ok(changes)
}

/// The name of an organization as it is stored.
///
/// # Errors
/// `Blank`, `TooLong`, `NameCharacters` for line breaks and other control characters.
pub fn parse_realm_name(raw: &str) -> Result<&str, RuleError> {
    let name = text::strip(raw);
    if name.is_empty() {
        return Err(RuleError::Blank { field: "name" });
    }
    if text::forbidden_character(name).is_some() {
        return Err(RuleError::NameCharacters);
    }
    check_length("name", name, REALM_NAME_LENGTH_MAX).map(|()| name)
}

/// Checks the description of an organization.
///
/// # Errors
/// `TooLong`.
pub fn check_realm_description(description: &str) -> Result<(), RuleError> {
    check_length("description", description, REALM_DESCRIPTION_LENGTH_MAX)
}

fn check_length(field: &'static str, text: &str, limit: usize) -> Result<(), RuleError> {
    if text.chars().count() > limit { Err(RuleError::TooLong { field, limit }) } else { Ok(()) }
}

/// The value to store. A channel must be active and visible to the requester; no channel is -1.
fn check_setting(
    dir: &Directory,
    requester: &User,
    setting: &Setting,
    value: &SettingValue,
) -> Result<SettingValue, RuleError> {
    setting.check(value)?;
    let (SettingKind::Channel | SettingKind::PrivateChannel, SettingValue::Int(id)) = (setting.kind, value)
    else {
        return Ok(value.clone());
    };
    if *id < 0 {
        return Ok(SettingValue::Int(-1));
    }
    let channel = u32::try_from(*id).ok().and_then(|id| dir.channel(ChannelId(id)));
    let channel = channel.filter(|channel| !channel.is_archived && sees_channel(dir, requester, channel));
    let channel = channel.ok_or(RuleError::InvalidChannelId)?;
    if setting.kind == SettingKind::PrivateChannel && !channel.invite_only {
        return Err(RuleError::ModerationChannelPublic);
    }
    Ok(SettingValue::Int(channel.id.0.into()))
}

/// Changes an organization's record.
pub fn apply_realm_change(realm: &mut Realm, change: &RealmChange) {
    match change {
        RealmChange::Name(name) => realm.name.clone_from(name),
        RealmChange::Description(description) => realm.description.clone_from(description),
        RealmChange::Setting(setting, value) => {
            realm.settings.insert(setting.name.to_owned(), value.clone());
        }
        RealmChange::Permission(rule, value) => {
            realm.settings.insert(rule.name.to_owned(), SettingValue::Group(value.clone()));
        }
    }
}

/// Members to add to and remove from `role:fullmembers` at `now`, with the waiting period of `realm`
/// (docs/api/permissions.md#system-groups). None if nothing changes.
pub fn full_members_change(
    dir: &Directory,
    realm: &Realm,
    now: Timestamp,
) -> Option<(GroupId, Vec<UserId>, Vec<UserId>)> {
    let waiting_days = realm_int(realm, "waiting_period_threshold").unwrap_or(0).unsigned_abs();
    let full = dir.group_by_name("role:fullmembers")?;
    let members = dir.group_by_name("role:members")?;
    let is_full = |id: &UserId| dir.user(*id).is_some_and(|user| is_full_member(user, waiting_days, now));
    // Usually there is no waiting period, and both groups are equal.
    if waiting_days == 0 && full.members == members.members {
        return None;
    }
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for id in &members.members {
        match (full.members.contains(id), is_full(id)) {
            (false, true) => added.push(*id),
            (true, false) => removed.push(*id),
            _ => {}
        }
    }
    (!added.is_empty() || !removed.is_empty()).then_some((full.id, added, removed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, ADMINISTRATOR, MEMBER, MODERATOR, OTHER_MEMBER, OWNER};
    use crate::permissions::group_setting_change::parse_group_setting_change;
    use crate::settings::realm_setting;
    use serde_json::json;

    fn row(name: &str) -> &'static Setting {
        realm_setting(name).unwrap()
    }

    fn set(name: &str, value: SettingValue) -> RealmUpdate {
        RealmUpdate { settings: vec![(row(name), value)], ..Default::default() }
    }

    fn check(
        dir: &Directory,
        requester: UserId,
        update: &RealmUpdate,
    ) -> Result<Vec<RealmChange>, RuleError> {
        check_realm_update(dir, dir.user(requester).unwrap(), update)
    }

    #[test]
    fn only_new_values_are_changes() {
        let dir = fixture::directory();
        let update = RealmUpdate {
            name: Some(" Test ".into()),
            description: Some("We test.".into()),
            settings: vec![
                (row("allow_message_editing"), SettingValue::Bool(false)),
                (row("enable_read_receipts"), SettingValue::Bool(true)),
                (row("message_content_edit_limit_seconds"), SettingValue::Null),
            ],
            permissions: vec![(
                RealmPermission::AddSubscribers,
                parse_group_setting_change(&json!({"new": 4, "old": 6})).unwrap(),
            )],
        };
        let changes = check(&dir, ADMINISTRATOR, &update).unwrap();
        assert_eq!(changes.len(), 4, "{changes:?}");
        let mut realm = fixture::realm();
        changes.iter().for_each(|change| apply_realm_change(&mut realm, change));
        assert_eq!((realm.name.as_str(), realm.description.as_str()), ("Test", "We test."));
        assert_eq!(realm_int(&realm, "message_content_edit_limit_seconds"), None);
        assert!(!realm.settings.contains_key("enable_read_receipts"));
        let mut after = dir.clone();
        after.put_realm(realm);
        let moderators = fixture::group("role:moderators");
        assert_eq!(realm_group_setting(&after, RealmPermission::AddSubscribers), moderators);
        let again = RealmUpdate { permissions: Vec::new(), ..update };
        assert_eq!(check(&after, OWNER, &again), Ok(vec![]));
    }

    #[test]
    fn some_settings_are_for_owners() {
        let dir = fixture::directory();
        let bool = |name| set(name, SettingValue::Bool(false));
        for requester in [MEMBER, MODERATOR] {
            assert_eq!(
                check(&dir, requester, &bool("invite_required")),
                Err(RuleError::AdministratorRequired)
            );
        }
        for update in [
            bool("invite_required"),
            set("message_retention_days", SettingValue::Int(30)),
            set("waiting_period_threshold", SettingValue::Int(3)),
            RealmUpdate {
                permissions: vec![(
                    RealmPermission::CreateGroups,
                    parse_group_setting_change(&json!({"new": 4})).unwrap(),
                )],
                ..Default::default()
            },
        ] {
            assert_eq!(check(&dir, ADMINISTRATOR, &update), Err(RuleError::OwnerRequired), "{update:?}");
            assert_eq!(check(&dir, OWNER, &update).unwrap().len(), 1);
        }
    }

    #[test]
    fn values_are_checked() {
        let mut dir = fixture::directory();
        dir.put_channel(fixture::channel(1, "open"));
        let mut closed = fixture::channel(2, "closed");
        closed.invite_only = true;
        dir.put_channel(closed);
        let mut old = fixture::channel(3, "old");
        old.is_archived = true;
        dir.put_channel(old);
        let text = |text: &str| SettingValue::Text(text.into());
        let (news, reports) = ("new_stream_announcements_stream_id", "moderation_request_channel_id");
        for (name, value, msg) in [
            (
                "message_content_delete_limit_seconds",
                SettingValue::Int(-5),
                "Bad value for 'message_content_delete_limit_seconds': -5",
            ),
            ("topics_policy", text("any"), "Invalid topics_policy"),
            ("digest_weekday", SettingValue::Int(7), "digest_weekday is too large"),
            ("waiting_period_threshold", SettingValue::Int(-1), "waiting_period_threshold is too small"),
            (
                "welcome_message_custom_text",
                text(&"w".repeat(8001)),
                "welcome_message_custom_text is too long (limit: 8000 characters)",
            ),
            ("jitsi_server_url", text("meet"), "Invalid jitsi_server_url"),
            (news, SettingValue::Int(99), "Invalid channel ID"),
            (news, SettingValue::Int(3), "Invalid channel ID"),
            (reports, SettingValue::Int(1), "Moderation request channel must be private."),
        ] {
            let refused = check(&dir, OWNER, &set(name, value)).unwrap_err();
            assert_eq!(refused.to_string(), msg);
        }
        for (name, id) in [(news, 1), (reports, 2)] {
            let changes = check(&dir, OWNER, &set(name, SettingValue::Int(id))).unwrap();
            assert_eq!(changes, [RealmChange::Setting(row(name), SettingValue::Int(id))]);
        }
        assert_eq!(check(&dir, OWNER, &set(news, SettingValue::Int(-7))), Ok(vec![]));
        for (name, msg) in [
            (" ", "name cannot be blank"),
            (&*"n".repeat(41), "name is too long (limit: 40 characters)"),
            ("A\tB", "Invalid characters in name!"),
            ("A\nB", "Invalid characters in name!"),
        ] {
            let update = RealmUpdate { name: Some(name.into()), ..Default::default() };
            assert_eq!(check(&dir, OWNER, &update).unwrap_err().to_string(), msg);
        }
    }

    #[test]
    fn name_of_an_organization_is_stored_without_blanks_at_its_ends() {
        assert_eq!(parse_realm_name(" Acme \n"), Ok("Acme"));
        assert_eq!(parse_realm_name("👨\u{200d}👩\u{200d}👧"), Ok("👨\u{200d}👩\u{200d}👧"));
    }

    #[test]
    fn full_members_follow_the_waiting_period() {
        let mut dir = fixture::directory();
        let day = |days: u64| Timestamp(days * 24 * 3600 * 1000);
        let mut newcomer = User::clone(dir.user(OTHER_MEMBER).unwrap());
        newcomer.joined = day(10);
        dir.put_user(newcomer);
        let all = full_members_change(&dir, dir.realm(), day(11));
        if let Some((group, added, _)) = all {
            dir.change_members(group, &added, &[]);
        }
        assert_eq!(full_members_change(&dir, dir.realm(), day(11)), None);
        let full = dir.group_by_name("role:fullmembers").unwrap().id;
        fixture::set_realm(&mut dir, "waiting_period_threshold", SettingValue::Int(3));
        let change = full_members_change(&dir, dir.realm(), day(12));
        assert_eq!(change, Some((full, vec![], vec![OTHER_MEMBER])));
        dir.change_members(full, &[], &[OTHER_MEMBER]);
        assert_eq!(full_members_change(&dir, dir.realm(), day(12)), None);
        let change = full_members_change(&dir, dir.realm(), day(13));
        assert_eq!(change, Some((full, vec![OTHER_MEMBER], vec![])));
    }
}
