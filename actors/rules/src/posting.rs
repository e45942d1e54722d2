//! Legacy numeric policies, which older clients use instead of group settings (docs/api/channels.md#channel-object,
//! docs/api/events.md#state).
//!
//! Each is derived from the holders of a permission. Holders without a number of their own get the widest one.

use crate::permissions::group_setting::realm_group_setting;
use crate::settings::RealmPermission;
use model::{Channel, Directory, GroupSetting};

/// `stream_post_policy`: 1 everyone, 2 administrators, 3 full members, 4 moderators.
pub fn channel_post_policy(dir: &Directory, channel: &Channel) -> u8 {
    group_policy(dir, &channel.permissions.send_message)
}

/// `is_announcement_only`: only administrators may post.
pub fn is_announcement_only(dir: &Directory, channel: &Channel) -> bool {
    channel_post_policy(dir, channel) == 2
}

/// `realm_wildcard_mention_policy`: 1 everyone, 2 members, 3 full members, 5 administrators, 6 none, 7 moderators.
pub fn wildcard_mention_policy(dir: &Directory) -> u8 {
    let setting = realm_group_setting(dir, RealmPermission::MentionManyUsers);
    match system_group_name(dir, &setting) {
        Some("role:members") => 2,
        Some("role:fullmembers") => 3,
        // There is no number for owners.
        Some("role:administrators" | "role:owners") => 5,
        Some("role:nobody") => 6,
        Some("role:moderators") => 7,
        _ => 1,
    }
}

/// `realm_create_public_stream_policy`: 1 members, 2 administrators, 3 full members, 4 moderators.
pub fn create_public_policy(dir: &Directory) -> u8 {
    group_policy(dir, &realm_group_setting(dir, RealmPermission::CreatePublicChannel))
}

/// `realm_create_private_stream_policy`: the same codes.
pub fn create_private_policy(dir: &Directory) -> u8 {
    group_policy(dir, &realm_group_setting(dir, RealmPermission::CreatePrivateChannel))
}

/// `realm_create_web_public_stream_policy`: 2 administrators, 4 moderators, 6 none, 7 owners.
pub fn create_web_public_policy(dir: &Directory) -> u8 {
    let setting = realm_group_setting(dir, RealmPermission::CreateWebPublicChannel);
    match system_group_name(dir, &setting) {
        Some("role:administrators") => 2,
        Some("role:moderators") => 4,
        Some("role:nobody") => 6,
        _ => 7,
    }
}

fn group_policy(dir: &Directory, setting: &GroupSetting) -> u8 {
    match system_group_name(dir, setting) {
        Some("role:administrators") => 2,
        Some("role:fullmembers") => 3,
        Some("role:moderators") => 4,
        _ => 1,
    }
}

fn system_group_name<'d>(dir: &'d Directory, setting: &GroupSetting) -> Option<&'d str> {
    let GroupSetting::Group(id) = setting else { return None };
    dir.group(*id).filter(|group| group.is_system).map(|group| group.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::SettingValue;

    #[test]
    fn posting_policies() {
        let dir = fixture::directory();
        for (group, policy) in [
            ("role:everyone", 1),
            ("role:administrators", 2),
            ("role:fullmembers", 3),
            ("role:moderators", 4),
            ("role:owners", 1),
            ("role:nobody", 1),
        ] {
            let mut channel = fixture::channel(1, "x");
            channel.permissions.send_message = fixture::group(group);
            assert_eq!(channel_post_policy(&dir, &channel), policy, "{group}");
            assert_eq!(is_announcement_only(&dir, &channel), policy == 2);
        }
        let mut channel = fixture::channel(1, "x");
        channel.permissions.send_message = GroupSetting::only(fixture::OWNER);
        assert_eq!(channel_post_policy(&dir, &channel), 1);
    }

    #[test]
    fn policies_of_the_organization() {
        let mut dir = fixture::directory();
        let policies = |dir: &Directory| {
            [
                wildcard_mention_policy(dir),
                create_public_policy(dir),
                create_private_policy(dir),
                create_web_public_policy(dir),
            ]
        };
        assert_eq!(policies(&dir), [5, 1, 1, 7]);
        for (group, expected) in [
            ("role:everyone", [1, 1, 1, 7]),
            ("role:members", [2, 1, 1, 7]),
            ("role:fullmembers", [3, 3, 3, 7]),
            ("role:moderators", [7, 4, 4, 4]),
            ("role:administrators", [5, 2, 2, 2]),
            ("role:nobody", [6, 1, 1, 6]),
        ] {
            for name in [
                "can_mention_many_users_group",
                "can_create_public_channel_group",
                "can_create_private_channel_group",
                "can_create_web_public_channel_group",
            ] {
                fixture::set_realm(&mut dir, name, SettingValue::Group(fixture::group(group)));
            }
            assert_eq!(policies(&dir), expected, "{group}");
        }
    }
}
