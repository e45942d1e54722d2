//! `/users/me/apns_device_token` and `/users/me/android_gcm_reg_id`: legacy push tokens
//! (docs/api/push.md#legacy-tokens).

use crate::http::{ApiError, Caller, Fields, FromFields, HandlerResult, Params};
use actors::commands::{AddPushToken, RemovePushToken};
use model::push::PushTokenKind;

/// The token of an Apple device, and the app that it belongs to.
pub struct AppleToken {
    token: String,
    app: String,
}

impl FromFields for AppleToken {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self { token: fields.required("token")?, app: fields.required("appid")? })
    }
}

/// The token of a device.
pub struct Token(String);

impl FromFields for Token {
    fn from_fields(fields: &Fields) -> Result<Self, ApiError> {
        Ok(Self(fields.required("token")?))
    }
}

/// Registers an Apple device; success without effect if it is registered already.
pub async fn add_apple(
    caller: Caller,
    Params(AppleToken { token, app }): Params<AppleToken>,
) -> HandlerResult {
    let (user, kind) = (caller.user.id, PushTokenKind::Apns);
    caller.execute(AddPushToken { user, kind, token, app: Some(app) }).await
}

/// Removes an Apple device.
pub async fn remove_apple(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller.execute(RemovePushToken { user: caller.user.id, kind: PushTokenKind::Apns, token }).await
}

/// Registers an Android device; success without effect if it is registered already.
pub async fn add_google(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller.execute(AddPushToken { user: caller.user.id, kind: PushTokenKind::Fcm, token, app: None }).await
}

/// Removes an Android device.
pub async fn remove_google(caller: Caller, Params(Token(token)): Params<Token>) -> HandlerResult {
    caller.execute(RemovePushToken { user: caller.user.id, kind: PushTokenKind::Fcm, token }).await
}
