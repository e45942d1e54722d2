//! Changes of group settings: `{new, old}` (docs/api/permissions.md#group-setting-values).

use crate::error::RuleError;
use crate::permissions::group_setting::{
    ProposedGroupSetting, check_group_setting, parse_group_setting, shown_group_setting, system_group,
};
use crate::settings::PermissionRule;
use model::{Directory, GroupId, GroupSetting, UserId};
use serde_json::Value;

/// A change as a client writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedChange {
    /// What it should be.
    pub new: ProposedGroupSetting,
    /// What the client believes it is, if it says so.
    pub old: Option<ProposedGroupSetting>,
}

/// Reads `{new, old?}`. None: it is not that; the edge names the parameter in its answer.
pub fn parse_group_setting_change(value: &Value) -> Option<ProposedChange> {
    let object = value.as_object()?;
    let new = parse_group_setting(object.get("new")?)?;
    let old = match object.get("old") {
        None => None,
        Some(old) => Some(parse_group_setting(old)?),
    };
    Some(ProposedChange { new, old })
}

/// The value to store; none where that is what is stored. `ExpectationMismatch`, then what
/// `check_group_setting` says.
pub fn check_group_setting_change(
    dir: &Directory,
    rule: &'static PermissionRule,
    stored: &GroupSetting,
    change: &ProposedChange,
) -> Result<Option<GroupSetting>, RuleError> {
    let is_stored = |proposed: &ProposedGroupSetting| {
        let named = normalized(dir, proposed);
        // Clients do not read deactivated people, so they cannot name them.
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

/// A value as it would be stored, whether it may be or not; none for ids that cannot be.
fn normalized(dir: &Directory, proposed: &ProposedGroupSetting) -> Option<GroupSetting> {
    let group = |id: &i64| u32::try_from(*id).ok().map(GroupId);
    let (members, subgroups) = match proposed {
        ProposedGroupSetting::Group(id) => return group(id).map(GroupSetting::Group),
        ProposedGroupSetting::Listed { members, subgroups } => (members, subgroups),
    };
    let user = |id: &i64| u32::try_from(*id).ok().map(UserId);
    let mut members: Vec<UserId> = members.iter().map(user).collect::<Option<_>>()?;
    let mut subgroups: Vec<GroupId> = subgroups.iter().map(group).collect::<Option<_>>()?;
    members.sort_unstable();
    members.dedup();
    subgroups.sort_unstable();
    subgroups.dedup();
    Some(match (members.as_slice(), subgroups.as_slice()) {
        ([], []) => system_group(dir, "role:nobody"),
        ([], [group]) => GroupSetting::Group(*group),
        _ => GroupSetting::Anonymous { members, subgroups },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::settings::ChannelPermission;
    use serde_json::json;

    #[test]
    fn changes_are_checked_against_what_is_stored() {
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
            // One of the two left; clients know only of the other.
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
