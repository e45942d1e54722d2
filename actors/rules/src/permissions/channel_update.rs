//! Who may change which property of a channel, checked in the order of docs/api/channels.md#update-a-channel.
//!
//! A request is not atomic: changes before the first refusal take effect. So the decision is a list of changes, possibly
//! followed by a refusal.

mod privacy;
mod request;

pub use request::ChannelUpdate;

use crate::error::RuleError;
use crate::names::parse_channel_name;
use crate::permissions::Archived;
use crate::permissions::channel::{ChannelRef, access_channel_administration, access_channel_content};
use crate::permissions::create::{ChannelPrivacy, check_may_grant_content};
use crate::permissions::group_setting::check_holds_realm;
use crate::permissions::group_setting_change::check_group_setting_change;
use crate::permissions::roles::{check_administrator, check_owner};
use crate::settings::{ChannelPermission, RealmPermission};
use crate::text;
use model::{Channel, ChannelId, Directory, FolderId, GroupSetting, TopicsPolicy, User};
use privacy::check_privacy;
use serde_json::Value;
use std::sync::Arc;

/// A changed property with its new value, which differs from the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChannelChange {
    TopicsPolicy(TopicsPolicy),
    Privacy(ChannelPrivacy),
    /// Whether new users are subscribed to it; part of the organization's record.
    Default(bool),
    /// Days until messages are deleted; none inherits, -1 is unlimited.
    Retention(Option<i32>),
    Unarchived,
    /// Markdown source; the caller renders it.
    Description(String),
    Name(String),
    Folder(Option<FolderId>),
    Permission(ChannelPermission, GroupSetting),
}

/// The changes of a request that are permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatePlan {
    /// The channel before the changes.
    pub channel: Arc<Channel>,
    /// The changes, in order.
    pub changes: Vec<ChannelChange>,
    /// The error of the first change that is not permitted.
    pub refusal: Option<RuleError>,
}

/// Decides a change of a channel. `has_named_topics`: whether it has messages outside the empty topic.
///
/// # Errors
/// Refusals of access, privacy and topics policy; then nothing changes.
pub fn check_channel_update(
    dir: &Directory,
    requester: &User,
    id: i64,
    update: &ChannelUpdate,
    has_named_topics: impl FnOnce() -> bool,
) -> Result<UpdatePlan, RuleError> {
    let channel = access_channel_administration(dir, requester, id)?.clone();
    let mut changes = Vec::new();
    let privacy = check_privacy(dir, requester, &channel, update)?;
    if let Some(policy) = update.topics_policy.filter(|policy| *policy != channel.topics_policy) {
        check_topics_policy_change(dir, requester, policy, has_named_topics)?;
        changes.push(ChannelChange::TopicsPolicy(policy));
    }
    changes.extend(privacy.map(ChannelChange::Privacy));
    let mut steps = Steps { dir, requester, channel: &channel, changes };
    let refusal = steps.take(update).err();
    let changes = steps.changes;
    Ok(UpdatePlan { channel, changes, refusal })
}

/// Whether a user may set a topics policy: all but `inherit` need permission, and `empty_topic_only` needs a channel
/// without named topics. Applies to new channels as well.
pub fn check_topics_policy_change(
    dir: &Directory,
    requester: &User,
    policy: TopicsPolicy,
    has_named_topics: impl FnOnce() -> bool,
) -> Result<(), RuleError> {
    if policy != TopicsPolicy::Inherit {
        check_holds_realm(dir, RealmPermission::SetTopicsPolicy, requester.id)?;
    }
    if policy == TopicsPolicy::EmptyTopicOnly && has_named_topics() {
        return Err(RuleError::NamedTopicsExist);
    }
    Ok(())
}

/// Parses a topics policy, with or without JSON quotes: `SettingInvalid`.
pub fn parse_topics_policy(raw: &str) -> Result<TopicsPolicy, RuleError> {
    let word = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
    let invalid = || RuleError::SettingInvalid { name: "topics_policy".to_owned() };
    TopicsPolicy::from_name(word).ok_or_else(invalid)
}

/// Parses a retention period: `realm_default` is none, `unlimited` is -1, otherwise a positive number of days.
/// `RetentionInvalid`.
pub fn parse_retention(value: &Value) -> Result<Option<i32>, RuleError> {
    let days = value.as_i64().and_then(|days| i32::try_from(days).ok()).filter(|days| *days > 0);
    match (value.as_str(), days) {
        (Some("realm_default"), _) => Ok(None),
        (Some("unlimited"), _) => Ok(Some(-1)),
        (_, Some(days)) => Ok(Some(days)),
        (_, None) => Err(RuleError::RetentionInvalid { value: value.clone() }),
    }
}

/// Finds a folder by its id as sent: `InvalidFolderId`.
pub(crate) fn known_folder(dir: &Directory, id: i64) -> Result<FolderId, RuleError> {
    let folder = u32::try_from(id).ok().and_then(|id| dir.folder(FolderId(id)));
    folder.map(|folder| folder.id).ok_or(RuleError::InvalidFolderId)
}

/// Whether a permission may only be set with `can_set_delete_message_policy_group`.
pub(crate) fn is_about_deleting(permission: ChannelPermission) -> bool {
    matches!(permission, ChannelPermission::DeleteAnyMessage | ChannelPermission::DeleteOwnMessage)
}

/// Collects the changes one by one, up to the first refusal.
struct Steps<'a> {
    dir: &'a Directory,
    requester: &'a User,
    channel: &'a Channel,
    changes: Vec<ChannelChange>,
}

impl Steps<'_> {
    fn take(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        self.set_default(update)?;
        self.set_retention(update)?;
        self.unarchive(update)?;
        if update.permissions.iter().any(|(permission, _)| is_about_deleting(*permission)) {
            check_holds_realm(self.dir, RealmPermission::SetDeleteMessagePolicy, self.requester.id)?;
        }
        let description = update.description.as_ref().filter(|text| **text != self.channel.description);
        self.changes.extend(description.cloned().map(ChannelChange::Description));
        self.rename(update)?;
        let folder =
            update.folder.map(|id| id.map(|id| known_folder(self.dir, id)).transpose()).transpose()?;
        let folder = folder.filter(|folder| *folder != self.channel.folder);
        self.changes.extend(folder.map(ChannelChange::Folder));
        self.set_permissions(update)
    }

    fn set_default(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        let Some(is_default) = update.is_default else { return Ok(()) };
        if !self.requester.is_administrator() {
            return Err(RuleError::DefaultChannelsNotPermitted);
        }
        if is_default != self.dir.realm().default_channels.contains(&self.channel.id) {
            self.changes.push(ChannelChange::Default(is_default));
        }
        Ok(())
    }

    fn set_retention(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        let Some(value) = &update.retention else { return Ok(()) };
        check_owner(self.requester)?;
        let days = parse_retention(value)?;
        if days != self.channel.message_retention_days {
            self.changes.push(ChannelChange::Retention(days));
        }
        Ok(())
    }

    fn unarchive(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        if update.is_archived != Some(false) {
            return Ok(());
        }
        if !self.channel.is_archived {
            return Err(RuleError::ChannelNotArchived);
        }
        self.changes.push(ChannelChange::Unarchived);
        Ok(())
    }

    fn rename(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        let Some(raw) = &update.new_name else { return Ok(()) };
        if text::strip(raw) == self.channel.name {
            return Err(RuleError::ChannelNameSame);
        }
        let name = parse_channel_name(raw)?.to_owned();
        match self.dir.channel_by_name(&name) {
            Some(taken) if taken.id != self.channel.id => Err(RuleError::ChannelAlreadyExists { name }),
            _ => {
                self.changes.push(ChannelChange::Name(name));
                Ok(())
            }
        }
    }

    fn set_permissions(&mut self, update: &ChannelUpdate) -> Result<(), RuleError> {
        for (permission, change) in &update.permissions {
            let stored = permission.of(self.channel);
            let new = check_group_setting_change(self.dir, permission.rule(), stored, change)?;
            let Some(new) = new else { continue };
            if matches!(permission, ChannelPermission::AddSubscribers | ChannelPermission::Subscribe) {
                check_may_grant_content(self.dir, self.requester, self.channel)?;
            }
            self.changes.push(ChannelChange::Permission(*permission, new));
        }
        Ok(())
    }
}

/// Applies a change to a channel's record. `Default` is not part of it, and the caller renders a new description.
pub fn apply_channel_change(channel: &mut Channel, change: &ChannelChange) {
    match change {
        ChannelChange::TopicsPolicy(policy) => channel.topics_policy = *policy,
        ChannelChange::Privacy(privacy) => {
            channel.invite_only = privacy.invite_only;
            channel.is_web_public = privacy.is_web_public;
            channel.history_public_to_subscribers = privacy.history_public_to_subscribers;
        }
        ChannelChange::Default(_) => {}
        ChannelChange::Retention(days) => channel.message_retention_days = *days,
        ChannelChange::Unarchived => channel.is_archived = false,
        ChannelChange::Description(description) => channel.description.clone_from(description),
        ChannelChange::Name(name) => channel.name.clone_from(name),
        ChannelChange::Folder(folder) => channel.folder = *folder,
        ChannelChange::Permission(permission, value) => {
            permission.set(&mut channel.permissions, value.clone());
        }
    }
}

/// Finds a channel to archive: administered by the requester. The errors of `access_channel_administration`, then
/// `ChannelAlreadyArchived`.
pub fn access_channel_to_archive<'d>(
    dir: &'d Directory,
    requester: &User,
    id: i64,
) -> Result<&'d Arc<Channel>, RuleError> {
    let channel = access_channel_administration(dir, requester, id)?;
    if channel.is_archived { Err(RuleError::ChannelAlreadyArchived) } else { Ok(channel) }
}

/// Finds a channel to add to or remove from the default channels (POST and DELETE /default_streams):
/// `AdministratorRequired`, `InvalidChannelId` for channels that the requester cannot read, `PrivateChannelDefault`.
pub fn access_default_channel(
    dir: &Directory,
    requester: &User,
    id: i64,
    becomes_default: bool,
) -> Result<ChannelId, RuleError> {
    check_administrator(requester)?;
    let found = access_channel_content(dir, requester, ChannelRef::Id(id), Archived::Refused)?;
    if becomes_default && found.channel().invite_only {
        return Err(RuleError::PrivateChannelDefault);
    }
    Ok(found.channel().id)
}

#[cfg(test)]
mod tests;
