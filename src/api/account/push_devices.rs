//! `POST /mobile_push/register`: registers a device for encrypted notifications (docs/api/push.md#encrypted-devices).

use crate::http::{ApiError, App, Caller, Code, Fields, FromFields, HandlerResult, Params};
use actors::{NewPushDevice, commands};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::push::PushTokenKind;
use model::redacted::Redacted;

impl FromFields for NewPushDevice {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        let kind = match fields.one_of("token_kind", &["apns", "fcm"])? {
            "apns" => PushTokenKind::Apns,
            _ => PushTokenKind::Fcm,
        };
        let account = fields.required_int("push_account_id")?;
        // `push_public_key` is its name before feature level 432.
        let key = fields.required_alias("push_key", "push_public_key")?;
        let bouncer_public_key = fields.required("bouncer_public_key")?;
        let registration = Redacted(fields.required("encrypted_push_registration")?);
        let key = Redacted(rules::push::parse_push_key(STANDARD.decode(key).ok().as_deref())?);
        Ok(Self { account, kind, key, bouncer_public_key, registration })
    }
}

/// Registers the device; the result of the push service follows as an event.
pub async fn register(app: App, caller: Caller, Params(new): Params<NewPushDevice>) -> HandlerResult {
    if app.push.is_none() {
        return Err(ApiError::new(
            Code::PUSH_SERVICE_NOT_CONFIGURED,
            "Server is not configured to use push notification service.",
        ));
    }
    caller.execute(commands::RegisterPushDevice { user: caller.user.id, new }).await
}
