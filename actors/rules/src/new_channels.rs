//! Parameters that all requests that create channels share, and whether the requester may create such channels.

use crate::error::RuleError;
use crate::permissions::channel_update::{check_topics_policy_change, parse_retention, parse_topics_policy};
use crate::permissions::create::{ChannelPrivacy, check_may_create_channel, resolve_privacy};
use crate::permissions::group_setting::{
    ProposedGroupSetting, check_group_setting, check_holds_realm, default_channel_permissions,
};
use crate::permissions::roles::check_owner;
use crate::settings::{ChannelPermission, RealmPermission};
use model::{
    Channel, ChannelId, ChannelPermissions, Directory, FolderId, RecipientId, Timestamp, TopicsPolicy, User,
};
use serde_json::Value;

/// The parameters, as sent.
#[derive(Clone, Debug, Default)]
pub struct ChannelOptions {
    /// Whether a message announces the new channels to the organization.
    pub announce: bool,
    /// `invite_only`
    pub invite_only: bool,
    /// `is_web_public`
    pub is_web_public: bool,
    /// Whether new users are subscribed to the channels.
    pub is_default: bool,
    /// Default: true unless the channel is private.
    pub history_public_to_subscribers: Option<bool>,
    /// `realm_default`, `unlimited` or a number of days, as JSON or a bare word.
    pub message_retention_days: Option<String>,
    /// `topics_policy`
    pub topics_policy: Option<String>,
    /// `folder_id`
    pub folder: Option<i64>,
    /// The permissions that do not have their default values.
    pub permissions: Vec<(ChannelPermission, ProposedGroupSetting)>,
}

/// Channels that a user may create; names and descriptions are checked separately.
#[derive(Clone, Debug)]
pub struct ChannelPlan {
    /// Who can read them.
    pub privacy: ChannelPrivacy,
    /// Whether new users are subscribed to them.
    pub is_default: bool,
    /// None for the organization's value, -1 for unlimited.
    pub message_retention_days: Option<i32>,
    /// Which topics they allow.
    pub topics_policy: TopicsPolicy,
    /// The folder that clients show them in.
    pub folder: Option<FolderId>,
    /// Permission settings.
    pub permissions: ChannelPermissions,
}

impl ChannelOptions {
    /// Checks folder, retention, topics policy, permission to create and group settings, in this order.
    ///
    /// # Errors
    /// The first refusal.
    pub fn plan(&self, directory: &Directory, creator: &User) -> Result<ChannelPlan, RuleError> {
        let folder = self.named_folder(directory)?;
        let message_retention_days = self.retention_days()?;
        let topics_policy = self.parsed_topics_policy(directory, creator)?;
        let privacy =
            resolve_privacy(self.invite_only, self.is_web_public, self.history_public_to_subscribers)?;
        check_may_create_channel(directory, creator, privacy, self.is_default)?;
        if message_retention_days.is_some() {
            check_owner(creator)?;
        }
        let permissions = self.parsed_permissions(directory, creator)?;
        let is_default = self.is_default;
        Ok(ChannelPlan { folder, privacy, is_default, message_retention_days, topics_policy, permissions })
    }

    fn named_folder(&self, directory: &Directory) -> Result<Option<FolderId>, RuleError> {
        let Some(id) = self.folder else { return Ok(None) };
        let folder = u32::try_from(id).ok().and_then(|id| directory.folder(FolderId(id)));
        folder.map(|folder| Some(folder.id)).ok_or(RuleError::InvalidFolderId)
    }

    fn retention_days(&self) -> Result<Option<i32>, RuleError> {
        let Some(raw) = &self.message_retention_days else { return Ok(None) };
        parse_retention(&parse_retention_value(raw))
    }

    fn parsed_topics_policy(&self, directory: &Directory, creator: &User) -> Result<TopicsPolicy, RuleError> {
        let Some(name) = &self.topics_policy else { return Ok(TopicsPolicy::Inherit) };
        let policy = parse_topics_policy(name)?;
        // A new channel has no topics yet.
        check_topics_policy_change(directory, creator, policy, || false)?;
        Ok(policy)
    }

    fn parsed_permissions(
        &self,
        directory: &Directory,
        creator: &User,
    ) -> Result<ChannelPermissions, RuleError> {
        let mut permissions = default_channel_permissions(directory, Some(creator.id));
        for (permission, proposed) in &self.permissions {
            let is_about_deleting = matches!(
                permission,
                ChannelPermission::DeleteAnyMessage | ChannelPermission::DeleteOwnMessage
            );
            if is_about_deleting {
                check_holds_realm(directory, RealmPermission::SetDeleteMessagePolicy, creator.id)?;
            }
            permission.set(&mut permissions, check_group_setting(directory, permission.rule(), proposed)?);
        }
        Ok(permissions)
    }
}

impl ChannelPlan {
    /// The record of a new channel. The description is Markdown, with its HTML.
    pub fn channel(
        &self,
        (id, recipient): (ChannelId, RecipientId),
        creator: &User,
        name: &str,
        (description, rendered_description): (String, String),
        created: Timestamp,
    ) -> Channel {
        Channel {
            creator: Some(creator.id),
            description,
            rendered_description,
            invite_only: self.privacy.invite_only,
            is_web_public: self.privacy.is_web_public,
            history_public_to_subscribers: self.privacy.history_public_to_subscribers,
            message_retention_days: self.message_retention_days,
            topics_policy: self.topics_policy,
            folder: self.folder,
            ..Channel::new(id, recipient, name, created, self.permissions.clone())
        }
    }
}

/// A retention period as sent: JSON, or a bare word.
pub fn parse_retention_value(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or_else(|_| Value::from(raw))
}
