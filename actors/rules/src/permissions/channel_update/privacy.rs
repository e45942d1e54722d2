//! Changes of a channel's privacy (docs/api/channels.md#update-a-channel).

use super::request::ChannelUpdate;
use crate::error::RuleError;
use crate::permissions::channel::sees_content;
use crate::permissions::create::{ChannelPrivacy, check_may_create_kind, check_may_create_web_public};
use crate::settings::realm_int;
use model::{Channel, Directory, User};

/// The new privacy; none if nothing changes. `PrivacyContradiction`, `DefaultChannelPrivate`,
/// `ModerationChannelPublic`, `ContentAccessRequired`, `WebPublicDisabled`, `InsufficientPermission`.
pub(super) fn check_privacy(
    dir: &Directory,
    requester: &User,
    channel: &Channel,
    update: &ChannelUpdate,
) -> Result<Option<ChannelPrivacy>, RuleError> {
    let before = ChannelPrivacy::of(channel);
    let after = resulting(before, update).check()?;
    let is_default = update.is_default.unwrap_or_else(|| dir.realm().default_channels.contains(&channel.id));
    if after.invite_only && is_default {
        return Err(RuleError::DefaultChannelPrivate);
    }
    let is_for_reports = realm_int(dir.realm(), "moderation_request_channel_id") == Some(channel.id.0.into());
    if is_for_reports && before.invite_only && !after.invite_only {
        return Err(RuleError::ModerationChannelPublic);
    }
    let is_opened = before.invite_only && after != before;
    if (update.is_private.is_some() || is_opened) && !sees_content(dir, requester, channel) {
        return Err(RuleError::ContentAccessRequired);
    }
    if after.invite_only != before.invite_only {
        check_may_create_kind(dir, requester, after.invite_only)?;
    }
    if after.is_web_public && !before.is_web_public {
        check_may_create_web_public(dir, requester)?;
    }
    Ok((after != before).then_some(after))
}

/// The privacy after the update. If the channel becomes private or public, its history becomes protected or shared,
/// unless the request sets it.
fn resulting(before: ChannelPrivacy, update: &ChannelUpdate) -> ChannelPrivacy {
    let invite_only = update.is_private.unwrap_or(before.invite_only);
    let history = match invite_only == before.invite_only {
        true => before.history_public_to_subscribers,
        false => !invite_only,
    };
    ChannelPrivacy {
        invite_only,
        is_web_public: update.is_web_public.unwrap_or(before.is_web_public),
        history_public_to_subscribers: update.history_public_to_subscribers.unwrap_or(history),
    }
}
