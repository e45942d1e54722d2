//! Parameters that all requests that create channels share, and whether the requester may create such channels.

use crate::error::RuleError;
use crate::permissions::channel_update::{
    check_topics_policy_change, is_about_deleting, known_folder, parse_retention, parse_topics_policy,
};
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
    pub invite_only: bool,
    pub is_web_public: bool,
    /// Whether new users are subscribed to the channels.
    pub is_default: bool,
    /// Default: true unless the channel is private.
    pub history_public_to_subscribers: Option<bool>,
    /// `realm_default`, `unlimited` or a number of days, as JSON or a bare word.
    pub message_retention_days: Option<String>,
    pub topics_policy: Option<String>,
    pub folder: Option<i64>,
    /// The permissions that do not have their default values.
    pub permissions: Vec<(ChannelPermission, ProposedGroupSetting)>,
}

/// Channels that a user may create; names and descriptions are checked separately.
#[derive(Clone, Debug)]
pub struct ChannelPlan {
    pub privacy: ChannelPrivacy,
    /// Whether new users are subscribed to them.
    pub is_default: bool,
    /// None for the organization's value, -1 for unlimited.
    pub message_retention_days: Option<i32>,
    pub topics_policy: TopicsPolicy,
    pub folder: Option<FolderId>,
    pub permissions: ChannelPermissions,
}

/// Most channels of an organization, archived ones included: each is in memory and in every list of channels.
pub const CHANNELS_MAX: usize = 20_000;

/// Refuses to create `more` channels where an organization would have more than [`CHANNELS_MAX`].
pub fn check_room(directory: &Directory, more: usize) -> Result<(), RuleError> {
    match more > 0 && directory.channel_count() + more > CHANNELS_MAX {
        true => Err(RuleError::TooManyChannels { limit: CHANNELS_MAX }),
        false => Ok(()),
    }
}

impl ChannelOptions {
    /// Checks folder, retention, topics policy, permission to create and group settings, in this order.
    pub fn plan(&self, directory: &Directory, creator: &User) -> Result<ChannelPlan, RuleError> {
        let folder = self.folder.map(|id| known_folder(directory, id)).transpose()?;
        let retention = self.message_retention_days.as_ref();
        let message_retention_days = match retention {
            Some(raw) => parse_retention(&parse_retention_value(raw))?,
            None => None,
        };
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
            if is_about_deleting(*permission) {
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
