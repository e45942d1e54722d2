//! `server_supported_permission_settings`: the groups that each permission setting allows
//! (docs/api/permissions.md#group-setting-values).

use rules::settings::{CHANNEL_PERMISSIONS, GROUP_PERMISSIONS, PermissionRule, REALM_PERMISSIONS};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

#[derive(Serialize)]
struct Supported {
    realm: BTreeMap<&'static str, Rule>,
    stream: BTreeMap<&'static str, Rule>,
    group: BTreeMap<&'static str, Rule>,
}

#[derive(Serialize)]
struct Rule {
    require_system_group: bool,
    allow_internet_group: bool,
    allow_nobody_group: bool,
    allow_everyone_group: bool,
    default_group_name: &'static str,
    default_for_system_groups: Option<&'static str>,
    allowed_system_groups: &'static [&'static str],
}

fn rules(table: &[PermissionRule]) -> BTreeMap<&'static str, Rule> {
    let rule = |rule: &PermissionRule| Rule {
        require_system_group: rule.require_system_group,
        allow_internet_group: rule.allow_internet_group,
        allow_nobody_group: rule.allow_nobody_group,
        allow_everyone_group: rule.allow_everyone_group,
        default_group_name: rule.default_group_name,
        default_for_system_groups: rule.default_for_system_groups,
        allowed_system_groups: rule.allowed_system_groups,
    };
    table.iter().map(|row| (row.name, rule(row))).collect()
}

/// The encoded JSON of the permission tables.
pub static SUPPORTED_PERMISSION_SETTINGS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let supported = Supported {
        realm: rules(&REALM_PERMISSIONS),
        stream: rules(&CHANNEL_PERMISSIONS),
        group: rules(&GROUP_PERMISSIONS),
    };
    // Writing texts and booleans to memory cannot fail.
    serde_json::to_vec(&supported).unwrap_or_default()
});
