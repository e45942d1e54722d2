//! Checks of roles, and the system groups of each role (docs/api/permissions.md#roles).

use crate::error::RuleError;
use model::{Role, Timestamp, User, UserGroup};

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// The system groups as people read them.
const SYSTEM_GROUP_NAMES: [(&str, &str); 8] = [
    ("role:nobody", "Nobody"),
    ("role:owners", "Owners"),
    ("role:administrators", "Administrators"),
    ("role:moderators", "Moderators"),
    ("role:fullmembers", "Full members"),
    ("role:members", "Members"),
    ("role:everyone", "Everyone"),
    ("role:internet", "Everyone on the internet"),
];

/// Refuses users who are neither administrators nor owners.
pub fn check_administrator(user: &User) -> Result<(), RuleError> {
    if user.is_administrator() { Ok(()) } else { Err(RuleError::AdministratorRequired) }
}

/// Refuses users who are not owners.
pub fn check_owner(user: &User) -> Result<(), RuleError> {
    if user.role == Role::Owner { Ok(()) } else { Err(RuleError::OwnerRequired) }
}

/// Refuses guests: `GuestsRefused`.
pub fn check_not_guest(user: &User) -> Result<(), RuleError> {
    if user.is_guest() { Err(RuleError::GuestsRefused) } else { Ok(()) }
}

/// The system group of a role.
fn role_group(role: Role) -> &'static str {
    match role {
        Role::Owner => "role:owners",
        Role::Administrator => "role:administrators",
        Role::Moderator => "role:moderators",
        Role::Member => "role:members",
        Role::Guest => "role:everyone",
    }
}

/// Whether a user is a full member: members after the waiting period, and all higher roles.
pub fn is_full_member(user: &User, waiting_days: u64, now: Timestamp) -> bool {
    match user.role {
        Role::Guest => false,
        Role::Member => now.millis_since(user.joined) >= waiting_days.saturating_mul(DAY_MILLIS),
        Role::Owner | Role::Administrator | Role::Moderator => true,
    }
}

/// The system groups that a user is a direct member of: that of the role, and full members after the waiting period
/// (`waiting_period_threshold`, in days).
pub fn system_groups_of(user: &User, waiting_days: u64, now: Timestamp) -> Vec<&'static str> {
    let mut groups = vec![role_group(user.role)];
    if user.role == Role::Member && is_full_member(user, waiting_days, now) {
        groups.push("role:fullmembers");
    }
    groups
}

/// The name of a group as people read it.
pub fn shown_group_name(group: &UserGroup) -> &str {
    let shown = SYSTEM_GROUP_NAMES.iter().find(|(name, _)| group.is_system && *name == group.name);
    shown.map_or(&group.name, |(_, shown)| shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn system_groups_have_display_names() {
        for (name, _) in model::group::SYSTEM_GROUPS {
            assert!(SYSTEM_GROUP_NAMES.iter().any(|(known, _)| *known == name), "{name}");
        }
    }

    #[test]
    fn checks_by_role() {
        let dir = fixture::directory();
        for (id, administrator, owner, not_guest) in [
            (fixture::OWNER, true, true, true),
            (fixture::ADMINISTRATOR, true, false, true),
            (fixture::MODERATOR, false, false, true),
            (fixture::MEMBER, false, false, true),
            (fixture::GUEST, false, false, false),
            (fixture::BOT, false, false, true),
        ] {
            let user = dir.user(id).unwrap();
            let gates = [check_administrator, check_owner, check_not_guest];
            assert_eq!(gates.map(|gate| gate(user).is_ok()), [administrator, owner, not_guest]);
        }
    }

    #[test]
    fn members_become_full_after_the_waiting_period() {
        let mut user = fixture::member();
        user.joined = Timestamp(1000);
        let day = |days: u64| Timestamp(1000 + days * DAY_MILLIS);
        assert_eq!(system_groups_of(&user, 3, day(2)), ["role:members"]);
        assert_eq!(system_groups_of(&user, 3, day(3)), ["role:members", "role:fullmembers"]);
        assert_eq!(system_groups_of(&user, 0, Timestamp(1000)), ["role:members", "role:fullmembers"]);
        user.role = Role::Guest;
        assert_eq!(system_groups_of(&user, 0, day(9)), ["role:everyone"]);
        user.role = Role::Owner;
        assert_eq!(system_groups_of(&user, 0, day(9)), ["role:owners"]);
    }
}
