//! What a request says about channels to be created, and whether its author may create such (endpoints.md 7).

use crate::http::{ApiError, Fields};
use model::{ChannelPermissions, Directory, FolderId, TopicsPolicy, User};
use rules::RuleError;
use rules::permissions::channel_update::{check_topics_policy_change, parse_retention, parse_topics_policy};
use rules::permissions::create::{ChannelPrivacy, check_may_create_channel, resolve_privacy};
use rules::permissions::group_setting::{
    ProposedGroupSetting, check_group_setting, check_holds_realm, default_channel_permissions,
    parse_group_setting,
};
use rules::permissions::roles::check_owner;
use rules::settings::{ChannelPermission, RealmPermission};
use serde_json::Value;

/// The parameters that POST /channels/create and POST /users/me/subscriptions have in common, as sent.
#[derive(Clone, Debug, Default)]
pub struct ChannelOptions {
    /// Tell the organization about new channels.
    pub announce: bool,
    invite_only: bool,
    is_web_public: bool,
    is_default: bool,
    history_public_to_subscribers: Option<bool>,
    message_retention_days: Option<String>,
    topics_policy: Option<String>,
    folder: Option<i64>,
    permissions: Vec<(ChannelPermission, ProposedGroupSetting)>,
}

impl ChannelOptions {
    /// Reads them all. Errors: mistyped values.
    pub fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let mut options = Self {
            announce: fields.bool_or("announce", false)?,
            invite_only: fields.bool_or("invite_only", false)?,
            is_web_public: fields.bool_or("is_web_public", false)?,
            is_default: fields.bool_or("is_default_stream", false)?,
            history_public_to_subscribers: fields.optional_bool("history_public_to_subscribers")?,
            message_retention_days: fields.optional("message_retention_days"),
            topics_policy: fields.optional_loose_string("topics_policy"),
            folder: folder_id(fields)?.flatten(),
            permissions: Vec::new(),
        };
        for permission in ChannelPermission::ALL {
            let name = permission.rule().name;
            if let Some(field) = fields.optional_json(name)? {
                let value = parse_group_setting(&field.into_value());
                options
                    .permissions
                    .push((permission, value.ok_or_else(|| ApiError::invalid_parameter(name))?));
            }
        }
        Ok(options)
    }

    /// Checks everything about new channels but their names, in the order of endpoints.md 7.
    ///
    /// # Errors
    /// As there: folder, retention, topics policy, permissions to create, group settings.
    pub fn plan(&self, directory: &Directory, creator: &User) -> Result<ChannelPlan, ApiError> {
        let folder = self.open_folder(directory)?;
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

    fn open_folder(&self, directory: &Directory) -> Result<Option<FolderId>, RuleError> {
        let Some(id) = self.folder else { return Ok(None) };
        let folder = u32::try_from(id).ok().and_then(|id| directory.folder(FolderId(id)));
        let folder = folder.filter(|folder| !folder.is_archived).ok_or(RuleError::InvalidFolderId)?;
        Ok(Some(folder.id))
    }

    /// `realm_default`, `unlimited`, or a number of days above zero.
    fn retention_days(&self) -> Result<Option<i32>, RuleError> {
        let Some(raw) = &self.message_retention_days else { return Ok(None) };
        parse_retention(&parse_retention_value(raw))
    }

    fn parsed_topics_policy(&self, directory: &Directory, creator: &User) -> Result<TopicsPolicy, RuleError> {
        let Some(word) = &self.topics_policy else { return Ok(TopicsPolicy::Inherit) };
        let policy = parse_topics_policy(word)?;
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

/// `folder_id`: absent, null for no folder, or the id of one.
pub fn folder_id(fields: &Fields) -> Result<Option<Option<i64>>, ApiError> {
    let Some(field) = fields.optional_json("folder_id")? else { return Ok(None) };
    let root = field.root();
    if root.value().is_null() { Ok(Some(None)) } else { root.int().map(|id| Some(Some(id))) }
}

/// A retention as sent: JSON, or a bare word.
pub fn parse_retention_value(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or_else(|_| Value::from(raw))
}

/// Channels that somebody may create, but for their names.
#[derive(Clone, Debug)]
pub struct ChannelPlan {
    /// Who can read them.
    pub privacy: ChannelPrivacy,
    /// Whether new people are subscribed to them.
    pub is_default: bool,
    /// None inherits, -1 is for ever.
    pub message_retention_days: Option<i32>,
    /// Which topics they allow.
    pub topics_policy: TopicsPolicy,
    /// The folder they are shown in.
    pub folder: Option<FolderId>,
    /// Who may do what in them.
    pub permissions: ChannelPermissions,
}
