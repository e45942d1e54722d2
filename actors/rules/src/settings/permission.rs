//! Group settings: one table each for the organization, channels and user groups
//! (docs/api/permissions.md#group-setting-values), sent as `server_supported_permission_settings`.

use model::channel::ChannelPermissions;
use model::group::GroupPermissions;
use model::{Channel, GroupSetting, UserGroup};

/// A permission setting, and the groups that it can be set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PermissionRule {
    /// Wire name; settings of organizations without the `realm_` prefix.
    pub name: &'static str,
    pub require_system_group: bool,
    pub allow_internet_group: bool,
    pub allow_nobody_group: bool,
    pub allow_everyone_group: bool,
    /// The default; `stream_creator_or_nobody` and `group_creator` mean the creator alone.
    pub default_group_name: &'static str,
    /// The default for system groups, of permissions of groups.
    pub default_for_system_groups: Option<&'static str>,
    /// The only groups allowed, if not empty.
    pub allowed_system_groups: &'static [&'static str],
}

impl PermissionRule {
    const fn new(name: &'static str, default_group_name: &'static str) -> Self {
        Self {
            name,
            require_system_group: false,
            allow_internet_group: false,
            allow_nobody_group: true,
            allow_everyone_group: true,
            default_group_name,
            default_for_system_groups: None,
            allowed_system_groups: &[],
        }
    }

    const fn not_nobody(mut self) -> Self {
        self.allow_nobody_group = false;
        self
    }

    const fn not_everyone(mut self) -> Self {
        self.allow_everyone_group = false;
        self
    }

    const fn only(mut self, system_groups: &'static [&'static str]) -> Self {
        self.require_system_group = true;
        self.allowed_system_groups = system_groups;
        self
    }

    const fn of_groups(mut self) -> Self {
        self.default_for_system_groups = Some("role:nobody");
        self
    }
}

/// Permissions of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealmPermission {
    AccessAllUsers,
    AddCustomEmoji,
    AddSubscribers,
    CreateBots,
    CreateGroups,
    CreatePrivateChannel,
    CreatePublicChannel,
    CreateWebPublicChannel,
    CreateWriteOnlyBots,
    DeleteAnyMessage,
    DeleteOwnMessage,
    InviteUsers,
    ManageAllGroups,
    ManageBilling,
    MentionManyUsers,
    MoveMessagesBetweenChannels,
    MoveMessagesBetweenTopics,
    ResolveTopics,
    SetDeleteMessagePolicy,
    SetTopicsPolicy,
    SummarizeTopics,
    CreateMultiuseInvite,
    DirectMessageInitiator,
    DirectMessage,
}

/// The rules of `RealmPermission`, in its order.
#[rustfmt::skip]
pub const REALM_PERMISSIONS: [PermissionRule; 24] = [
    PermissionRule::new("can_access_all_users_group", "role:everyone").not_nobody().only(&["role:everyone", "role:members"]),
    PermissionRule::new("can_add_custom_emoji_group", "role:members").not_nobody().not_everyone(),
    PermissionRule::new("can_add_subscribers_group", "role:members").not_everyone(),
    PermissionRule::new("can_create_bots_group", "role:members").not_everyone(),
    PermissionRule::new("can_create_groups", "role:members").not_nobody().not_everyone(),
    PermissionRule::new("can_create_private_channel_group", "role:members").not_nobody().not_everyone(),
    PermissionRule::new("can_create_public_channel_group", "role:members").not_nobody().not_everyone(),
    PermissionRule::new("can_create_web_public_channel_group", "role:owners").not_everyone().only(&["role:moderators", "role:administrators", "role:owners", "role:nobody"]),
    PermissionRule::new("can_create_write_only_bots_group", "role:members").not_everyone(),
    PermissionRule::new("can_delete_any_message_group", "role:administrators").not_everyone(),
    PermissionRule::new("can_delete_own_message_group", "role:everyone"),
    PermissionRule::new("can_invite_users_group", "role:members").not_everyone(),
    PermissionRule::new("can_manage_all_groups", "role:owners").not_nobody().not_everyone(),
    PermissionRule::new("can_manage_billing_group", "role:administrators").not_nobody().not_everyone(),
    PermissionRule::new("can_mention_many_users_group", "role:administrators"),
    PermissionRule::new("can_move_messages_between_channels_group", "role:members").not_everyone(),
    PermissionRule::new("can_move_messages_between_topics_group", "role:everyone"),
    PermissionRule::new("can_resolve_topics_group", "role:everyone"),
    PermissionRule::new("can_set_delete_message_policy_group", "role:moderators").not_everyone(),
    PermissionRule::new("can_set_topics_policy_group", "role:members").not_everyone(),
    PermissionRule::new("can_summarize_topics_group", "role:everyone"),
    PermissionRule::new("create_multiuse_invite_group", "role:administrators").not_everyone(),
    PermissionRule::new("direct_message_initiator_group", "role:everyone"),
    PermissionRule::new("direct_message_permission_group", "role:everyone"),
];

impl RealmPermission {
    /// All permissions, in the order of the table.
    pub const ALL: [RealmPermission; 24] = [
        Self::AccessAllUsers,
        Self::AddCustomEmoji,
        Self::AddSubscribers,
        Self::CreateBots,
        Self::CreateGroups,
        Self::CreatePrivateChannel,
        Self::CreatePublicChannel,
        Self::CreateWebPublicChannel,
        Self::CreateWriteOnlyBots,
        Self::DeleteAnyMessage,
        Self::DeleteOwnMessage,
        Self::InviteUsers,
        Self::ManageAllGroups,
        Self::ManageBilling,
        Self::MentionManyUsers,
        Self::MoveMessagesBetweenChannels,
        Self::MoveMessagesBetweenTopics,
        Self::ResolveTopics,
        Self::SetDeleteMessagePolicy,
        Self::SetTopicsPolicy,
        Self::SummarizeTopics,
        Self::CreateMultiuseInvite,
        Self::DirectMessageInitiator,
        Self::DirectMessage,
    ];

    /// The row of the table of rules.
    pub fn rule(self) -> &'static PermissionRule {
        &REALM_PERMISSIONS[self as usize]
    }

    /// The permission with a wire name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.rule().name == name)
    }
}

/// Permissions of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelPermission {
    AddSubscribers,
    AdministerChannel,
    DeleteAnyMessage,
    DeleteOwnMessage,
    MoveMessagesOutOfChannel,
    MoveMessagesWithinChannel,
    RemoveSubscribers,
    ResolveTopics,
    SendMessage,
    Subscribe,
}

/// The rules of `ChannelPermission`, in its order.
#[rustfmt::skip]
pub const CHANNEL_PERMISSIONS: [PermissionRule; 10] = [
    PermissionRule::new("can_add_subscribers_group", "role:nobody").not_everyone(),
    PermissionRule::new("can_administer_channel_group", "stream_creator_or_nobody").not_everyone(),
    PermissionRule::new("can_delete_any_message_group", "role:nobody"),
    PermissionRule::new("can_delete_own_message_group", "role:nobody"),
    PermissionRule::new("can_move_messages_out_of_channel_group", "role:nobody"),
    PermissionRule::new("can_move_messages_within_channel_group", "role:nobody"),
    PermissionRule::new("can_remove_subscribers_group", "role:administrators"),
    PermissionRule::new("can_resolve_topics_group", "role:nobody"),
    PermissionRule::new("can_send_message_group", "role:everyone"),
    PermissionRule::new("can_subscribe_group", "role:nobody").not_everyone(),
];

impl ChannelPermission {
    /// All permissions, in the order of the table.
    pub const ALL: [ChannelPermission; 10] = [
        Self::AddSubscribers,
        Self::AdministerChannel,
        Self::DeleteAnyMessage,
        Self::DeleteOwnMessage,
        Self::MoveMessagesOutOfChannel,
        Self::MoveMessagesWithinChannel,
        Self::RemoveSubscribers,
        Self::ResolveTopics,
        Self::SendMessage,
        Self::Subscribe,
    ];

    /// The row of the table of rules.
    pub fn rule(self) -> &'static PermissionRule {
        &CHANNEL_PERMISSIONS[self as usize]
    }

    /// The permission with a wire name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.rule().name == name)
    }

    /// The holders of this permission in a channel.
    pub fn of(self, channel: &Channel) -> &GroupSetting {
        let permissions = &channel.permissions;
        match self {
            Self::AddSubscribers => &permissions.add_subscribers,
            Self::AdministerChannel => &permissions.administer_channel,
            Self::DeleteAnyMessage => &permissions.delete_any_message,
            Self::DeleteOwnMessage => &permissions.delete_own_message,
            Self::MoveMessagesOutOfChannel => &permissions.move_messages_out_of_channel,
            Self::MoveMessagesWithinChannel => &permissions.move_messages_within_channel,
            Self::RemoveSubscribers => &permissions.remove_subscribers,
            Self::ResolveTopics => &permissions.resolve_topics,
            Self::SendMessage => &permissions.send_message,
            Self::Subscribe => &permissions.subscribe,
        }
    }

    /// Sets the holders of this permission.
    pub fn set(self, permissions: &mut ChannelPermissions, value: GroupSetting) {
        *match self {
            Self::AddSubscribers => &mut permissions.add_subscribers,
            Self::AdministerChannel => &mut permissions.administer_channel,
            Self::DeleteAnyMessage => &mut permissions.delete_any_message,
            Self::DeleteOwnMessage => &mut permissions.delete_own_message,
            Self::MoveMessagesOutOfChannel => &mut permissions.move_messages_out_of_channel,
            Self::MoveMessagesWithinChannel => &mut permissions.move_messages_within_channel,
            Self::RemoveSubscribers => &mut permissions.remove_subscribers,
            Self::ResolveTopics => &mut permissions.resolve_topics,
            Self::SendMessage => &mut permissions.send_message,
            Self::Subscribe => &mut permissions.subscribe,
        } = value;
    }
}

/// Permissions of a user group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupPermission {
    AddMembers,
    Join,
    Leave,
    Manage,
    Mention,
    RemoveMembers,
}

/// The rules of `GroupPermission`, in its order.
#[rustfmt::skip]
pub const GROUP_PERMISSIONS: [PermissionRule; 6] = [
    PermissionRule::new("can_add_members_group", "group_creator").not_everyone().of_groups(),
    PermissionRule::new("can_join_group", "role:nobody").not_everyone().of_groups(),
    PermissionRule::new("can_leave_group", "role:everyone").of_groups(),
    PermissionRule::new("can_manage_group", "group_creator").not_everyone().of_groups(),
    PermissionRule::new("can_mention_group", "role:everyone").of_groups(),
    PermissionRule::new("can_remove_members_group", "role:nobody").not_everyone().of_groups(),
];

impl GroupPermission {
    /// All permissions, in the order of the table.
    pub const ALL: [GroupPermission; 6] =
        [Self::AddMembers, Self::Join, Self::Leave, Self::Manage, Self::Mention, Self::RemoveMembers];

    /// The row of the table of rules.
    pub fn rule(self) -> &'static PermissionRule {
        &GROUP_PERMISSIONS[self as usize]
    }

    /// The permission with a wire name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.rule().name == name)
    }

    /// The holders of this permission for a user group.
    pub fn of(self, group: &UserGroup) -> &GroupSetting {
        let permissions = &group.permissions;
        match self {
            Self::AddMembers => &permissions.add_members,
            Self::Join => &permissions.join,
            Self::Leave => &permissions.leave,
            Self::Manage => &permissions.manage,
            Self::Mention => &permissions.mention,
            Self::RemoveMembers => &permissions.remove_members,
        }
    }

    /// Sets the holders of this permission.
    pub fn set(self, permissions: &mut GroupPermissions, value: GroupSetting) {
        *match self {
            Self::AddMembers => &mut permissions.add_members,
            Self::Join => &mut permissions.join,
            Self::Leave => &mut permissions.leave,
            Self::Manage => &mut permissions.manage,
            Self::Mention => &mut permissions.mention,
            Self::RemoveMembers => &mut permissions.remove_members,
        } = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::group::SYSTEM_GROUPS;

    #[test]
    fn each_permission_is_found_by_its_wire_name() {
        for permission in RealmPermission::ALL {
            assert_eq!(RealmPermission::from_name(permission.rule().name), Some(permission));
        }
        for permission in ChannelPermission::ALL {
            assert_eq!(ChannelPermission::from_name(permission.rule().name), Some(permission));
        }
        for permission in GroupPermission::ALL {
            assert_eq!(GroupPermission::from_name(permission.rule().name), Some(permission));
        }
        assert_eq!(RealmPermission::MentionManyUsers.rule().name, "can_mention_many_users_group");
        assert_eq!(ChannelPermission::SendMessage.rule().name, "can_send_message_group");
        assert_eq!(GroupPermission::Mention.rule().name, "can_mention_group");
    }

    #[test]
    fn defaults_are_allowed_system_groups() {
        let all = REALM_PERMISSIONS.iter().chain(&CHANNEL_PERMISSIONS).chain(&GROUP_PERMISSIONS);
        for rule in all {
            let name = rule.default_group_name;
            let is_creator = matches!(name, "stream_creator_or_nobody" | "group_creator");
            assert!(is_creator || SYSTEM_GROUPS.iter().any(|(group, _)| *group == name), "{}", rule.name);
            assert!(name != "role:nobody" || rule.allow_nobody_group, "{}", rule.name);
            assert!(name != "role:everyone" || rule.allow_everyone_group, "{}", rule.name);
            let only = rule.allowed_system_groups;
            assert!(only.is_empty() || only.contains(&name), "{}", rule.name);
        }
    }
}
