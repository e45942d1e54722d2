//! `client_capabilities`: what a client can handle.

use crate::http::{ApiError, Fields};
use model::ClientCapabilities;

/// Reads the parameter: an object of booleans. Unknown keys are ignored: they are those of newer clients.
pub fn parse_capabilities(fields: &Fields) -> Result<ClientCapabilities, ApiError> {
    let mut found = ClientCapabilities::default();
    let Some(field) = fields.optional_json("client_capabilities")? else { return Ok(found) };
    let object = field.root().object()?;
    let known = [
        ("notification_settings_null", &mut found.notification_settings_null),
        ("bulk_message_deletion", &mut found.bulk_message_deletion),
        ("user_avatar_url_field_optional", &mut found.user_avatar_url_field_optional),
        ("stream_typing_notifications", &mut found.stream_typing_notifications),
        ("user_settings_object", &mut found.user_settings_object),
        ("linkifier_url_template", &mut found.linkifier_url_template),
        ("user_list_incomplete", &mut found.user_list_incomplete),
        ("include_deactivated_groups", &mut found.include_deactivated_groups),
        ("archived_channels", &mut found.archived_channels),
        ("empty_topic_name", &mut found.empty_topic_name),
        ("simplified_presence_events", &mut found.simplified_presence_events),
    ];
    for (key, capability) in known {
        if let Some(value) = object.optional(key) {
            *capability = value.boolean()?;
        }
    }
    Ok(found)
}
