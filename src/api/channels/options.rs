//! Parameters that `POST /channels/create` and `POST /users/me/subscriptions` share.

use crate::http::{ApiError, Fields};
use rules::new_channels::ChannelOptions;
use rules::permissions::group_setting::parse_group_setting;
use rules::settings::ChannelPermission;

/// Reads the parameters for new channels.
///
/// # Errors
/// Values of the wrong type.
pub fn channel_options(fields: &Fields) -> Result<ChannelOptions, ApiError> {
    let mut permissions = Vec::new();
    for permission in ChannelPermission::ALL {
        let name = permission.rule().name;
        if let Some(field) = fields.optional_json(name)? {
            let value = parse_group_setting(&field.into_value());
            permissions.push((permission, value.ok_or_else(|| ApiError::invalid_parameter(name))?));
        }
    }
    Ok(ChannelOptions {
        announce: fields.bool_or("announce", false)?,
        invite_only: fields.bool_or("invite_only", false)?,
        is_web_public: fields.bool_or("is_web_public", false)?,
        is_default: fields.bool_or("is_default_stream", false)?,
        history_public_to_subscribers: fields.optional_bool("history_public_to_subscribers")?,
        message_retention_days: fields.optional("message_retention_days"),
        topics_policy: fields.optional_loose_string("topics_policy"),
        folder: folder_id(fields)?.flatten(),
        permissions,
    })
}

/// `folder_id`: absent, null for no folder, or an id.
pub fn folder_id(fields: &Fields) -> Result<Option<Option<i64>>, ApiError> {
    let Some(field) = fields.optional_json("folder_id")? else { return Ok(None) };
    let root = field.root();
    if root.value().is_null() { Ok(Some(None)) } else { root.int().map(|id| Some(Some(id))) }
}
