//! Parameters that all requests that create channels share, and whether the requester may create such channels.

use crate::error::RuleError;
use crate::permissions::channel_update::{
    check_topics_policy_change, is_about_deleting, known_folder, parse_retention, parse_topics_policy,
};
use crate::permissions::create::{ChannelPrivacy, check_may_create_channel, resolve_privacy};
use crate::permissions::group_setting::{
    ProposedGroupSetting, check_group_setting, check_holds_realm, check_room_for_listed,
    default_channel_permissions,
};
use crate::permissions::roles::check_owner;
use crate::settings::{ChannelPermission, RealmPermission};
use crate::shares::Account;
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

/// Most channels that one account that is no administrator has created, those of its bots included: no account uses up the room of all.
pub const CREATED_MAX: usize = 2_000;

/// Refuses to create `more` channels with a plan where an organization would have more than [`CHANNELS_MAX`], the creator
/// more than [`CREATED_MAX`], or their permissions would list too much.
pub fn check_room(
    directory: &Directory,
    creator: &User,
    plan: &ChannelPlan,
    more: usize,
) -> Result<(), RuleError> {
    if more == 0 {
        return Ok(());
    }
    if directory.channel_count() + more > CHANNELS_MAX {
        return Err(RuleError::TooManyChannels { limit: CHANNELS_MAX });
    }
    if !creator.is_administrator() && created_by(directory, creator) + more > CREATED_MAX {
        return Err(RuleError::TooManyOwnChannels { limit: CREATED_MAX });
    }
    check_room_for_listed(directory, plan.permissions.listed_count().saturating_mul(more))
}

/// The number of channels that a person and their bots have created.
fn created_by(directory: &Directory, creator: &User) -> usize {
    let account = Account::of(directory, creator);
    directory.channels().filter(|channel| account.created(channel.creator)).count()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{self, ADMINISTRATOR, BOT, MEMBER, OTHER_MEMBER};
    use model::UserId;

    #[test]
    fn room_for_channels_is_limited_by_creator_and_in_all() {
        let mut dir = fixture::directory();
        let owner = dir.bot_owner(BOT).unwrap();
        let room = |dir: &Directory, by: UserId, more| {
            let creator = dir.user(by).unwrap();
            let plan = ChannelOptions::default().plan(dir, dir.user(MEMBER).unwrap()).unwrap();
            check_room(dir, creator, &plan, more)
        };
        let is_admin = |by: UserId| dir.user(by).unwrap().is_administrator();
        assert!(
            is_admin(ADMINISTRATOR) && !is_admin(owner) && owner != OTHER_MEMBER && !is_admin(OTHER_MEMBER)
        );
        let put = |dir: &mut Directory, from: u32, by: UserId, count: usize| {
            for id in (from..).take(count) {
                let mut channel = fixture::channel(id, &format!("c{id}"));
                channel.creator = Some(by);
                dir.put_channel(channel);
            }
        };
        put(&mut dir, 10_000, owner, CREATED_MAX - 2);
        put(&mut dir, 20_000, BOT, 1);
        let own = Err(RuleError::TooManyOwnChannels { limit: CREATED_MAX });
        assert_eq!((room(&dir, owner, 1), room(&dir, BOT, 1)), (Ok(()), Ok(())));
        assert_eq!(
            (room(&dir, owner, 2), room(&dir, BOT, 2), room(&dir, owner, 0)),
            (own.clone(), own, Ok(()))
        );
        assert_eq!((room(&dir, OTHER_MEMBER, 100), room(&dir, ADMINISTRATOR, 5_000)), (Ok(()), Ok(())));
        let left = CHANNELS_MAX - dir.channel_count();
        put(&mut dir, 30_000, ADMINISTRATOR, left);
        assert_eq!(room(&dir, ADMINISTRATOR, 1), Err(RuleError::TooManyChannels { limit: CHANNELS_MAX }));
    }

    #[test]
    fn lists_count_for_each_new_channel() {
        let dir = fixture::directory();
        let creator = dir.user(ADMINISTRATOR).unwrap();
        let mut plan = ChannelOptions::default().plan(&dir, creator).unwrap();
        assert_eq!(plan.permissions.listed_count(), 0);
        let members = (1..=100).map(UserId).collect();
        plan.permissions.subscribe = model::GroupSetting::Anonymous { members, subgroups: Vec::new() };
        assert_eq!(check_room(&dir, creator, &plan, 2_500), Ok(()));
        assert!(check_room(&dir, creator, &plan, 2_501).is_err());
    }
}
