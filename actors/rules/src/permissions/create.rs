//! Who may create channels and change subscriptions (docs/api/channels.md#create-a-channel, docs/api/subscriptions.md).

use crate::error::RuleError;
use crate::permissions::channel::{administers_channel, sees_channel, sees_content};
use crate::permissions::group_setting::{check_holds_realm, holds_realm};
use crate::settings::{self, RealmPermission};
use model::{Channel, Directory, User, UserId};

/// The properties of a channel that determine who can read it; see `model::Channel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelPrivacy {
    pub invite_only: bool,
    pub is_web_public: bool,
    pub history_public_to_subscribers: bool,
}

impl ChannelPrivacy {
    /// The privacy of a channel.
    pub fn of(channel: &Channel) -> Self {
        Self {
            invite_only: channel.invite_only,
            is_web_public: channel.is_web_public,
            history_public_to_subscribers: channel.history_public_to_subscribers,
        }
    }

    /// The name in notices.
    pub fn name(self) -> &'static str {
        match self {
            Self { is_web_public: true, .. } => "Web-public",
            Self { invite_only: false, .. } => "Public",
            Self { history_public_to_subscribers: true, .. } => "Private, shared history",
            Self { .. } => "Private, protected history",
        }
    }

    /// Refuses contradicting combinations: `PrivacyContradiction`.
    pub fn check(self) -> Result<Self, RuleError> {
        let contradicts = self.is_web_public && self.invite_only
            || !self.invite_only && !self.history_public_to_subscribers;
        if contradicts { Err(RuleError::PrivacyContradiction) } else { Ok(self) }
    }
}

/// The privacy of a new channel; by default its history is shared unless it is private. `PrivacyContradiction`.
pub fn resolve_privacy(
    invite_only: bool,
    is_web_public: bool,
    history: Option<bool>,
) -> Result<ChannelPrivacy, RuleError> {
    let history_public_to_subscribers = history.unwrap_or(!invite_only);
    ChannelPrivacy { invite_only, is_web_public, history_public_to_subscribers }.check()
}

/// Whether a user may create a channel with this privacy (docs/api/channels.md#create-a-channel).
pub fn check_may_create_channel(
    dir: &Directory,
    creator: &User,
    privacy: ChannelPrivacy,
    is_default: bool,
) -> Result<(), RuleError> {
    if creator.is_guest() {
        return Err(RuleError::GuestsRefused);
    }
    check_may_create_kind(dir, creator, privacy.invite_only)?;
    if is_default && !creator.is_administrator() {
        return Err(RuleError::InsufficientPermission);
    }
    if is_default && privacy.invite_only {
        return Err(RuleError::DefaultChannelPrivate);
    }
    if privacy.is_web_public { check_may_create_web_public(dir, creator) } else { Ok(()) }
}

/// Whether a user may create private or public channels.
pub(super) fn check_may_create_kind(
    dir: &Directory,
    creator: &User,
    is_private: bool,
) -> Result<(), RuleError> {
    let permission = match is_private {
        true => RealmPermission::CreatePrivateChannel,
        false => RealmPermission::CreatePublicChannel,
    };
    check_holds_realm(dir, permission, creator.id)
}

/// Whether a user may create web-public channels: `WebPublicDisabled`, `InsufficientPermission`.
pub(super) fn check_may_create_web_public(dir: &Directory, creator: &User) -> Result<(), RuleError> {
    if !settings::realm_bool(dir.realm(), "enable_spectator_access") {
        return Err(RuleError::WebPublicDisabled);
    }
    check_holds_realm(dir, RealmPermission::CreateWebPublicChannel, creator.id)
}

/// Whether users may subscribe themselves to an existing channel: `ChannelsInaccessible` with its name.
pub fn check_may_subscribe(dir: &Directory, user: &User, channel: &Channel) -> Result<(), RuleError> {
    if sees_content(dir, user, channel) {
        return Ok(());
    }
    Err(RuleError::ChannelsInaccessible { names: vec![channel.name.clone()] })
}

/// Whether a user may subscribe others to an existing channel: with content access and the organization's permission,
/// administration of the channel, or the channel's own permission.
pub fn check_may_add_subscribers(
    dir: &Directory,
    requester: &User,
    channel: &Channel,
) -> Result<(), RuleError> {
    check_may_subscribe(dir, requester, channel)?;
    let may = !requester.is_guest()
        && (holds_realm(dir, RealmPermission::AddSubscribers, requester.id)
            || administers_channel(dir, requester, channel)
            || dir.holds(&channel.permissions.add_subscribers, requester.id));
    if may { Ok(()) } else { Err(RuleError::InsufficientPermission) }
}

/// Whether a subscription belongs to the requester or one of the requester's bots.
pub fn is_own_subscription(dir: &Directory, requester: UserId, user: UserId) -> bool {
    user == requester || dir.bot_owner(user) == Some(requester)
}

/// Whether a user may unsubscribe others from these channels: as administrator of the organization, as administrator of
/// all of the channels, or as member of `can_remove_subscribers_group` of all of them.
pub fn check_may_remove_subscribers(
    dir: &Directory,
    requester: &User,
    channels: &[&Channel],
) -> Result<(), RuleError> {
    let may_remove = |channel: &&Channel| {
        sees_channel(dir, requester, channel)
            && dir.holds(&channel.permissions.remove_subscribers, requester.id)
    };
    let may = requester.is_administrator()
        || channels.iter().all(|channel| administers_channel(dir, requester, channel))
        || channels.iter().all(may_remove);
    if may { Ok(()) } else { Err(RuleError::InsufficientPermission) }
}

/// Whether a user may set `can_add_subscribers_group` and `can_subscribe_group`, which grant content access:
/// `ContentAccessRequired`.
pub fn check_may_grant_content(
    dir: &Directory,
    requester: &User,
    channel: &Channel,
) -> Result<(), RuleError> {
    if sees_content(dir, requester, channel) { Ok(()) } else { Err(RuleError::ContentAccessRequired) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use model::{GroupSetting, SettingValue};

    #[test]
    fn privacy_combinations() {
        for (invite_only, web_public, history, expected) in [
            (false, false, None, Some((false, false, true))),
            (true, false, None, Some((true, false, false))),
            (true, false, Some(true), Some((true, false, true))),
            (false, true, None, Some((false, true, true))),
            (false, false, Some(false), None),
            (true, true, None, None),
            (false, true, Some(false), None),
        ] {
            let privacy = resolve_privacy(invite_only, web_public, history).ok();
            let found = privacy.map(|p| (p.invite_only, p.is_web_public, p.history_public_to_subscribers));
            assert_eq!(found, expected, "{invite_only} {web_public} {history:?}");
        }
    }

    #[test]
    fn creating_channels_needs_permission() {
        let mut dir = fixture::directory();
        let public = resolve_privacy(false, false, None).unwrap();
        let private = resolve_privacy(true, false, None).unwrap();
        let web = resolve_privacy(false, true, None).unwrap();
        let check = |dir: &Directory, id, privacy, is_default| {
            check_may_create_channel(dir, dir.user(id).unwrap(), privacy, is_default)
        };
        assert_eq!(check(&dir, fixture::MEMBER, public, false), Ok(()));
        assert_eq!(check(&dir, fixture::GUEST, public, false), Err(RuleError::GuestsRefused));
        assert_eq!(check(&dir, fixture::MEMBER, public, true), Err(RuleError::InsufficientPermission));
        assert_eq!(check(&dir, fixture::OWNER, private, true), Err(RuleError::DefaultChannelPrivate));
        assert_eq!(check(&dir, fixture::OWNER, web, false), Err(RuleError::WebPublicDisabled));
        fixture::set_realm(&mut dir, "enable_spectator_access", SettingValue::Bool(true));
        assert_eq!(check(&dir, fixture::OWNER, web, false), Ok(()));
        assert_eq!(check(&dir, fixture::ADMINISTRATOR, web, false), Err(RuleError::InsufficientPermission));
        let owners = SettingValue::Group(fixture::group("role:owners"));
        fixture::set_realm(&mut dir, "can_create_private_channel_group", owners);
        assert_eq!(check(&dir, fixture::MEMBER, private, false), Err(RuleError::InsufficientPermission));
        assert_eq!(check(&dir, fixture::MEMBER, public, false), Ok(()));
    }

    #[test]
    fn subscribing_others_needs_permission() {
        let mut dir = fixture::directory();
        let mut private = fixture::channel(1, "secret");
        private.invite_only = true;
        dir.put_channel(private.clone());
        let inaccessible = Err(RuleError::ChannelsInaccessible { names: vec!["secret".into()] });
        let check = |dir: &Directory, id, channel: &Channel| {
            check_may_add_subscribers(dir, dir.user(id).unwrap(), channel)
        };
        assert_eq!(check(&dir, fixture::OWNER, &private), inaccessible);
        fixture::subscribe(&mut dir, 1, fixture::MEMBER, 0);
        fixture::subscribe(&mut dir, 1, fixture::GUEST, 0);
        assert_eq!(check(&dir, fixture::MEMBER, &private), Ok(()));
        assert_eq!(check(&dir, fixture::GUEST, &private), Err(RuleError::InsufficientPermission));
        let no_users = SettingValue::Group(fixture::no_users());
        fixture::set_realm(&mut dir, "can_add_subscribers_group", no_users);
        assert_eq!(check(&dir, fixture::MEMBER, &private), Err(RuleError::InsufficientPermission));
        private.permissions.administer_channel = GroupSetting::only(fixture::MEMBER);
        assert_eq!(check(&dir, fixture::MEMBER, &private), Ok(()));
        private.permissions.add_subscribers = GroupSetting::only(fixture::OTHER_MEMBER);
        assert_eq!(check(&dir, fixture::OTHER_MEMBER, &private), Ok(()));
    }

    #[test]
    fn unsubscribing_others_needs_permission() {
        let mut dir = fixture::directory();
        let mut mine = fixture::channel(1, "mine");
        mine.permissions.administer_channel = GroupSetting::only(fixture::MEMBER);
        let mut ours = fixture::channel(2, "ours");
        ours.permissions.remove_subscribers = GroupSetting::only(fixture::MEMBER);
        let mut hidden = fixture::channel(3, "hidden");
        hidden.invite_only = true;
        hidden.permissions.remove_subscribers = GroupSetting::only(fixture::MEMBER);
        for channel in [&mine, &ours, &hidden] {
            dir.put_channel(channel.clone());
        }
        let check =
            |id, channels: &[&Channel]| check_may_remove_subscribers(&dir, dir.user(id).unwrap(), channels);
        assert_eq!(check(fixture::ADMINISTRATOR, &[&mine, &ours, &hidden]), Ok(()));
        assert_eq!(check(fixture::MEMBER, &[&mine]), Ok(()));
        assert_eq!(check(fixture::MEMBER, &[&ours]), Ok(()));
        assert_eq!(check(fixture::MEMBER, &[&mine, &ours]), Err(RuleError::InsufficientPermission));
        assert_eq!(check(fixture::MEMBER, &[&hidden]), Err(RuleError::InsufficientPermission));
        assert_eq!(check(fixture::OTHER_MEMBER, &[&ours]), Err(RuleError::InsufficientPermission));
    }
}
