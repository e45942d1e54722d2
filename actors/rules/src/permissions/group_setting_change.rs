//! Changes of group settings: `{new, old}` (docs/api/permissions.md#group-setting-values).

use crate::error::RuleError;
use crate::permissions::group_setting::{
    ProposedGroupSetting, check_group_setting, normal_form, parse_group_setting, shown_group_setting,
};
use crate::settings::PermissionRule;
use model::{Directory, GroupId, GroupSetting, UserId};
use serde_json::Value;

/// A change as sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    pub new: ProposedGroupSetting,
    /// The value that the client expects to be stored.
    pub old: Option<ProposedGroupSetting>,
}

/// Parses `{new, old?}`; none if the value has another form.
pub fn parse_group_setting_change(value: &Value) -> Option<ProposedChange> {
    let object = value.as_object()?;
    let new = parse_group_setting(object.get("new")?)?;
    let old = match object.get("old") {
        None => None,
        Some(old) => Some(parse_group_setting(old)?),
    };
    Some(ProposedChange { new, old })
}

/// The value to store; none if it is unchanged. `ExpectationMismatch`, then the errors of `check_group_setting`.
pub fn check_group_setting_change(
    dir: &Directory,
    rule: &'static PermissionRule,
    stored: &GroupSetting,
    change: &ProposedChange,
) -> Result<Option<GroupSetting>, RuleError> {
    let is_stored = |proposed: &ProposedGroupSetting| {
        let named = normalized(dir, proposed);
        // Clients do not see deactivated users, so they cannot name them.
        named.as_ref() == Some(stored) || named.as_ref() == Some(&*shown_group_setting(dir, stored))
    };
    if change.old.as_ref().is_some_and(|old| !is_stored(old)) {
        return Err(RuleError::ExpectationMismatch { field: "old" });
    }
    if is_stored(&change.new) {
        return Ok(None);
    }
    let new = check_group_setting(dir, rule, &change.new)?;
    Ok((new != *stored).then_some(new))
}

/// A value as it would be stored, permitted or not; none if an id is out of range.
fn normalized(dir: &Directory, proposed: &ProposedGroupSetting) -> Option<GroupSetting> {
    let group = |id: &i64| u32::try_from(*id).ok().map(GroupId);
    let user = |id: &i64| u32::try_from(*id).ok().map(UserId);
    match proposed {
        ProposedGroupSetting::Group(id) => group(id).map(GroupSetting::Group),
        ProposedGroupSetting::Listed { members, subgroups } => {
            let members = members.iter().map(user).collect::<Option<_>>()?;
            Some(normal_form(dir, members, subgroups.iter().map(group).collect::<Option<_>>()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::settings::ChannelPermission;
    use serde_json::json;

    #[test]
    fn changes_are_compared_with_stored_values() {
        let dir = fixture::directory();
        let rule = ChannelPermission::RemoveSubscribers.rule();
        let administrators = fixture::group("role:administrators");
        let listed = |ids: &[u32]| GroupSetting::Anonymous {
            members: ids.iter().map(|id| UserId(*id)).collect(),
            subgroups: vec![],
        };
        let mismatch = RuleError::ExpectationMismatch { field: "old" };
        for (stored, value, expected) in [
            (&administrators, json!({"new": 4}), Ok(Some(fixture::group("role:moderators")))),
            (&administrators, json!({"new": 3}), Ok(None)),
            (&administrators, json!({"new": {"direct_members": [], "direct_subgroups": [3]}}), Ok(None)),
            (&administrators, json!({"new": 4, "old": 3}), Ok(Some(fixture::group("role:moderators")))),
            (&administrators, json!({"new": 4, "old": 2}), Err(mismatch.clone())),
            (&administrators, json!({"new": 99, "old": 2}), Err(mismatch.clone())),
            (&administrators, json!({"new": 99, "old": 3}), Err(RuleError::InvalidUserGroup)),
            (&administrators, json!({"new": 3, "old": -5}), Err(mismatch.clone())),
            // One of the two is deactivated; clients see only the other.
            (
                &listed(&[4, 9]),
                json!({"new": 3, "old": {"direct_members": [4], "direct_subgroups": []}}),
                Ok(Some(administrators.clone())),
            ),
            (&listed(&[4, 9]), json!({"new": {"direct_members": [4], "direct_subgroups": []}}), Ok(None)),
            (
                &listed(&[4, 9]),
                json!({"new": {"direct_members": [5], "direct_subgroups": []}}),
                Ok(Some(listed(&[5]))),
            ),
        ] {
            let change = parse_group_setting_change(&value).unwrap();
            assert_eq!(check_group_setting_change(&dir, rule, stored, &change), expected, "{value}");
        }
        for value in [json!(3), json!({"old": 3}), json!({"new": "3"}), json!({"new": 3, "old": "x"})] {
            assert_eq!(parse_group_setting_change(&value), None, "{value}");
        }
    }
}
